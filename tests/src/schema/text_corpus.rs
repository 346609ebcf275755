//! Text metrics of whole sets: corpus BLEU, means of ROUGE-L, METEOR and SQuAD's scores.

use super::kind::Schema;
use super::text_metrics::{ExpectedBleu, TOLERANCE, check_bleu};
use super::{compare, text_metrics_meteor as meteor};
use crate::report::FileReport;
use closeread_metrics::bleu::{BleuOrder, BleuSmoothing, BleuStatistics};
use closeread_metrics::rouge::{Rouge, rouge_over};
use closeread_metrics::{SquadScore, Words, squad_v1};
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "text_corpus", version: "1", run };

#[derive(Deserialize)]
struct Case {
    predictions: Vec<String>,
    references: Vec<References>,
    expected: Expected,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum References {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
struct Expected {
    bleu_1: ExpectedBleu,
    bleu_2: ExpectedBleu,
    bleu_3: ExpectedBleu,
    bleu_4: ExpectedBleu,
    bleu_4_smooth: ExpectedBleu,
    #[serde(rename = "rougeL_mean_fmeasure")]
    rouge_l_mean_fmeasure: f64,
    /// SQuAD's scores, both from 0 to 100.
    squad_v1_percent: SquadScore,
    #[serde(flatten)]
    meteor: meteor::ExpectedMeans,
}

fn run(file: &Value, report: &mut FileReport) {
    report.cases(file, "sets", check);
}

fn check(case: &Value) -> Result<(), String> {
    let case: Case = compare::parse(case)?;
    let expected = &case.expected;
    compare::same("number of references", &[case.references.len()], &[case.predictions.len()])?;
    let pairs = || case.predictions.iter().zip(case.references.iter().map(References::as_slice));
    let words = Words::Reference;

    let statistics: BleuStatistics = pairs().map(|(p, r)| BleuStatistics::new(p, r, words)).sum();
    for (what, order, smoothing, expected) in [
        ("bleu_1", BleuOrder::One, BleuSmoothing::None, &expected.bleu_1),
        ("bleu_2", BleuOrder::Two, BleuSmoothing::None, &expected.bleu_2),
        ("bleu_3", BleuOrder::Three, BleuSmoothing::None, &expected.bleu_3),
        ("bleu_4", BleuOrder::Four, BleuSmoothing::None, &expected.bleu_4),
        ("bleu_4_smooth", BleuOrder::Four, BleuSmoothing::AddOne, &expected.bleu_4_smooth),
    ] {
        check_bleu(what, &statistics.score(order, smoothing), expected)?;
    }

    let mean = |score: &dyn Fn(&str, &[String]) -> f64| {
        pairs().map(|(p, r)| score(p, r)).sum::<f64>() / case.predictions.len() as f64
    };
    let rouge_l = mean(&|p, r| rouge_over(Rouge::L, p, r, words).f1);
    compare::close("rougeL_mean_fmeasure", rouge_l, expected.rouge_l_mean_fmeasure, TOLERANCE)?;
    let exact = 100.0 * mean(&|p, r| squad_v1(p, r, words).exact_match);
    compare::close("squad_v1_percent exact_match", exact, expected.squad_v1_percent.exact_match, TOLERANCE)?;
    let f1 = 100.0 * mean(&|p, r| squad_v1(p, r, words).f1);
    compare::close("squad_v1_percent f1", f1, expected.squad_v1_percent.f1, TOLERANCE)?;
    meteor::check_means(pairs(), &expected.meteor)
}

impl References {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Several(texts) => texts,
        }
    }
}
