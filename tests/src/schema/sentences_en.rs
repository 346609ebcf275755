//! English sentences after NLTK's Punkt, and words after its word_tokenize.

use super::compare;
use super::kind::Schema;
use crate::report::FileReport;
use closeread_metrics::meteor::word_tokenize;
use closeread_text::sentence::punkt;
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "sentences_en", version: "1", run };

#[derive(Deserialize)]
struct Case {
    text: String,
    sentences: Vec<Sentence>,
    /// Words of the text by word_tokenize.
    words: Option<Vec<String>>,
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
}

fn check(case: &Value) -> Result<(), String> {
    let case: Case = compare::parse(case)?;
    compare::same("sentence", &sentences(&case.text), &case.sentences)?;
    match &case.words {
        Some(words) => compare::same("word", &word_tokenize(punkt::english(), &case.text), words),
        None => Ok(()),
    }
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
