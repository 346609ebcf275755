//! `cargo xtask web`: builds the page, and the elements for other pages, into web/dist.

use crate::machine::{NODE, NPM, WASM, WASM_TARGET};
use crate::process::{cargo, program, root, run as run_program, target_dir};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compile without optimising closeread itself: compiles faster, runs slower
    #[arg(long)]
    dev: bool,
}

/// Builds the page; needs the WebAssembly target and npm.
pub(crate) fn run(args: &Args) -> Result<bool> {
    build(args.dev)?;
    println!("web/dist is ready: serve it, e.g. python3 -m http.server --directory web/dist");
    Ok(true)
}

/// A WebAssembly module with its JavaScript and types: a build of closeread-wasm.
struct Module {
    /// Name of the module's files.
    name: &'static str,
    /// The profile of an optimised build.
    profile: &'static str,
    /// Its feature of closeread-wasm.
    feature: &'static str,
}

const PAGE: Module = Module { name: "closeread_wasm", profile: "page", feature: "page" };
const BOOKS: Module = Module { name: "closeread_books", profile: "page", feature: "books" };
const EMBED: Module = Module { name: "closeread_embed", profile: "encoder", feature: "embed" };
const TRACT: Module = Module { name: "closeread_tract", profile: "encoder", feature: "tract" };
const SCORER: Module = Module { name: "closeread_scorer", profile: "scorer", feature: "scorer" };

/// Checks that every module compiles with its own features, which development builds do not show; returns their number.
pub(crate) fn check_modules() -> Result<usize> {
    WASM_TARGET.require()?;
    let modules = [SCORER, EMBED, TRACT, BOOKS, PAGE];
    let package = ["--package", "closeread-wasm", "--target", WASM, "--no-default-features", "--features"];
    for module in &modules {
        run_program(cargo().arg("check").args(package).arg(module.feature))?;
    }
    Ok(modules.len())
}

/// Builds web/dist: the page (WebAssembly and its glue, the compiled TypeScript, the static files, the sample, what is
/// fetched when it is needed) and in elements/ the scorer and the leaderboard that other pages embed, each one script
/// beside one WebAssembly module.
pub(crate) fn build(dev: bool) -> Result<()> {
    for tool in [WASM_TARGET, NODE, NPM] {
        tool.require()?;
    }
    let web = root().join("web");
    let dist = web.join("dist");
    if dist.exists() {
        fs::remove_dir_all(&dist).with_context(|| format!("cannot empty {}", dist.display()))?;
    }
    fs::create_dir_all(&dist).with_context(|| format!("cannot make {}", dist.display()))?;

    PAGE.build(dev, &dist)?;
    BOOKS.build(dev, &dist)?;
    EMBED.build(dev, &dist)?;
    TRACT.build(dev, &dist)?;
    let elements = dist.join("elements");
    SCORER.build(dev, &elements)?;
    let assets = dist.join("assets");
    copy_folder(&root().join("core/books/assets/tokens"), &assets, |_| true)?;
    copy_folder(&root().join("core/metrics/assets/wordnet"), &assets, |name| name.ends_with(".gz"))?;
    for folder in [&elements, &assets] {
        copy(&root().join("core/text/assets/punkt-en.txt"), &folder.join("punkt-en.txt"))?;
    }
    let model = "models/all-MiniLM-L6-v2";
    if root().join(model).exists() {
        copy_folder(&root().join(model), &dist.join(model), |_| true)?;
    }

    install_packages(&web)?;
    run_program(program("npm").args(["run", "compile"]).current_dir(&web))?;
    // What the elements were made of; closeread_scorer.js stays for the package.
    let types = elements.join("closeread_scorer_bg.wasm.d.ts");
    fs::remove_file(&types).with_context(|| format!("cannot remove {}", types.display()))?;
    // The bundle has written the page, with the names of its modules.
    copy_folder(&web.join("static"), &dist, |name| name != "index.html")?;
    put_version(&dist.join("package.json"))?;
    let sample = root().join("sample");
    if sample.exists() {
        copy_folder(&sample, &dist.join("sample"), |name| name.ends_with(".jsonl") || name.ends_with(".txt"))?;
    }
    let build = if dev { "dev" } else { "optimised" };
    run_program(program("npm").args(["run", "--silent", "finish", "--", build]).current_dir(&web))
}

/// Installs what the lock file of `web` says, where it is not there.
pub(crate) fn install_packages(web: &Path) -> Result<()> {
    if packages_are_there(web) {
        return Ok(());
    }
    println!("set-up: npm ci in web/");
    run_program(program("npm").arg("ci").current_dir(web))
}

/// Returns whether npm has installed what the lock file says, and the lock file has not changed since.
fn packages_are_there(web: &Path) -> bool {
    let changed = |name: &str| web.join(name).metadata().and_then(|facts| facts.modified());
    match (changed("package-lock.json"), changed("node_modules/.package-lock.json")) {
        (Ok(wanted), Ok(there)) => wanted <= there,
        _ => false,
    }
}

/// Returns arguments of cargo that compile the page's module of a development build beside another package.
pub(crate) fn page_in_development() -> [String; 5] {
    let features = format!("closeread-wasm/{},closeread-wasm/one-core", PAGE.feature);
    ["--package", "closeread-wasm", "--no-default-features", "--features", &features].map(str::to_owned)
}

impl Module {
    /// Returns the features of core, which all modules share.
    fn features_in_development(&self) -> String {
        format!("{},one-core", self.feature)
    }

    /// Compiles closeread-wasm and writes it, with its JavaScript and types, into a folder.
    fn build(&self, dev: bool, folder: &Path) -> Result<()> {
        let profile = if dev { "dev" } else { self.profile };
        let features = if dev { self.features_in_development() } else { self.feature.to_owned() };
        let build = ["build", "--package", "closeread-wasm", "--target", WASM, "--profile", profile];
        run_program(cargo().args(build).args(["--no-default-features", "--features", &features]))?;
        let built = target_dir()?.join(WASM).join(if dev { "debug" } else { profile });
        // bindgen names its files after its input, and the next build overwrites this one.
        let named = built.join(format!("{}.wasm", self.name));
        if self.name != "closeread_wasm" {
            copy(&built.join("closeread_wasm.wasm"), &named)?;
        }
        let bindgen = ["run", "--quiet", "--package", "xtask-bindgen", "--"];
        run_program(cargo().args(bindgen).arg(named).arg(folder))
    }
}

/// Writes the workspace's version into the npm package.
fn put_version(package: &Path) -> Result<()> {
    let text = fs::read_to_string(package).with_context(|| format!("cannot read {}", package.display()))?;
    let mut facts: serde_json::Value = serde_json::from_str(&text).with_context(|| package.display().to_string())?;
    facts["version"] = env!("CARGO_PKG_VERSION").into();
    fs::write(package, format!("{facts:#}\n")).with_context(|| format!("cannot write {}", package.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display())).map(drop)
}

/// Copies a folder with everything in it.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    copy_folder(from, to, |_| true)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            copy_tree(&path, &to.join(path.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

/// Copies the files of a folder whose names `wanted` accepts, without subfolders.
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
