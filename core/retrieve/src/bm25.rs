//! BM25 with Lucene's idf.

use super::IndexError;
use super::kept::{KeptWords, Reader, numbers};
use super::postings::{Postings, entries};
use super::ranking::{Ranking, rank};
use closeread_text::language::is_spaceless;
use closeread_text::{Language, composed};
use rustc_hash::FxHashMap;

/// Saturation of a word's frequency within a passage (Lucene's default).
const K1: f64 = 1.2;
/// Weight of a passage's length (Lucene's default).
const B: f64 = 0.75;

/// The rule that says what a word is to BM25.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordRule {
    /// Runs of letters, digits and underscores (`\w+`), lower-cased; no stemming, no stop words.
    Letters,
    /// Words as in [`WordRule::Letters`], but a run of Chinese or Japanese characters becomes its overlapping pairs (a
    /// single character stands for itself), as Lucene's CJK analyser does: no dictionary decides what a word is, so names
    /// that no dictionary holds are found.
    CharacterPairs,
}

impl WordRule {
    /// The rule for a language: pairs for Chinese and Japanese, letters for all others.
    pub fn of_language(language: Language) -> Self {
        if language.is_spaceless() { Self::CharacterPairs } else { Self::Letters }
    }

    /// The words of `text` in order, repeated ones repeated.
    pub fn words(self, text: &str) -> Vec<String> {
        self.words_of_lower(&lower(text)).into_iter().map(str::to_owned).collect()
    }

    /// The words of a text in lower case, where they stand.
    fn words_of_lower(self, lower: &str) -> Vec<&str> {
        let runs = lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|run| !run.is_empty());
        match self {
            Self::Letters => runs.collect(),
            Self::CharacterPairs => runs.flat_map(pairs).collect(),
        }
    }
}

/// A text in lower case, each letter and its marks one character where Unicode has one: a mark of its own would end a word.
fn lower(text: &str) -> String {
    composed(text).to_lowercase()
}

/// Splits a run into stretches with and without spaces in their writing, and the latter into overlapping pairs.
fn pairs(run: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    let of = |chars: &[(usize, char)]| {
        let ((start, _), (last, c)) = (chars[0], chars[chars.len() - 1]);
        &run[start..last + c.len_utf8()]
    };
    for stretch in chars.chunk_by(|(_, a), (_, b)| is_spaceless(*a) == is_spaceless(*b)) {
        if !is_spaceless(stretch[0].1) || stretch.len() == 1 {
            words.push(of(stretch));
        } else {
            words.extend(stretch.windows(2).map(of));
        }
    }
    words
}

/// An inverted index over passages.
///
/// score(q, p) = sum over the words of q, repeated ones repeated, of idf(w) tf / (tf + k1 (1 - b + b |p| / mean |p|)) with
/// idf = ln(1 + (N - n + 0.5) / (n + 0.5)); the constant factor k1 + 1 is left out, as Lucene does since version 8.
#[derive(Debug, Clone)]
pub struct Bm25 {
    rule: WordRule,
    words: Words,
    /// Number of words of each passage.
    lengths: Vec<u32>,
    /// k1 (1 - b + b |p| / mean |p|) of each passage.
    norms: Vec<f64>,
}

/// The passages that hold each word.
#[derive(Debug, Clone)]
enum Words {
    Held(FxHashMap<Box<str>, Postings>),
    Kept(KeptWords),
}

impl Words {
    /// Returns how many passages hold a word, and the bytes that say which.
    fn get(&self, word: &str) -> Option<(u32, &[u8])> {
        match self {
            Self::Held(words) => words.get(word).map(|postings| (postings.n, &*postings.bytes)),
            Self::Kept(words) => words.get(word),
        }
    }

    /// Returns the words as a map that can be added to.
    fn held(self) -> FxHashMap<Box<str>, Postings> {
        let copied = |(word, _, bytes): (&[u8], u32, &[u8])| {
            (String::from_utf8_lossy(word).into_owned().into_boxed_str(), Postings::of_bytes(bytes))
        };
        match self {
            Self::Held(words) => words,
            Self::Kept(words) => words.iter().map(copied).collect(),
        }
    }
}

/// The builder of an index.
#[derive(Debug)]
pub(super) struct Bm25Builder {
    rule: WordRule,
    postings: FxHashMap<Box<str>, Postings>,
    /// Number of words of each passage.
    lengths: Vec<u32>,
}

impl Bm25Builder {
    pub(super) fn new(rule: WordRule) -> Self {
        Self { rule, postings: FxHashMap::default(), lengths: Vec::new() }
    }

