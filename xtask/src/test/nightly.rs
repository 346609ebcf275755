//! The nightly checks, which take too long for every change.

use super::outcome::{Done, LeftOut};
use crate::dist::Target;
use crate::machine::{
    AARCH64, AARCH64_LIBRARIES, AARCH64_MUSL_TARGET, AARCH64_TARGET, CLIPPY, EMULATOR, ENGINES, MAC, MAC_TARGET, MIRI,
    MUSL, MUSL_TARGET, PYTHON, SLURM, STORES, WINDOWS, WINDOWS_TARGET, ZIG, is_root,
};
use crate::process::{BUILD_PROGRAMS, FULL, cargo, program, run as run_program, stdout_of, target_dir};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::Path;

/// Lints each crate without its features, with each alone, and with all.
///
/// Not those that nobody else builds, nor closeread-wasm, whose features are [`modules`].
pub(super) fn features(_: &mut LeftOut) -> Result<Done> {
    const OTHERS: [&str; 4] = ["closeread-tests", "closeread-wasm", "xtask", "xtask-bindgen"];
    CLIPPY.require()?;
    let metadata = stdout_of(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata gives JSON")?;
    // The feature `page` packs a built page; a lint needs no more of it than that it is there.
    let page = target_dir()?.join("page-of-lints");
    std::fs::create_dir_all(&page)?;
    std::fs::write(page.join("closeread_wasm_bg.wasm"), [])?;
    let (mut ran, mut failed) = (0, vec![]);
    for package in metadata["packages"].as_array().context("a workspace has packages")? {
        let name = package["name"].as_str().context("a package has a name")?;
        let features = package["features"].as_object().context("a package has features")?;
        if OTHERS.contains(&name) {
            continue;
        }
        for set in sets(features.keys().map(String::as_str)) {
            let mut clippy = cargo();
            clippy.args(["clippy", "--quiet", "--package", name]).args(&set).args(["--", "--deny", "warnings"]);
            clippy.env("CLOSEREAD_PAGE", &page);
            ran += 1;
            println!("{name} {}", set.join(" "));
            if let Err(error) = run_program(&mut clippy) {
                println!("error: {error:#}");
                failed.push(format!("{name} {}", set.join(" ")));
            }
        }
    }
    ensure!(failed.is_empty(), "{} of {ran} sets: {}", failed.len(), failed.join("; "));
    Ok(Done::Passed(format!("{ran} sets")))
}

/// Arguments of cargo for no feature, for each alone, and for all where there are several.
fn sets<'a>(features: impl Iterator<Item = &'a str>) -> Vec<Vec<&'a str>> {
    let features: Vec<&str> = features.filter(|feature| *feature != "default").collect();
    let alone = features.iter().map(|feature| vec!["--no-default-features", "--features", *feature]);
    let all = (features.len() > 1).then(|| vec!["--all-features"]);
    std::iter::once(vec!["--no-default-features"]).chain(alone).chain(all).collect()
}

pub(super) fn modules(_: &mut LeftOut) -> Result<Done> {
    let n = crate::web::check_modules()?;
    Ok(Done::Passed(format!("{n} modules")))
}

pub(super) fn optimised_page(_: &mut LeftOut) -> Result<Done> {
    crate::web::build(false)?;
    Ok(Done::Passed("within the limits of web/tools/finish.js".to_owned()))
}

