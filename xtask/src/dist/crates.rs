//! Packs the crates for a registry, and compiles the packages alone, without the repository.

use super::sandbox::{RUN, json, scores};
use super::{VERSION, write};
use crate::process::{FULL, cargo, emptied, program, root, run as run_program, stdout_of, target_dir};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Maximum bytes of a package on crates.io.
const MOST: u64 = 10 << 20;

/// Packs every package that can be published from a clone of what is committed, unpacks them elsewhere, compiles them alone,
/// and installs the program of them; gives their number.
///
/// # Errors
/// If one cannot be packed, is too large for a registry, or does not compile alone, or if the program does not run.
pub(crate) fn check() -> Result<usize> {
    let metadata = stdout_of(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata gives JSON")?;
    let packages = metadata["packages"].as_array().context("a workspace has packages")?;
    let (public, private): (Vec<&Value>, Vec<&Value>) =
        packages.iter().partition(|package| package["publish"].is_null());
    let clone = target_dir()?.join("dist-stage/clone");
    emptied(&clone)?;
    run_program(
        program("git").args(["clone", "--quiet", "--depth=1"]).arg(format!("file://{}", root().display())).arg(&clone),
    )?;
    let mut package = cargo();
    package.args(["package", "--workspace", "--no-verify"]).current_dir(&clone).env("CARGO_TARGET_DIR", target_dir()?);
    for one in private {
        package.args(["--exclude", one["name"].as_str().unwrap_or_default()]);
    }
    run_program(&mut package)?;
    let packed = target_dir()?.join("package");
    let alone = std::env::temp_dir().join(format!("closeread-packages-{}", std::process::id()));
    emptied(&alone)?;
    let outcome = compile_alone(&public, &packed, &alone);
    fs::remove_dir_all(&alone).with_context(|| format!("cannot remove {}", alone.display()))?;
    outcome?;
    Ok(public.len())
}

fn compile_alone(public: &[&Value], packed: &Path, alone: &Path) -> Result<()> {
    let mut members = Vec::new();
    let mut patches = String::new();
    for package in public {
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        let name = format!("{}-{}", text("name"), text("version"));
        for field in ["repository", "license", "description", "readme"] {
            ensure!(!text(field).is_empty(), "{name} has no {field} in its Cargo.toml");
        }
        let file = packed.join(format!("{name}.crate"));
        let size = file.metadata().with_context(|| format!("{} was not packed", file.display()))?.len();
        ensure!(size <= MOST, "{name}: {size} bytes packed, and a registry takes {MOST}");
        run_program(program("tar").arg("-xzf").arg(&file).arg("-C").arg(alone))?;
        patches += &format!("{} = {{ path = {name:?} }}\n", text("name"));
        members.push(name);
    }
    // The profile of development builds, so that what others made is compiled once for both.
    let profiles: toml::Table = toml::from_str(&fs::read_to_string(root().join("Cargo.toml"))?)?;
    let profile = toml::to_string(&toml::Table::from_iter([(
        "profile".to_owned(),
        toml::Table::from_iter([("dev".to_owned(), profiles["profile"]["dev"].clone())]).into(),
    )]))?;
    let manifest =
        format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[patch.crates-io]\n{patches}\n{profile}");
    write(&alone.join("Cargo.toml"), manifest)?;
    fs::copy(root().join("Cargo.lock"), alone.join("Cargo.lock"))?;
    let target = target_dir()?;
    let compile = |words: &[&str]| {
        let mut compile = cargo();
        compile.args(words).args(["--offline"]).current_dir(alone);
        run_program(compile.env("CARGO_TARGET_DIR", &target).env_remove("CLOSEREAD_PAGE"))
    };
    compile(&["check", "--workspace", "--lib", "--bins", FULL])?;
    compile(&["install", "--path", &format!("closeread-{VERSION}"), "--debug", "--root", "installed", "--no-track"])?;
    // Without the weights of the embedding model, which a registry does not take.
    let mut run = Command::new(alone.join("installed/bin/closeread"));
    run.args(RUN).args(["--retriever", "bm25", "--out", "run"]).current_dir(alone);
    scores(&json(&mut run)?).map(drop)
}
