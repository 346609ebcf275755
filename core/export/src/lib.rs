//! Runs in the formats of other tools: rows in, bytes out, one trial at a time, so that a run of any length needs little
//! memory.
//!
//! Every mean and interval that is written is the report's own, [`closeread_report::cells`], and what a trial counts for is
//! what [`Observations`](closeread_eval::observations::Observations) count it for.

#![forbid(unsafe_code)]

mod cell;
pub mod codabench;
pub mod every_eval_ever;
pub mod foreign;
pub mod hf;
pub mod inspect;
pub mod otlp;
pub mod tables;
mod tokens;
pub mod trec;

pub use cell::{CellTrials, JudgementsBySubject, PlannedTrial, by_subject};

use chrono::DateTime;
use closeread_eval::{Item, Outcome, Task};
use closeread_methods::record::Record;
use closeread_report::{Arm, Run};
use closeread_text::hash::sha256;

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Path of the file, `/` between the parts.
    pub name: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// The run that is exported.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The run. Its records may lack calls and passages, which come with each [`Row`].
    pub run: &'a Run,
    /// Time when the run was begun, in seconds since 1970: records say how long trials took, not when.
    pub created: i64,
    /// The version of closeread that exports.
    pub version: &'a str,
}

impl About<'_> {
    /// Returns the time some seconds after the run began, such as `2026-11-23T12:00:00+00:00`.
    fn created_at(&self, seconds_later: f64) -> String {
        let micros = self.created.saturating_mul(1_000_000).saturating_add((seconds_later * 1e6) as i64);
        DateTime::from_timestamp_micros(micros).unwrap_or_default().to_rfc3339()
    }
}

/// A finished trial with all that its record holds.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Item that was asked.
    pub item: &'a Item,
    /// Record of the trial.
    pub record: &'a Record,
    /// Planned trial, with what it counts for.
    pub trial: &'a PlannedTrial,
}

/// Returns the name of a cell, `dos-rag@1500`, with the model behind it where the run has several.
pub fn cell_name(run: &Run, arm: &Arm) -> String {
    let budget = arm.budget.map_or_else(String::new, |budget| format!("@{budget}"));
    let several = run.plan.iter().any(|other| other.model != arm.model);
    let model = if several { format!(" {}", arm.model) } else { String::new() };
    format!("{}{budget}{model}", arm.method)
}

/// Returns a name for a file: letters, digits, `.`, `-` and `_` of a name; anything else is a `-`. Names of other scripts, of which
/// nothing would be left, are told apart by the beginning of their hash.
pub fn file_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut plain: String = name.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    if !name.is_ascii() {
        plain = format!("{}-{}", plain.trim_end_matches('-'), &sha256(name.as_bytes())[..8]);
    }
    plain.trim_matches(['-', '.']).to_owned()
}

/// The options that the item was asked with: one that is asked openly may have some, too.
fn options(item: &Item) -> &[String] {
    if item.task == Task::Choice { &item.options } else { &[] }
}

/// Returns the number of the right one of these options.
fn correct(item: &Item) -> Option<usize> {
    item.correct.filter(|correct| *correct < options(item).len())
}

/// The gold answers as texts: for a choice the letter of the right option, for the rest every acceptable answer.
fn targets(item: &Item) -> Vec<String> {
    match correct(item) {
        Some(correct) => vec![letter(correct)],
        None => item.answers.clone(),
    }
}

/// Returns the letter of an option, `A` for 0; beyond `Z` the number.
fn letter(option: usize) -> String {
    u8::try_from(option)
        .ok()
        .filter(|n| *n < 26)
        .map_or_else(|| option.to_string(), |n| char::from(b'A' + n).to_string())
}

/// The answer; `None` where there is none.
fn answer(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Answered { choice: Some(choice), .. } => Some(letter(*choice)),
        Outcome::Answered { answer, .. } => Some(answer.clone()),
        _ => None,
    }
}

/// Returns what the model said, or what stands in its place.
fn said(record: &Record) -> &str {
    match (&record.outcome, record.calls.last()) {
        (_, Some(call)) => &call.response,
        (Outcome::Answered { answer, .. }, None) => answer,
        (Outcome::Unparsed { response } | Outcome::CutShort { response, .. }, None) => response,
        _ => "",
    }
}

/// The question with its options, a line each.
fn question(item: &Item) -> String {
    let options = options(item).iter().enumerate().map(|(n, option)| format!("\n{}. {option}", letter(n)));
    item.question.clone() + &options.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_01_names_of_other_scripts_are_files_of_their_own() {
        assert_eq!(file_name("openai/gpt-4.1 (mini)"), "openai-gpt-4.1--mini");
        let names = ["openai-compatible/通义", "openai-compatible/文心", "通义", "文心"].map(file_name);
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "{names:?}");
        assert!(names.iter().all(|name| name.is_ascii() && !name.starts_with('-')), "{names:?}");
    }
}
