//! BM25 with Lucene's idf.

use super::postings::Postings;
use super::ranking::{Ranking, rank};
use closeread_text::Language;
use std::collections::HashMap;

/// Saturation of a word's frequency within a passage (Lucene's default).
const K1: f64 = 1.2;
/// How far a passage's length counts (Lucene's default).
const B: f64 = 0.75;

/// What a word is, to BM25.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordRule {
    /// Runs of letters, digits and underscores (`\w+`), lower-cased; no stemming, no stop words.
    Letters,
    /// The same, but a run of Chinese characters becomes its overlapping pairs (a single character stands for itself),
    /// as Lucene's CJK analyser does: no dictionary decides what a word is, so names that no dictionary holds are found.
    ChinesePairs,
}

impl WordRule {
    /// The rule for a language: pairs for Chinese, letters for all others.
    pub fn of_language(language: Language) -> Self {
        if language == Language::CHINESE { Self::ChinesePairs } else { Self::Letters }
    }

    /// The words of `text` in order, repeated ones repeated.
    pub fn words(self, text: &str) -> Vec<String> {
        let lower = text.to_lowercase();
        let runs = lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|run| !run.is_empty());
        match self {
            Self::Letters => runs.map(str::to_owned).collect(),
            Self::ChinesePairs => runs.flat_map(pairs).collect(),
        }
    }
}

