//! ROUGE, BLEU, METEOR, SQuAD's and InfiniteBench's scores of single predictions, and the tokens they compare.

use super::kind::Schema;
use super::{compare, text_metrics_meteor as meteor};
use crate::report::FileReport;
use closeread_metrics::bleu::{Bleu, BleuOrder, BleuSmoothing, BleuStatistics, bleu_tokens};
use closeread_metrics::rouge::{Rouge, rouge_over, rouge_words};
use closeread_metrics::{
    Prf, SquadScore, Words, infinitebench_en_f1, infinitebench_zh_f1, infinitebench_zh_normalize, squad_normalize,
    squad_v1, squad_v2,
};
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Debug;

pub(super) const SCHEMA: Schema = Schema { name: "text_metrics", version: "1", run };

/// Tolerance of a score.
pub(super) const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Case {
    prediction: String,
    references: Vec<String>,
    expected: Expected,
    trace: Option<Trace>,
}

#[derive(Deserialize)]
struct Expected {
    rouge: RougeScores,
    bleu_1: ExpectedBleu,
    bleu_4: ExpectedBleu,
    bleu_4_smooth: ExpectedBleu,
    squad_v1: SquadScore,
    squad_v2: SquadScore,
    infinitebench_en_f1: f64,
    infinitebench_zh_f1: f64,
    #[serde(flatten)]
    meteor: meteor::Expected,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RougeScores {
    rouge1: RougeScore,
    rouge2: RougeScore,
    rouge_l: RougeScore,
    #[serde(rename = "rougeLsum")]
    rouge_lsum: RougeScore,
}

#[derive(Deserialize)]
struct RougeScore {
    precision: f64,
    recall: f64,
    fmeasure: f64,
}

/// Result of the reference, or the name of the exception that it raises.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum ExpectedBleu {
    Score {
        bleu: f64,
        precisions: Vec<f64>,
        brevity_penalty: f64,
        length_ratio: f64,
        translation_length: u64,
        reference_length: u64,
    },
    Error {
        error: String,
    },
}

#[derive(Deserialize)]
struct Trace {
    rouge_tokens: Sides<Vec<String>>,
    tok_13a: Sides<Vec<String>>,
    squad_normalized: Sides<String>,
    zh_normalized: Sides<String>,
    #[serde(flatten)]
    meteor: meteor::Trace,
}

/// Tokens of the prediction and of each reference by a tokenizer.
#[derive(Deserialize)]
pub(super) struct Sides<T> {
    pub(super) prediction: T,
    pub(super) references: Vec<T>,
}

fn run(file: &Value, report: &mut FileReport) {
    report.cases(file, "cases", check);
}

fn check(case: &Value) -> Result<(), String> {
    let case: Case = compare::parse(case)?;
    let (prediction, references, expected) = (case.prediction.as_str(), &case.references, &case.expected);
    let words = Words::Reference;
    if let Some(trace) = &case.trace {
        check_trace(prediction, references, trace)?;
    }

    let rouge = |kind| rouge_over(kind, prediction, references, words);
    check_rouge("rouge1", rouge(Rouge::One), &expected.rouge.rouge1)?;
    check_rouge("rouge2", rouge(Rouge::Two), &expected.rouge.rouge2)?;
    check_rouge("rougeL", rouge(Rouge::L), &expected.rouge.rouge_l)?;
    check_rouge("rougeLsum", rouge(Rouge::Lsum), &expected.rouge.rouge_lsum)?;

    let statistics = BleuStatistics::new(prediction, references, words);
    check_bleu("bleu_1", &statistics.score(BleuOrder::One, BleuSmoothing::None), &expected.bleu_1)?;
    check_bleu("bleu_4", &statistics.score(BleuOrder::Four, BleuSmoothing::None), &expected.bleu_4)?;
    check_bleu("bleu_4_smooth", &statistics.score(BleuOrder::Four, BleuSmoothing::AddOne), &expected.bleu_4_smooth)?;

    check_squad("squad_v1", squad_v1(prediction, references, words), expected.squad_v1)?;
    check_squad("squad_v2", squad_v2(prediction, references, words), expected.squad_v2)?;
    let en = infinitebench_en_f1(prediction, references, words).f1;
    compare::close("infinitebench_en_f1", en, expected.infinitebench_en_f1, TOLERANCE)?;
    let zh = infinitebench_zh_f1(prediction, references).f1;
    compare::close("infinitebench_zh_f1", zh, expected.infinitebench_zh_f1, TOLERANCE)?;
    meteor::check(prediction, references, &expected.meteor)
}

