//! The part of WordNet that is kept, and why bytes may not be it.

use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// Beginning of the asset: a name and the version of the format.
pub(super) const MAGIC: &str = "closeread wordnet 1\n";

/// The part of WordNet 3.0 that is kept: which words share a synset, and how inflected forms lead to its lemmas. About
/// 6 MB in memory.
#[derive(Debug)]
pub struct WordNet {
    pub(super) names: Names,
    pub(super) exceptions: Exceptions,
    pub(super) parts: [PartOfSpeech; 4],
}

/// The base forms of irregular forms, by part of speech.
pub(super) type Exceptions = FxHashMap<Box<str>, [Option<Vec<Box<str>>>; 4]>;

/// The reason why bytes could not be read as the WordNet asset. Every message says what to do: make the asset again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordNetError {
    /// The bytes do not start as the asset does.
    #[error(
        "not closeread's WordNet asset: it starts with {:?}; unpack core/metrics/assets/wordnet/wordnet-3.0.bin.gz or make it with \
         `cargo xtask wordnet`",
        MAGIC
    )]
    NotTheAsset,
    /// The bytes end too early.
    #[error("WordNet asset, byte {at}: ends in the middle of {what}; make it again with `cargo xtask wordnet`")]
    Truncated {
        /// Number of bytes that there are.
        at: usize,
        /// Part that was being read.
        what: &'static str,
    },
    /// The bytes hold something that the format does not allow.
    #[error("WordNet asset, byte {at}: {what}; make it again with `cargo xtask wordnet`")]
    Invalid {
        /// Offset behind what is wrong.
        at: usize,
        /// Content that was expected there.
        what: &'static str,
    },
}

#[derive(Debug)]
pub(super) struct PartOfSpeech {
    /// Names by synset.
    pub(super) members: Lists,
    /// Synsets by name.
    pub(super) synsets_of_name: Lists,
}

/// Names in the order of their lower-case forms, then of the names; all ASCII.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) text: String,
    pub(super) ends: Vec<u32>,
    /// Whether each name is one word.
    pub(super) single_words: Vec<bool>,
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, id: u32) -> &str {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] as usize };
        &self.text[start..self.ends[id] as usize]
    }

    /// The names whose lower-case form is `lower`.
    pub(super) fn with_lower(&self, lower: &str) -> impl Iterator<Item = u32> {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if compare_lower(self.get(middle), lower) == Ordering::Less { low = middle + 1 } else { high = middle }
        }
        (low..self.len() as u32).take_while(move |id| self.get(*id).eq_ignore_ascii_case(lower))
    }
}

/// Compares the lower-case form of `name` with `lower`, byte by byte.
pub(super) fn compare_lower(name: &str, lower: &str) -> Ordering {
    name.bytes().map(|b| b.to_ascii_lowercase()).cmp(lower.bytes())
}

/// Lists of numbers, one after the other.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) ends: Vec<u32>,
    pub(super) items: Vec<u32>,
}

impl Lists {
    pub(super) fn list(&self, at: u32) -> &[u32] {
        let at = at as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.items[start..self.ends[at] as usize]
    }
}
