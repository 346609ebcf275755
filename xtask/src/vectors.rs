//! `cargo xtask vectors`: makes this repository's conformance vectors again, by the reference implementations.

use crate::process::{program, run as run_program, target_dir};
use anyhow::Result;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compare with the files in tests/vectors, write nothing.
    #[arg(long)]
    check: bool,
}

/// Installs the references of tests/vectors/requirements.txt under the target folder and runs generate.py.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let venv = target_dir()?.join("vectors-venv");
    let python = venv.join("bin/python");
    if !python.exists() {
        println!("set-up: python3 -m venv {}", venv.display());
        run_program(program("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    println!("set-up: pip install -r tests/vectors/requirements.txt");
    run_program(program(&python).args(["-m", "pip", "install", "--quiet", "-r", "tests/vectors/requirements.txt"]))?;
    run_program(program(&python).arg("tests/vectors/generate.py").args(args.check.then_some("--check")))?;
    Ok(true)
}