/// Splits a run into Chinese and other stretches, and the Chinese ones into overlapping pairs.
fn pairs(run: &str) -> Vec<String> {
    let mut words = Vec::new();
    let chars: Vec<char> = run.chars().collect();
    for stretch in chars.chunk_by(|a, b| is_han(*a) == is_han(*b)) {
        if !is_han(stretch[0]) || stretch.len() == 1 {
            words.push(stretch.iter().collect());
        } else {
            words.extend(stretch.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    words
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '々' | '〇')
}

/// An inverted index over passages.
///
/// score(q, p) = sum over the words of q, repeated ones repeated, of idf(w) tf / (tf + k1 (1 - b + b |p| / mean |p|)) with
/// idf = ln(1 + (N - n + 0.5) / (n + 0.5)); the constant factor k1 + 1 is left out, as Lucene does since version 8.
#[derive(Debug, Clone)]
pub struct Bm25 {
    rule: WordRule,
    postings: HashMap<Box<str>, Postings>,
    /// Words of each passage.
    lengths: Vec<u32>,
    /// k1 (1 - b + b |p| / mean |p|) of each passage.
    norms: Vec<f64>,
}

/// An index under way.
#[derive(Debug)]
pub(super) struct Bm25Builder {
    rule: WordRule,
    postings: HashMap<Box<str>, Postings>,
    /// Words of each passage.
    lengths: Vec<u32>,
}

impl Bm25Builder {
    pub(super) fn new(rule: WordRule) -> Self {
        Self { rule, postings: HashMap::new(), lengths: Vec::new() }
    }

    /// Indexes the next passage.
    pub(super) fn add(&mut self, text: &str) {
        let idx = u32::try_from(self.lengths.len()).expect("fewer than four billion passages");
        let mut words = self.rule.words(text);
        self.lengths.push(u32::try_from(words.len()).expect("fewer than four billion words in a passage"));
        words.sort_unstable();
        for same in words.chunk_by(|a, b| a == b) {
            let frequency = u32::try_from(same.len()).expect("fewer than four billion words in a passage");
            match self.postings.get_mut(same[0].as_str()) {
                Some(postings) => postings.push(idx, frequency),
                None => {
                    let mut postings = Postings::default();
                    postings.push(idx, frequency);
                    self.postings.insert(same[0].as_str().into(), postings);
                }
            }
        }
    }

    pub(super) fn finish(mut self) -> Bm25 {
        self.postings.values_mut().for_each(|postings| postings.bytes.shrink_to_fit());
        let lengths = self.lengths.iter().map(|&n| f64::from(n));
        let mean = lengths.clone().sum::<f64>() / lengths.len().max(1) as f64;
        let norms = lengths.map(|n| K1 * (1.0 - B + if mean > 0.0 { B * n / mean } else { 0.0 })).collect();
        Bm25 { rule: self.rule, postings: self.postings, lengths: self.lengths, norms }
    }
}

impl Bm25 {
    /// What a word is.
    pub fn rule(&self) -> WordRule {
        self.rule
    }

    /// Goes on behind the passages that are there.
    pub(super) fn reopen(self) -> Bm25Builder {
        Bm25Builder { rule: self.rule, postings: self.postings, lengths: self.lengths }
    }

    /// Indexes `passages` in document order.
    pub fn new<S: AsRef<str>>(rule: WordRule, passages: impl IntoIterator<Item = S>) -> Self {
        let mut builder = Bm25Builder::new(rule);
        passages.into_iter().for_each(|text| builder.add(text.as_ref()));
        builder.finish()
    }

    /// How many passages are indexed.
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.norms.is_empty()
    }

    /// Every passage, best first; one that shares no word with the query has score 0.
    pub fn ranking(&self, query: &str) -> Ranking {
        let n = self.norms.len() as f64;
        let mut scores = vec![0.0; self.norms.len()];
        for word in self.rule.words(query) {
            let Some(postings) = self.postings.get(word.as_str()) else { continue };
            let holders = f64::from(postings.n);
            let idf = libm::log(1.0 + (n - holders + 0.5) / (holders + 0.5));
            for (idx, frequency) in postings.iter() {
                let tf = f64::from(frequency);
                scores[idx as usize] += idf * tf / (tf + self.norms[idx as usize]);
            }
        }
        rank(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_runs_of_letters_digits_and_underscores() {
        assert_eq!(WordRule::Letters.words("Don't_stop, ÉTÉ 42!"), ["don", "t_stop", "été", "42"]);
        assert_eq!(
            WordRule::ChinesePairs.words("老残游记,第2回 ok 一"),
            ["老残", "残游", "游记", "第", "2", "回", "ok", "一"]
        );
    }

    #[test]
    fn the_formula_by_hand() {
        let bm25 = Bm25::new(WordRule::Letters, ["a b", "a a c d", "e"]);
        let ranking = bm25.ranking("a a");
        let idf = libm::log(1.0 + (3.0 - 2.0 + 0.5) / 2.5);
        let mean = 7.0 / 3.0;
        let score = |tf: f64, len: f64| 2.0 * idf * tf / (tf + 1.2 * (0.25 + 0.75 * len / mean));
        assert_eq!(ranking[2], crate::Ranked { idx: 2, score: 0.0 });
        let by_idx = |i| ranking.iter().find(|r| r.idx == i).expect("all are ranked").score;
        assert!((by_idx(0) - score(1.0, 2.0)).abs() < 1e-12);
        assert!((by_idx(1) - score(2.0, 4.0)).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_index_scores_as_the_formula_says(
            passages in prop::collection::vec("[a-d]( [a-d]){0,6}", 0..30), query in "[a-e]( [a-e]){0,4}",
        ) {
            let words: Vec<Vec<String>> = passages.iter().map(|text| WordRule::Letters.words(text)).collect();
            let mean = words.iter().map(|words| words.len() as f64).sum::<f64>() / words.len().max(1) as f64;
            let mut scores = vec![0.0; passages.len()];
            for word in WordRule::Letters.words(&query) {
                let holders = words.iter().filter(|words| words.contains(&word)).count() as f64;
                let idf = libm::log(1.0 + (words.len() as f64 - holders + 0.5) / (holders + 0.5));
                for (score, words) in scores.iter_mut().zip(&words) {
                    let tf = words.iter().filter(|w| **w == word).count() as f64;
                    if tf > 0.0 {
                        *score += idf * tf / (tf + K1 * (1.0 - B + B * words.len() as f64 / mean));
                    }
                }
            }
            prop_assert_eq!(Bm25::new(WordRule::Letters, &passages).ranking(&query), rank(scores));
        }
    }

    #[test]
    fn nothing_to_search_is_no_error() {
        assert!(Bm25::new(WordRule::Letters, Vec::<String>::new()).ranking("x").is_empty());
        assert_eq!(Bm25::new(WordRule::Letters, [""]).ranking("x")[0].score, 0.0);
    }
}
