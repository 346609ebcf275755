//! `cargo xtask bench engine`: whole runs of closeread and of inspect_ai against the same server.

pub(crate) mod measured;
pub(crate) mod server;
pub(crate) mod text;

use super::peers::{python_with, work_folder};
use crate::process::{built_dir, cargo, emptied, root, run};
use anyhow::{Context as _, Result, ensure};
use measured::{Took, measure, median, needs_proc, size};
use serde_json::{Value, json};
use server::Server;
use std::path::{Path, PathBuf};
use std::process::Command;
use text::{Words, write_lines};

/// Packages of the peer and of its client.
const PACKAGES: [&str; 2] = ["inspect_ai==0.3.285", "openai==3.54.0"];
/// Concurrent samples, on both sides.
const CONCURRENCY: &str = "64";
/// Target: our samples per second divided by the peer's.
const SPEED_TARGET: f64 = 20.0;
/// Targets for prompts with a book: our share of the peer's memory and log.
const BOOK_TARGETS: [f64; 2] = [10.0, 20.0];

/// Arguments of `bench engine`.
#[derive(Debug, clap::Args)]
pub(crate) struct EngineArgs {
    /// Runs of each side, in turns; medians are printed
    #[arg(long, default_value_t = 3)]
    turns: usize,
    /// Profile closeread is built with
    #[arg(long, default_value = "release")]
    profile: String,
}

/// A case for both sides.
struct Case {
    name: &'static str,
    method: &'static str,
    n_samples: usize,
    /// Bytes of the book that each prompt holds; none for small samples.
    book: usize,
}

const CASES: [Case; 2] = [
    Case { name: "1,000 small samples", method: "closed-book", n_samples: 1_000, book: 0 },
    Case { name: "50 questions on a book of 1 MB", method: "full-document", n_samples: 50, book: 1_000_000 },
];

/// The time and memory of one run.
struct Sample {
    took: Took,
    /// Bytes of the run folder or the log.
    log: u64,
    /// Bytes of the response cache, which only one side has here.
    cache: u64,
    /// Seconds of the evaluation alone, if the side prints them.
    alone: f64,
}

/// Measures; true if every target is reached. Linux only: the memory of a process is read from `/proc`.
pub(crate) fn run_with(args: &EngineArgs) -> Result<bool> {
    needs_proc()?;
    let work = work_folder("engine")?;
    let python = python_with(&PACKAGES, &work)?;
    let closeread = build(&args.profile)?;
    let server = Server::start()?;
    let words = Words::of_sample()?;
    println!(
        "medians of {} turns, {CONCURRENCY} samples under way at once, whole commands from start to end",
        args.turns
    );
    let mut good = true;
    for case in &CASES {
        let folder = work.join(case.method);
        emptied(&folder)?;
        make(case, &words, &folder)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..args.turns {
            theirs.push(inspect(case, &python, &folder, &server)?);
            ours.push(closeread_run(case, &closeread, &folder, &server)?);
        }
        good &= print(case, &ours, &theirs);
    }
    println!("{}", if good { "targets reached" } else { "a target is missed" });
    Ok(good)
}

/// Builds the program; returns its path.
pub(crate) fn build(profile: &str) -> Result<PathBuf> {
    run(cargo().args(["build", "--profile", profile, "--package", "closeread"]))?;
    Ok(built_dir(profile)?.join("closeread"))
}

/// Writes the case for both sides: a benchmark folder, and a file of prompts.
fn make(case: &Case, words: &Words, folder: &Path) -> Result<()> {
    let book = if case.book == 0 { "Ana came to the mill.".to_owned() } else { words.book(case.book, 1) };
    let document = json!({"id": "book", "title": "The Mill", "language": "en", "text": book});
    write_lines(&folder.join("bench/documents.jsonl"), std::iter::once(document))?;
    let question = |n: usize| format!("Who came to the mill on day {n}?");
    let items = (0..case.n_samples).map(|n| {
        json!({"id": format!("q{n}"), "documents": ["book"], "question": question(n), "task": "choice",
            "options": ["Ana", "Bo", "Cleo", "Dov"], "correct": n % 4})
    });
    write_lines(&folder.join("bench/items.jsonl"), items)?;
    let head = if case.book == 0 { String::new() } else { format!("{book}\n\n") };
    let prompts = (0..case.n_samples).map(|n| {
        let question = question(n);
        json!(format!("{head}Question: {question}\n[[1]] Ana\n[[2]] Bo\n[[3]] Cleo\n[[4]] Dov\nResponse with the number in double brackets."))
    });
    write_lines(&folder.join("prompts.jsonl"), prompts)
}