fn check_trace(prediction: &str, references: &[String], trace: &Trace) -> Result<(), String> {
    let words = Words::Reference;
    sides("rouge_tokens", prediction, references, &trace.rouge_tokens, |text| rouge_words(text, words))?;
    sides("tok_13a", prediction, references, &trace.tok_13a, |text| bleu_tokens(text, words))?;
    sides("squad_normalized", prediction, references, &trace.squad_normalized, |text| squad_normalize(text, words))?;
    sides("zh_normalized", prediction, references, &trace.zh_normalized, infinitebench_zh_normalize)?;
    meteor::check_trace(prediction, references, &trace.meteor)
}

/// Compares the tokens that `tokenize` gives for each text with those of the reference.
pub(super) fn sides<T: PartialEq + Debug>(
    what: &str,
    prediction: &str,
    references: &[String],
    expected: &Sides<T>,
    tokenize: impl Fn(&str) -> T,
) -> Result<(), String> {
    compare::same(
        &format!("{what} of prediction"),
        &[tokenize(prediction)],
        std::slice::from_ref(&expected.prediction),
    )?;
    let got: Vec<T> = references.iter().map(|reference| tokenize(reference)).collect();
    compare::same(&format!("{what} of reference"), &got, &expected.references)
}

fn check_rouge(what: &str, got: Prf, expected: &RougeScore) -> Result<(), String> {
    compare::close(&format!("{what} precision"), got.precision, expected.precision, TOLERANCE)?;
    compare::close(&format!("{what} recall"), got.recall, expected.recall, TOLERANCE)?;
    compare::close(&format!("{what} fmeasure"), got.f1, expected.fmeasure, TOLERANCE)
}

fn check_squad(what: &str, got: SquadScore, expected: SquadScore) -> Result<(), String> {
    compare::close(&format!("{what} exact_match"), got.exact_match, expected.exact_match, TOLERANCE)?;
    compare::close(&format!("{what} f1"), got.f1, expected.f1, TOLERANCE)
}

/// Compares BLEU and its parts; where the reference divides by zero, ours is 0.
pub(super) fn check_bleu(what: &str, got: &Bleu, expected: &ExpectedBleu) -> Result<(), String> {
    match expected {
        ExpectedBleu::Error { error } => {
            compare::close(&format!("{what} where the reference raises {error}"), got.bleu, 0.0, 0.0)
        }
        ExpectedBleu::Score {
            bleu,
            precisions,
            brevity_penalty,
            length_ratio,
            translation_length,
            reference_length,
        } => {
            compare::close(what, got.bleu, *bleu, TOLERANCE)?;
            compare::same(&format!("number of precisions of {what}"), &[got.precisions.len()], &[precisions.len()])?;
            for (order, (got, expected)) in got.precisions.iter().zip(precisions).enumerate() {
                compare::close(&format!("{what} precision of order {}", order + 1), *got, *expected, TOLERANCE)?;
            }
            compare::close(&format!("{what} brevity penalty"), got.brevity_penalty, *brevity_penalty, TOLERANCE)?;
            compare::close(&format!("{what} length ratio"), got.length_ratio, *length_ratio, TOLERANCE)?;
            let lengths = [got.prediction_length, got.reference_length];
            compare::same(&format!("length of {what}"), &lengths, &[*translation_length, *reference_length])
        }
    }
}
