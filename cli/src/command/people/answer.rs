//! `closeread people answer`: a page on which people answer the questions of a benchmark, by the clock.

use super::Selection;
use super::folder::StudyFolder;
use crate::hint::typed_path;
use crate::values::one_of;
use anyhow::{Context, Result, bail};
use clap::Args;
use closeread_eval::Item;
use closeread_files::write_atomically;
use closeread_judges::study::{TextFile, of_items};
use closeread_runner::benchmark::{AskedAs, Benchmark, BenchmarkOptions};
use closeread_runner::run_folder::{Opening, RunFolder};
use closeread_runner::tokenizer;
use closeread_table::number::counted;
use closeread_text::Language;
use closeread_text::hash::name_hash;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing::info;

/// The run that what people answer becomes.
pub(super) const RUN: &str = "run";

/// Make a page on which people answer questions, timed, and may give up
///
/// Open questions come before those with options, as in NovelQA's two rounds. `people read` makes a run of what people
/// save, which `judge` and `report` take like any other (CorpusQA, Table 5; NovelQA, Table 2).
#[derive(Debug, Args)]
pub(super) struct AnswerArgs {
    /// sample, a data set by name, or a folder with documents.jsonl and items.jsonl
    #[arg(long, value_name = "NAME", default_value = "sample")]
    benchmark: String,
    /// Published files of the data set; repeatable
    #[arg(long, value_name = "PATH")]
    data: Vec<PathBuf>,
    /// Task of items that have options and answers: choice, generative, both [default: as given]
    #[arg(long, value_name = "NAME", value_parser = one_of::<AskedAs>())]
    task: Option<AskedAs>,
    /// Read files outside the folder of a documents.jsonl that names them
    #[arg(long)]
    allow_outside: bool,
    #[command(flatten)]
    selection: Selection,
    /// Maximum minutes for a question; CorpusQA gives 90 [default: no limit]
    #[arg(long, value_name = "N")]
    minutes: Option<u32>,
    /// Folder of the study
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Draws and writes the page, the texts beside it, and the run that the answers will be records of.
pub(super) fn run(args: &AnswerArgs) -> Result<ExitCode> {
    let options = BenchmarkOptions {
        name: Some(args.benchmark.clone()),
        data: args.data.clone(),
        allow_outside: args.allow_outside,
        task: args.task.unwrap_or_default(),
        only: args.selection.only.clone(),
        draw: args.selection.draw()?,
        ..BenchmarkOptions::default()
    };
    let mut benchmark = Benchmark::load(&options)?;
    for problem in benchmark.problems.iter().filter(|problem| problem.dropped) {
        info!("{problem}");
    }
    let data = benchmark.fingerprint()?;
    benchmark.resolve()?;
    let configuration = json!({
        "benchmark": benchmark.name, "data": data, "documents": benchmark.described_books(),
        "keep_frame": benchmark.keep_frame, "keep_wraps": benchmark.keep_wraps, "items": benchmark.items.len(),
        "cells": [], "repeats": 1, "tokenizer": tokenizer::load(None, None)?.name(),
    });
    StudyFolder::claim(&args.out)?;
    if args.out.join(RUN).exists() {
        bail!("{} holds a study already: choose another folder with --out", args.out.display());
    }
    let files = write_texts(&args.out, &benchmark)?;
    let work = |item: &Item| {
        let mut books = benchmark.books.iter().filter(|book| item.documents.contains(&book.id));
        match (books.next(), books.next()) {
            (Some(book), None) => (book.title.clone(), book.language),
            (first, _) => (String::new(), first.map_or(Language::ENGLISH, |book| book.language)),
        }
    };
    let units = of_items(&benchmark.items, work, |id| files.get(id).cloned());
    let n = units.len();
    let page = StudyFolder::write(
        &args.out,
        format!("{}: {}", benchmark.name, counted(n, "question")),
        args.minutes,
        units,
        None,
    )?;
    let folder = RunFolder::open(&args.out.join(RUN), &configuration, None, Opening::Resume)?;
    folder.store(&benchmark.books, &benchmark.texts, &benchmark.items)?;
    info!(
        "{} on {}; {} is for people, with the folder texts beside it",
        counted(n, "question"),
        counted(benchmark.books.len(), "book"),
        page.display()
    );
    info!("closeread people read {} FILE... reads what they save", typed_path(&args.out));
    Ok(ExitCode::SUCCESS)
}

/// Writes the texts of the books beside the page; gives their files by the ids of the books.
fn write_texts(out: &Path, benchmark: &Benchmark) -> Result<BTreeMap<String, TextFile>> {
    let texts = out.join("texts");
    fs::create_dir_all(&texts).with_context(|| format!("cannot create {}", texts.display()))?;
    let mut files: BTreeMap<String, TextFile> = BTreeMap::new();
    for book in &benchmark.books {
        let path = format!("texts/{}.txt", name_hash(&book.id));
        let text = benchmark.texts.open(book)?;
        // A byte order mark tells a browser that opens it from a disk how it is written.
        write_atomically(&out.join(&path), format!("\u{feff}{}", text.source()).as_bytes())?;
        let title = if book.title.is_empty() { book.id.clone() } else { book.title.clone() };
        files.insert(book.id.clone(), TextFile { title, path });
    }
    Ok(files)
}
