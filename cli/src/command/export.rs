//! `closeread export`: a run in the formats of other tools.

mod archive;
mod codabench;
mod every_eval_ever;
mod folder;
mod one_table;
mod otlp;
#[cfg(feature = "parquet")]
mod parquet;
mod predictions;

use super::score::write_novelqa;
use anyhow::{Context, Result, bail};
use archive::Archive;
use closeread_data::scoring::{Attempt, Submission};
use closeread_eval::Item;
use closeread_export::hf::{self, Hub};
use closeread_export::{About, CellTrials, Row, by_subject, cell_name, inspect, trec};
use closeread_files::run_files::refuse_run_file;
use closeread_files::write_output;
use closeread_report::folder::{DocumentEntry, RunManifest};
use closeread_report::{Arm, report};
use closeread_results::tables::trials;
use closeread_runner::finished::{self, NamedFolder, Streamed, Texts};
use closeread_table::render::markdown;
use folder::{FileNames, OutFolder};
use one_table::OneTable;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing::info;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Write a run in the format of another tool
///
/// Other commands write some formats: `closeread gate --junit FILE` JUnit, `closeread report --csv FILE` CSV,
/// `closeread report --json` JSON and `closeread report --latex` LaTeX.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    #[command(subcommand)]
    format: FormatArgs,
}

#[derive(Debug, clap::Subcommand)]
enum FormatArgs {
    /// Logs of inspect_ai, an .eval for each cell, for its viewer and data frames
    Inspect(Folders),
    /// Tables as Parquet: cells, trials, items, calls, passages
    Parquet(Folders),
    /// Rankings and gold passages for trec_eval: a run file for each cell, and qrels
    Trec(Folders),
    /// Records of Every Eval Ever 0.3.0, with a row for each item and metric
    EveryEvalEver(every_eval_ever::Args),
    /// The tables of `closeread report` as Markdown
    Markdown(MarkdownArgs),
    /// Spans of OpenTelemetry, posted as protobuf over HTTP
    Otlp(otlp::Args),
    /// Results for the Hugging Face hub: .eval_results/*.yaml of a model, eval.yaml of a data set
    Hf(HfArgs),
    /// A competition for Codabench, from a benchmark: pages, gold, leaderboard, scorer
    Codabench(codabench::Args),
    /// A submission to NovelQA's leaderboard
    Novelqa(NovelqaArgs),
    /// Predictions of a cell, as `closeread score` and a leaderboard read them
    Predictions(predictions::Args),
}

#[derive(Debug, clap::Args)]
struct Folders {
    /// Run folders; NAME is the run's name in the export
    #[arg(value_name = "RUN[=NAME]", required = true)]
    runs: Vec<NamedFolder>,
    /// The folder to write into: a new or an empty one, or one that this command wrote
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Debug, clap::Args)]
struct MarkdownArgs {
    /// Run folders; NAME is the run's name in the tables
    #[arg(value_name = "RUN[=NAME]", required = true)]
    runs: Vec<NamedFolder>,
    /// Write into this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct HfArgs {
    #[command(flatten)]
    folders: Folders,
    /// The benchmark's data set on the hub, org/name
    #[arg(long, value_name = "ORG/NAME")]
    dataset: String,
    /// Revision of the data set
    #[arg(long, value_name = "HASH")]
    revision: Option<String>,
    /// Where the report can be read
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

#[derive(Debug, clap::Args)]
struct NovelqaArgs {
    /// The run folder
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The archive to write
    #[arg(long, value_name = "FILE.zip")]
    out: PathBuf,
    /// The cell to submit, METHOD@BUDGET, where the run has several
    #[arg(long, value_name = "CELL")]
    at: Option<String>,
    /// Letter to submit for a question without an answer [default: refuse to write]
    #[arg(long, value_name = "LETTER")]
    fill: Option<char>,
}

/// The command that writes a format which this one does not, as a sentence.
pub(crate) fn written_elsewhere(format: &str) -> Option<String> {
    let (name, command) = match format.to_lowercase().as_str() {
        "junit" | "junit-xml" | "xml" => ("JUnit", "gate RUN --min METRIC=SCORE --junit FILE"),
        "csv" => ("CSV", "report RUN --csv FILE"),
        "json" => ("JSON", "report RUN --json"),
        "html" => ("HTML", "report RUN --html DIR"),
        "latex" | "tex" => ("LaTeX", "report RUN --latex"),
        _ => return None,
    };
    Some(format!("`closeread {command}` writes {name}"))
}

/// Writes the export.
pub(crate) async fn run(args: ExportArgs) -> Result<ExitCode> {
    match args.format {
        FormatArgs::Inspect(folders) => inspect_logs(&folders),
        FormatArgs::Parquet(folders) => tables(&folders),
        FormatArgs::Trec(folders) => rankings(&folders),
        FormatArgs::EveryEvalEver(args) => every_eval_ever::run(&args),
        FormatArgs::Markdown(args) => as_markdown(&args),
        FormatArgs::Otlp(args) => otlp::run(args).await,
        FormatArgs::Hf(args) => hub(&args),
        FormatArgs::Codabench(args) => codabench::run(&args),
        FormatArgs::Novelqa(args) => novelqa(&args),
        FormatArgs::Predictions(args) => predictions::run(&args),
    }
}

/// A run of the command line, opened.
fn open(folder: &NamedFolder) -> Result<Streamed> {
    let name = folder.name.clone().unwrap_or_else(|| finished::folder_name(&folder.path));
    let streamed = finished::stream(&folder.path, name)?;
    for lack in &streamed.lacks {
        info!("{}: {lack}", folder.path.display());
    }
    Ok(streamed)
}

fn about(streamed: &Streamed) -> About<'_> {
    About { run: &streamed.run, created: streamed.created, version: env!("CARGO_PKG_VERSION") }
}

