//! `cargo xtask web`: the page, whole, in web/dist.

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

/// Builds web/dist: WebAssembly and its glue, the compiled TypeScript, the static files, the sample story.
pub(crate) fn build(dev: bool) -> Result<()> {
    machine::wasm_target()?;
    machine::npm()?;
    let (web, profile) = (root().join("web"), if dev { "dev" } else { "release" });
    let dist = web.join("dist");
    if dist.exists() {
        fs::remove_dir_all(&dist).with_context(|| format!("cannot empty {}", dist.display()))?;
    }
    fs::create_dir_all(&dist).with_context(|| format!("cannot make {}", dist.display()))?;

    run_program(cargo().args([
        "build",
        "--package",
        "closeread-wasm",
        "--target",
        machine::WASM,
        "--profile",
        profile,
    ]))?;
    let built = target_dir()?.join(machine::WASM).join(if dev { "debug" } else { "release" });
    let bindgen = ["run", "--quiet", "--package", "xtask-bindgen", "--"];
    run_program(cargo().args(bindgen).arg(built.join("closeread_wasm.wasm")).arg(&dist))?;

    println!("set-up: npm ci in web/");
    run_program(program("npm").arg("ci").current_dir(&web))?;
    run_program(program("npm").args(["run", "compile"]).current_dir(&web))?;
    for name in ["index.html", "style.css"] {
        copy(&web.join("static").join(name), &dist.join(name))?;
    }
    let story = root().join("sample/the-loan-of-the-bell.txt");
    if story.exists() {
        fs::create_dir_all(dist.join("sample")).context("cannot make web/dist/sample")?;
        copy(&story, &dist.join("sample/story.txt"))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display())).map(drop)
}
