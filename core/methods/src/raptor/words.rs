//! Texts as vectors of their words: what clusters a book where no embedding model knows its language.

use closeread_retrieve::WordRule;
use std::collections::BTreeMap;

/// Numbers in a vector. Words share them by their hash; with signs, what two words share cancels out in the mean.
const DIMENSION: usize = 512;

/// Vectors of words, weighed by how few passages hold them.
pub(super) struct WordVectors {
    rule: WordRule,
    n_passages: f64,
    /// Number of passages that hold a word, by the word.
    held_by: BTreeMap<String, f64>,
}

impl WordVectors {
    /// Counts the words of the passages.
    pub(super) fn new<'t>(rule: WordRule, passages: impl IntoIterator<Item = &'t str>) -> Self {
        let mut vectors = Self { rule, n_passages: 0.0, held_by: BTreeMap::new() };
        for passage in passages {
            vectors.n_passages += 1.0;
            for (word, _) in vectors.counts(passage) {
                *vectors.held_by.entry(word).or_default() += 1.0;
            }
        }
        vectors
    }

    /// (1 + ln tf) ln(1 + (N - n + 0.5) / (n + 0.5)) of each word, in the place and with the sign that its hash names.
    pub(super) fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0f64; DIMENSION];
        for (word, count) in self.counts(text) {
            let held_by = self.held_by.get(&word).copied().unwrap_or(0.0);
            let rarity = libm::log1p((self.n_passages - held_by + 0.5) / (held_by + 0.5));
            let hash = fnv1a(word.as_bytes());
            let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
            vector[(hash % DIMENSION as u64) as usize] += sign * (1.0 + libm::log(count)) * rarity;
        }
        vector.into_iter().map(|x| x as f32).collect()
    }

    fn counts(&self, text: &str) -> BTreeMap<String, f64> {
        let mut counts = BTreeMap::new();
        self.rule.words(text).into_iter().for_each(|word| *counts.entry(word).or_default() += 1.0);
        counts
    }
}

/// Fowler, Noll and Vo's hash.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_retrieve::cosine;

    #[test]
    fn texts_that_share_rare_words_are_near() {
        let texts = ["the bell of the church", "the bell rang", "the boat sank", "the boat and the oar"];
        let vectors = WordVectors::new(WordRule::Letters, texts);
        let [a, b, c, d] = texts.map(|text| vectors.vector(text));
        assert!(cosine(&a, &b) > cosine(&a, &c) && cosine(&c, &d) > cosine(&b, &c));
        assert_eq!(vectors.vector("").iter().filter(|x| **x != 0.0).count(), 0);
        // The published test vector of 64-bit FNV-1a.
        assert_eq!(fnv1a(b"foobar"), 0x85944171f73967e8);
    }
}
