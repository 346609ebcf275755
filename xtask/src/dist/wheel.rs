//! The wheel: the program, installed by pip and uv.
//!
//! A wheel of one program is a ZIP archive with three files about it, and every build here gives one program for several
//! packages; maturin would compile it again. `pyproject.toml` is for who builds from the sources.

use super::{REPOSITORY, VERSION, copy_program, emptied, write};
use crate::process::{program, root, run as run_program, target_dir};
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Packs the wheel for the systems that pip calls `tags`.
pub(super) fn pack(built: &Path, tags: &str, out: &Path) -> Result<PathBuf> {
    let staged = target_dir()?.join("dist-stage").join(format!("wheel-{tags}"));
    emptied(&staged)?;
    let about = staged.join(format!("closeread-{VERSION}.dist-info"));
    let name = if tags.starts_with("win") { "closeread.exe" } else { "closeread" };
    copy_program(built, &staged.join(format!("closeread-{VERSION}.data/scripts/{name}")))?;
    let readme = fs::read_to_string(root().join("README.md")).context("cannot read README.md")?;
    let metadata = format!(
        "Metadata-Version: 2.4\nName: closeread\nVersion: {VERSION}\nSummary: How well do language models read whole books?\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n\
         Requires-Python: >=3.8\nProject-URL: Source, {REPOSITORY}\nDescription-Content-Type: text/markdown\n\n{readme}"
    );
    write(&about.join("METADATA"), metadata)?;
    let each = tags.split('.').map(|tag| format!("Tag: py3-none-{tag}\n")).collect::<String>();
    write(
        &about.join("WHEEL"),
        format!("Wheel-Version: 1.0\nGenerator: closeread xtask {VERSION}\nRoot-Is-Purelib: false\n{each}"),
    )?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        write(&about.join("licenses").join(licence), fs::read(root().join(licence))?)?;
    }
    let mut files = Vec::new();
    list(&staged, "", &mut files)?;
    files.sort();
    let mut record = String::new();
    for path in &files {
        let bytes = fs::read(staged.join(path))?;
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&bytes));
        record += &format!("{path},sha256={digest},{}\n", bytes.len());
    }
    let own = format!("closeread-{VERSION}.dist-info/RECORD");
    write(&staged.join(&own), format!("{record}{own},,\n"))?;
    files.push(own);
    let wheel = out.join(format!("closeread-{VERSION}-py3-none-{tags}.whl"));
    let _ = fs::remove_file(&wheel);
    // Python has what packs ZIP archives with the rights of files wherever there is pip.
    const ZIP: &str = "import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for path in sys.argv[2:]:
        info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
        info.external_attr, info.compress_type = (os.stat(path).st_mode & 0xFFFF) << 16, zipfile.ZIP_DEFLATED
        archive.writestr(info, open(path, 'rb').read())";
    run_program(program("python3").args(["-c", ZIP]).arg(&wheel).args(&files).current_dir(&staged))?;
    Ok(wheel)
}

/// The files below a folder, as paths with `/`.
fn list(folder: &Path, below: &str, files: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() { list(&entry.path(), &format!("{path}/"), files)? } else { files.push(path) }
    }
    Ok(())
}
