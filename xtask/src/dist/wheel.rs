//! The wheels: the program and the Python module beside it, installed by pip and uv.
//!
//! A wheel is a ZIP archive with four files about it, and every build here gives one program for several packages; maturin
//! would compile it again. `cli/python/pyproject.toml` is for who builds from the sources, and says what stands in the wheel.

use super::build::Target;
use super::{REPOSITORY, VERSION, copy_program, write};
use crate::process::{emptied, program, root, run as run_program, stdout_of, target_dir};
use crate::python::{Project, lay_out};
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Packs the wheels of a target. One with the module is for the C library that the module asks for; where a static program
/// runs beside another one as well, a wheel of the program alone is for that.
pub(super) fn pack(target: Target, built: &Path, module: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let processor = target.processor();
    let mut wheels = Vec::new();
    let tags = match target {
        Target::Mac => "macosx_11_0_arm64".to_owned(),
        Target::Windows => "win_amd64".to_owned(),
        _ => {
            let (major, minor) = glibc_of(module)?.max((2, 17));
            wheels.push(pack_one(built, None, "py3-none", &format!("musllinux_1_1_{processor}"), out)?);
            format!("manylinux_{major}_{minor}_{processor}")
        }
    };
    wheels.push(pack_one(built, Some(module), "cp39-abi3", &tags, out)?);
    Ok(wheels)
}

/// The newest glibc that a library needs.
fn glibc_of(library: &Path) -> Result<(u32, u32)> {
    let printed = stdout_of(program("readelf").arg("-V").arg(library))?;
    super::check::newest_glibc(&printed).with_context(|| format!("{} asks for no glibc", library.display()))
}

fn pack_one(built: &Path, module: Option<&Path>, python: &str, tags: &str, out: &Path) -> Result<PathBuf> {
    let staged = target_dir()?.join("dist-stage").join(format!("wheel-{tags}"));
    emptied(&staged)?;
    let about = staged.join(format!("closeread-{VERSION}.dist-info"));
    let name = if tags.starts_with("win") { "closeread.exe" } else { "closeread" };
    copy_program(built, &staged.join(format!("closeread-{VERSION}.data/scripts/{name}")))?;
    let project = Project::read()?;
    if let Some(module) = module {
        lay_out(module, &staged)?;
        write(&about.join("entry_points.txt"), &project.entry_points)?;
    }
    write(&about.join("METADATA"), metadata(&project)?)?;
    write(
        &about.join("WHEEL"),
        format!(
            "Wheel-Version: 1.0\nGenerator: closeread xtask {VERSION}\nRoot-Is-Purelib: false\nTag: {python}-{tags}\n"
        ),
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
    let wheel = out.join(format!("closeread-{VERSION}-{python}-{tags}.whl"));
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

fn metadata(project: &Project) -> Result<String> {
    let readme = fs::read_to_string(root().join("README.md")).context("cannot read README.md")?;
    let Project { description, requires_python, extras, .. } = project;
    let mut metadata = format!(
        "Metadata-Version: 2.4\nName: closeread\nVersion: {VERSION}\nSummary: {description}\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n\
         Requires-Python: {requires_python}\nProject-URL: Source, {REPOSITORY}\n"
    );
    for (extra, packages) in extras {
        metadata += &format!("Provides-Extra: {extra}\n");
        metadata.extend(packages.iter().map(|package| format!("Requires-Dist: {package}; extra == \"{extra}\"\n")));
    }
    Ok(format!("{metadata}Description-Content-Type: text/markdown\n\n{readme}"))
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
