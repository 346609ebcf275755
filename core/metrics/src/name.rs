//! The metrics by name.

use super::bleu::BleuOrder;
use closeread_text::names::meant;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A metric that predictions can be scored by; its name is what users write and what JSON carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Metric {
    /// Share of choices that are right.
    #[serde(rename = "accuracy")]
    Accuracy,
    /// SQuAD v1 exact match.
    #[serde(rename = "exact_match")]
    ExactMatch,
    /// SQuAD v1 token F1.
    #[serde(rename = "f1")]
    F1,
    /// SQuAD v2 token F1: two empty answers agree.
    #[serde(rename = "f1_v2")]
    F1V2,
    /// InfiniteBench's token F1 (En.QA).
    #[serde(rename = "infinitebench_en_f1")]
    InfinitebenchEnF1,
    /// InfiniteBench's character F1 (Zh.QA).
    #[serde(rename = "infinitebench_zh_f1")]
    InfinitebenchZhF1,
    /// ROUGE-1 F measure.
    #[serde(rename = "rouge1")]
    Rouge1,
    /// ROUGE-2 F measure.
    #[serde(rename = "rouge2")]
    Rouge2,
    /// ROUGE-L F measure.
    #[serde(rename = "rougeL")]
    RougeL,
    /// ROUGE-Lsum F measure.
    #[serde(rename = "rougeLsum")]
    RougeLsum,
    /// BLEU with unigrams.
    #[serde(rename = "bleu_1")]
    Bleu1,
    /// BLEU with up to bigrams.
    #[serde(rename = "bleu_2")]
    Bleu2,
    /// BLEU with up to trigrams.
    #[serde(rename = "bleu_3")]
    Bleu3,
    /// BLEU with up to 4-grams.
    #[serde(rename = "bleu_4")]
    Bleu4,
    /// METEOR with stems and WordNet synonyms.
    #[serde(rename = "meteor")]
    Meteor,
    /// Share of the gold evidence that was cited or retrieved.
    #[serde(rename = "evidence_recall")]
    EvidenceRecall,
    /// Share of pairs of claims with both right (NoCha).
    #[serde(rename = "pair_accuracy")]
    PairAccuracy,
}

impl Metric {
    /// Every metric, in the order in which help lists them.
    pub const ALL: [Self; 17] = [
        Self::Accuracy,
        Self::ExactMatch,
        Self::F1,
        Self::F1V2,
        Self::InfinitebenchEnF1,
        Self::InfinitebenchZhF1,
        Self::Rouge1,
        Self::Rouge2,
        Self::RougeL,
        Self::RougeLsum,
        Self::Bleu1,
        Self::Bleu2,
        Self::Bleu3,
        Self::Bleu4,
        Self::Meteor,
        Self::EvidenceRecall,
        Self::PairAccuracy,
    ];

    /// Returns the name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::ExactMatch => "exact_match",
            Self::F1 => "f1",
            Self::F1V2 => "f1_v2",
            Self::InfinitebenchEnF1 => "infinitebench_en_f1",
            Self::InfinitebenchZhF1 => "infinitebench_zh_f1",
            Self::Rouge1 => "rouge1",
            Self::Rouge2 => "rouge2",
            Self::RougeL => "rougeL",
            Self::RougeLsum => "rougeLsum",
            Self::Bleu1 => "bleu_1",
            Self::Bleu2 => "bleu_2",
            Self::Bleu3 => "bleu_3",
            Self::Bleu4 => "bleu_4",
            Self::Meteor => "meteor",
            Self::EvidenceRecall => "evidence_recall",
            Self::PairAccuracy => "pair_accuracy",
        }
    }
}

impl Metric {
    /// True if the metric compares words, of which Chinese as published has none or one a sentence.
    pub const fn cuts_words(self) -> bool {
        !matches!(self, Self::Accuracy | Self::InfinitebenchZhF1 | Self::EvidenceRecall | Self::PairAccuracy)
    }

    /// Longest n-grams of a BLEU; `None` for any other metric.
    pub const fn bleu_order(self) -> Option<BleuOrder> {
        match self {
            Self::Bleu1 => Some(BleuOrder::One),
            Self::Bleu2 => Some(BleuOrder::Two),
            Self::Bleu3 => Some(BleuOrder::Three),
            Self::Bleu4 => Some(BleuOrder::Four),
            _ => None,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of a name that no metric has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown metric `{name}`{}: expected one of {}", meant(name, Metric::ALL.map(Metric::name)), Metric::ALL.map(Metric::name).join(", "))]
pub struct UnknownMetric {
    /// Name that was asked for.
    pub name: String,
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(name: &str) -> Result<Self, UnknownMetric> {
        let found = Self::ALL.into_iter().find(|metric| metric.name() == name);
        found.ok_or_else(|| UnknownMetric { name: name.to_owned() })
    }
}
