//! Tokens of a text and the numbers they are compared by.

use rustc_hash::FxHashMap;
use std::ops::Range;

/// A text as a metric has normalised it, and where its tokens lie.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) text: String,
    pub(super) spans: Vec<Range<usize>>,
}

impl Tokens {
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spans.iter().map(|span| &self.text[span.clone()])
    }

    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(super) fn to_strings(&self) -> Vec<String> {
        self.iter().map(str::to_owned).collect()
    }
}

/// Numbers distinct keys from 0 in the order in which they come.
#[derive(Debug)]
pub(super) struct Numbering<K>(FxHashMap<K, u32>);

impl<K: std::hash::Hash + Eq> Numbering<K> {
    pub(super) fn with_capacity(keys: usize) -> Self {
        Self(FxHashMap::with_capacity_and_hasher(keys, Default::default()))
    }

    pub(super) fn number(&mut self, key: K) -> u32 {
        let next = u32::try_from(self.0.len()).expect("a text has fewer than 2^32 distinct tokens");
        *self.0.entry(key).or_insert(next)
    }

    pub(super) fn known(&self, key: &K) -> Option<u32> {
        self.0.get(key).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
