//! `closeread score`: predictions against gold answers, offline.

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use closeread_core::benchmark::{InputFile, Problem};
use closeread_core::metric::meteor::WordNet;
use closeread_core::metric::{Evaluator, Metric, Words};
use closeread_core::report::render::text;
use closeread_core::scoring::{Options, Scorecard, Submission, prediction, score};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Predictions against gold answers: scores with intervals, and everything they leave out
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ScoreArgs {
    /// Items with gold answers: an items.jsonl, or a folder with one
    #[arg(long, value_name = "ITEMS")]
    gold: Vec<PathBuf>,
    /// Predictions: JSON Lines of {"item", "answer" or "choice", "evidence"}
    #[arg(long, value_name = "FILE", conflicts_with = "format", required_unless_present = "format")]
    predictions: Option<PathBuf>,
    /// Published prediction files of that layout instead
    #[arg(long, value_name = "NAME", requires = "files")]
    format: Option<String>,
    /// Files of --format, as published
    #[arg(value_name = "FILE", requires = "format")]
    files: Vec<PathBuf>,
    /// Task of --format, where it has several [default: by the file's name]
    #[arg(long, value_name = "NAME", requires = "format")]
    task: Option<String>,
    /// System whose predictions to score, where the files hold several
    #[arg(long, value_name = "NAME", requires = "format")]
    system: Option<String>,
    /// Metrics, comma-separated, the main one first [default: by format or task]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    metric: Vec<Metric>,
    /// Break scores down by these labels, comma-separated; also `task` and `document`
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    by: Vec<String>,
    /// What counts as a word of Chinese text in F1, ROUGE, BLEU and METEOR
    #[arg(long, value_enum, default_value = "reference")]
    chinese: Chinese,
    /// Print the scorecard as one JSON value
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Exit code: 0 all rows used and no item missing, 1 some rows left out or items missing (the scores are printed all the
same), 2 nothing could be read.";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Chinese {
    /// What the reference implementation of the metric finds
    Reference,
    /// Every character
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
    let submission = submission(args)?;
    let options = Options { metrics: args.metric.clone(), by: args.by.clone(), chinese: args.chinese.into() };
    let metrics = options.metrics_for(&submission);
    let wordnet = metrics.contains(&Metric::Meteor).then(WordNet::built_in);
    let evaluator = Evaluator::new(metrics, options.chinese, wordnet)?;
    let card = score(&submission, &evaluator, &options)?;
    if args.json {
        println!("{}", card.to_json());
    } else {
        print!("{}", shown(&card));
        say_problems(&card);
    }
    Ok(if card.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn submission(args: &ScoreArgs) -> Result<Submission> {
    let Some(predictions) = &args.predictions else { bail!("no predictions: expected --predictions FILE") };
    let [gold] = &args.gold[..] else {
        bail!("{} gold files: expected one, --gold items.jsonl or the folder that holds it", args.gold.len());
    };
    let gold = if gold.is_dir() { gold.join("items.jsonl") } else { gold.clone() };
    Ok(prediction::read(&input_file(&gold)?, &input_file(predictions)?)?)
}

fn input_file(path: &Path) -> Result<InputFile> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(InputFile { name: path.display().to_string(), bytes })
}

fn shown(card: &Scorecard) -> String {
    let tables: Vec<String> = card.tables().iter().map(text::table).collect();
    let notes: String = card.notes.iter().map(|note| format!("note: {}\n", text::plain(note))).collect();
    format!("{}{}{notes}", tables.join("\n"), if notes.is_empty() { "" } else { "\n" })
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
    let counts: Vec<String> = kinds
        .iter()
        .filter(|(rows, _)| !rows.is_empty())
        .map(|(rows, what)| format!("{} {what}", rows.len()))
        .collect();
    if counts.is_empty() {
        return;
    }
    eprintln!("rows left out: {}", counts.join(", "));
    let mut rows: Vec<&Problem> = problems.iter().collect();
    rows.sort_by_key(|problem| (problem.file.as_str(), problem.line));
    for problem in rows.iter().take(SHOWN) {
        eprintln!("  {}", text::plain(&problem.to_string()));
    }
    if let Some(more @ 1..) = rows.len().checked_sub(SHOWN) {
        eprintln!("  ... and {more} more; --json names all");
    }
}
