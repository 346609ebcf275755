//! `closeread export codabench`: a competition from a benchmark.

use anyhow::{Context, Result, bail};
use closeread_eval::observations::MetricName;
use closeread_eval::{Item, default_metrics, is_spaceless};
use closeread_export::Entry;
use closeread_export::codabench::{Competition, PROGRAM, bundle};
use closeread_files::{refuse_input_as_output, write_output};
use closeread_metrics::Metric;
use closeread_results::files::items_file;
use closeread_results::scoring::whole_items;
use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing::info;
use zip::write::{SimpleFileOptions, ZipWriter};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The benchmark: an items.jsonl with gold answers, or a folder or run folder that holds one
    #[arg(value_name = "ITEMS")]
    items: PathBuf,
    /// The bundle to write
    #[arg(long, value_name = "FILE.zip")]
    out: PathBuf,
    /// Title of the competition
    #[arg(long, value_name = "TEXT")]
    title: String,
    /// First day of the competition
    #[arg(long, value_name = "YYYY-MM-DD")]
    start: String,
    /// Metrics of the leaderboard, the one that ranks first [default: those of the items' tasks]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    metric: Vec<Metric>,
    /// The scorer: a closeread that needs no library (--target x86_64-unknown-linux-musl) [default: this program]
    #[arg(long, value_name = "FILE")]
    scorer: Option<PathBuf>,
    /// The container that the scorer runs in
    #[arg(long, value_name = "NAME", default_value = "codalab/codalab-legacy:py37")]
    image: String,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let is_day = args.start.len() == 10
        && args.start.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_day {
        bail!("--start {}: expected a day such as 2026-12-01", args.start);
    }
    let file = items_file(&args.items);
    let inputs = [Some(file.as_path()), args.scorer.as_deref()];
    refuse_input_as_output(&args.out, "--out", inputs.into_iter().flatten())?;
    let items = whole_items(&file)?;
    let metrics = if args.metric.is_empty() { of_tasks(&items) } else { args.metric.clone() };
    let scorer = match &args.scorer {
        Some(path) => path.clone(),
        None => std::env::current_exe().context("cannot find this program")?,
    };
    let program = closeread_files::read_file(&scorer).with_context(|| format!("cannot read {}", scorer.display()))?;
    if program.starts_with(b"\x7fELF") && needs_a_loader(&program) {
        info!(
            "{} needs the libraries of this system: where the platform's container lacks them, pass a static build by --scorer",
            scorer.display()
        );
    }
    let competition = Competition {
        title: args.title.clone(),
        start: args.start.clone(),
        metrics: metrics.iter().map(|metric| metric.name().to_owned()).collect(),
        are_chosen: !args.metric.is_empty(),
        image: args.image.clone(),
    };
    let mut entries = bundle(&competition, &items);
    entries.push(Entry { name: format!("scoring_program/{PROGRAM}"), bytes: program });
    let n = write(&args.out, entries)?;
    info!("{}: {n} files, {} items, a competition for Codabench", args.out.display(), items.len());
    Ok(ExitCode::SUCCESS)
}

/// The main metrics of each kind of item, in the order in which reports have them.
fn of_tasks(items: &[Item]) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    for item in items {
        for metric in default_metrics(item.task, is_spaceless(item)) {
            if !metrics.contains(metric) {
                metrics.push(*metric);
            }
        }
    }
    metrics.sort_by_key(|metric| MetricName::from(metric.name()));
    metrics
}

/// True of a program that names a dynamic loader (program header of type 3).
fn needs_a_loader(program: &[u8]) -> bool {
    let number = |at: usize, n: usize| {
        program
            .get(at..at + n)
            .map_or(0, |bytes| bytes.iter().rev().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte)))
    };
    let (first, size, n) = (number(32, 8), number(54, 2), number(56, 2));
    (0..n).any(|header| number(first.saturating_add(header * size), 4) == 3)
}

/// Writes the bundle, whose folders are archives of their own; returns how many files it holds, each of these as one.
fn write(out: &Path, entries: Vec<Entry>) -> Result<usize> {
    let mut archives: BTreeMap<String, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    let mut plain = Vec::new();
    for Entry { name, bytes } in entries {
        match name.split_once('/') {
            Some((folder, rest)) => archives.entry(folder.to_owned()).or_default().push((rest.to_owned(), bytes)),
            None => plain.push((name, bytes)),
        }
    }
    for (folder, files) in archives {
        let mut inner = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            let mode = if name == PROGRAM { 0o755 } else { 0o644 };
            inner.start_file(name, SimpleFileOptions::default().unix_permissions(mode))?;
            inner.write_all(&bytes)?;
        }
        plain.push((format!("{folder}.zip"), inner.finish()?.into_inner()));
    }
    let n = plain.len();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in plain {
        zip.start_file(name, SimpleFileOptions::default())?;
        zip.write_all(&bytes)?;
    }
    write_output(out, zip.finish()?.get_ref())?;
    Ok(n)
}
