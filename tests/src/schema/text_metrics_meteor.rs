//! METEOR in the vectors of the text metrics: words, alignments, scores, means.

use super::compare;
use super::text_metrics::{Sides, TOLERANCE, sides};
use crate::assets::wordnet;
use closeread_metrics::meteor::{Alignment, Meteor, word_tokenize};
use closeread_text::sentence::punkt;
use serde::Deserialize;
use std::sync::LazyLock;

static METEOR: LazyLock<Meteor> = LazyLock::new(|| Meteor::new(wordnet()));
static WITHOUT_SYNONYMS: LazyLock<Meteor> = LazyLock::new(Meteor::without_synonyms);

/// METEOR of one prediction.
#[derive(Deserialize)]
pub(super) struct Expected {
    meteor: f64,
    meteor_without_synonyms: f64,
}

/// Words and alignments behind the score.
#[derive(Deserialize)]
pub(super) struct Trace {
    word_tokenize: Sides<Vec<String>>,
    meteor_alignment: Vec<ExpectedAlignment>,
}

#[derive(Deserialize, Debug, PartialEq)]
struct ExpectedAlignment {
    matches: Vec<(usize, usize)>,
    n_exact: usize,
    n_stem: usize,
    n_synonym: usize,
    chunks: usize,
    hyp_len: usize,
    ref_len: usize,
}

/// Mean METEOR of a set.
#[derive(Deserialize)]
pub(super) struct ExpectedMeans {
    meteor_mean: f64,
    meteor_mean_without_synonyms: f64,
}

pub(super) fn check(prediction: &str, references: &[String], expected: &Expected) -> Result<(), String> {
    compare::close("meteor", score(&METEOR, prediction, references), expected.meteor, TOLERANCE)?;
    let without = score(&WITHOUT_SYNONYMS, prediction, references);
    compare::close("meteor_without_synonyms", without, expected.meteor_without_synonyms, TOLERANCE)
}

pub(super) fn check_trace(prediction: &str, references: &[String], trace: &Trace) -> Result<(), String> {
    sides("word_tokenize", prediction, references, &trace.word_tokenize, |text| word_tokenize(punkt::english(), text))?;
    let got: Vec<ExpectedAlignment> =
        references.iter().map(|reference| METEOR.align(prediction, reference).into()).collect();
    compare::same("meteor_alignment", &got, &trace.meteor_alignment)
}

/// Compares the means over pairs of a prediction and its references.
pub(super) fn check_means<'a>(
    pairs: impl Iterator<Item = (&'a String, &'a [String])> + Clone,
    expected: &ExpectedMeans,
) -> Result<(), String> {
    let mean = |meteor: &Meteor| {
        let scores: Vec<f64> = pairs.clone().map(|(p, r)| score(meteor, p, r)).collect();
        scores.iter().sum::<f64>() / scores.len() as f64
    };
    compare::close("meteor_mean", mean(&METEOR), expected.meteor_mean, TOLERANCE)?;
    let without = mean(&WITHOUT_SYNONYMS);
    compare::close("meteor_mean_without_synonyms", without, expected.meteor_mean_without_synonyms, TOLERANCE)
}

fn score(meteor: &Meteor, prediction: &str, references: &[String]) -> f64 {
    let references: Vec<&str> = references.iter().map(String::as_str).collect();
    meteor.score(prediction, &references)
}

impl From<Alignment> for ExpectedAlignment {
    fn from(alignment: Alignment) -> Self {
        Self {
            chunks: alignment.n_chunks(),
            matches: alignment.matches,
            n_exact: alignment.n_exact,
            n_stem: alignment.n_stem,
            n_synonym: alignment.n_synonym,
            hyp_len: alignment.n_prediction_words,
            ref_len: alignment.n_reference_words,
        }
    }
}
