//! Checks the packages as a user would install them.

use super::build::Target;
use super::sandbox::{RUN, inside, json, page_is_served, scores, timed};
use super::{VERSION, archive, copy_program, image};
use crate::machine::{CHROMIUM, DEBOOTSTRAP};
use crate::process::{FULL, cargo, emptied, program, root, run as run_program, stdout_of, target_dir};
use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest glibc that a program may ask for.
const GLIBC: (u32, u32) = (2, 17);
/// The oldest Debian that its archive still has, with glibc 2.31.
const OLD_DEBIAN: &str = "bullseye";

fn said(what: &str) {
    println!("  tried: {what}");
}

/// Unpacks the archive, and runs what is in it wherever this machine can.
pub(super) fn tried(target: Target, archive: &Path, out: &Path) -> Result<()> {
    let folder = target_dir()?.join("dist-stage/check");
    emptied(&folder)?;
    run_program(program("tar").arg("-xf").arg(archive).arg("-C").arg(&folder))?;
    let unpacked = folder.join(archive::name(target));
    let built = unpacked.join(target.program());
    for (what, least) in [("completions", 5), ("man", 20)] {
        let n = fs::read_dir(unpacked.join(what)).with_context(|| format!("no folder {what} in the archive"))?.count();
        ensure!(n >= least, "{n} files in {what} of the archive: expected {least} or more");
    }
    match target {
        Target::LinuxStatic => in_nothing(&built),
        Target::LinuxStaticArm => emulated(&built),
        Target::Linux | Target::LinuxArm => old_library(target, &built),
        Target::Mac | Target::Windows => Ok(()),
    }?;
    if target.is_static() {
        let needed = stdout_of(program("readelf").arg("-d").arg(&built))?;
        ensure!(!needed.contains("(NEEDED)"), "{} is not static:\n{needed}", built.display());
    }
    if target == Target::LinuxStatic { wheel(out) } else { Ok(()) }
}

/// The scores of a plain build, with which those of packages are compared.
fn native(more: &[&str]) -> Result<Vec<(String, serde_json::Value)>> {
    run_program(cargo().args(["build", "--workspace", "--bin", "closeread", FULL]))?;
    let folder = target_dir()?.join("dist-stage/native");
    emptied(&folder)?;
    let mut run = Command::new(target_dir()?.join("debug/closeread"));
    scores(&json(run.args(RUN).args(more).args(["--out", "run"]).current_dir(&folder))?)
}

/// Runs the static program in the root file system of the image, in which there is nothing else.
fn in_nothing(built: &Path) -> Result<()> {
    let root = target_dir()?.join("dist-stage/check/root");
    image::root_file_system(built, &root)?;
    let (report, seconds) = timed(inside(&root)?.args(RUN).args(["--out", "/work/run"]))?;
    ensure!(scores(&report)? == native(&[])?, "the sample's scores are not those of the native build:\n{report}");
    said(&format!("the sample in an empty root, with the native build's scores, in {seconds:.1} s"));
    let doctor = json(inside(&root)?.args(["doctor", "--offline", "--json"]))?;
    let state = |name: &str| {
        let rows = doctor.as_array().into_iter().flatten();
        rows.filter(|row| row["name"] == name).map(|row| row["state"].clone()).next_back().unwrap_or_default()
    };
    ensure!(state("page") == "ok" && state("gpu") == "absent", "closeread doctor says otherwise: {doctor}");
    let seconds = page_is_served(inside(&root)?.args(["serve", "/work/run", "--port", "0"]))?;
    said(&format!("closeread serve in an empty root: the page after {seconds:.2} s"));
    let wrote = inside(&root)?.args(["report", "/work/run", "--html", "/work/site", "--quiet"]).output()?;
    ensure!(wrote.status.success() && root.join("work/site/index.html").is_file(), "no site: {wrote:?}");
    said("closeread report --html in an empty root");
    Ok(())
}

/// Runs the program for another processor, by qemu. It ranks by words: there an embedding model takes longer than ten minutes.
fn emulated(built: &Path) -> Result<()> {
    const BY_WORDS: [&str; 2] = ["--retriever", "bm25"];
    let folder = target_dir()?.join("dist-stage/emulated");
    emptied(&folder)?;
    let mut run = program("qemu-aarch64");
    run.arg(built).args(RUN).args(BY_WORDS).args(["--out", "run"]).current_dir(&folder);
    let (report, seconds) =
        timed(&mut run).context("qemu-user runs programs for aarch64: apt-get install qemu-user")?;
    ensure!(scores(&report)? == native(&BY_WORDS)?, "the sample's scores are not those of the native build:\n{report}");
    said(&format!("the sample under qemu, with the native build's scores, in {seconds:.1} s"));
    let mut serve = program("qemu-aarch64");
    let page = page_is_served(serve.arg(built).args(["serve", "run", "--port", "0"]).current_dir(&folder))?;
    said(&format!("closeread serve under qemu: the page after {page:.2} s"));
    Ok(())
}

