//! What the machine must have. Each function looks first, says what it installs, and returns where things are.

use crate::process::{cargo, program, run};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The target that core is compiled to for the page.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// Makes sure that the WebAssembly target is installed.
pub(crate) fn wasm_target() -> Result<()> {
    let libraries = Command::new("rustc").args(["--print", "target-libdir", "--target", WASM]).output();
    let libraries = libraries.context("cannot start rustc")?;
    if Path::new(String::from_utf8_lossy(&libraries.stdout).trim()).is_dir() {
        return Ok(());
    }
    say(&format!("rustc has no target {WASM}: rustup target add {WASM}"));
    run(program("rustup").args(["target", "add", WASM]))
}

/// Makes sure that cargo's component `name` (`clippy`, `fmt`) is installed.
pub(crate) fn component(name: &str, package: &str) -> Result<()> {
    let there = cargo().args([name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    say(&format!("cargo has no {name}: rustup component add {package}"));
    run(program("rustup").args(["component", "add", package]))
}

/// Makes sure that Node is installed.
pub(crate) fn node() -> Result<()> {
    debian(&["node"], &["nodejs"]).map(drop)
}

/// Makes sure that Node and its package manager are installed.
pub(crate) fn npm() -> Result<()> {
    node()?;
    debian(&["npm"], &["npm"]).map(drop)
}

/// Makes sure that a Chromium is installed; gives its path.
pub(crate) fn chromium() -> Result<PathBuf> {
    debian(&["chromium", "chromium-browser", "google-chrome"], &["chromium"])
}

/// Makes sure that nginx is installed, which lies in a folder that users seldom have on their path.
pub(crate) fn nginx() -> Result<()> {
    if Path::new("/usr/sbin/nginx").is_file() {
        return Ok(());
    }
    debian(&["nginx"], &["nginx-light"]).map(drop)
}

/// Makes sure that there is a Vulkan driver, one in software if there is no other.
pub(crate) fn vulkan() -> Result<()> {
    let drivers = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let has_driver = |folder: &&str| std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    if !cfg!(target_os = "linux") || drivers.iter().any(has_driver) {
        return Ok(());
    }
    say("no Vulkan driver: apt-get install mesa-vulkan-drivers");
    install(&["mesa-vulkan-drivers"])
}

/// The first of `programs` on the path; if there is none, installs Debian's `packages`.
fn debian(programs: &[&str], packages: &[&str]) -> Result<PathBuf> {
    let find = || programs.iter().find_map(|program| on_path(program));
    if let Some(path) = find() {
        return Ok(path);
    }
    say(&format!("{} is missing: apt-get install {}", programs[0], packages.join(" ")));
    install(packages)?;
    find().with_context(|| format!("Debian's {} did not bring {}", packages.join(" "), programs[0]))
}

fn install(packages: &[&str]) -> Result<()> {
    apt_get(&["update", "--quiet"])?;
    apt_get(&[&["install", "--yes", "--quiet", "--no-install-recommends"], packages].concat())
}

fn apt_get(args: &[&str]) -> Result<()> {
    ensure!(on_path("apt-get").is_some(), "no apt-get here: install it by hand and start again");
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    let mut command = if root { program("apt-get") } else { program("sudo") };
    if !root {
        command.args(["-n", "--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
    }
    run(command.env("DEBIAN_FRONTEND", "noninteractive").args(args))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn say(what: &str) {
    println!("set-up: {what}");
}
