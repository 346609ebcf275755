//! English sentences as NLTK's Punkt cuts them.
//!
//! The algorithm is Kiss and Strunk's (*Unsupervised Multilingual Sentence Boundary Detection*, Computational
//! Linguistics 32(4), 2006), in the variant of NLTK 3.9.1's `PunktSentenceTokenizer.span_tokenize`, span for span: a
//! mark `.`, `?` or `!` is a candidate, the words around it decide. Where that differs from common sense (an initial
//! before a name, a full stop before a dash) NLTK is followed: the papers' passages are made of its sentences.

mod words;

use super::super::FlowSpan;
use crate::python::{is_digit, is_word};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
pub(crate) use words::is_python_space;
use words::{Words, words_before};

/// Cuts English `text` into sentences with the parameters that are compiled in; see [`Parameters::sentences`].
pub fn sentences(text: &str) -> Vec<FlowSpan> {
    english().sentences(text)
}

static ENGLISH: OnceLock<Parameters> = OnceLock::new();

/// The parameters trained on English newspaper text that NLTK distributes; `core/text/assets/README.md` gives their origin.
///
/// # Panics
/// In a build without feature `punkt`, before [`provide_english`].
pub fn english() -> &'static Parameters {
    known_english().expect("punkt::provide_english comes before the first sentence in builds without feature `punkt`")
}

/// Returns [`english`], if the parameters are there.
pub fn known_english() -> Option<&'static Parameters> {
    #[cfg(feature = "punkt")]
    ENGLISH.get_or_init(|| {
        Parameters::parse(include_str!("../../assets/punkt-en.txt")).expect("the asset is tested to parse")
    });
    ENGLISH.get()
}

/// Sets the parameters that [`english`] returns, for builds that do not carry them; the first ones stay.
pub fn provide_english(parameters: Parameters) {
    ENGLISH.get_or_init(|| parameters);
}

/// The parameters that training learned about a language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    abbreviations: HashSet<String>,
    collocations: HashMap<String, HashSet<String>>,
    starters: HashSet<String>,
    orthography: HashMap<String, u8>,
}

/// The reason why parameters could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParametersError {
    /// The first field of a line is not a known kind of record.
    #[error(
        "Punkt parameters, line {line}: `{found}` is not a kind of record; expected `abbreviations`, `collocations`, \
         `starters` or `orthography N` with N from 0 to 126 (core/text/assets/README.md)"
    )]
    Record {
        /// Number of the line, from 1.
        line: usize,
        /// Field as it stands in the file.
        found: String,
    },
    /// A collocation is not two words.
    #[error("Punkt parameters, line {line}: collocation `{found}` must be two words with one blank between them")]
    Collocation {
        /// Number of the line, from 1.
        line: usize,
        /// Field as it stands in the file.
        found: String,
    },
}

impl Parameters {
    /// Reads the format that `core/text/assets/README.md` describes. An empty text gives parameters that know no words.
    ///
    /// # Errors
    /// [`ParametersError`] names the first line that cannot be read.
    pub fn parse(source: &str) -> Result<Self, ParametersError> {
        let mut parameters = Self::default();
        for (line, record) in (1..).zip(source.lines()) {
            if record.is_empty() || record.starts_with('#') {
                continue;
            }
            let mut fields = record.split('\t');
            let kind = fields.next().unwrap_or_default();
            match kind {
                "abbreviations" => parameters.abbreviations.extend(fields.map(str::to_owned)),
                "starters" => parameters.starters.extend(fields.map(str::to_owned)),
                "collocations" => {
                    for field in fields {
                        let (first, second) = field
                            .split_once(' ')
                            .ok_or_else(|| ParametersError::Collocation { line, found: field.to_owned() })?;
                        parameters.collocations.entry(first.to_owned()).or_default().insert(second.to_owned());
                    }
                }
                _ => {
                    let contexts = kind
                        .strip_prefix("orthography ")
                        .and_then(|n| n.parse::<u8>().ok())
                        .filter(|&n| n <= ANY_UPPER | ANY_LOWER)
                        .ok_or_else(|| ParametersError::Record { line, found: kind.to_owned() })?;
                    parameters.orthography.extend(fields.map(|word| (word.to_owned(), contexts)));
                }
            }
        }
        Ok(parameters)
    }

