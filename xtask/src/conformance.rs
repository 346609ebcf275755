//! `cargo xtask conformance`: vector files against the core, natively or compiled to WebAssembly.
//!
//! The work is done by package closeread-tests, which prints one JSON report a file; here the reports become lines.

use crate::machine::{NODE, WASM, WASM_TARGET};
use crate::process::{BUILD_PROGRAMS, cargo, program, root, run as run_program, stdout_of, target_dir};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A folder of vector files (*.json with a field `schema`). Without it the one that the environment variable
    /// CLOSEREAD_VECTORS names, and without that tests/vectors.
    dir: Option<PathBuf>,
    /// Compile the core to wasm32 and run it in Node, with imports that throw.
    #[arg(long)]
    wasm: bool,
}

/// Runs the folder and prints it; false if any case fails.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let dir = args.dir.clone().or_else(given_vectors).unwrap_or_else(own_vectors);
    let reports = reports(&dir, if args.wasm { Target::Wasm } else { Target::Native }, Runner::Alone)?;
    for report in &reports {
        report.print(NotYet::Fails);
    }
    Ok(reports.iter().all(|report| report.failed == 0))
}

/// The folder of this repository's own vectors.
pub(crate) fn own_vectors() -> PathBuf {
    root().join("tests/vectors")
}

/// The folder of vectors that the environment names.
pub(crate) fn given_vectors() -> Option<PathBuf> {
    std::env::var_os("CLOSEREAD_VECTORS").map(PathBuf::from)
}

/// The target for which core is compiled.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    Native,
    Wasm,
}

/// What else is compiled with the runner.
#[derive(Clone, Copy)]
pub(crate) enum Runner {
    /// Nothing: faster if nothing is compiled yet.
    Alone,
    /// The workspace, or the page's module: faster if they are, or will be, compiled.
    WithAll,
}

/// The treatment of cases whose schema or group has no code.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum NotYet {
    /// Such cases fail, as any other case.
    Fails,
    /// Such cases are listed and left out of the counts.
    Listed,
}

/// The outcome of one file, as closeread-tests prints it.
pub(crate) struct Report {
    file: String,
    passed: usize,
    failed: usize,
    failures: Vec<String>,
    not_yet: Vec<(String, usize)>,
    notes: Vec<String>,
    /// Digest of everything that was computed, to the last digit.
    digest: Option<String>,
}

/// Compiles the runner for `target` and gives it every vector file of `dir`. What WebAssembly computes is also held to
/// what the native runner computes, to the last digit.
///
/// # Errors
/// If the folder holds no vector file, or the runner does not build or does not end well.
pub(crate) fn reports(dir: &Path, target: Target, runner: Runner) -> Result<Vec<Report>> {
    let files = vector_files(dir)?;
    let lines = match target {
        Target::Native => {
            let build: &[&str] = match runner {
                Runner::Alone => &["build", "--bin", "conformance", "--package", "closeread-tests"],
                Runner::WithAll => &BUILD_PROGRAMS,
            };
            run_program(cargo().args(build))?;
            let built = target_dir()?.join("debug").join(format!("conformance{EXE_SUFFIX}"));
            stdout_of(Command::new(built).args(&files))?
        }
        Target::Wasm => {
            WASM_TARGET.require()?;
            NODE.require()?;
            let mut build = cargo();
            build.args(["build", "--package", "closeread-tests", "--lib", "--target", WASM]);
            if matches!(runner, Runner::WithAll) {
                build.args(crate::web::page_in_development());
            }
            run_program(&mut build)?;
            let module = target_dir()?.join(WASM).join("debug/closeread_tests.wasm");
            stdout_of(program("node").arg("tests/wasm/run.mjs").arg(module).args(&files))?
        }
    };
    let mut reports = lines.lines().map(Report::parse).collect::<Result<Vec<_>>>()?;
    ensure!(reports.len() == files.len(), "{} files, but {} reports", files.len(), reports.len());
    if matches!(target, Target::Wasm) {
        for (report, native) in reports.iter_mut().zip(self::reports(dir, Target::Native, runner)?) {
            report.hold_to(&native);
        }
    }
    Ok(reports)
}

