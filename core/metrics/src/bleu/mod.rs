//! BLEU with orders 1 to 4 (Papineni et al. 2002), as Hugging Face evaluate 0.4.3 computes it.

mod tokenizer;

use super::Words;
use super::tokens::Numbering;
use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// The longest n-grams that are counted; BLEU-1 is order `One`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BleuOrder {
    /// Single tokens.
    One = 1,
    /// Tokens and pairs.
    Two,
    /// N-grams up to triples.
    Three,
    /// N-grams up to four tokens.
    Four,
}

/// The way in which n-grams without a match count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BleuSmoothing {
    /// A precision of 0 makes BLEU 0.
    #[default]
    None,
    /// One added to the matching and to the possible n-grams of every order, single tokens included (Lin and Och
    /// 2004 leave those alone). Odd: orders for which the texts are too short get precision 1.
    AddOne,
}

/// The counts that BLEU comes from. They add up: the statistics of a corpus, or of a bootstrap sample of it, are the
/// sum over its pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BleuStatistics {
    /// N-grams of the predictions that the references have as well, by order from 1, each counted no oftener than in
    /// the reference that has most of it.
    pub matching: [u64; 4],
    /// N-grams of the predictions, by order from 1.
    pub possible: [u64; 4],
    /// Number of tokens of the predictions.
    pub prediction_length: u64,
    /// Tokens of the shortest reference of each prediction.
    pub reference_length: u64,
}

/// BLEU and what it is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bleu {
    /// BLEU score, in 0..=1.
    pub bleu: f64,
    /// Share of n-grams that match, by order from 1, each in 0..=1; as many as the order asked for.
    pub precisions: Vec<f64>,
    /// Factor in 0..=1 that punishes predictions shorter than their references.
    pub brevity_penalty: f64,
    /// Length of the predictions over that of the references; 0 if there are no references to speak of.
    pub length_ratio: f64,
    /// Number of tokens of the predictions.
    pub prediction_length: u64,
    /// Number of tokens of the references.
    pub reference_length: u64,
}

impl BleuStatistics {
    /// Counts one prediction with its references; no references count as an empty one.
    ///
    /// Tokens are those of mteval's 13a, case kept: HTML's four entities, `<skipped>` and hyphenation at line ends are
    /// undone, ASCII punctuation stands alone, but the apostrophe, the hyphen (except after a digit), and period and
    /// comma between digits. Odd: the reference length is that of the shortest reference, where Papineni takes the
    /// closest. A Chinese sentence is one token; [`Words::ChineseCharacters`] takes it apart.
    pub fn new<S: AsRef<str>>(prediction: &str, references: &[S], words: Words) -> Self {
        let prediction = tokenizer::tokenize(prediction, words);
        let references: Vec<_> = references.iter().map(|text| tokenizer::tokenize(text.as_ref(), words)).collect();
        let mut vocabulary = Numbering::with_capacity(prediction.len());
        // An n-gram is numbered by the number of its first n - 1 tokens and its last token.
        let mut grams: Vec<u32> = prediction.keys().map(|token| vocabulary.number(token)).collect();
        let tokens = grams.clone();
        let known: Vec<Vec<Option<u32>>> =
            references.iter().map(|text| text.keys().map(|token| vocabulary.known(token)).collect()).collect();
        let mut reference_grams = known.clone();
        let mut counts = vec![Count::default(); prediction.len()];
        let mut n_distinct = vocabulary.len();

        let mut statistics = Self {
            prediction_length: prediction.len() as u64,
            reference_length: references.iter().map(|text| text.len()).min().unwrap_or(0) as u64,
            ..Self::default()
        };
        for order in 0..4 {
            statistics.possible[order] = grams.len() as u64;
            statistics.matching[order] = matching(&grams, &reference_grams, &mut counts[..n_distinct]);
            if statistics.matching[order] == 0 || order == 3 {
                // Longer n-grams cannot match either: only their number counts.
                for longer in order + 1..4 {
                    statistics.possible[longer] = tokens.len().saturating_sub(longer) as u64;
                }
                break;
            }
            let mut longer = Numbering::with_capacity(grams.len());
            let key = |gram: u32, token: u32| u64::from(gram) << 32 | u64::from(token);
            grams.pop();
            for (gram, &last) in grams.iter_mut().zip(&tokens[order + 1..]) {
                *gram = longer.number(key(*gram, last));
            }
            for (grams, tokens) in reference_grams.iter_mut().zip(&known) {
                grams.pop();
                for (gram, last) in grams.iter_mut().zip(tokens.iter().skip(order + 1)) {
                    *gram = gram.zip(*last).and_then(|(gram, last)| longer.known(key(gram, last)));
                }
            }
            n_distinct = longer.len();
        }
        statistics
    }

