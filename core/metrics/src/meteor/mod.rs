//! METEOR as NLTK 3.9.1 computes it and `evaluate` 0.4.3 reports it.
//!
//! Lavie and Agarwal, *METEOR: An Automatic Metric for MT Evaluation with High Levels of Correlation with Human
//! Judgments*, WMT 2007, with the parameters alpha 0.9, beta 3, gamma 0.5. NLTK departs from the paper: it does not
//! search for the alignment with the fewest crossings but takes matches greedily from the end, and its synonyms are
//! those of the words' stems. It is followed, number for number.

mod align;
mod porter;
mod treebank;
mod wordnet;

pub use align::Alignment;
pub use porter::stem;
pub use treebank::words as word_tokenize;
pub use wordnet::{WordNet, WordNetError};

use super::words::{Words, is_chinese_punctuation, is_spaceless, narrow};
use align::Vocabulary;
use closeread_text::python;
use closeread_text::sentence::punkt;
use std::borrow::Cow;
use std::sync::{Arc, Mutex};

/// A METEOR scorer. It remembers the words it has seen, their stems and synonyms, so one scorer should score all pairs.
///
/// It can be shared between threads; those that score at the same time as another do without that memory.
#[derive(Debug)]
pub struct Meteor {
    punkt: Cow<'static, punkt::Parameters>,
    wordnet: Option<Arc<WordNet>>,
    words: Words,
    vocabulary: Mutex<Vocabulary>,
}

impl Meteor {
    /// METEOR as published: exact matches, stems, synonyms. `WordNet` is no option: without it the numbers are others.
    pub fn new(wordnet: Arc<WordNet>) -> Self {
        Self::with_punkt(Cow::Borrowed(punkt::english()), Some(wordnet))
    }

    /// METEOR whose third stage knows no synonyms, as NLTK computes with an empty WordNet. Not comparable with
    /// published METEOR: name it otherwise.
    pub fn without_synonyms() -> Self {
        Self::with_punkt(Cow::Borrowed(punkt::english()), None)
    }

    /// [`new`](Self::new) or, with no WordNet, [`without_synonyms`](Self::without_synonyms), for builds that do not
    /// carry the Punkt parameters.
    pub fn with_punkt(punkt: Cow<'static, punkt::Parameters>, wordnet: Option<Arc<WordNet>>) -> Self {
        Self { punkt, wordnet, words: Words::default(), vocabulary: Mutex::default() }
    }

    /// Sets the words that the scorer works on; [`Words::Reference`], the words of [`word_tokenize`], unless this is
    /// called.
    ///
    /// To the reference a Chinese sentence is one word, or little more, so `万飞龙。` and `万飞龙` have nothing in common.
    /// With [`Words::ChineseCharacters`] each Han character and each mark of Chinese punctuation is a word, and the rest
    /// is cut as usual: no published METEOR does this, but it is what InfiniteBench's F1 does for Chinese, except that
    /// METEOR counts punctuation, in English as well.
    pub fn over(mut self, words: Words) -> Self {
        self.words = words;
        self
    }

    /// METEOR of `prediction`, in 0..=1: the highest over `references`, 0 if there are none.
    ///
    /// 0 if nothing matches, so an empty text scores 0, even against itself. Equal texts of n words score
    /// 1 - 0.5 / n^3, not 1: NLTK's penalty for fragments holds for a single fragment, too; a text of one word scores
    /// 0.5 against itself.
    pub fn score(&self, prediction: &str, references: &[&str]) -> f64 {
        self.with_vocabulary(|vocabulary| {
            let prediction = self.word_ids(prediction, vocabulary);
            let scores = references.iter().map(|reference| {
                let reference = self.word_ids(reference, vocabulary);
                vocabulary.align(&prediction, &reference, self.wordnet.as_deref()).score()
            });
            scores.fold(0.0, f64::max)
        })
    }

    /// Returns which words of `prediction` are matched with which of `reference`.
    pub fn align(&self, prediction: &str, reference: &str) -> Alignment {
        self.with_vocabulary(|vocabulary| {
            let prediction = self.word_ids(prediction, vocabulary);
            let reference = self.word_ids(reference, vocabulary);
            vocabulary.align(&prediction, &reference, self.wordnet.as_deref())
        })
    }

    fn with_vocabulary<T>(&self, score: impl FnOnce(&mut Vocabulary) -> T) -> T {
        match self.vocabulary.try_lock() {
            Ok(mut vocabulary) => {
                vocabulary.shrink();
                score(&mut vocabulary)
            }
            // Another thread has it, or died with it: what it remembers changes no number.
            Err(_) => score(&mut Vocabulary::default()),
        }
    }

    /// The lower-cased words of `text` as numbers of the vocabulary.
    fn word_ids(&self, text: &str, vocabulary: &mut Vocabulary) -> Vec<u32> {
        let text = match self.words {
            Words::Reference => Cow::Borrowed(text),
            Words::ChineseCharacters => Cow::Owned(characters_apart(text)),
        };
        let mut ids = Vec::with_capacity(text.len() / 4);
        let mut lower = String::new();
        treebank::for_each_word(&self.punkt, &text, |word| {
            let id = if !word.is_ascii() {
                vocabulary.id(&python::lower(word))
            } else if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
                lower.clear();
                lower.push_str(word);
                lower.make_ascii_lowercase();
                vocabulary.id(&lower)
            } else {
                vocabulary.id(word)
            };
            ids.push(id);
        });
        ids
    }
}

