//! `closeread agreement`: a judge against people, people among themselves.

pub(super) mod raters;

use crate::hint::typed;
use anyhow::{Context, Result, bail};
use closeread_books::{DecodeError, decode};
use closeread_eval::InputFile;
use closeread_files::run_files::SUPERSEDED;
use closeread_judges::{
    AgainstPeople, CorrectedScore, HumanLabel, Part, Subject, TrialPlace, against_people, corrected_scores,
    human_labels, judge_errors,
};
use closeread_methods::record::TrialKey;
use closeread_report::Run;
use closeread_runner::finished::{self, Texts};
use closeread_table::render::text;
use closeread_table::{Table, Value};
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing::{info, warn};

/// Measure how judges agree with people, and raters with each other
///
/// Exits with 1 if labels could not be used; they are named by line.
#[derive(Debug, clap::Args)]
pub(crate) struct AgreementArgs {
    /// Run folder that was judged
    #[arg(value_name = "RUN", required_unless_present = "raters", conflicts_with = "raters", requires = "labels")]
    run: Option<PathBuf>,
    /// JSON Lines or CSV: item, label, and where needed method, model, budget, repeat, sentence, fact
    #[arg(value_name = "LABELS")]
    labels: Option<PathBuf>,
    /// Labels of raters, JSON Lines or CSV: unit, label, and where needed rater, group, criterion
    #[arg(long, value_name = "FILE[=NAME]")]
    raters: Option<String>,
    /// Labels to compare with the raters', such as a judge's or a crowd's; repeatable
    #[arg(long, value_name = "FILE[=NAME]", requires = "raters")]
    against: Vec<String>,
    /// Number of raters for a majority [default: as many as a file has]
    #[arg(long, value_name = "N", requires = "raters")]
    majority_of: Option<usize>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Most rows to name on the screen.
const SHOWN: usize = 10;

/// Compares and prints.
pub(crate) fn run(args: &AgreementArgs) -> Result<ExitCode> {
    match (&args.raters, &args.run, &args.labels) {
        (Some(raters), ..) => of_raters(args, raters),
        (None, Some(run), Some(labels)) => of_run(run, labels, args.json),
        _ => bail!("expected a run folder and a file of labels, or --raters FILE"),
    }
}

fn of_raters(args: &AgreementArgs, raters: &str) -> Result<ExitCode> {
    let raters = raters::read(raters, args.majority_of)?;
    let others = args.against.iter().map(|given| raters::read(given, None)).collect::<Result<Vec<_>>>()?;
    let tables = raters::tables(&raters, &others)?;
    if args.json {
        outln!("{}", raters::report(&raters, &others, &tables));
    } else {
        for table in &tables {
            outln!("{}", text::table(table));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn of_run(run: &Path, labels: &Path, is_json: bool) -> Result<ExitCode> {
    if !finished::is_run_folder(run) {
        bail!("{} is no run folder: expected what `closeread run --out DIR` makes", run.display());
    }
    let loaded = finished::load(run, finished::folder_name(run), Texts::Skip)?;
    let judging = &loaded.judging;
    if judging.panels.is_empty() {
        let named = run.display().to_string();
        bail!("{named} was not judged: closeread judge {} --judge-model MODEL judges it", typed(&named));
    }
    let file = labels_file(labels)?;
    let (people, mut problems) = human_labels(&file);
    if people.is_empty() && problems.is_empty() {
        bail!("{} has no label: expected columns `item` and `label`, and a row a label", file.name);
    }
    warn_of_older(run, &people, &file.name)?;
    let (found, unused) = against_people(judging, &people, &file.name);
    problems.extend(unused);
    problems.sort_by_key(|problem| problem.line);
    let corrected = corrected_table(&loaded, &found);
    if is_json {
        outln!("{}", json!({"judges": found, "problems": problems, "corrected": corrected}));
    } else if !found.is_empty() {
        outln!("{}", text::table(&agreement_table(&found)));
        if let Some(table) = &corrected {
            outln!("{}", text::table(table));
        }
        for judged in &found {
            outln!("{}", text::table(&confusion_table(judged)));
        }
    }
    for problem in problems.iter().take(SHOWN) {
        info!("{}", text::plain(&problem.to_string()));
    }
    if problems.len() > SHOWN {
        info!("... and {} more; --json names all", problems.len() - SHOWN);
    }
    if found.is_empty() {
        bail!("no label of {} is on something that was judged in {}", file.name, run.display());
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Labels name trials, not answers: those that an extension asked again have other answers than before.
fn warn_of_older(run: &Path, people: &[HumanLabel], file: &str) -> Result<()> {
    let lines = closeread_files::read_text(&run.join(SUPERSEDED))?.unwrap_or_default();
    let mut asked_again: HashMap<String, Vec<TrialPlace>> = HashMap::new();
    for key in lines.lines().filter_map(|line| serde_json::from_str::<TrialKey>(line).ok()) {
        let Subject { item, trial } = Subject::from(&key);
        asked_again.entry(item).or_default().extend(trial);
    }
    let is_on_one = |label: &&HumanLabel| {
        let trials = asked_again.get(&label.item).filter(|_| label.part != Part::Question);
        trials.into_iter().flatten().any(|trial| label.is_on(trial))
    };
    let n = people.iter().filter(is_on_one).count();
    if n > 0 {
        warn!(
            "{n} of {} labels of {file} are on trials that were asked again when the run was extended: if people gave them \
             before, they saw the answers in {SUPERSEDED}",
            people.len()
        );
    }
    Ok(())
}

/// A file of labels. What is not UTF-8, as a spreadsheet saves it in the code page of its system, is read as a text would be.
fn labels_file(path: &Path) -> Result<InputFile> {
    let name = path.display().to_string();
    let bytes = closeread_files::read_file(path).with_context(|| format!("cannot read {name}"))?;
    if std::str::from_utf8(&bytes).is_ok() {
        return Ok(InputFile { name, bytes });
    }
    let bytes = match decode(&bytes, None) {
        Ok(decoded) => {
            info!("{name}: read as {}", decoded.encoding);
            decoded.text.into_bytes()
        }
        Err(error @ DecodeError::Format { .. }) => bail!("cannot use {name}: {error}"),
        // The rows that cannot be read are named, the others are used.
        Err(_) => bytes,
    };
    Ok(InputFile { name, bytes })
}

fn agreement_table(found: &[AgainstPeople]) -> Table {
    let columns = ["judge", "question", "labels", "accuracy", "kappa", "kappa 95%", "AC1", "AC1 95%"];
    let title = "Judges against people";
    let mut table = Table::new("agreement", title, columns.map(str::to_owned).to_vec());
    let number = |value: f64| Value::Number { value, decimals: 3 };
    let interval = |ends: Option<(f64, f64)>| match ends {
        Some((low, high)) => Value::text(format!("[{low:.3}, {high:.3}]")),
        None => Value::missing("no spread"),
    };
    for AgainstPeople { judge, question, agreement, .. } in found {
        let (kappa, kappa_ends) = match &agreement.kappa {
            Some(kappa) => (number(kappa.kappa), interval(kappa.interval)),
            None => (Value::missing("one label only"), Value::missing("one label only")),
        };
        table.rows.push(vec![
            Value::text(judge),
            Value::text(question),
            Value::count(agreement.n),
            Value::Share { value: agreement.observed, n: agreement.n },
            kappa,
            kappa_ends,
            number(agreement.ac1.ac1),
            interval(agreement.ac1.interval),
        ]);
    }
    table.notes.push(
        "accuracy: share of equal labels; kappa: Cohen's, - where only one label was used; AC1: Gwet's; no interval where \
         labels show no spread"
            .to_owned(),
    );
    table
}

/// The judged accuracies of a run as they are, and corrected for the errors that people found in the judge that decides; none where
/// they labelled no answer.
pub(super) fn corrected_table(run: &Run, found: &[AgainstPeople]) -> Option<Table> {
    let (panel, judge) = run.judging.correctness()?;
    let against = found.iter().find(|one| one.judge == panel.name() && one.question == judge.name())?;
    let errors = judge_errors(against);
    let scores = corrected_scores(&run.judging, &run.items, &run.records, run.repeats, &errors);
    let columns = ["method", "model", "budget", "n", "judged", "judged accuracy", "corrected", "corrected 95%"];
    let title = format!("Judged accuracy, and corrected for the errors of {}", panel.name());
    let mut table = Table::new("corrected", &title, columns.map(str::to_owned).to_vec());
    for CorrectedScore { arm: (method, model, budget), n, judged, raw, corrected } in scores {
        let (value, interval) = match corrected {
            Ok(made) => (
                Value::Share { value: made.value, n },
                Value::text(format!("[{:.1}, {:.1}]", 100.0 * made.low, 100.0 * made.high)),
            ),
            Err(why) => (Value::missing(why.to_string()), Value::missing(why.to_string())),
        };
        let budget = budget.map_or_else(|| Value::missing("no budget"), Value::count);
        table.rows.push(vec![
            Value::text(method),
            Value::text(model),
            budget,
            Value::count(n),
            Value::count(judged.of),
            Value::Share { value: raw, n },
            value,
            interval,
        ]);
    }
    let (right, wrong) = (errors.positive, errors.negative);
    table.notes.push(format!(
        "of {} answers that people call correct the judge finds {}, of {} that they call incorrect {}; corrected by Rogan and Gladen, \
         as if it erred alike everywhere; interval: Lang and Reiczigel's, which does not cluster by book",
        right.of, right.hit, wrong.of, wrong.hit
    ));
    (!table.rows.is_empty()).then_some(table)
}

fn confusion_table(judged: &AgainstPeople) -> Table {
    let head = ["people say".to_owned()].into_iter();
    let columns = head.chain(judged.confusion.labels.iter().map(|label| format!("judge: {label}")));
    let title = format!("{}, {}: people's labels by the judge's", judged.judge, judged.question);
    let mut table = Table::new("confusion", title, columns.collect());
    for (label, counts) in judged.confusion.labels.iter().zip(&judged.confusion.counts) {
        table.rows.push([Value::text(label)].into_iter().chain(counts.iter().map(|n| Value::count(*n))).collect());
    }
    table
}
