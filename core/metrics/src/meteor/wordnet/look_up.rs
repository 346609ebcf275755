//! NLTK's way to look a word up.

use super::asset;
use super::data::{PartOfSpeech, WordNet, WordNetError};
use closeread_text::python;
#[cfg(feature = "wordnet")]
use std::{
    io::Read as _,
    sync::{Arc, LazyLock},
};

#[cfg(feature = "wordnet")]
const READABLE: &str = "the asset is tested to be readable";

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
            let packed: &[u8] = include_bytes!("../../../assets/wordnet/wordnet-3.0.bin.gz");
            let mut bytes = Vec::new();
            flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect(READABLE);
            Arc::new(WordNet::read(&bytes).expect(READABLE))
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
    pub(in crate::meteor) fn synonym_ids(&self, word: &str) -> Vec<u32> {
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
    pub(in crate::meteor) fn id(&self, name: &str) -> Option<u32> {
        self.names.with_lower(&name.to_ascii_lowercase()).find(|id| self.names.get(*id) == name)
    }

    /// Returns the number of names; their numbers are below it.
    pub(in crate::meteor) fn n_names(&self) -> usize {
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
