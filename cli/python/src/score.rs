//! Scores predictions against gold answers.

use crate::{Source, detached};
use anyhow::{Context as _, Result, bail};
use closeread_data::scoring::format::{FORMATS, format};
use closeread_data::scoring::{Options, Problems, Submission, prediction};
use closeread_eval::{InputFile, Problem};
use closeread_metrics::{Metric, Words};
use closeread_results::scoring::{self, Published, published};
use pyo3::prelude::*;

/// Most rows that an error message lists.
const SHOWN: usize = 5;

/// Options of scoring.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Scoring {
    metrics: Vec<String>,
    by: Vec<String>,
    chinese: String,
    bad_rows: String,
}

impl Scoring {
    fn options(&self) -> Result<Options> {
        let metrics = self.metrics.iter().map(|name| name.parse::<Metric>()).collect::<Result<_, _>>()?;
        let chinese = match self.chinese.as_str() {
            "reference" => Words::Reference,
            "characters" => Words::ChineseCharacters,
            other => bail!("`chinese` is `{other}`: expected `reference` or `characters`"),
        };
        Ok(Options { metrics, by: self.by.clone(), chinese })
    }

    /// The scorecard as the command line prints it.
    fn card(&self, submission: &Submission) -> Result<String> {
        match self.bad_rows.as_str() {
            "raise" => refuse(submission)?,
            "leave_out" if submission.is_unusable() => {
                // A table of zeros would look like a score.
                bail!("no row of the predictions can be used: nothing is scored{}", wrong_rows(submission))
            }
            "leave_out" => {}
            other => bail!("`bad_rows` is `{other}`: expected `raise` or `leave_out`"),
        }
        Ok(scoring::scorecard(submission, &self.options()?)?.to_json())
    }
}

/// Refuses rows that cannot be used, naming the first of them.
fn refuse(submission: &Submission) -> Result<()> {
    let Problems { malformed_rows, unknown_ids, duplicate_ids } = &submission.problems;
    let n = malformed_rows.len() + unknown_ids.len() + duplicate_ids.len();
    if n == 0 {
        return Ok(());
    }
    let (rows, them) = if n == 1 { ("row", "it") } else { ("rows", "them") };
    let named = wrong_rows(submission);
    bail!("{n} {rows} cannot be used; correct {them}, or pass bad_rows=\"leave_out\"{named}")
}

/// The first rows that cannot be used, behind a colon, a line each.
fn wrong_rows(submission: &Submission) -> String {
    let mut rows: Vec<&Problem> = submission.problems.iter().collect();
    rows.sort_by_key(|problem| (problem.file.as_str(), problem.line));
    let named = rows.iter().take(SHOWN).map(|row| format!("\n  {}", row.to_string().trim_end_matches(" [left out]")));
    let more = if rows.len() > SHOWN { "\n  ..." } else { "" };
    format!(":{}{more}", named.collect::<String>())
}

/// Scores predictions by gold items; returns the output of `closeread score --gold ITEMS --predictions FILE --json`.
#[pyfunction]
pub(crate) fn score(py: Python<'_>, gold: Source, predictions: Source, scoring: Scoring) -> PyResult<String> {
    detached(py, || {
        let gold = match gold {
            Source::Path(path) => scoring::gold(&path)?,
            Source::Rows(name, bytes) => InputFile { name, bytes },
        };
        let predictions = match predictions {
            Source::Path(path) => scoring::predictions(&path)?,
            Source::Rows(name, bytes) => InputFile { name, bytes },
        };
        scoring.card(&prediction::read(&gold, &predictions)?)
    })
}

/// Scores published prediction files; returns the output of `closeread score --format NAME FILE... --json`.
#[pyfunction]
pub(crate) fn score_format(
    py: Python<'_>,
    name: &str,
    gold: Vec<Source>,
    predictions: Vec<Source>,
    scoring: Scoring,
    task: Option<&str>,
    system: Option<&str>,
) -> PyResult<String> {
    detached(py, || {
        let known = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
        let format = format(name).with_context(|| format!("unknown format `{name}`: expected one of {}", known()))?;
        let (gold, predictions) = (Source::read_all(gold)?, Source::read_all(predictions)?);
        match published(format, &predictions, &gold, task, system)? {
            Published::One(submission) => scoring.card(&submission),
            Published::Systems(systems) => {
                let names: Vec<&str> = systems.keys().map(String::as_str).collect();
                bail!("the files hold {} systems: name one by `system`: {}", names.len(), names.join(", "))
            }
        }
    })
}
