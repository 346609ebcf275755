//! WordNet's synonyms: a reader of the compact asset that `cargo xtask wordnet` makes, and NLTK's way to look a word up.
//!
//! Of WordNet (Princeton University, version 3.0) the asset keeps which words share a synset and which forms are
//! irregular; `core/metrics/assets/wordnet/README.md` gives its format and its licence.

mod asset;

use closeread_text::python;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
#[cfg(feature = "wordnet")]
use std::sync::{Arc, LazyLock};

/// Which words share a synset of WordNet 3.0, and how inflected forms lead to its lemmas. About 6 MB in memory.
#[derive(Debug)]
pub struct WordNet {
    names: Names,
    exceptions: Exceptions,
    parts: [PartOfSpeech; 4],
}

/// The base forms of irregular forms, by part of speech.
type Exceptions = FxHashMap<Box<str>, [Option<Vec<Box<str>>>; 4]>;

/// Why bytes could not be read as the WordNet asset. Every message says what to do: make the asset again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordNetError {
    /// The bytes do not start as the asset does.
    #[error(
        "not closeread's WordNet asset: it starts with {:?}; take core/metrics/assets/wordnet/wordnet-3.0.bin or make it with \
         `cargo xtask wordnet`",
        asset::MAGIC
    )]
    NotTheAsset,
    /// The bytes end too early.
    #[error("WordNet asset, byte {at}: ends in the middle of {what}; make it again with `cargo xtask wordnet`")]
    Truncated {
        /// How many bytes there are.
        at: usize,
        /// What was being read.
        what: &'static str,
    },
    /// Something that the format does not allow.
    #[error("WordNet asset, byte {at}: {what}; make it again with `cargo xtask wordnet`")]
    Invalid {
        /// Offset behind what is wrong.
        at: usize,
        /// What was expected there.
        what: &'static str,
    },
}

impl WordNet {
    /// Reads the asset, all of it.
    ///
    /// # Errors
    /// [`WordNetError`] names the byte at which the format is left.
    pub fn read(bytes: &[u8]) -> Result<Self, WordNetError> {
        asset::read(bytes)
    }

    /// The asset that is compiled in; read once, on the first call.
    #[cfg(feature = "wordnet")]
    pub fn built_in() -> Arc<Self> {
        static BUILT_IN: LazyLock<Arc<WordNet>> = LazyLock::new(|| {
            let bytes = include_bytes!("../../assets/wordnet/wordnet-3.0.bin");
            Arc::new(WordNet::read(bytes).expect("the asset is tested to be readable"))
        });
        BUILT_IN.clone()
    }

    /// The names of one word (those without `_`) in all synsets of `word`, over all parts of speech, sorted, each once.
    ///
    /// `word` is lower-cased; for each part of speech the synsets are those of the word itself and of the base forms
    /// that NLTK finds for it: those its exception list names or, if it names none, those to which a rule of endings
    /// leads. Names keep their capitals (`Paris`). No synset, no names: the word itself is only there as a name. This
    /// is what the third stage of NLTK's METEOR gathers with `wordnet.synsets(word)`.
    pub fn synonyms(&self, word: &str) -> Vec<&str> {
        let mut names: Vec<&str> = self.synonym_ids(word).into_iter().map(|id| self.names.get(id)).collect();
        names.sort_unstable();
        names
    }