/// Checks that a program needs no newer glibc than the oldest systems have, and starts in an old Debian.
fn old_library(target: Target, built: &Path) -> Result<()> {
    let newest = newest_glibc(&stdout_of(program("readelf").arg("-V").arg(built))?).context("it asks for no glibc")?;
    ensure!(newest <= GLIBC, "it asks for glibc {}.{}: at most {}.{}", newest.0, newest.1, GLIBC.0, GLIBC.1);
    said(&format!("it asks for glibc {}.{}", newest.0, newest.1));
    if target != Target::Linux {
        return Ok(());
    }
    if let Err(error) = DEBOOTSTRAP.require() {
        println!("  not tried in an old Debian: {error:#}");
        return Ok(());
    }
    let root = target_dir()?.join("dist-stage").join(OLD_DEBIAN);
    if !root.join("usr/bin/env").exists() {
        emptied(&root)?;
        let from = "http://deb.debian.org/debian";
        run_program(program("debootstrap").args(["--variant=minbase", OLD_DEBIAN]).arg(&root).arg(from))?;
    }
    let work = root.join("work");
    emptied(&work)?;
    run_program(program("chmod").arg("1777").arg(&work))?;
    copy_program(built, &root.join("usr/bin/closeread"))?;
    let (report, seconds) = timed(inside(&root)?.args(RUN).args(["--out", "/work/run"]))?;
    ensure!(scores(&report)? == native(&[])?, "the sample's scores are not those of the native build:\n{report}");
    let page = page_is_served(inside(&root)?.args(["serve", "/work/run", "--port", "0"]))?;
    said(&format!("in Debian 11: the sample in {seconds:.1} s, the page after {page:.2} s"));
    Ok(())
}

/// The newest version in what `readelf -V` prints: `Name: GLIBC_2.17  Flags: none`.
pub(super) fn newest_glibc(printed: &str) -> Option<(u32, u32)> {
    let versions = printed.split("GLIBC_").skip(1).filter_map(|rest| {
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next()?.split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    });
    versions.max()
}

/// Installs the wheel in a new environment, without a network, and tries the program and the module.
fn wheel(out: &Path) -> Result<()> {
    let environment = target_dir()?.join("dist-stage/venv");
    emptied(&environment)?;
    run_program(program("python3").args(["-m", "venv"]).arg(&environment))?;
    let bin = environment.join("bin");
    // pip chooses among the wheels that lie there.
    let install = ["install", "--quiet", "--no-index", "--no-deps", "--find-links"];
    run_program(program(bin.join("pip")).args(install).arg(out).arg("closeread"))?;
    let mut tests = program(bin.join("python"));
    tests.arg("tests/python/test_module.py").env("CLOSEREAD_BINARY", bin.join("closeread")).env_remove("PYTHONPATH");
    run_program(&mut tests)?;
    said("import closeread: tests/python/test_module.py with the program of the wheel");
    let mut run = Command::new(bin.join("closeread"));
    run.args(RUN).args(["--out", "run"]).current_dir(&environment).env("CLOSEREAD_CACHE", environment.join("cache"));
    let (report, seconds) = timed(&mut run)?;
    scores(&report)?;
    let mut serve = Command::new(bin.join("closeread"));
    let page = page_is_served(serve.args(["serve", "run", "--port", "0"]).current_dir(&environment))?;
    said(&format!(
        "the wheel, installed by pip without a network: the sample in {seconds:.1} s, the page after {page:.2} s"
    ));
    Ok(())
}

/// Installs the packages of npm in an empty project, without a network, and tries them.
pub(super) fn packages(out: &Path) -> Result<()> {
    let project = target_dir()?.join("dist-stage/project");
    emptied(&project)?;
    fs::write(project.join("package.json"), r#"{"private": true, "type": "module"}"#)?;
    let all = fs::read_dir(out)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    let packed = all.iter().filter(|path| path.extension().is_some_and(|extension| extension == "tgz"));
    // Only the machine's own program can be installed.
    let others = Target::ALL.map(Target::node).map(|(system, processor)| format!("cli-{system}-{processor}"));
    let own = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        !others.iter().any(|other| name.contains(other.as_str())) || name.contains("cli-linux-x64")
    };
    let install = ["install", "--offline", "--no-audit", "--no-fund", "--silent"];
    run_program(program("npm").args(install).args(packed.filter(own)).current_dir(&project))?;
    let web = root().join("web");
    crate::web::install_packages(&web)?;
    let mut tries = program("node");
    tries.arg("tools/try-packages.js").arg(&project).current_dir(web);
    run_program(tries.env("CLOSEREAD_CHROMIUM", CHROMIUM.require()?))?;
    said("@closeread/score from Node, from a bundler, and in a page of another origin");
    if project.join("node_modules/@closeread/cli-linux-x64").is_dir() {
        let version = stdout_of(program("npx").args(["--no-install", "closeread", "--version"]).current_dir(&project))?;
        if version.trim() != format!("closeread {VERSION}") {
            bail!("npx closeread --version prints {version:?}");
        }
        let mut run = program("npx");
        run.args(["--no-install", "closeread"]).args(RUN).args(["--out", "run"]).current_dir(&project);
        let (report, seconds) = timed(&mut run)?;
        scores(&report)?;
        said(&format!("npx closeread, without a network: the sample in {seconds:.1} s"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_library_is_found() {
        let printed = "  0x0010:   Name: GLIBC_2.3.4  Flags: none\n  0x0020:   Name: GLIBC_2.17  Flags: none  Version: 4\n\
                         0x0030:   Name: GCC_3.0  Flags: none";
        assert_eq!(newest_glibc(printed), Some((2, 17)));
        assert_eq!(newest_glibc("Name: GCC_3.0"), None);
    }
}
