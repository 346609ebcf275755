//! The container image: a root file system with the static program and the certificates by which it knows servers.

use super::{copy_program, write};
use crate::process::{emptied, program, run as run_program, target_dir};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The user that runs the program: nobody.
pub(super) const USER: &str = "65532";
/// Paths where Debian, Fedora and macOS keep the certificates of authorities.
const CERTIFICATES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Makes the root file system in a folder.
pub(super) fn root_file_system(built: &Path, folder: &Path) -> Result<()> {
    emptied(folder)?;
    copy_program(built, &folder.join("usr/bin/closeread"))?;
    let found = CERTIFICATES.iter().find(|path| Path::new(path).is_file());
    let certificates = found.context("there are no certificates of authorities here: install ca-certificates")?;
    write(&folder.join("etc/ssl/certs/ca-certificates.crt"), fs::read(certificates)?)?;
    write(&folder.join("etc/passwd"), format!("closeread:x:{USER}:{USER}::/work:/nonexistent\n"))?;
    write(&folder.join("etc/group"), format!("closeread:x:{USER}:\n"))?;
    for open in ["tmp", "work"] {
        let path = folder.join(open);
        fs::create_dir_all(&path)?;
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o1777))?;
    }
    Ok(())
}

/// Packs the root file system that `Dockerfile` adds to nothing.
pub(super) fn pack(built: &Path, out: &Path) -> Result<PathBuf> {
    let folder = target_dir()?.join("dist-stage/root");
    root_file_system(built, &folder)?;
    let archive = out.join("closeread-root.tar.gz");
    let same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
    run_program(program("tar").args(same).arg("-czf").arg(&archive).arg("-C").arg(&folder).arg("."))?;
    Ok(archive)
}