    /// BLEU of what was counted: geometric mean of the precisions times exp(1 - references / predictions) where the
    /// predictions are shorter.
    ///
    /// Where the predictions or the references have no tokens at all BLEU is 0, and the brevity penalty too; the
    /// reference implementation divides by zero there.
    pub fn score(&self, order: BleuOrder, smoothing: BleuSmoothing) -> Bleu {
        let orders = ..order as usize;
        let precision = |(&matching, &possible): (&u64, &u64)| match smoothing {
            BleuSmoothing::AddOne => (matching as f64 + 1.0) / (possible as f64 + 1.0),
            BleuSmoothing::None if possible == 0 => 0.0,
            BleuSmoothing::None => matching as f64 / possible as f64,
        };
        let precisions: Vec<f64> = self.matching[orders].iter().zip(&self.possible[orders]).map(precision).collect();
        let some = self.prediction_length > 0 && self.reference_length > 0;
        let length_ratio =
            if self.reference_length == 0 { 0.0 } else { self.prediction_length as f64 / self.reference_length as f64 };
        let brevity_penalty = match some {
            true if length_ratio > 1.0 => 1.0,
            true => libm::exp(1.0 - 1.0 / length_ratio),
            false => 0.0,
        };
        let mean = if precisions.iter().all(|&precision| precision > 0.0) {
            let weight = 1.0 / precisions.len() as f64;
            libm::exp(precisions.iter().map(|&precision| weight * libm::log(precision)).sum())
        } else {
            0.0
        };
        // Four times a quarter of log(1) is 0, but rounding elsewhere could pass 1 by the last bit.
        let bleu = (mean * brevity_penalty).min(1.0);
        let Self { prediction_length, reference_length, .. } = *self;
        Bleu { bleu, precisions, brevity_penalty, length_ratio, prediction_length, reference_length }
    }
}

impl AddAssign for BleuStatistics {
    fn add_assign(&mut self, other: Self) {
        for order in 0..4 {
            self.matching[order] += other.matching[order];
            self.possible[order] += other.possible[order];
        }
        self.prediction_length += other.prediction_length;
        self.reference_length += other.reference_length;
    }
}

impl Add for BleuStatistics {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for BleuStatistics {
    fn sum<I: Iterator<Item = Self>>(pairs: I) -> Self {
        pairs.fold(Self::default(), Add::add)
    }
}

impl<'a> Sum<&'a Self> for BleuStatistics {
    fn sum<I: Iterator<Item = &'a Self>>(pairs: I) -> Self {
        pairs.copied().sum()
    }
}

/// BLEU of one prediction as a corpus of its own, in 0..=1; see [`BleuStatistics`].
pub fn bleu<S: AsRef<str>>(order: BleuOrder, prediction: &str, references: &[S], words: Words) -> f64 {
    BleuStatistics::new(prediction, references, words).score(order, BleuSmoothing::None).bleu
}

/// The tokens that BLEU counts, in the order of the text.
pub fn bleu_tokens(text: &str, words: Words) -> Vec<String> {
    tokenizer::tokenize(text, words).to_strings()
}

/// How often an n-gram is in a reference, and in the reference that has most of it.
#[derive(Clone, Copy, Default)]
struct Count {
    here: u32,
    most: u32,
}

/// Returns how many of `grams` are matched, each distinct one at most as often as in the reference that has most of it.
fn matching(grams: &[u32], references: &[Vec<Option<u32>>], counts: &mut [Count]) -> u64 {
    counts.fill(Count::default());
    for reference in references {
        for &gram in reference.iter().flatten() {
            let count = &mut counts[gram as usize];
            count.here += 1;
            count.most = count.most.max(count.here);
        }
        for &gram in reference.iter().flatten() {
            counts[gram as usize].here = 0;
        }
    }
    let mut matching = 0;
    for &gram in grams {
        let left = &mut counts[gram as usize].most;
        if *left > 0 {
            *left -= 1;
            matching += 1;
        }
    }
    matching
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(prediction: &str, references: &[&str]) -> BleuStatistics {
        BleuStatistics::new(prediction, references, Words::Reference)
    }

    #[test]
    fn counts_are_clipped_by_the_reference_with_most() {
        let statistics = of("the the the the cat", &["the cat", "the the mat on it"]);
        assert_eq!(statistics.matching, [3, 2, 0, 0]);
        assert_eq!(statistics.possible, [5, 4, 3, 2]);
        assert_eq!((statistics.prediction_length, statistics.reference_length), (5, 2));
    }

    #[test]
    fn an_empty_side_scores_nothing() {
        for (prediction, references) in [("", &["a"][..]), ("a", &[""]), ("", &[""]), ("a", &[])] {
            for smoothing in [BleuSmoothing::None, BleuSmoothing::AddOne] {
                let score = of(prediction, references).score(BleuOrder::Four, smoothing);
                assert_eq!((score.bleu, score.brevity_penalty), (0.0, 0.0), "{prediction:?} {references:?}");
            }
        }
        let nothing = BleuStatistics::default().score(BleuOrder::One, BleuSmoothing::None);
        assert_eq!((nothing.bleu, nothing.length_ratio), (0.0, 0.0));
    }

    #[test]
    fn a_short_prediction_is_punished() {
        let score = of("a b", &["a b c d"]).score(BleuOrder::Two, BleuSmoothing::None);
        assert_eq!(score.precisions, [1.0, 1.0]);
        assert_eq!(score.bleu, libm::exp(-1.0));
    }

    #[test]
    fn smoothing_adds_one_to_every_order() {
        let score = of("x", &["y"]).score(BleuOrder::Four, BleuSmoothing::AddOne);
        assert_eq!(score.precisions, [0.5, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn chinese_characters_are_tokens_if_asked() {
        let score = |words| bleu(BleuOrder::Four, "孔乙己是谁？", &["孔乙己是谁？"], words);
        assert_eq!(score(Words::Reference), 0.0);
        assert_eq!(score(Words::ChineseCharacters), 1.0);
    }
}
