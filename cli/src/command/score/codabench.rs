//! `closeread score --codabench`: a submission scored as the platform starts a scorer.

use super::{ScoreArgs, scorecard, shown};
use anyhow::{Context, Result, bail};
use closeread_data::scoring::{Scorecard, prediction};
use closeread_files::write_atomically;
use closeread_results::files;
use closeread_table::render::html;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads `input/ref` and `input/res`, writes `scores.json` and `detailed_results.html`. A submission of which some rows cannot
/// be used is scored all the same, and its page names them: an exit code other than 0 would be a failure of the scorer.
pub(super) fn run(input: &Path, output: &Path, args: &ScoreArgs) -> Result<ExitCode> {
    let gold = files::read(&input.join("ref").join("items.jsonl")).context("the reference data is not there")?;
    let predictions = predictions(&input.join("res"))?;
    let submission = prediction::read(&gold, &files::read(&predictions)?)?;
    if submission.attempts.is_empty() {
        let first = submission.problems.iter().next().map_or_else(|| "it is empty".to_owned(), ToString::to_string);
        bail!("no row of the submission can be used: expected {{\"item\": ..., \"answer\": ...}} a line; {first}");
    }
    let card = scorecard(&submission, args)?;
    let scores: Map<String, Value> =
        card.metrics.iter().map(|(metric, estimate)| (metric.to_string(), json!(estimate.value))).collect();
    std::fs::create_dir_all(output).with_context(|| format!("cannot create the folder {}", output.display()))?;
    write_atomically(&output.join("scores.json"), Value::Object(scores).to_string().as_bytes())?;
    write_atomically(&output.join("detailed_results.html"), page(&card).as_bytes())?;
    out!("{}", shown(&card));
    Ok(ExitCode::SUCCESS)
}

/// Returns the one file of predictions in a submission.
fn predictions(folder: &Path) -> Result<PathBuf> {
    let is_rows = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl" || ending == "json");
    let mut found = closeread_files::entries(folder)?;
    found.retain(is_rows);
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => bail!("the submission holds no predictions.jsonl: zip the file itself, not a folder with it"),
        many => bail!("the submission holds {} files of JSON: expected predictions.jsonl alone", many.len()),
    }
}

fn page(card: &Scorecard) -> String {
    let tables: String = card.tables().iter().map(|table| html::table(table, |_| None)).collect();
    let problems: Vec<String> = card.ledger.problems.iter().map(ToString::to_string).collect();
    let named: String =
        problems.iter().take(200).map(|problem| format!("<li>{}</li>", html::escaped(problem))).collect();
    let rows = &card.ledger.problems;
    let left_out = match rows.malformed_rows.len() + rows.unknown_ids.len() + rows.duplicate_ids.len() {
        0 => String::new(),
        n => format!("<h2>Rows left out: {n}</h2><ul>{named}</ul>"),
    };
    format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Scores</title>\
         <style>body{{font:16px system-ui;margin:2em}}table{{border-collapse:collapse}}td,th{{padding:.2em .6em;border-bottom:1px solid #ccc}}</style>\
         <h1>Scores</h1>{tables}{left_out}"
    )
}
