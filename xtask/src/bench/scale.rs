//! `cargo xtask bench scale`: a run in 10, 100 and 1,000 parts, a book each, with the built-in reader: what it takes to join
//! them and to look at them, and whether that grows faster than the parts do.

use super::engine::build;
use super::engine::measured::{Took, measure, size};
use super::engine::text::{Words, write_lines};
use crate::process::{emptied, target_dir};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Maximum seconds and bytes of memory for joining the parts.
const MOST_SECONDS: f64 = 60.0;
const MOST_MEMORY: u64 = 500_000_000;
/// Maximum factor by which joining one part may take longer with ten times as many parts.
const MOST_GROWTH: f64 = 3.0;
/// Minimum seconds of a merge to compare: shorter ones are mostly the start of the program.
const LEAST_SECONDS: f64 = 0.2;
const QUESTIONS_A_BOOK: usize = 2;
const BOOK_BYTES: usize = 4_000;

/// Arguments of `bench scale`.
#[derive(Debug, clap::Args)]
pub(crate) struct ScaleArgs {
    /// Profile closeread is built with
    #[arg(long, default_value = "release")]
    profile: String,
    /// A built closeread to use
    #[arg(long, conflicts_with = "profile")]
    binary: Option<PathBuf>,
    /// Numbers of parts
    #[arg(long, value_delimiter = ',', default_values_t = [10, 100, 1_000])]
    parts: Vec<usize>,
}

/// Measures; true if all limits are kept.
pub(crate) fn run_with(args: &ScaleArgs) -> Result<bool> {
    let work = target_dir()?.join("bench-scale");
    let closeread = match &args.binary {
        Some(binary) => binary.canonicalize().with_context(|| format!("cannot find {}", binary.display()))?,
        None => build(&args.profile)?,
    };
    println!("parts  runs s  merge s  merge MB  status s  parts' MB  of which manifests");
    let (mut good, mut before) = (true, None);
    for &parts in &args.parts {
        emptied(&work)?;
        let measured = Measured::of(&closeread, &work, parts)?;
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        println!(
            "{parts:>5} {:>7.1} {:>8.2} {:>9.0} {:>9.2} {:>10.1} {:>19.1}",
            measured.running,
            measured.merge.seconds,
            megabytes(measured.merge.memory),
            measured.status.seconds,
            megabytes(measured.bytes),
            megabytes(measured.manifests),
        );
        good &= measured.merge.seconds <= MOST_SECONDS && measured.merge.memory <= MOST_MEMORY;
        let a_part = measured.merge.seconds.max(LEAST_SECONDS) / parts as f64;
        if let Some(before) = before.replace(a_part)
            && a_part > before * MOST_GROWTH
        {
            println!("a part takes {:.1} times as long to join as among fewer parts", a_part / before);
            good = false;
        }
    }
    println!("at most: merge {MOST_SECONDS:.0} s and {:.0} MB", MOST_MEMORY as f64 / 1e6);
    emptied(&work)?;
    Ok(good)
}

struct Measured {
    /// Seconds of all parts' runs, one after the other.
    running: f64,
    merge: Took,
    status: Took,
    bytes: u64,
    manifests: u64,
}

impl Measured {
    fn of(closeread: &Path, work: &Path, parts: usize) -> Result<Self> {
        make(work, parts)?;
        let command = |words: &[&str]| {
            let mut command = Command::new(closeread);
            command.args(words).env("CLOSEREAD_CACHE", work.join("cache")).current_dir(work);
            command
        };
        const RUN: [&str; 6] = ["run", "--quiet", "--benchmark", "bench", "--method", "closed-book,full-document"];
        let folders: Vec<String> = (0..parts).map(|id| format!("spread/parts/{id}")).collect();
        let started = Instant::now();
        for (id, folder) in folders.iter().enumerate() {
            let part = format!("{}/{parts}", id + 1);
            let ended = command(&RUN).args(["--shard", &part, "--out", folder]).output()?;
            ensure!(ended.status.success(), "part {part}: {}", String::from_utf8_lossy(&ended.stderr));
        }
        let running = started.elapsed().as_secs_f64();
        let merge = measure(command(&["merge", "--json", "--out", "whole"]).args(&folders), work)?;
        let joined: Value = serde_json::from_str(&merge.output).context("closeread prints JSON")?;
        let n_trials = parts * QUESTIONS_A_BOOK * 2;
        ensure!(joined["records"] == n_trials, "{n_trials} trials are expected: {joined}");
        let status = measure(&mut command(&["status", "spread", "--json"]), work)?;
        let manifests =
            folders.iter().map(|folder| Ok(std::fs::metadata(work.join(folder).join("manifest.json"))?.len()));
        let manifests = manifests.sum::<Result<u64>>()?;
        Ok(Self { running, merge, status, bytes: size(&work.join("spread"))?, manifests })
    }
}

/// Writes a benchmark of so many books.
fn make(work: &Path, n_books: usize) -> Result<()> {
    let words = Words::of_sample()?;
    let documents = (0..n_books).map(|n| {
        let text = words.book(BOOK_BYTES, n as u64 + 1);
        json!({"id": format!("b{n}"), "title": format!("Book {n}"), "language": "en", "text": text})
    });
    write_lines(&work.join("bench/documents.jsonl"), documents)?;
    let items = (0..n_books * QUESTIONS_A_BOOK).map(|n| {
        json!({"id": format!("q{n}"), "documents": [format!("b{}", n / QUESTIONS_A_BOOK)], "task": "choice",
            "question": "Who rings the bell?", "options": ["Agnes", "Dorcas", "Wilf", "nobody"], "correct": n % 4})
    });
    write_lines(&work.join("bench/items.jsonl"), items)
}