/// Vector files in a folder below the others.
const BENEATH: [&str; 7] = [
    "tables/eval.json",
    "tables/corpusqa.json",
    "tables/hamlet.json",
    "tables/novelqa.json",
    "tables/raters.json",
    "tables/sagascale.json",
    "tables/stronger-baselines.json",
];

/// All *.json of the folder and those of [`BENEATH`] that declare a schema, or cannot be read as JSON (the runner says
/// why), sorted.
fn vector_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let dir = dir.canonicalize().with_context(|| format!("{}: no such folder of vectors", dir.display()))?;
    let entries = dir.read_dir().with_context(|| format!("{}: not a folder", dir.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.extend(BENEATH.map(|path| dir.join(path)).into_iter().filter(|path| path.is_file()));
    let mut files = vec![];
    for path in paths {
        let bytes = std::fs::read(&path).with_context(|| format!("{}", path.display()))?;
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(json) if json.get("schema").is_none() => {
                eprintln!("{}: no field `schema`, left out", path.display());
            }
            Ok(json) if json["schema"] == "paper_tables/1" => {
                eprintln!("{}: held by `cargo test -p xtask`, left out", path.display());
            }
            _ => files.push(path),
        }
    }
    if files.is_empty() {
        bail!("{}: no vector files there (*.json with a field `schema`)", dir.display());
    }
    files.sort();
    Ok(files)
}

impl Report {
    fn parse(line: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(line).with_context(|| format!("not a report: {line}"))?;
        let number = |of: &Value, field: &str| of[field].as_u64().unwrap_or(0) as usize;
        let texts = |field: &str| {
            let items = value[field].as_array().into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        Ok(Self {
            file: value["file"].as_str().with_context(|| format!("a report without `file`: {line}"))?.to_owned(),
            passed: number(&value, "passed"),
            failed: number(&value, "failed"),
            failures: texts("failures"),
            not_yet: (value["not_yet"].as_array().into_iter().flatten())
                .map(|part| (part["what"].as_str().unwrap_or_default().to_owned(), number(part, "cases")))
                .collect(),
            notes: texts("notes"),
            digest: value["digest"].as_str().map(str::to_owned),
        })
    }

    /// Fails if the native run computed other values.
    fn hold_to(&mut self, native: &Self) {
        if self.digest != native.digest {
            self.failed += 1;
            self.failures.push("its results differ from the native ones in some digit".to_owned());
        }
    }

    /// Number of failed cases for which there is code.
    pub(crate) fn wrong(&self) -> usize {
        self.failed - self.not_yet.iter().map(|(_, cases)| cases).sum::<usize>()
    }

    /// Cases in which the core gave what the reference gave.
    pub(crate) fn passed(&self) -> usize {
        self.passed
    }

    /// Prints the line of the file and, indented beneath it, the first failures.
    pub(crate) fn print(&self, not_yet: NotYet) {
        const SHOWN: usize = 5;
        let failed = if not_yet == NotYet::Fails { self.failed } else { self.wrong() };
        println!("{}: passed {}, failed {failed}", self.file, self.passed);
        for failure in self.failures.iter().take(SHOWN) {
            println!("    {failure}");
        }
        if let Some(more @ 1..) = self.failures.len().checked_sub(SHOWN) {
            println!("    and {more} more");
        }
        let label = if not_yet == NotYet::Fails { "" } else { "not yet: " };
        for (what, cases) in &self.not_yet {
            println!("    {label}{what} ({cases} {})", if *cases == 1 { "case" } else { "cases" });
        }
        for note in &self.notes {
            println!("    note: {note}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_digits_than_natively_are_a_failure() {
        let report = |digest: &str| {
            Report::parse(&format!(r#"{{"file": "f.json", "passed": 2, "failed": 0, "digest": "{digest}"}}"#)).unwrap()
        };
        let mut wasm = report("a");
        wasm.hold_to(&report("a"));
        assert_eq!(wasm.wrong(), 0);
        wasm.hold_to(&report("b"));
        assert_eq!((wasm.wrong(), wasm.failures.len()), (1, 1));
    }
}
