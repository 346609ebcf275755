//! Targets, and the compilation of the program for each.

use crate::machine::{ZIG, zigbuild as zigbuild_path};
use crate::process::{cargo, program, run as run_program, target_dir};
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A target of the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Target {
    /// x86-64 Linux of any kind: one file that needs nothing
    LinuxStatic,
    /// aarch64 Linux of any kind, likewise
    LinuxStaticArm,
    /// x86-64 Linux with glibc 2.17 or newer: graphics processors, too
    Linux,
    /// aarch64 Linux with glibc 2.17 or newer
    LinuxArm,
    /// Apple's own processors
    Mac,
    /// x86-64 Windows
    Windows,
}

impl Target {
    /// All targets, in the order of lists.
    pub(super) const ALL: [Self; 6] =
        [Self::LinuxStatic, Self::LinuxStaticArm, Self::Linux, Self::LinuxArm, Self::Mac, Self::Windows];

    /// Returns the target's name in rustc.
    pub(super) fn triple(self) -> &'static str {
        match self {
            Self::LinuxStatic => "x86_64-unknown-linux-musl",
            Self::LinuxStaticArm => "aarch64-unknown-linux-musl",
            Self::Linux => "x86_64-unknown-linux-gnu",
            Self::LinuxArm => "aarch64-unknown-linux-gnu",
            Self::Mac => "aarch64-apple-darwin",
            Self::Windows => "x86_64-pc-windows-msvc",
        }
    }

    pub(super) fn is_static(self) -> bool {
        matches!(self, Self::LinuxStatic | Self::LinuxStaticArm)
    }

    /// Returns the program's file name on the target.
    pub(super) fn program(self) -> &'static str {
        if self == Self::Windows { "closeread.exe" } else { "closeread" }
    }

    /// Returns the target of the Python module that is in the wheel beside the program; `None` where
    /// another wheel serves the system. A static program runs beside every C library, and a module only in a Python
    /// that has its own.
    pub(super) fn module(self) -> Option<Self> {
        match self {
            Self::LinuxStatic => Some(Self::Linux),
            Self::LinuxStaticArm => Some(Self::LinuxArm),
            Self::Linux | Self::LinuxArm => None,
            Self::Mac | Self::Windows => Some(self),
        }
    }

    /// The processor, by its name in pip and in the target triple.
    pub(super) fn processor(self) -> &'static str {
        match self {
            Self::LinuxStaticArm | Self::LinuxArm => "aarch64",
            Self::Mac => "arm64",
            Self::LinuxStatic | Self::Linux | Self::Windows => "x86_64",
        }
    }

    /// Returns Node's names of the system and the processor.
    pub(super) fn node(self) -> (&'static str, &'static str) {
        match self {
            Self::LinuxStatic | Self::Linux => ("linux", "x64"),
            Self::LinuxStaticArm | Self::LinuxArm => ("linux", "arm64"),
            Self::Mac => ("darwin", "arm64"),
            Self::Windows => ("win32", "x64"),
        }
    }

    /// The features: a static program loads no driver, so it lacks `gpu`.
    fn features(self) -> &'static str {
        if self.is_static() { "page,object-stores,parquet,pdf,tract" } else { "page,full" }
    }

    /// Compiles the program with the page inside, with a profile of cargo; returns its path.
    pub(super) fn build(self, page: &Path, profile: &str) -> Result<PathBuf> {
        let needs_zig = matches!(self, Self::LinuxStaticArm | Self::Linux | Self::LinuxArm);
        let mut build = self.cargo(needs_zig, profile)?;
        build.args(["--package", "closeread", "--features", self.features()]);
        run_program(build.env("CLOSEREAD_PAGE", page))?;
        Ok(self.built(profile)?.join(self.program()))
    }

    /// Compiles the Python module; returns its path. Without zig it needs the C library of this machine.
    pub(super) fn build_module(self, profile: &str) -> Result<PathBuf> {
        let of_machine = self == Self::Linux && ZIG.require().is_err();
        let mut build = self.cargo(!of_machine && matches!(self, Self::Linux | Self::LinuxArm), profile)?;
        run_program(build.args(["--package", "closeread-python", "--lib"]))?;
        let name = match self {
            Self::Windows => "closeread_python.dll",
            Self::Mac => "libcloseread_python.dylib",
            _ => "libcloseread_python.so",
        };
        Ok(self.built(profile)?.join(name))
    }

    /// A build for the target. zig's linker asks for the C library of the oldest systems, which stands behind the
    /// target's name.
    fn cargo(self, by_zig: bool, profile: &str) -> Result<Command> {
        let mut build = if by_zig { zigbuild()? } else { cargo() };
        let glibc = if by_zig && matches!(self, Self::Linux | Self::LinuxArm) { ".2.17" } else { "" };
        build.args([if by_zig { "zigbuild" } else { "build" }, "--profile", profile]);
        build.arg("--target").arg(format!("{}{glibc}", self.triple()));
        Ok(build)
    }

    /// Returns where cargo puts the program.
    fn built(self, profile: &str) -> Result<PathBuf> {
        Ok(target_dir()?.join(self.triple()).join(profile))
    }
}

/// Starts cargo-zigbuild, which takes zig from the Python beside it.
pub(crate) fn zigbuild() -> Result<Command> {
    ZIG.require()?;
    let zigbuild = zigbuild_path().context("it was found")?;
    let beside = zigbuild.parent().context("a program lies in a folder")?.to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([beside].into_iter().chain(std::env::split_paths(&path)))?;
    let mut build = program(&zigbuild);
    build.env("PATH", path);
    Ok(build)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_program_lacks_nothing_of_full_but_graphics_processors() {
        let manifest: toml::Table = include_str!("../../../cli/Cargo.toml").parse().unwrap();
        let full = manifest["features"]["full"].as_array().unwrap().iter().map(|feature| feature.as_str().unwrap());
        let expected: Vec<&str> = std::iter::once("page").chain(full.filter(|feature| *feature != "gpu")).collect();
        assert_eq!(Target::LinuxStatic.features().split(',').collect::<Vec<_>>(), expected);
    }
}
