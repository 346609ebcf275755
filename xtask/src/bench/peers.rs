//! Peers of a measurement: where it works, and what it measures against.

use crate::process::{program, run, target_dir};
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

/// `target/bench-NAME`, which is made.
pub(super) fn work_folder(name: &str) -> Result<PathBuf> {
    let work = target_dir()?.join(format!("bench-{name}"));
    std::fs::create_dir_all(&work).with_context(|| format!("{} cannot be made", work.display()))?;
    Ok(work)
}

/// The Python of a virtual environment in a folder, with these packages of PyPI.
pub(super) fn python_with(packages: &[&str], work: &Path) -> Result<PathBuf> {
    let venv = work.join("venv");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        println!("set-up: making {} with {}", venv.display(), packages.join(", "));
        run(program("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    run(program(&python).args(["-m", "pip", "install", "-q", "--disable-pip-version-check"]).args(packages))?;
    Ok(python)
}