/// Checks core for aarch64, and runs the kernels' tests where there is an emulator.
pub(super) fn aarch64(_: &mut LeftOut) -> Result<Done> {
    if let Err(error) = AARCH64_TARGET.require() {
        return Ok(Done::Skipped(error.to_string()));
    }
    let kernels = ["--package", "closeread-kernels", "--target", AARCH64];
    if let Err(error) = EMULATOR.require() {
        run_program(cargo().args(["check", "--tests"]).args(kernels))?;
        return Ok(Done::Passed(format!("the kernels compiled; for the rest {error}")));
    }
    // Crates of others in core have C in them: its compiler comes with the emulator.
    run_program(cargo().args(["check", "--tests"]).args(kernels).args(["--package", "closeread-core"]))?;
    let mut test = cargo();
    test.arg("test").args(kernels).env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
    let emulator = format!("qemu-aarch64 -L {AARCH64_LIBRARIES}");
    run_program(test.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", emulator))?;
    Ok(Done::Passed("compiled, and the kernels' tests run".to_owned()))
}

/// Runs parts on a real Slurm and a real Ray, killed, late, resubmitted and in an object store, and validates manifests of Kubernetes.
pub(super) fn engines(left_out: &mut LeftOut) -> Result<Done> {
    if let Err(error) = PYTHON.require() {
        return Ok(Done::Skipped(error.to_string()));
    }
    run_program(cargo().args(BUILD_PROGRAMS))?;
    let target = target_dir()?;
    let closeread = target.join("debug/closeread");
    let cases = |script: &str, engine: &Path| {
        run_program(program("python3").arg(format!("tests/engines/{script}")).arg(engine).arg(&closeread))
    };
    if let Err(error) = STORES.require() {
        left_out.add("moto", format!("the cases in an object store, docs/how-to/slurm.md among them: {error:#}"));
    }
    let mut done = Vec::new();
    match SLURM.require() {
        Ok(_) if is_root() => {
            cases("slurm_cases.py", &target.join("slurm"))?;
            done.push("Slurm");
        }
        Ok(_) => left_out.add("root", "the cases on a real Slurm".to_owned()),
        Err(error) => left_out.add("Slurm", format!("{error:#}")),
    }
    match ENGINES.require() {
        Ok(_) => {
            cases("ray_cases.py", &target.join("engines"))?;
            cases("kubernetes_cases.py", &target.join("engines"))?;
            done.extend(["Ray", "manifests of Kubernetes"]);
        }
        Err(error) => left_out.add("Ray", format!("{error:#}")),
    }
    if done.is_empty() {
        return Ok(Done::Skipped("neither Slurm nor Ray is here".to_owned()));
    }
    Ok(Done::Passed(done.join(", ")))
}

pub(super) fn fuzz(_: &mut LeftOut) -> Result<Done> {
    // As many inputs as take some ten seconds a target.
    run_program(
        cargo().args(["test", "--package=closeread-tests", "--test=fuzz"]).env("BOLERO_RANDOM_ITERATIONS", "30000"),
    )?;
    Ok(Done::Passed(String::new()))
}

/// Packs every crate that can be published, and compiles the program of the packages alone.
pub(super) fn packages(_: &mut LeftOut) -> Result<Done> {
    let n = crate::dist::check_crates()?;
    Ok(Done::Passed(format!("{n} packages")))
}

/// Makes all packages for this kind of machine, and tries each.
pub(super) fn dist(_: &mut LeftOut) -> Result<Done> {
    if let Err(error) = MUSL_TARGET.require().and_then(|_| MUSL.require()) {
        return Ok(Done::Skipped(error.to_string()));
    }
    if !is_root() {
        return Ok(Done::Skipped("needs root, to enter a root file system".to_owned()));
    }
    let mut targets = vec![Target::LinuxStatic];
    let mut left_out = String::new();
    if let Err(error) = ZIG.require() {
        left_out = format!("but for glibc and aarch64: {error:#}");
    } else {
        targets.push(Target::Linux);
        let tools = [&EMULATOR, &AARCH64_MUSL_TARGET, &AARCH64_TARGET];
        match tools.iter().try_for_each(|tool| tool.require().map(drop)) {
            Ok(()) => targets.push(Target::LinuxStaticArm),
            Err(error) => left_out = format!("but for aarch64: {error:#}"),
        }
    }
    crate::dist::run(&crate::dist::Args::of(targets))?;
    Ok(Done::Passed(left_out))
}

/// Type-checks the program for the systems other than this machine's; zig has the C headers of both.
pub(super) fn systems(_: &mut LeftOut) -> Result<Done> {
    if let Err(error) = ZIG.require().and_then(|_| MAC_TARGET.require()).and_then(|_| WINDOWS_TARGET.require()) {
        return Ok(Done::Skipped(error.to_string()));
    }
    for target in [MAC, WINDOWS] {
        run_program(crate::dist::zigbuild()?.args([
            "check",
            "--workspace",
            "--bin",
            "closeread",
            FULL,
            "--target",
            target,
        ]))?;
    }
    Ok(Done::Passed(format!("{MAC}, {WINDOWS}")))
}

/// Runs the kernels' tests under Miri, which has no vector instructions.
pub(super) fn miri(_: &mut LeftOut) -> Result<Done> {
    if let Err(error) = MIRI.require() {
        return Ok(Done::Skipped(error.to_string()));
    }
    let test = ["run", "nightly", "cargo", "miri", "test", "--package", "closeread-kernels"];
    run_program(program("rustup").args(test).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN"))?;
    Ok(Done::Passed(String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_tried_alone_and_together() {
        let flat = |features: &[&'static str]| {
            sets(features.iter().copied()).into_iter().map(|set| set.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(flat(&[]), ["--no-default-features"]);
        let alone =
            ["--no-default-features", "--no-default-features --features a", "--no-default-features --features b"];
        assert_eq!(flat(&["a", "b", "default"]), [&alone[..], &["--all-features"]].concat());
    }
}
