//! `cargo xtask dist`: makes all packages from one build for each target, and tries them.

mod archive;
mod build;
mod check;
mod crates;
mod image;
mod licences;
mod npm;
mod release;
mod sandbox;
mod wheel;

pub(crate) use build::{Target, zigbuild};
pub(crate) use crates::check as check_crates;

use crate::process::{root, target_dir};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The version of all packages.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Address of closeread's repository and releases.
pub(crate) const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

#[derive(Default, clap::Args)]
pub(crate) struct Args {
    /// The target; several by repeating. The machine's own, static, without it
    #[arg(long, value_enum)]
    target: Vec<Target>,
    /// Where to put it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A built page [default: web/dist, built if it is not there]
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
    /// A program that is built already, for the one target
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// A Python module that is built already, with --program
    #[arg(long, value_name = "FILE", requires = "program")]
    module: Option<PathBuf>,
    /// How programs are compiled; `release` takes less time and gives larger ones: for trying
    #[arg(long, value_name = "NAME", value_parser = ["dist", "release"], conflicts_with = "program")]
    profile: Option<String>,
    /// Only write the checksums and Homebrew's formula of what lies in --out, as when several machines made it
    #[arg(long, conflicts_with_all = ["target", "page", "program", "module", "profile"])]
    finish: bool,
    /// Leave the checks of what came out to others, as where the target cannot be run
    #[arg(long)]
    no_check: bool,
}

impl Args {
    /// Arguments that make everything for these targets.
    pub(crate) fn of(target: Vec<Target>) -> Self {
        Self { target, ..Self::default() }
    }
}

/// Builds, packs and checks a release.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let out = match &args.out {
        Some(out) => out.clone(),
        None => target_dir()?.join("artifacts"),
    };
    fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let out = out.canonicalize()?;
    if args.finish {
        return finish(&out);
    }
    let page = page(args.page.as_deref())?;
    let targets = if args.target.is_empty() { vec![Target::LinuxStatic] } else { args.target.clone() };
    let profile = args.profile.as_deref().unwrap_or("dist");
    for target in targets {
        let program = match &args.program {
            Some(program) => program.canonicalize().with_context(|| format!("there is no {}", program.display()))?,
            None => target.build(&page, profile)?,
        };
        let archive = archive::pack(target, &program, &out)?;
        made(&program)?;
        made(&archive)?;
        if let Some(module) = target.module() {
            let module = match &args.module {
                Some(module) => module.canonicalize().with_context(|| format!("there is no {}", module.display()))?,
                None => module.build_module(profile)?,
            };
            for wheel in wheel::pack(target, &program, &module, &out)? {
                made(&wheel)?;
            }
            made(&npm::pack_program(target, &program, &out)?)?;
        }
        if target == Target::LinuxStatic {
            made(&image::pack(&program, &out)?)?;
        }
        if !args.no_check {
            check::tried(target, &archive, &out)?;
        }
    }
    npm::pack_modules(&page, &out)?.iter().try_for_each(|package| made(package))?;
    made(&release::weights(&out)?)?;
    made(&release::bill_of_materials(&out)?)?;
    if !args.no_check {
        check::packages(&out)?;
    }
    finish(&out)
}

/// Writes the files that list all packages.
fn finish(out: &Path) -> Result<bool> {
    made(&release::checksums(out)?)?;
    made(&release::formula(out)?)?;
    Ok(true)
}

/// Prints the path and the size of a file.
fn made(file: &Path) -> Result<()> {
    let bytes = file.metadata().with_context(|| format!("{} was not made", file.display()))?.len();
    println!("{:>7.1} MB  {}", bytes as f64 / 1e6, file.display());
    Ok(())
}

/// The built page that goes into the programs.
fn page(named: Option<&Path>) -> Result<PathBuf> {
    let page = named.map_or_else(|| root().join("web/dist"), Path::to_owned);
    if named.is_none() && !page.join("index.html").is_file() {
        crate::web::build(false)?;
    }
    page.canonicalize().with_context(|| format!("{}: no built page there", page.display()))
}

/// Writes a file and, where they are missing, the folders above it.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// Copies a program and makes the copy executable.
pub(super) fn copy_program(from: &Path, to: &Path) -> Result<()> {
    write(to, [])?;
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    #[cfg(unix)]
    fs::set_permissions(to, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}
