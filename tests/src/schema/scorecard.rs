//! Scorecards of predictions, as `closeread score` computes them. There is no reference implementation:
//! the expected values are computed by hand. Both targets must also give the same bytes.

use super::kind::Schema;
use crate::assets::wordnet;
use crate::report::{FileReport, label, list};
use closeread_data::scoring::{Attempt, Options, Scorecard, Submission, prediction, score};
use closeread_eval::{Evaluator, InputFile, Item, Outcome, Task};
use closeread_metrics::{Metric, Words};
use closeread_text::hash::sha256;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const SCHEMA: Schema = Schema { name: "scorecard", version: "1", run };

#[derive(Deserialize)]
struct Case {
    /// Rows of items.jsonl.
    gold: Vec<Value>,
    /// The predictions file, line by line.
    predictions: Vec<String>,
    #[serde(default)]
    metrics: Vec<Metric>,
    #[serde(default)]
    by: Vec<String>,
    #[serde(default)]
    chinese: Words,
    /// Value by JSON pointer into the scorecard.
    expected: BTreeMap<String, Value>,
}

fn run(file: &Value, report: &mut FileReport) {
    let mut printed = String::new();
    for (position, case) in list(file, "cases").enumerate() {
        let card = read(case).and_then(|case| Ok((scorecard(&case)?, case)));
        if let Ok((card, _)) = &card {
            printed += &card.to_json();
        }
        report.case(&label(case, "cases", position), || {
            let (card, case) = card?;
            compare(&card, &case)
        });
    }
    report.digest = Some(sha256(printed.as_bytes()));
}

fn read(case: &Value) -> Result<Case, String> {
    Case::deserialize(case).map_err(|error| error.to_string())
}

fn scorecard(case: &Case) -> Result<Scorecard, String> {
    let gold: String = case.gold.iter().map(|row| format!("{row}\n")).collect();
    let file = |name: &str, text: String| InputFile { name: name.to_owned(), bytes: text.into_bytes() };
    let gold = file("items.jsonl", gold);
    let submission = prediction::read(&gold, &file("predictions.jsonl", case.predictions.join("\n")));
    let submission = submission.map_err(|error| error.to_string())?;
    let options = Options { metrics: case.metrics.clone(), by: case.by.clone(), chinese: case.chinese };
    scored(&submission, &options)
}

fn scored(submission: &Submission, options: &Options) -> Result<Scorecard, String> {
    let evaluator = Evaluator::new(options.metrics_for(submission), options.chinese, Some(wordnet()));
    let evaluator = evaluator.map_err(|error| error.to_string())?;
    score(submission, &evaluator, options).map_err(|error| error.to_string())
}

fn compare(card: &Scorecard, case: &Case) -> Result<(), String> {
    let json = card.to_json();
    let printed: Value = serde_json::from_str(&json).map_err(|error| format!("its JSON does not parse: {error}"))?;
    if card.ledger.counts.planned() != card.n {
        return Err(format!("the ledger has {} of {} items", card.ledger.counts.planned(), card.n));
    }
    for (pointer, expected) in &case.expected {
        let found = printed.pointer(pointer).ok_or_else(|| format!("nothing at {pointer} of {json}"))?;
        let is_close = match (found.as_f64(), expected.as_f64()) {
            (Some(found), Some(expected)) => (found - expected).abs() <= 1e-12,
            _ => found == expected,
        };
        if !is_close {
            return Err(format!("{pointer}: expected {expected}, got {found}"));
        }
    }
    Ok(())
}

/// The digest of a scorecard by every metric over the pairs of a text_metrics file, with Chinese cut either way.
pub(crate) fn digest_of_pairs(file: &Value) -> String {
    let (mut items, mut attempts) = (Vec::new(), BTreeMap::new());
    for (position, case) in list(file, "cases").enumerate() {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = label(case, "cases", position);
        let mut item = Item::new(id.clone(), format!("book {}", position % 7), "?", Task::Generative);
        item.answers = list(case, "references").map(text).collect();
        items.push(item);
        let outcome = Outcome::Answered { answer: text(&case["prediction"]), choice: None };
        attempts.insert(id, Attempt { outcome, evidence: Vec::new(), given: BTreeMap::new() });
    }
    let submission = Submission { items, attempts, ..Submission::default() };
    let printed = [Words::Reference, Words::ChineseCharacters].map(|chinese| {
        let options = Options { metrics: Metric::ALL.to_vec(), by: vec!["document".to_owned()], chinese };
        scored(&submission, &options).map_or_else(|error| error, |card| card.to_json())
    });
    sha256(printed.concat().as_bytes())
}