fn closeread_run(case: &Case, closeread: &Path, folder: &Path, server: &Server) -> Result<Sample> {
    let (out, cache) = (folder.join("run"), folder.join("cache"));
    emptied(&out)?;
    emptied(&cache)?;
    let mut command = Command::new(closeread);
    command.env("CLOSEREAD_CACHE", &cache).current_dir(folder).args(["run", "--benchmark", "bench", "--json"]);
    command.args(["--method", case.method, "--model", "openai-compatible/tiny", "--base-url", &server.url]);
    command.args(["--concurrency", CONCURRENCY, "--out", "run"]);
    server.take_count();
    let took = measure(&mut command, folder)?;
    let report: Value = serde_json::from_str(&took.output).context("closeread prints its report")?;
    let answered = &report["cells"][0]["ledger"]["answered"];
    ensure!(*answered == json!(case.n_samples), "closeread answered {answered} of {} samples", case.n_samples);
    ensure!(server.take_count() == case.n_samples, "closeread did not ask each sample once");
    Ok(Sample { log: size(&out)?, cache: size(&cache)?, alone: took.seconds, took })
}

fn inspect(case: &Case, python: &Path, folder: &Path, server: &Server) -> Result<Sample> {
    let logs = folder.join("logs");
    emptied(&logs)?;
    let mut command = Command::new(python);
    command.arg(root().join("xtask/bench/engine_peer.py")).arg(folder.join("prompts.jsonl")).arg(&logs);
    command.arg(CONCURRENCY).env("OPENAI_BASE_URL", &server.url).env("OPENAI_API_KEY", "none").current_dir(folder);
    server.take_count();
    let took = measure(&mut command, folder)?;
    let told: Value = took.output.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    ensure!(told["status"] == "success", "inspect_ai did not finish: {}", took.output);
    ensure!(server.take_count() == case.n_samples, "inspect_ai did not ask each sample once");
    let alone = told["seconds"].as_f64().context("the peer says how long the evaluation took")?;
    Ok(Sample { log: size(&logs)?, cache: 0, alone, took })
}

/// Prints a case; true if its targets are reached.
fn print(case: &Case, ours: &[Sample], theirs: &[Sample]) -> bool {
    let of = |samples: &[Sample], value: fn(&Sample) -> f64| median(samples.iter().map(value).collect());
    let rate = |seconds: f64| case.n_samples as f64 / seconds;
    println!("\n{}", case.name);
    println!("{:<28} {:>12} {:>12} {:>8} {:>7}", "", "closeread", "inspect_ai", "ratio", "target");
    let row = |what: &str, ours: f64, theirs: f64, ratio: f64, target: Option<f64>, digits: usize| {
        let goal = target.map_or(String::new(), |target| format!("{target:.0}"));
        println!("{what:<28} {ours:>12.digits$} {theirs:>12.digits$} {ratio:>8.1} {goal:>7}");
        target.is_none_or(|target| ratio >= target)
    };
    let [memory_target, log_target] = BOOK_TARGETS.map(|target| (case.book > 0).then_some(target));
    let seconds = |sample: &Sample| sample.took.seconds;
    let (mine, other) = (rate(of(ours, seconds)), rate(of(theirs, seconds)));
    let speed = row("samples a second", mine, other, mine / other, Some(SPEED_TARGET), 1);
    let alone = rate(of(theirs, |sample| sample.alone));
    row("the peer without its start", mine, alone, mine / alone, None, 1);
    let memory = |sample: &Sample| sample.took.memory as f64 / 1e6;
    let (mine, other) = (of(ours, memory), of(theirs, memory));
    let small = row("most memory, MB", mine, other, other / mine, memory_target, 1);
    let log = |sample: &Sample| sample.log as f64 / 1e6;
    let (mine, other) = (of(ours, log), of(theirs, log));
    let terse = row("log, MB", mine, other, other / mine, log_target, 3);
    println!("{:<28} {:>12.3}", "remembered responses, MB", of(ours, |sample| sample.cache as f64 / 1e6));
    speed && small && terse
}
