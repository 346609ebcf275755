//! Folder and Python packages of a measurement's peer.

use crate::process::{program, run, target_dir};
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

/// Makes `target/bench-NAME`, and returns it.
pub(super) fn work_folder(name: &str) -> Result<PathBuf> {
    let work = target_dir()?.join(format!("bench-{name}"));
    std::fs::create_dir_all(&work).with_context(|| format!("{} cannot be made", work.display()))?;
    Ok(work)
}

/// Makes a virtual environment with these packages of PyPI in a folder; returns its Python.
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
