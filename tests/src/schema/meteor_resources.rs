//! METEOR's language resources: stems and synonyms.

use super::compare;
use super::kind::Schema;
use crate::assets::wordnet;
use crate::report::FileReport;
use closeread_metrics::meteor::stem;
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "meteor_resources", version: "1", run };

#[derive(Deserialize)]
struct Stem {
    word: String,
    stem: String,
}

#[derive(Deserialize)]
struct Synonyms {
    word: String,
    synonyms: Vec<String>,
}

fn run(file: &Value, report: &mut FileReport) {
    report.cases(file, "stems", |case| {
        let case: Stem = compare::parse(case)?;
        compare::same(&format!("stem of `{}`", case.word), &[stem(&case.word)], &[case.stem])
    });
    report.cases(file, "synonyms", |case| {
        let case: Synonyms = compare::parse(case)?;
        let wordnet = wordnet();
        let expected: Vec<&str> = case.synonyms.iter().map(String::as_str).collect();
        compare::same(&format!("synonym of `{}`", case.word), &wordnet.synonyms(&case.word), &expected)
    });
}