    /// [`synonyms`](Self::synonyms) as numbers of names, ascending, each once.
    pub(super) fn synonym_ids(&self, word: &str) -> Vec<u32> {
        let lower = python::lower(word);
        let mut ids = Vec::new();
        // Nothing in WordNet is written with other characters, and no rule of endings takes them away.
        if lower.is_ascii() {
            let irregular = self.exceptions.get(&*lower);
            for name in self.names.with_lower(&lower) {
                self.parts.iter().for_each(|part| self.names_beside(part, name, &mut ids));
            }
            for (at, (part, endings)) in self.parts.iter().zip(ENDINGS).enumerate() {
                match irregular.and_then(|bases| bases[at].as_deref()) {
                    Some(bases) => bases.iter().for_each(|base| self.add_form(part, base, &mut ids)),
                    None => {
                        let stems = endings.iter().filter_map(|(old, new)| Some((lower.strip_suffix(old)?, new)));
                        stems.for_each(|(stem, ending)| self.add_form(part, &format!("{stem}{ending}"), &mut ids));
                    }
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The number of the name that is exactly `name`.
    pub(super) fn id(&self, name: &str) -> Option<u32> {
        self.names.with_lower(&name.to_ascii_lowercase()).find(|id| self.names.get(*id) == name)
    }

    /// How many names there are; their numbers are below.
    pub(super) fn n_names(&self) -> usize {
        self.names.len()
    }

    /// Adds the single words that share a synset of `part` with a name whose lower-case form is `form`.
    fn add_form(&self, part: &PartOfSpeech, form: &str, ids: &mut Vec<u32>) {
        self.names.with_lower(form).for_each(|name| self.names_beside(part, name, ids));
    }

    /// Adds the single words that share a synset of `part` with the name.
    fn names_beside(&self, part: &PartOfSpeech, name: u32, ids: &mut Vec<u32>) {
        let synsets = part.synsets_of_name.list(name).iter();
        let members = synsets.flat_map(|synset| part.members.list(*synset)).copied();
        ids.extend(members.filter(|id| self.names.single_words[*id as usize]));
    }
}

/// Endings and what NLTK puts in their place, for nouns, verbs, adjectives and adverbs.
const ENDINGS: [&[(&str, &str)]; 4] = [
    &[
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ],
    &[("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    &[("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    &[],
];

#[derive(Debug)]
struct PartOfSpeech {
    /// Names by synset.
    members: Lists,
    /// Synsets by name.
    synsets_of_name: Lists,
}

/// Names in the order of their lower-case forms, then of the names; all ASCII.
#[derive(Debug, Default)]
struct Names {
    text: String,
    ends: Vec<u32>,
    /// Which names are one word.
    single_words: Vec<bool>,
}

impl Names {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, id: u32) -> &str {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] as usize };
        &self.text[start..self.ends[id] as usize]
    }

    /// The names whose lower-case form is `lower`.
    fn with_lower(&self, lower: &str) -> impl Iterator<Item = u32> {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if compare_lower(self.get(middle), lower) == Ordering::Less { low = middle + 1 } else { high = middle }
        }
        (low..self.len() as u32).take_while(move |id| self.get(*id).eq_ignore_ascii_case(lower))
    }
}

/// Compares the lower-case form of `name` with `lower`, byte by byte.
fn compare_lower(name: &str, lower: &str) -> Ordering {
    name.bytes().map(|b| b.to_ascii_lowercase()).cmp(lower.bytes())
}

/// Lists of numbers, one after the other.
#[derive(Debug, Default)]
struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn list(&self, at: u32) -> &[u32] {
        let at = at as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.items[start..self.ends[at] as usize]
    }
}

#[cfg(all(test, feature = "wordnet"))]
mod tests {
    use super::*;

    fn check(word: &str, expected: &str) {
        assert_eq!(WordNet::built_in().synonyms(word).join(" "), expected, "{word}");
    }

    #[test]
    fn names_of_all_synsets_of_a_word() {
        check("automobile", "auto automobile car machine motorcar");
        check("paris", "Paris");
        check("hello", "hello hi how-do-you-do howdy hullo");
        check("", "");
        check("孔乙己", "");
        check("naïve", "");
        check("x'y", "");
    }

    #[test]
    fn inflected_forms_lead_to_base_forms() {
        let net = WordNet::built_in();
        assert!(net.synonyms("MICE").contains(&"mouse"));
        assert!(net.synonyms("churches").contains(&"church"));
        assert!(net.synonyms("went").contains(&"travel"));
        assert!(net.synonyms("happier").contains(&"felicitous"));
    }

    #[test]
    fn every_lower_case_name_is_among_its_own_synonyms() {
        let net = WordNet::built_in();
        let names = (0..net.n_names() as u32).filter(|id| net.names.single_words[*id as usize]);
        for id in names {
            let name = net.names.get(id);
            assert!(net.synonym_ids(name).binary_search(&id).is_ok(), "{name}");
            assert_eq!(net.id(name), Some(id));
        }
    }
}
