//! `cargo xtask web`: the page, and the elements for other pages, whole, in web/dist.

use crate::machine;
use crate::process::{cargo, program, root, run as run_program, target_dir};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compile without optimising closeread itself: sooner done, slower in the page.
    #[arg(long)]
    dev: bool,
}

/// Builds the page; needs cargo and npm, and sets up what is missing of them.
pub(crate) fn run(args: &Args) -> Result<bool> {
    build(args.dev)?;
    println!("web/dist is ready: serve it, e.g. python3 -m http.server --directory web/dist");
    Ok(true)
}

/// Builds web/dist: the page (WebAssembly and its glue, the compiled TypeScript, the static files, the sample story) and
/// in elements/ the scorer and the leaderboard that other pages embed, each one script beside one WebAssembly module.
pub(crate) fn build(dev: bool) -> Result<()> {
    machine::wasm_target()?;
    machine::npm()?;
    let (web, profile) = (root().join("web"), if dev { "dev" } else { "release" });
    let dist = web.join("dist");
    if dist.exists() {
        fs::remove_dir_all(&dist).with_context(|| format!("cannot empty {}", dist.display()))?;
    }
    fs::create_dir_all(&dist).with_context(|| format!("cannot make {}", dist.display()))?;

    module("closeread_wasm", profile, &[], &dist)?;
    let elements = dist.join("elements");
    let profile = if dev { "dev" } else { "scorer" };
    module("closeread_scorer", profile, &["--no-default-features"], &elements)?;
    for asset in ["wordnet/wordnet-3.0.bin", "punkt-en.txt"] {
        let asset = root().join("core/assets").join(asset);
        copy(&asset, &elements.join(asset.file_name().context("an asset has a name")?))?;
    }

    println!("set-up: npm ci in web/");
    run_program(program("npm").arg("ci").current_dir(&web))?;
    for script in ["compile", "bundle"] {
        run_program(program("npm").args(["run", script]).current_dir(&web))?;
    }
    // What the bundles were made of.
    for entry in fs::read_dir(&elements).with_context(|| format!("cannot read {}", elements.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if (name.ends_with(".js") && !name.starts_with("closeread-")) || name.ends_with("_bg.wasm.d.ts") {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    copy_folder(&web.join("static"), &dist, |_| true)?;
    let sample = root().join("sample");
    if sample.exists() {
        copy_folder(&sample, &dist.join("sample"), |name| !name.ends_with(".md"))?;
    }
    Ok(())
}

/// Compiles closeread-wasm and writes it, with its JavaScript and types, into a folder under a name.
fn module(name: &str, profile: &str, options: &[&str], folder: &Path) -> Result<()> {
    let build = ["build", "--package", "closeread-wasm", "--target", machine::WASM, "--profile", profile];
    run_program(cargo().args(build).args(options))?;
    let built = target_dir()?.join(machine::WASM).join(if profile == "dev" { "debug" } else { profile });
    // bindgen names its files after its input, and the next build overwrites this one.
    let named = built.join(format!("{name}.wasm"));
    if name != "closeread_wasm" {
        copy(&built.join("closeread_wasm.wasm"), &named)?;
    }
    let bindgen = ["run", "--quiet", "--package", "xtask-bindgen", "--"];
    run_program(cargo().args(bindgen).arg(named).arg(folder))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display())).map(drop)
}

/// Copies the files of a folder whose names are wanted, without its folders.
fn copy_folder(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && wanted(&name) {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}
