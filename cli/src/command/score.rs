//! `closeread score`: predictions against gold answers, offline.

mod codabench;

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use closeread_data::scoring::format::{FORMATS, Setting, format, write_codabench};
use closeread_data::scoring::{Options, Scorecard, Submission, prediction};
use closeread_eval::observations::Ending;
use closeread_eval::{ASKED_AS, InputFile, Item, LISTED, Problem, Task};
use closeread_metrics::{Metric, Words};
use closeread_results::scoring::{Published, gold, published};
use closeread_results::{files, scoring};
use closeread_runner::finished::is_run_folder;
use closeread_table::number::{counted, metric_label};
use closeread_table::render::text;
use closeread_table::{Table, Value};
use closeread_terminal as terminal;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing::info;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Score predictions against gold answers, with intervals
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ScoreArgs {
    /// Items with gold answers: an items.jsonl, or a folder with one; with --format files of its layout
    #[arg(long, value_name = "ITEMS")]
    gold: Vec<PathBuf>,
    /// Predictions: JSON Lines of {"item", "answer" or "choice", "evidence"}, or a folder with them in predictions.jsonl
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    predictions: Option<PathBuf>,
    /// Read published prediction files of this layout instead
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)))]
    format: Option<String>,
    /// Files (or folders, or ZIP archives) of --format, as published
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Task of --format, where it has several [default: by the file's name]
    #[arg(long, value_name = "NAME", requires = "format")]
    task: Option<String>,
    /// System whose predictions to score, where the files hold several [default: all of them]
    #[arg(long, value_name = "NAME", requires = "format")]
    system: Option<String>,
    /// Metrics, comma-separated, the main one first [default: by format or task]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    metric: Vec<Metric>,
    /// Break scores down by these labels, comma-separated; also `task` and `document`
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    group_by: Vec<String>,
    /// What counts as a word of Chinese or Japanese text in F1, ROUGE, BLEU and METEOR
    #[arg(long, value_enum, default_value = "reference")]
    chinese: Chinese,
    /// Write the answers as a NovelQA submission to Codabench
    #[arg(long, value_name = "FILE.zip")]
    write: Option<PathBuf>,
    /// Letter to submit by --write for a question without an answer [default: refuse to write]
    #[arg(long, value_name = "LETTER", requires = "write")]
    fill: Option<char>,
    /// Score as a Codabench platform starts a scorer: INPUT/ref holds items.jsonl, INPUT/res the predictions; scores.json and
    /// detailed_results.html go into OUTPUT
    #[arg(long, num_args = 2, value_names = ["INPUT", "OUTPUT"], conflicts_with_all = ["gold", "predictions", "format", "write", "files"])]
    codabench: Vec<PathBuf>,
    /// Print the scorecard as one JSON value
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Exit code: 0 all rows used and no item missing, 1 some rows left out or items missing (the scores are still printed),
2 nothing could be read.";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Chinese {
    /// The words of the metric's reference implementation
    Reference,
    /// Every character is a word
    Characters,
}

impl From<Chinese> for Words {
    fn from(chinese: Chinese) -> Self {
        match chinese {
            Chinese::Reference => Self::Reference,
            Chinese::Characters => Self::ChineseCharacters,
        }
    }
}

/// Runs `closeread score`.
///
/// # Errors
/// If a file cannot be read, a name is unknown, or there is nothing to score.
pub(crate) fn run(args: &ScoreArgs) -> Result<ExitCode> {
    if let [input, output] = args.codabench.as_slice() {
        return codabench::run(input, output, args);
    }
    if let Some(path) = &args.write {
        let inputs = args.gold.iter().chain(&args.predictions).chain(&args.files);
        closeread_files::refuse_input_as_output(path, "--write", inputs.map(PathBuf::as_path))?;
    }
    match read(args)? {
        Published::One(submission) => {
            let card = scorecard(&submission, args)?;
            if submission.is_unusable() {
                // A table of zeros would look like a score.
                say_problems(&card);
                bail!("no row of the predictions can be used: nothing is scored");
            }
            if let Some(path) = &args.write {
                write_novelqa(path, &submission, args.fill)?;
            }
            if args.json {
                writeln!(terminal::stdout(), "{}", card.to_json())?;
            } else {
                terminal::stdout().write_all(shown(&card).as_bytes())?;
                say_problems(&card);
            }
            Ok(exit_code(card.is_clean()))
        }
        Published::Systems(submissions) => {
            if args.write.is_some() {
                bail!("--write takes the predictions of one system: name it by --system");
            }
            let cards = submissions.iter().map(|(system, submission)| Ok((system, scorecard(submission, args)?)));
            let cards = cards.collect::<Result<BTreeMap<&String, Scorecard>>>()?;
            if args.json {
                writeln!(terminal::stdout(), "{}", serde_json::json!({ "systems": cards }))?;
            } else {
                terminal::stdout().write_all(text::table(&systems_table(&cards)).as_bytes())?;
                cards.values().for_each(say_problems);
            }
            Ok(exit_code(cards.values().all(Scorecard::is_clean)))
        }
    }
}

