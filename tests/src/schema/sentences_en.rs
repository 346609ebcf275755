//! English sentences after NLTK's Punkt.

use super::{Schema, compare};
use crate::report::{FileReport, list};
use closeread_core::text::sentence::punkt;
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "sentences_en", version: "1", run };

#[derive(Deserialize)]
struct Case {
    text: String,
    sentences: Vec<Sentence>,
}

#[derive(Deserialize, Debug, PartialEq)]
struct Sentence {
    char: (usize, usize),
    byte: (usize, usize),
    text: String,
}

fn run(file: &Value, report: &mut FileReport) {
    report.cases(file, "passages", check);
    report.cases(file, "short", check);
    if list(file, "short").any(|case| case.get("words").is_some()) {
        report.note("`words` (word_tokenize) are not compared: the core has no word tokenizer yet");
    }
}

fn check(case: &Value) -> Result<(), String> {
    let case: Case = compare::parse(case)?;
    compare::same("sentence", &sentences(&case.text), &case.sentences)
}

fn sentences(text: &str) -> Vec<Sentence> {
    let char_range = |start, end| (compare::char_offset(text, start), compare::char_offset(text, end));
    punkt::sentences(text)
        .into_iter()
        .map(|span| Sentence {
            char: char_range(span.start, span.end),
            byte: (span.start, span.end),
            text: text[span.range()].to_owned(),
        })
        .collect()
}
