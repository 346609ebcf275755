//! The archive of a target: the program, completions, the manual, licences.

use super::build::Target;
use super::{VERSION, copy_program, licences, write};
use crate::process::{emptied, program, root, run as run_program, target_dir};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Shells, and the names of their files of completions.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "closeread.bash"),
    ("elvish", "closeread.elv"),
    ("fish", "closeread.fish"),
    ("powershell", "closeread.ps1"),
    ("zsh", "_closeread"),
];

/// The name of a target's archive, without its ending.
pub(super) fn name(target: Target) -> String {
    format!("closeread-{VERSION}-{}", target.triple())
}

/// The archive's file.
pub(super) fn file(target: Target) -> String {
    format!("{}.{}", name(target), if target == Target::Windows { "zip" } else { "tar.gz" })
}

/// Packs the archive of a program.
pub(super) fn pack(target: Target, built: &Path, out: &Path) -> Result<PathBuf> {
    let staged = target_dir()?.join("dist-stage").join(name(target));
    emptied(&staged)?;
    copy_program(built, &staged.join(target.program()))?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"] {
        fs::copy(root().join(name), staged.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    write(&staged.join("LICENSES-OF-OTHERS.txt"), licences::of_others()?)?;
    let speaker = speaker(target, &staged.join(target.program()))?;
    for (shell, file) in SHELLS {
        let printed = Command::new(&speaker).args(["completions", shell]).output()?;
        ensure!(printed.status.success(), "`closeread completions {shell}` failed");
        write(&staged.join("completions").join(file), printed.stdout)?;
    }
    run_program(Command::new(&speaker).arg("man").arg(staged.join("man")))?;
    let archive = out.join(file(target));
    let above = staged.parent().context("the stage has a folder above it")?;
    if target == Target::Windows {
        run_program(program("tar").arg("-a").arg("-cf").arg(&archive).arg("-C").arg(above).arg(name(target)))?;
    } else {
        // The same bytes for the same files.
        let same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
        let same: &[&str] = if cfg!(target_os = "linux") { &same[..] } else { &[] };
        let mut tar = program("tar");
        tar.args(same).arg("-czf").arg(&archive).arg("-C").arg(above).arg(name(target));
        run_program(&mut tar)?;
    }
    Ok(archive)
}

/// A program of the same sources that this machine can run; it prints what the other would print.
fn speaker(target: Target, built: &Path) -> Result<PathBuf> {
    if Command::new(built).arg("--version").output().is_ok_and(|printed| printed.status.success()) {
        return Ok(built.to_owned());
    }
    let own = target_dir()?.join("debug/closeread");
    ensure!(own.is_file(), "{} does not run here: `cargo build` makes one that says the same", target.triple());
    Ok(own)
}