fn exit_code(clean: bool) -> ExitCode {
    if clean { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn read(args: &ScoreArgs) -> Result<Published> {
    if let Some(name) = &args.format {
        let format = format(name).expect("the names of formats are checked when the options are read");
        let (files, gold) = (files::read_all(&args.files)?, files::read_all(&args.gold)?);
        return published(format, &files, &gold, args.task.as_deref(), args.system.as_deref());
    }
    if let Some(file) = args.files.first() {
        let shown = file.display();
        if is_run_folder(file) {
            bail!(
                "{shown} is a run, whose scores `closeread report` shows; files of predictions are named by --predictions"
            );
        }
        bail!(
            "{shown} has no option: --gold ITEMS --predictions FILE, or --format NAME for files of a published layout"
        );
    }
    let predictions = args
        .predictions
        .as_deref()
        .ok_or_else(|| anyhow!("no predictions: pass --predictions FILE, or --format NAME with published files"))?;
    let [items] = &args.gold[..] else {
        bail!("{} gold files: pass one by --gold, items.jsonl or the folder that holds it", args.gold.len());
    };
    Ok(Published::One(Box::new(prediction::read(&gold(items)?, &scoring::predictions(predictions)?)?)))
}

fn scorecard(submission: &Submission, args: &ScoreArgs) -> Result<Scorecard> {
    let options = Options { metrics: args.metric.clone(), by: args.group_by.clone(), chinese: args.chinese.into() };
    scoring::scorecard(submission, &options)
}

/// Writes an archive as NovelQA's leaderboard takes it: a file for the setting of the items, or for both where they are asked
/// both ways.
pub(super) fn write_novelqa(path: &Path, submission: &Submission, fill: Option<char>) -> Result<()> {
    let asked_as = |item: &Item| item.labels.get(ASKED_AS).cloned();
    let settings: Vec<(Setting, Option<&str>)> = if submission.items.iter().any(|item| asked_as(item).is_some()) {
        vec![(Setting::MultipleChoice, Some("generative")), (Setting::Generative, Some("choice"))]
    } else if submission.items.iter().any(|item| item.task == Task::Choice) {
        vec![(Setting::MultipleChoice, None)]
    } else {
        vec![(Setting::Generative, None)]
    };
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut said = Vec::new();
    for (setting, other) in &settings {
        let is_asked_so = |item: &&Item| other.is_none() || asked_as(item).as_deref() != *other;
        let items: Vec<Item> = submission.items.iter().filter(is_asked_so).cloned().collect();
        let n = counted(items.len(), "answer");
        let InputFile { name, bytes } = write_codabench(&Submission { items, ..submission.clone() }, *setting, fill)?;
        zip.start_file(&name, SimpleFileOptions::default())?;
        zip.write_all(&bytes)?;
        said.push(format!("{name} written for Codabench, {n}"));
    }
    closeread_files::write_output(path, zip.finish()?.get_ref())?;
    for said in said {
        info!("{}: {said}", path.display());
    }
    if settings.iter().any(|(setting, _)| *setting == Setting::Generative) {
        info!("add res_gen/key, the key for the judge, before you submit it");
    }
    Ok(())
}

fn shown(card: &Scorecard) -> String {
    let tables: Vec<String> = card.tables().iter().map(text::table).collect();
    let notes: String = card.notes.iter().map(|note| format!("note: {}\n", text::plain(note))).collect();
    format!("{}{}{notes}", tables.join("\n"), if notes.is_empty() { "" } else { "\n" })
}

/// Makes a table with one line a system.
fn systems_table(cards: &BTreeMap<&String, Scorecard>) -> Table {
    let mut metrics: Vec<&str> = cards.values().flat_map(Scorecard::metric_names).collect();
    let mut seen = BTreeSet::new();
    metrics.retain(|name| seen.insert(*name));
    let mut columns = ["system", "items", "answered"].map(str::to_owned).to_vec();
    columns.extend(metrics.iter().map(|name| metric_label(name)));
    let mut table = Table::new("systems", "Scores in percent by system, failures wrong", columns);
    for (system, card) in cards {
        let counts = &card.ledger.counts;
        let mut row = vec![Value::text(*system), Value::count(card.n), Value::count(counts.of(Ending::Answered))];
        row.extend(metrics.iter().map(|name| Value::score(card.metrics.get(*name), "not scored")));
        table.rows.push(row);
        match counts.of(Ending::Missing) {
            0 if card.complete => {}
            0 => table.notes.push(format!("INCOMPLETE: the log of {system} did not come to its end")),
            n => table.notes.push(format!("INCOMPLETE: {n} of {} items of {system} are missing", card.n)),
        }
    }
    table.notes.push("--system NAME shows one with its ledger; --json has all".to_owned());
    if table.has_marks() {
        table
            .notes
            .push("* 95% interval over items: fewer than five books to cluster by, or scores all alike".to_owned());
    }
    table
}

/// Rows left out, on standard error: how many of which kind, and the first ones.
fn say_problems(card: &Scorecard) {
    const SHOWN: usize = 20;
    let problems = &card.ledger.problems;
    let kinds = [
        (&problems.malformed_rows, "malformed"),
        (&problems.unknown_ids, "for no item of the gold file"),
        (&problems.duplicate_ids, "for an item that has one already"),
    ];
    let counts = kinds.iter().filter(|(rows, _)| !rows.is_empty()).map(|(rows, what)| format!("{} {what}", rows.len()));
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() {
        return;
    }
    let mut rows: Vec<&Problem> = problems.iter().collect();
    rows.sort_by_key(|problem| (problem.file.as_str(), problem.line));
    let mut said = format!("rows left out: {}\n", counts.join(", "));
    for problem in rows.iter().take(SHOWN) {
        said += &format!("  {}\n", text::plain(&problem.to_string()));
    }
    let n: usize = kinds.iter().map(|(rows, _)| rows.len()).sum();
    if let Some(more @ 1..) = n.checked_sub(SHOWN) {
        said += &format!("  ... and {more} more; --json names {LISTED} of each kind at most\n");
    }
    info!("{}", said.trim_end());
}