    /// Cuts `text` into sentences: ascending, disjoint byte spans with only white space between and after them.
    ///
    /// A closing quote or bracket goes with the sentence before it. As in NLTK, white space before the first sentence
    /// belongs to it. Takes time linear in the length of `text`.
    pub fn sentences(&self, text: &str) -> Vec<FlowSpan> {
        let mut slices = Vec::new();
        let mut start = 0;
        for (word, mark) in words_before(text) {
            if self.holds_break(&text[word..mark.context_end]) {
                slices.push((start, mark.at + 1));
                start = mark.next_word.unwrap_or(mark.at + 1);
            }
        }
        slices.push((start, text.trim_end_matches(is_python_space).len().max(start)));
        realign(text, &slices)
    }

    /// True if a sentence ends inside `context`, before its last word.
    fn holds_break(&self, context: &str) -> bool {
        let mut words = Words::of(context).map(|text| self.word(text));
        let Some(mut left) = words.next() else { return false };
        for right in words {
            if self.breaks_between(&left, &right) {
                return true;
            }
            left = right;
        }
        false
    }

    /// Decides by the word alone (Kiss and Strunk's type-based stage).
    fn word<'t>(&self, text: &'t str) -> Word<'t> {
        let lower = text.to_lowercase();
        let mark = if matches!(text, "." | "?" | "!") {
            Mark::Break
        } else if text.len() > 1 && text.bytes().all(|b| b == b'.') {
            Mark::Ellipsis
        } else if text.ends_with('.') && !text.ends_with("..") {
            // Not cut from `lower`: a final sigma is written differently at the end of a word.
            let stem = text[..text.len() - 1].to_lowercase();
            let last_part = stem.rsplit('-').next().unwrap_or_default();
            if self.abbreviations.contains(&stem) || self.abbreviations.contains(last_part) {
                Mark::Abbreviation
            } else {
                Mark::Break
            }
        } else {
            Mark::None
        };
        let kind = if is_number(&lower) { NUMBER_KIND.to_owned() } else { lower };
        Word { text, kind, mark }
    }

    /// Reconsiders the end of `left` in view of the word after it (their token-based stage).
    fn breaks_between(&self, left: &Word, right: &Word) -> bool {
        let broken = left.mark == Mark::Break;
        if !left.text.ends_with('.') {
            return broken;
        }
        let (kind, next) = (left.kind_without_stop(), right.kind_in_context());
        if self.collocations.get(kind).is_some_and(|seconds| seconds.contains(next)) {
            return false;
        }
        let initial = is_initial(left.text);
        let position = self.position_by_case(right);
        let starter = right.is_upper() && self.starters.contains(next);
        if matches!(left.mark, Mark::Abbreviation | Mark::Ellipsis)
            && !initial
            && (position == Position::Start || starter)
        {
            return true;
        }
        if initial || kind == NUMBER_KIND {
            let always_upper = right.is_upper() && self.contexts(next) & ANY_LOWER == 0;
            if position == Position::Inside || (position == Position::Unknown && initial && always_upper) {
                return false;
            }
        }
        broken
    }

    /// Returns whether `word` starts a sentence, by its case here and in training (their orthographic heuristic).
    fn position_by_case(&self, word: &Word) -> Position {
        if matches!(word.text, ";" | ":" | "," | "." | "!" | "?") {
            return Position::Inside;
        }
        let contexts = self.contexts(word.kind_in_context());
        if word.is_upper() && contexts & ANY_LOWER != 0 && contexts & INSIDE_UPPER == 0 {
            Position::Start
        } else if word.is_lower() && (contexts & ANY_UPPER != 0 || contexts & START_LOWER == 0) {
            Position::Inside
        } else {
            Position::Unknown
        }
    }

    fn contexts(&self, kind: &str) -> u8 {
        self.orthography.get(kind).copied().unwrap_or(0)
    }
}

const START_UPPER: u8 = 1 << 1;
const INSIDE_UPPER: u8 = 1 << 2;
const UNKNOWN_UPPER: u8 = 1 << 3;
const START_LOWER: u8 = 1 << 4;
const INSIDE_LOWER: u8 = 1 << 5;
const UNKNOWN_LOWER: u8 = 1 << 6;
const ANY_UPPER: u8 = START_UPPER | INSIDE_UPPER | UNKNOWN_UPPER;
const ANY_LOWER: u8 = START_LOWER | INSIDE_LOWER | UNKNOWN_LOWER;

/// The kind of every word that is a number.
const NUMBER_KIND: &str = "##number##";

/// True if a word matches Python's `^-?[.,]?\d[\d,.-]*\Z`.
fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let digits = unsigned.strip_prefix(['.', ',']).unwrap_or(unsigned);
    digits.starts_with(is_digit) && digits.chars().all(|c| is_digit(c) || matches!(c, ',' | '.' | '-'))
}