/// `text` with a blank on both sides of each Han character and each mark of Chinese or full-width punctuation, and
/// full-width forms as ASCII.
fn characters_apart(text: &str) -> String {
    let mut apart = String::with_capacity(2 * text.len());
    for c in text.chars() {
        let narrow = narrow(c);
        if is_spaceless(c) || is_chinese_punctuation(c) || (narrow != c && narrow.is_ascii_punctuation()) {
            apart.extend([' ', narrow, ' ']);
        } else {
            apart.push(narrow);
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(prediction: &str, references: &[&str]) -> f64 {
        Meteor::without_synonyms().score(prediction, references)
    }

    #[test]
    fn equal_texts_lose_the_penalty_of_one_fragment() {
        assert_eq!(without("Yes", &["yes"]), 0.5);
        assert_eq!(without("hello there", &["Hello there"]), 1.0 - 0.5 / 8.0);
        assert_eq!(without("", &[""]), 0.0);
        assert_eq!(without("anything", &[]), 0.0);
    }

    #[test]
    fn the_best_reference_counts() {
        assert_eq!(without("the cat", &["a dog", "the cat", "cat"]), without("the cat", &["the cat"]));
    }

    #[test]
    fn the_last_equal_word_is_taken_first() {
        let alignment = Meteor::without_synonyms().align("cat cat", "cat dog cat cat");
        assert_eq!(alignment.matches, [(0, 2), (1, 3)]);
        assert_eq!((alignment.n_exact, alignment.n_stem, alignment.n_synonym), (2, 0, 0));
        assert_eq!(alignment.n_chunks(), 1);
    }

    #[cfg(feature = "wordnet")]
    #[test]
    fn stems_match_after_words_and_synonyms_after_stems() {
        let meteor = Meteor::new(WordNet::built_in());
        let alignment = meteor.align("His cars parked there", "An auto is parking there");
        assert_eq!(alignment.matches, [(1, 1), (2, 3), (3, 4)]);
        assert_eq!((alignment.n_exact, alignment.n_stem, alignment.n_synonym), (1, 1, 1));
        // The stem is automobil, which WordNet does not know.
        assert_eq!(meteor.align("automobile", "auto").matches, []);
        assert_eq!(Meteor::without_synonyms().align("car", "auto").matches, []);
    }

    #[test]
    fn chinese_is_compared_by_characters_where_asked_for() {
        assert_eq!(without("万飞龙。", &["万飞龙"]), 0.0);
        let meteor = Meteor::without_synonyms().over(Words::ChineseCharacters);
        let alignment = meteor.align("他是万飞龙，100岁。", "万飞龙 100岁");
        assert_eq!(alignment.matches, [(2, 0), (3, 1), (4, 2), (6, 3), (7, 4)]);
        assert_eq!(meteor.score("庆", &["庆"]), 0.5);
        assert_eq!(meteor.align("第１９１９号，１０", "1919 , 10").matches, [(1, 0), (3, 1), (4, 2)]);
    }

    #[test]
    fn a_scorer_gives_the_same_after_a_thousand_pairs_and_beside_another_thread() {
        let meteor = Meteor::without_synonyms();
        let first = meteor.score("the dogs ran home", &["a dog runs"]);
        for n in 0..1000 {
            meteor.score(&format!("word{n} and others"), &["others"]);
        }
        assert_eq!(meteor.score("the dogs ran home", &["a dog runs"]), first);
        let held = meteor.vocabulary.lock().expect("no test panics with it");
        assert_eq!(meteor.score("the dogs ran home", &["a dog runs"]), first);
        drop(held);
    }

    proptest::proptest! {
        #[test]
        fn any_texts_have_a_score(prediction in "[ -~“”’«é孔。\\n]{0,60}", reference in "\\PC{0,40}") {
            let meteor = Meteor::without_synonyms();
            for meteor in [&meteor, &Meteor::without_synonyms().over(Words::ChineseCharacters)] {
                let alignment = meteor.align(&prediction, &reference);
                assert_eq!(alignment.matches.len(), alignment.n_exact + alignment.n_stem + alignment.n_synonym);
                assert!(alignment.matches.is_sorted_by(|a, b| a.0 < b.0));
                let mut taken: Vec<_> = alignment.matches.iter().map(|(_, to)| *to).collect();
                taken.sort_unstable();
                assert!(taken.is_sorted_by(|a, b| a < b) && taken.last().is_none_or(|to| *to < alignment.n_reference_words));
                assert!((0.0..=1.0).contains(&meteor.score(&prediction, &[&reference])));
                let itself = meteor.align(&prediction, &prediction);
                assert_eq!(itself.matches.len(), itself.n_prediction_words);
            }
        }
    }
}
