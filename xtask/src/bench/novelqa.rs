//! `cargo xtask bench novelqa`: a benchmark of NovelQA's size, 89 books of 200,000 tokens and 2,305 questions: how long a
//! dry run takes, how large a run's folder becomes.

use super::engine::build;
use super::engine::measured::{measure, size};
use super::engine::server::Server;
use super::engine::text::{Words, write_lines};
use crate::process::{emptied, target_dir};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const N_BOOKS: usize = 89;
const N_QUESTIONS: usize = 2_305;
const BOOK_TOKENS: usize = 200_000;
/// Minimum bytes of a token of the invented text.
const BYTES_A_TOKEN: usize = 4;
/// Maximum seconds of a dry run.
const MOST_SECONDS: f64 = 30.0;
/// Maximum bytes of a run folder, books included.
const MOST_BYTES: u64 = 50_000_000;

/// Arguments of `bench novelqa`.
#[derive(Debug, clap::Args)]
pub(crate) struct NovelQaArgs {
    /// Profile closeread is built with
    #[arg(long, default_value = "release")]
    profile: String,
    /// Only the dry run
    #[arg(long)]
    no_run: bool,
}

/// Measures; true if the dry run and the folder keep their limits.
pub(crate) fn run_with(args: &NovelQaArgs) -> Result<bool> {
    let work = target_dir()?.join("bench-novelqa");
    emptied(&work)?;
    let closeread = build(&args.profile)?;
    let n_bytes = make(&work)?;
    println!("{N_BOOKS} books, {:.1} MB, {N_QUESTIONS} questions", n_bytes as f64 / 1e6);

    let mut command = Command::new(&closeread);
    command.args(["run", "--dry-run", "--benchmark", "bench", "--model", "openai/gpt-4o,openai/gpt-4.1", "--json"]);
    let took = measure(command.env("CLOSEREAD_CACHE", work.join("cache")).current_dir(&work), &work)?;
    let told: Value = serde_json::from_str(&took.output).context("closeread prints its estimate")?;
    let tokens = told["book_tokens"].as_u64().unwrap_or(0);
    ensure!(tokens >= (N_BOOKS * BOOK_TOKENS) as u64, "the books have {tokens} tokens, which is too few");
    let fast = took.seconds <= MOST_SECONDS;
    println!(
        "dry run, all methods, two models: {:.1} s (at most {MOST_SECONDS:.0}), {:.0} MB of memory, {tokens} tokens of books",
        took.seconds,
        took.memory as f64 / 1e6
    );
    if args.no_run {
        return Ok(fast);
    }

    let server = Server::start()?;
    let mut command = Command::new(&closeread);
    command.args(["run", "--benchmark", "bench", "--method", "closed-book,dos-rag", "--retriever", "bm25", "--json"]);
    command.args(["--model", "openai-compatible/tiny", "--base-url", &server.url, "--out", "run"]);
    let took = measure(command.env("CLOSEREAD_CACHE", work.join("cache")).current_dir(&work), &work)?;
    let report: Value = serde_json::from_str(&took.output).context("closeread prints its report")?;
    ensure!(report["complete"] == true, "the run is not complete");
    let n_trials = report["cells"].as_array().map_or(0, Vec::len) * N_QUESTIONS;
    let folder = work.join("run");
    let bytes = size(&folder)?;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    println!(
        "run, closed-book and dos-rag at four budgets, BM25: {n_trials} trials in {:.1} s, {:.0} MB of memory",
        took.seconds,
        megabytes(took.memory)
    );
    println!(
        "its folder: {:.1} MB (at most {:.0}): texts {:.1}, records {:.1}",
        megabytes(bytes),
        megabytes(MOST_BYTES),
        megabytes(size(&folder.join("texts"))?),
        megabytes(std::fs::metadata(folder.join("records.jsonl"))?.len())
    );
    Ok(fast && bytes <= MOST_BYTES)
}

/// Writes the benchmark; returns the bytes of its books.
fn make(work: &Path) -> Result<usize> {
    let words = Words::of_sample()?;
    let books: Vec<String> =
        (0..N_BOOKS).map(|book| words.book(BOOK_TOKENS * BYTES_A_TOKEN, book as u64 + 1)).collect();
    let documents = books.iter().enumerate();
    let documents = documents
        .map(|(n, text)| json!({"id": format!("b{n}"), "title": format!("Book {n}"), "language": "en", "text": text}));
    write_lines(&work.join("bench/documents.jsonl"), documents)?;
    let items = (0..N_QUESTIONS).map(|n| {
        // The evidence is a line of the book, which is why it is found.
        let quote = books[n % N_BOOKS].lines().nth(n * 7 % 5_000).unwrap_or_default();
        json!({"id": format!("q{n}"), "documents": [format!("b{}", n % N_BOOKS)], "task": "choice",
            "question": format!("Who says: {quote}?"), "options": ["Ana", "Ben", "Cleo", "Dov"], "correct": n % 4,
            "evidence": [{"quote": quote}]})
    });
    write_lines(&work.join("bench/items.jsonl"), items)?;
    Ok(books.iter().map(String::len).sum())
}