    /// Indexes the next passage.
    pub(super) fn add(&mut self, text: &str) {
        let idx = u32::try_from(self.lengths.len()).expect("fewer than four billion passages");
        let lower = lower(text);
        let mut words = self.rule.words_of_lower(&lower);
        self.lengths.push(u32::try_from(words.len()).expect("fewer than four billion words in a passage"));
        words.sort_unstable();
        for same in words.chunk_by(|a, b| a == b) {
            let frequency = u32::try_from(same.len()).expect("fewer than four billion words in a passage");
            match self.postings.get_mut(same[0]) {
                Some(postings) => postings.push(idx, frequency),
                None => {
                    let mut postings = Postings::default();
                    postings.push(idx, frequency);
                    self.postings.insert(same[0].into(), postings);
                }
            }
        }
    }

    pub(super) fn finish(mut self) -> Bm25 {
        self.postings.values_mut().for_each(|postings| postings.bytes.shrink_to_fit());
        Bm25::of(self.rule, Words::Held(self.postings), self.lengths)
    }
}

impl Bm25 {
    fn of(rule: WordRule, words: Words, lengths: Vec<u32>) -> Self {
        let counts = lengths.iter().map(|&n| f64::from(n));
        let mean = counts.clone().sum::<f64>() / counts.len().max(1) as f64;
        let norms = counts.map(|n| K1 * (1.0 - B + if mean > 0.0 { B * n / mean } else { 0.0 })).collect();
        Self { rule, words, lengths, norms }
    }

    /// Writes what [`Bm25::read`] reads: lengths and words; says how many there are of what.
    pub(super) fn write(&self, to: &mut Vec<u8>) -> [usize; 3] {
        self.lengths.iter().for_each(|n| to.extend(n.to_le_bytes()));
        match &self.words {
            Words::Held(words) => {
                let mut words: Vec<_> = words.iter().map(|(word, p)| (word.as_bytes(), p.n, &*p.bytes)).collect();
                words.sort_unstable_by_key(|(word, ..)| *word);
                KeptWords::write(words.into_iter(), to)
            }
            Words::Kept(words) => KeptWords::write(words.iter(), to),
        }
    }

    /// An index over bytes, of which lengths are copied and words stay where they are.
    pub(super) fn read(
        rule: WordRule,
        from: &mut Reader,
        n_passages: usize,
        [n_words, n_letters, n_postings]: [usize; 3],
    ) -> Result<Self, IndexError> {
        let lengths = numbers(from.part(4, n_passages)?.bytes()).collect();
        Ok(Self::of(rule, Words::Kept(KeptWords::read(from, n_words, n_letters, n_postings)?), lengths))
    }

    /// Returns the rule that says what a word is.
    pub fn rule(&self) -> WordRule {
        self.rule
    }

    /// Returns a builder that continues behind the passages that are there.
    pub(super) fn reopen(self) -> Bm25Builder {
        Bm25Builder { rule: self.rule, postings: self.words.held(), lengths: self.lengths }
    }

    /// Indexes `passages` in document order.
    pub fn new<S: AsRef<str>>(rule: WordRule, passages: impl IntoIterator<Item = S>) -> Self {
        let mut builder = Bm25Builder::new(rule);
        passages.into_iter().for_each(|text| builder.add(text.as_ref()));
        builder.finish()
    }

    /// Returns how many passages are indexed.
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    /// True if no passage is indexed.
    pub fn is_empty(&self) -> bool {
        self.norms.is_empty()
    }

    /// Ranks every passage, best first; one that shares no word with the query has score 0.
    pub fn ranking(&self, query: &str) -> Ranking {
        rank(self.scores(query))
    }

    /// The score of every passage, in document order.
    pub(super) fn scores(&self, query: &str) -> Vec<f64> {
        let n = self.norms.len() as f64;
        let mut scores = vec![0.0; self.norms.len()];
        for word in self.rule.words(query) {
            let Some((holders, postings)) = self.words.get(&word) else { continue };
            let holders = f64::from(holders);
            let idf = libm::log(1.0 + (n - holders + 0.5) / (holders + 0.5));
            for (idx, frequency) in entries(postings) {
                let tf = f64::from(frequency);
                scores[idx as usize] += idf * tf / (tf + self.norms[idx as usize]);
            }
        }
        scores
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
            WordRule::CharacterPairs.words("老残游记,第2回 ok 一"),
            ["老残", "残游", "游记", "第", "2", "回", "ok", "一"]
        );
    }

    #[test]
    fn a_letter_and_its_marks_are_found_in_both_ways_of_writing() {
        for (rule, apart, one) in [
            (WordRule::Letters, "Nguye\u{302}\u{303}n cafe\u{301}", "Nguyễn café"),
            (WordRule::CharacterPairs, "カ\u{3099}ラス", "ガラス"),
        ] {
            assert_eq!(rule.words(apart), rule.words(one));
            for (passage, query) in [(apart, one), (one, apart)] {
                assert_eq!(
                    Bm25::new(rule, ["x y", passage]).ranking(query),
                    Bm25::new(rule, ["x y", one]).ranking(one)
                );
            }
        }
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