/// True if a word matches Python's `[^\W\d]\.\Z`: a letter or the like, and a full stop.
fn is_initial(word: &str) -> bool {
    let mut chars = word.strip_suffix('.').unwrap_or_default().chars();
    let first = chars.next().filter(|&c| is_word(c) && !is_digit(c));
    first.is_some() && chars.next().is_none()
}

#[derive(Debug, PartialEq, Eq)]
enum Mark {
    None,
    Break,
    Abbreviation,
    Ellipsis,
}

#[derive(Debug, PartialEq, Eq)]
enum Position {
    Start,
    Inside,
    Unknown,
}

#[derive(Debug)]
struct Word<'t> {
    text: &'t str,
    /// Lower-cased; numbers are all of one kind.
    kind: String,
    mark: Mark,
}

impl Word<'_> {
    fn kind_without_stop(&self) -> &str {
        if self.kind.len() > 1 { self.kind.strip_suffix('.').unwrap_or(&self.kind) } else { &self.kind }
    }

    fn kind_in_context(&self) -> &str {
        if self.mark == Mark::Break { self.kind_without_stop() } else { &self.kind }
    }

    fn is_upper(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    fn is_lower(&self) -> bool {
        self.text.starts_with(char::is_lowercase)
    }
}

/// Moves closing quotes and brackets from the start of a sentence to the end of the one before.
fn realign(text: &str, slices: &[(usize, usize)]) -> Vec<FlowSpan> {
    let mut spans = Vec::with_capacity(slices.len());
    let mut moved = 0;
    for (i, &(start, end)) in slices.iter().enumerate() {
        let start = start + moved;
        moved = 0;
        let closing = slices.get(i + 1).and_then(|&(next, next_end)| {
            let rest = &text[next..next_end];
            let after = rest.trim_start_matches(['"', '\'', ')', ']', '}']);
            let len = rest.len() - after.len();
            let closes = after.is_empty() || after.starts_with("--") || after.starts_with(is_python_space);
            (len > 0 && closes).then(|| {
                moved = rest.len() - after.trim_start_matches(is_python_space).len();
                next + len
            })
        });
        match closing {
            Some(end) => spans.push(FlowSpan::new(start, end)),
            None if start < end => spans.push(FlowSpan::new(start, end)),
            None => {}
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = sentences(text).into_iter().map(|span| &text[span.range()]).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn what_the_words_around_a_mark_decide() {
        check("", &[]);
        check(" \r\n", &[]);
        check("Mr. Darcy left. He rode.", &["Mr. Darcy left.", "He rode."]);
        check("He came from the U.S. The next day he left.", &["He came from the U.S.", "The next day he left."]);
        check("J. Bach wrote. In 3. he did.", &["J. Bach wrote.", "In 3. he did."]);
        check("Well... he said. Well... The end.", &["Well... he said.", "Well...", "The end."]);
    }

    #[test]
    fn closing_marks_go_with_the_sentence_before() {
        check("(She left.) \"Did she?\" He did.", &["(She left.)", "\"Did she?\"", "He did."]);
        check("No!\r\nYes?! Maybe.\u{a0}So", &["No!", "Yes?!", "Maybe.", "So"]);
    }

    #[test]
    fn white_space_before_the_first_sentence_belongs_to_it() {
        check("\n One. Two. \n", &["\n One.", "Two."]);
    }

    #[test]
    fn the_asset_holds_what_nltk_distributes() {
        let english = english();
        let n_collocations: usize = english.collocations.values().map(HashSet::len).sum();
        assert_eq!((english.abbreviations.len(), n_collocations, english.starters.len()), (156, 37, 39));
        assert_eq!(english.orthography.len(), 20_366);
        assert!(english.abbreviations.contains(". . "), "the blank at the end is part of it");
    }

    #[test]
    fn wrong_parameters_are_named_by_line() {
        let wrong = |source: &str| Parameters::parse(source).unwrap_err().to_string();
        assert!(wrong("# x\n\nabbrev\tdr").starts_with("Punkt parameters, line 3: `abbrev` is not a kind of record"));
        assert!(wrong("orthography 127\tx").contains("`orthography 127`"));
        assert!(wrong("collocations\ta b\tab").contains("collocation `ab` must be two words"));
        assert_eq!(Parameters::parse(""), Ok(Parameters::default()));
    }
}
