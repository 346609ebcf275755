//! `closeread data`: data sets, made and looked after.

mod hash;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand, ValueEnum};
use closeread_core::build::corpus::{Corpus, CorpusLanguage, CorpusSpec};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Data sets: invent a corpus, hide gold answers
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// Invent a corpus in the manner of CorpusQA: a table, the reports it is hidden in, questions with gold answers
    Corpus(CorpusArgs),
    /// Hash gold answers, so that a public page can score exact match without telling them
    Hash(hash::HashArgs),
}

/// Arguments of `closeread data corpus`.
#[derive(Debug, Args)]
struct CorpusArgs {
    /// Decides the whole content: the same seed gives the same bytes
    #[arg(long, value_name = "S")]
    seed: u64,
    /// Institutions to invent, a report each
    #[arg(long, value_name = "N")]
    documents: usize,
    /// Language of reports and questions: housing cooperatives in English, hospitals in Chinese
    #[arg(long, value_enum, default_value = "en")]
    language: Language,
    /// Length of a report aimed at, in cl100k tokens
    #[arg(long, value_name = "T", default_value_t = 1_200)]
    tokens_per_document: usize,
    /// Folder to write; must be new or empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print what was written as one JSON value
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Language {
    En,
    Zh,
}

impl From<Language> for CorpusLanguage {
    fn from(language: Language) -> Self {
        match language {
            Language::En => Self::English,
            Language::Zh => Self::Chinese,
        }
    }
}

/// Runs `closeread data`.
///
/// # Errors
/// If an argument is out of range, the folder holds something already or a file cannot be written.
pub(crate) fn run(args: DataArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        DataCommand::Corpus(args) => corpus(&args),
        DataCommand::Hash(args) => hash::run(&args),
    }
}

/// Writes a corpus, one report at a time: only the table and the questions are held.
fn corpus(args: &CorpusArgs) -> anyhow::Result<ExitCode> {
    let corpus = Corpus::new(CorpusSpec {
        seed: args.seed,
        n_documents: args.documents,
        language: args.language.into(),
        tokens_per_document: args.tokens_per_document,
    })?;
    let out = &args.out;
    let reports = out.join("reports");
    if fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{} is not empty: name a new folder with --out, or empty this one", out.display());
    }
    fs::create_dir_all(&reports).with_context(|| format!("cannot make the folder {}", reports.display()))?;

    let mut documents = Lines::create(&out.join("documents.jsonl"))?;
    let mut n_bytes = 0;
    for report in corpus.reports() {
        let path = reports.join(format!("{}.md", report.document.id));
        fs::write(&path, &report.markdown).with_context(|| format!("cannot write {}", path.display()))?;
        n_bytes += report.markdown.len();
        documents.json(&report.document)?;
    }
    documents.finish()?;
    let mut table = Lines::create(&out.join("table.csv"))?;
    for line in corpus.csv_lines() {
        table.line(&line)?;
    }
    table.finish()?;
    let mut table = Lines::create(&out.join("table.jsonl"))?;
    for row in corpus.json_lines() {
        table.json(&row)?;
    }
    table.finish()?;
    let mut items = Lines::create(&out.join("items.jsonl"))?;
    for item in corpus.items() {
        items.json(&item)?;
    }
    items.finish()?;
    // Last, so that a folder with a manifest is a whole corpus.
    let mut manifest = Lines::create(&out.join("manifest.json"))?;
    manifest.line(&serde_json::to_string_pretty(&corpus.manifest())?)?;
    manifest.finish()?;

    let n_items = corpus.items().len();
    if args.json {
        let written = serde_json::json!({
            "folder": out, "documents": args.documents, "items": n_items, "report_bytes": n_bytes,
        });
        outln!("{written}");
    } else {
        outln!("{}: {} reports ({n_bytes} bytes), {n_items} items", out.display(), args.documents);
    }
    Ok(ExitCode::SUCCESS)
}

/// A file written line by line; every error names it.
struct Lines {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Lines {
    fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }

    fn line(&mut self, line: &str) -> anyhow::Result<()> {
        writeln!(self.file, "{line}").with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        self.line(&serde_json::to_string(value)?)
    }

    fn finish(mut self) -> anyhow::Result<()> {
        self.file.flush().with_context(|| format!("cannot write {}", self.path.display()))
    }
}