/// Hands over each trial of a cell that has a record, in order.
fn each_row(
    streamed: &mut Streamed,
    cell: &CellTrials,
    mut each: impl FnMut(About<'_>, &Row<'_>) -> Result<()>,
) -> Result<()> {
    let Streamed { run, created, stored, .. } = streamed;
    let about = About { run, created: *created, version: env!("CARGO_PKG_VERSION") };
    for trial in &cell.trials {
        if let Some(place) = trial.record {
            let record = stored.read(run, place)?;
            each(about, &Row { item: &run.items[trial.item], record: &record, trial })?;
        }
    }
    Ok(())
}

fn exit_code(complete: bool) -> ExitCode {
    if complete { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn inspect_logs(folders: &Folders) -> Result<ExitCode> {
    let mut out = OutFolder::open(&folders.out)?;
    let mut complete = true;
    for folder in &folders.runs {
        let mut streamed = open(folder)?;
        complete &= streamed.lacks.is_empty();
        for arm in streamed.run.plan.clone() {
            let cell = trials(&mut streamed, &arm)?;
            inspect_log(&mut out, &mut streamed, &cell)?;
        }
    }
    out.close("logs")?;
    Ok(exit_code(complete))
}

fn inspect_log(out: &mut OutFolder, streamed: &mut Streamed, cell: &CellTrials) -> Result<()> {
    let Streamed { run, created, stored, .. } = streamed;
    let judgements = by_subject(run);
    let about = About { run, created: *created, version: env!("CARGO_PKG_VERSION") };
    let mut log = inspect::Log::new(about, cell, &judgements);
    let name = log.file_name();
    let mut zip = ZipWriter::new(Archive::of(out.create(&name)?));
    put(&mut zip, &log.start())?;
    // The list comes after the samples, and of a long run it is too large for memory.
    let mut summaries = BufWriter::new(tempfile::tempfile().context("cannot create a temporary file")?);
    let mut before = b'[';
    for trial in &cell.trials {
        if let Some(place) = trial.record {
            let record = stored.read(run, place)?;
            let sample = log.sample(&Row { item: &run.items[trial.item], record: &record, trial });
            put(&mut zip, &sample.entry)?;
            summaries.write_all(&[before])?;
            summaries.write_all(&sample.summary)?;
            before = b',';
        }
    }
    summaries.write_all(if before == b'[' { b"[]" } else { b"]" })?;
    let mut summaries = summaries.into_inner()?;
    summaries.rewind()?;
    start(&mut zip, inspect::SUMMARIES)?;
    std::io::copy(&mut summaries, &mut zip).with_context(|| format!("cannot add {}", inspect::SUMMARIES))?;
    put(&mut zip, &log.finish())?;
    zip.finish().map_err(archive::plain).context("cannot end the archive")?;
    out.finish(&name)
}

/// Adds a file to an archive.
fn put(zip: &mut ZipWriter<Archive>, entry: &closeread_export::Entry) -> Result<()> {
    start(zip, &entry.name)?;
    zip.write_all(&entry.bytes).with_context(|| format!("cannot add {}", entry.name))
}

fn start(zip: &mut ZipWriter<Archive>, name: &str) -> Result<()> {
    let started = zip.start_file(name, SimpleFileOptions::default()).map_err(archive::plain);
    started.with_context(|| format!("cannot add {name}"))
}

#[cfg(not(feature = "parquet"))]
fn tables(_: &Folders) -> Result<ExitCode> {
    bail!(
        "this closeread was built without Parquet: build it with `cargo build --features full`, or use `closeread report --csv`"
    )
}

#[cfg(feature = "parquet")]
fn tables(folders: &Folders) -> Result<ExitCode> {
    parquet::run(folders)
}

fn rankings(folders: &Folders) -> Result<ExitCode> {
    let (mut golds, mut table): (BTreeMap<String, String>, OneTable) = Default::default();
    for folder in &folders.runs {
        let run = open(folder)?.run;
        table.add(&run)?;
        golds.extend(run.items.iter().map(|item| (item.id.clone(), trec::qrels(item))));
    }
    let qrels: String = golds.into_values().collect();
    if qrels.is_empty() {
        bail!(
            "no item has gold evidence whose place is known: there is nothing to be found, and no ranking can be judged"
        );
    }
    let mut out = OutFolder::open(&folders.out)?;
    let (mut complete, mut names) = (true, FileNames::default());
    for folder in &folders.runs {
        let mut streamed = open(folder)?;
        complete &= streamed.lacks.is_empty();
        for arm in streamed.run.plan.clone() {
            let cell = trials(&mut streamed, &arm)?;
            let name = names.of(&format!("{}_{}", streamed.run.name, cell_name(&streamed.run, &arm)));
            let mut lines = BufWriter::new(Vec::new());
            each_row(&mut streamed, &cell, |about, row| {
                // A reader knows one ranking a question.
                let ranking = if row.trial.repeat == 0 { trec::run(about.run, &cell, row) } else { String::new() };
                lines.write_all(ranking.as_bytes()).map_err(Into::into)
            })?;
            let lines = lines.into_inner().map_err(|error| anyhow::anyhow!("{error}"))?;
            if !lines.is_empty() {
                out.write(&format!("{name}.run"), &lines)?;
            }
        }
    }
    out.write("qrels", qrels.as_bytes())?;
    out.close("rankings and their qrels")?;
    Ok(exit_code(complete))
}

fn as_markdown(args: &MarkdownArgs) -> Result<ExitCode> {
    let runs = finished::load_all(&args.runs, Texts::Skip)?;
    let report = report(&runs).context("the runs cannot stand in one table")?;
    let tables: Vec<String> = report.tables.iter().map(markdown::table).collect();
    let text = format!("# {}\n\n{}", markdown::escaped(&report.title), tables.join("\n"));
    match &args.out {
        Some(path) => write_output(path, text.as_bytes())?,
        None => out!("{text}"),
    }
    Ok(exit_code(report.complete))
}

fn hub(args: &HfArgs) -> Result<ExitCode> {
    let mut out = OutFolder::open(&args.folders.out)?;
    let HfArgs { dataset, revision, url, .. } = args;
    if dataset.split('/').filter(|part| !part.is_empty()).count() != 2 {
        bail!("--dataset {dataset}: expected the data set's repository on the hub, org/name");
    }
    let hub = Hub { dataset: dataset.clone(), revision: revision.clone(), url: url.clone() };
    let (mut complete, mut arms, mut benchmark) = (true, Vec::new(), String::new());
    let (mut names, mut table) = (FileNames::default(), OneTable::default());
    for folder in &args.folders.runs {
        let mut streamed = open(folder)?;
        complete &= streamed.lacks.is_empty();
        table.add(&streamed.run)?;
        benchmark.clone_from(&streamed.run.benchmark);
        let mut by_model: BTreeMap<String, Vec<CellTrials>> = BTreeMap::new();
        for arm in streamed.run.plan.clone() {
            by_model.entry(arm.model.clone()).or_default().push(trials(&mut streamed, &arm)?.without_trials());
        }
        arms.extend(streamed.run.plan.iter().cloned());
        for (model, cells) in &by_model {
            let entry = hf::eval_results(about(&streamed), &hub, model, cells);
            let entry =
                entry.with_context(|| format!("no cell of {model} has a score: there is nothing to publish"))?;
            out.write(&format!("{}/{}", names.of(model), entry.name), &entry.bytes)?;
        }
    }
    let entry = hf::eval_yaml(&benchmark, &arms);
    out.write(&entry.name, &entry.bytes)?;
    out.close("files for the hub")?;
    Ok(exit_code(complete))
}

fn novelqa(args: &NovelqaArgs) -> Result<ExitCode> {
    let run = finished::load(&args.run, finished::folder_name(&args.run), Texts::Skip)?;
    refuse_run_file(&args.out)?;
    let arm = one_arm(&run.plan, args.at.as_deref(), &args.run)?;
    let attempts =
        run.records.iter().filter(|record| Arm::of(&record.key) == arm && record.key.repeat == 0).map(|record| {
            let attempt = Attempt { outcome: record.outcome.clone(), evidence: Vec::new(), given: BTreeMap::new() };
            (record.key.item.clone(), attempt)
        });
    let attempts = attempts.collect();
    let manifest = RunManifest::read(&closeread_files::read_file(args.run.join("manifest.json"))?)?;
    let items = with_titles(run.items.clone(), &manifest.configuration.documents);
    let submission = Submission { items, attempts, ..Submission::default() };
    write_novelqa(&args.out, &submission, args.fill)?;
    Ok(exit_code(run.lacks().is_empty()))
}

/// Gives items the title of their novel, by which the leaderboard calls it, where that is not the document's id with other marks:
/// the later layout of the data calls a file `B00`.
fn with_titles(mut items: Vec<Item>, documents: &[DocumentEntry]) -> Vec<Item> {
    let letters = |text: &str| text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
    let is_other =
        |document: &&DocumentEntry| !document.title.is_empty() && letters(&document.title) != letters(&document.id);
    let titles: HashMap<&str, &str> =
        documents.iter().filter(is_other).map(|document| (document.id.as_str(), document.title.as_str())).collect();
    for item in &mut items {
        if let Some(title) = item.documents.first().and_then(|id| titles.get(id.as_str())) {
            item.other.entry("title").or_insert_with(|| (*title).into());
        }
    }
    items
}

/// The cell of a plan that `METHOD[@BUDGET]` names; the only one without a name.
pub(super) fn one_arm(plan: &[Arm], at: Option<&str>, run: &Path) -> Result<Arm> {
    let named = |arm: &&Arm| at.is_none_or(|at| is_at(at, arm));
    let found: Vec<&Arm> = plan.iter().filter(named).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => bail!("{} has no cell `{}`: it has {}", run.display(), at.unwrap_or_default(), names(plan)),
        _ => bail!("{} has several such cells: name one of them by --at: {}", run.display(), names(plan)),
    }
}

/// Returns an arm's name, `dos-rag@1500`, as `--at` takes it.
pub(super) fn at_name(arm: &Arm) -> String {
    arm.method.clone() + &arm.budget.map_or_else(String::new, |budget| format!("@{budget}"))
}

/// True if `--at` names an arm: by [`at_name`] or its method, with a blank and the model behind it where a run has several.
pub(super) fn is_at(at: &str, arm: &Arm) -> bool {
    let cell = at.strip_suffix(arm.model.as_str()).and_then(|rest| rest.strip_suffix(' ')).unwrap_or(at);
    cell == at_name(arm) || cell == arm.method
}

/// Returns the names of all arms, as `--at` takes them: with the model if there are several.
fn names(plan: &[Arm]) -> String {
    let has_several = plan.iter().any(|arm| arm.model != plan[0].model);
    let name = |arm: &Arm| if has_several { format!("'{} {}'", at_name(arm), arm.model) } else { at_name(arm) };
    plan.iter().map(name).collect::<Vec<_>>().join(", ")
}
