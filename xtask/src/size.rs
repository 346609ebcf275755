//! `cargo xtask size`: the parts of the release binary, and the time to compile it.

use crate::process::{cargo, program, root, run as run_program, stdout_of, target_dir};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeSet;
use std::env::consts::EXE_SUFFIX;
use std::path::Path;
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compile from nothing, in a folder of its own, and print packages, CPU minutes and minutes.
    #[arg(long)]
    build: bool,
    /// Features to compile with besides the default ones.
    #[arg(long, value_name = "FEATURES", requires = "build")]
    features: Option<String>,
}

/// Prints the sizes of the binary that it compiles, or of the last `cargo build --release`.
///
/// # Errors
/// If there is none, or `strip`, `size` and `gzip` are not there.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let target = target_dir()?;
    let folder = target.join("size");
    let built = if args.build { build(&folder.join("build"), args.features.as_deref())? } else { target };
    let binary = built.join("release").join(format!("closeread{EXE_SUFFIX}"));
    ensure!(binary.is_file(), "{} is not there: `cargo build --release`, or --build", binary.display());
    std::fs::create_dir_all(&folder)?;
    let stripped = folder.join("closeread");
    run_program(program("strip").arg("-o").arg(&stripped).arg(&binary))?;
    let bytes = stripped.metadata()?.len();
    println!("{}, stripped: {} MB, {} MB by gzip -9", binary.display(), mb(bytes), mb(gzipped(&stripped)?));
    for (section, bytes) in sections(&stdout_of(program("size").arg("-A").arg(&stripped))?) {
        if bytes >= 100_000 {
            println!("  {section:<20} {:>6} MB", mb(bytes));
        }
    }
    let page = root().join("web/dist");
    let mut modules: Vec<_> =
        std::fs::read_dir(page).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    modules.retain(|path| path.extension().is_some_and(|extension| extension == "wasm"));
    modules.sort();
    for module in modules {
        let name = module.file_name().unwrap_or_default().to_string_lossy().into_owned();
        println!("web/dist/{name}: {} MB, {} MB by gzip -9", mb(module.metadata()?.len()), mb(gzipped(&module)?));
    }
    Ok(true)
}

/// Compiles the release binary from nothing and prints packages and times.
fn build(target: &Path, features: Option<&str>) -> Result<std::path::PathBuf> {
    if target.exists() {
        std::fs::remove_dir_all(target).with_context(|| format!("cannot empty {}", target.display()))?;
    }
    let features: Vec<&str> = features.into_iter().flat_map(|features| ["--features", features]).collect();
    let tree = ["tree", "--package", "closeread", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
    let tree = stdout_of(cargo().args(tree).args(&features))?;
    let packages: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    // The shell's `times` counts what its children took, on Linux as on macOS.
    let mut shell = program("sh");
    shell.args(["-c", "\"$0\" \"$@\" && times"]).arg(cargo().get_program());
    shell.args(["build", "--release", "--package", "closeread"]).args(&features).arg("--target-dir").arg(target);
    let started = Instant::now();
    let times = stdout_of(shell.env("CARGO_INCREMENTAL", "0").env("LC_ALL", "C"))?;
    let minutes = started.elapsed().as_secs_f64() / 60.0;
    let cpu = cpu_minutes(&times).with_context(|| format!("`times` printed {times:?}"))?;
    println!("{} packages, {cpu:.1} CPU minutes, {minutes:.1} minutes", packages.len());
    Ok(target.to_owned())
}

/// Minutes of all children, from the last line of the shell's `times`: `12m3.5s 0m4.1s`.
fn cpu_minutes(times: &str) -> Option<f64> {
    let of = |time: &str| {
        let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()? / 60.0)
    };
    let (user, system) = times.trim_end().lines().last()?.split_once(' ')?;
    Some(of(user)? + of(system)?)
}

/// Names and bytes from `size -A`, largest first.
fn sections(printed: &str) -> Vec<(&str, u64)> {
    let section = |line| {
        let words: Vec<&str> = str::split_whitespace(line).collect();
        let [name, bytes, _address] = words[..] else { return None };
        Some((name, bytes.parse().ok()?))
    };
    let mut sections: Vec<(&str, u64)> = printed.lines().filter_map(section).collect();
    sections.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    sections
}

fn gzipped(path: &Path) -> Result<u64> {
    let printed = stdout_of(program("sh").args(["-c", "gzip -9 -c \"$0\" | wc -c"]).arg(path))?;
    printed.trim().parse().with_context(|| format!("gzip of {}", path.display()))
}

fn mb(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_children_are_added() {
        let minutes = cpu_minutes("0m0.00s 0m0.00s\n11m30.00s 0m30.00s\n").unwrap();
        assert!((minutes - 12.0).abs() < 1e-9, "{minutes}");
        assert_eq!(cpu_minutes("nothing"), None);
    }

    #[test]
    fn sections_are_sorted_by_size() {
        let printed = "a  :\nsection   size   addr\n.text   500   4096\n.rodata   900   8192\nTotal   1400\n";
        assert_eq!(sections(printed), [(".rodata", 900), (".text", 500)]);
    }
}
