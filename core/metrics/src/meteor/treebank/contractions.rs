//! The contractions that NLTK's word tokenizer takes apart after everything else: `cannot`, `'tis`, `gonna`.

use closeread_text::python::is_word;
use std::mem;

/// One of NLTK's patterns `\b(first)(second)\b`, found in any case.
struct Contraction {
    first: &'static str,
    second: &'static str,
    /// Whether a blank stands before it, which the replacement takes along; otherwise a word boundary.
    after_blank: bool,
    /// Whether a blank stands behind it; otherwise a word boundary.
    before_blank: bool,
}

const fn word(first: &'static str, second: &'static str) -> Contraction {
    Contraction { first, second, after_blank: false, before_blank: false }
}

const CONTRACTIONS: [Contraction; 10] = [
    word("can", "not"),
    word("d", "'ye"),
    word("gim", "me"),
    word("gon", "na"),
    word("got", "ta"),
    word("lem", "me"),
    word("more", "'n"),
    Contraction { before_blank: true, ..word("wan", "na") },
    Contraction { after_blank: true, ..word("'t", "is") },
    Contraction { after_blank: true, ..word("'t", "was") },
];

/// Returns whether a contraction may stand at the byte `at` of `text`. False only if [`split`] would find none that
/// starts there, whatever white space the rules before it add.
pub(super) fn starts(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let second = bytes.get(at + 1).map_or(0, u8::to_ascii_lowercase);
    let may_start = match bytes[at].to_ascii_lowercase() {
        b'\'' => second == b't',
        b'c' | b'w' => second == b'a',
        b'd' => second == b'\'',
        b'g' => second == b'o' || second == b'i' || !second.is_ascii(),
        b'l' => second == b'e',
        b'm' => second == b'o',
        _ => false,
    };
    // Of a word's letters only the first can start one; no rule puts white space between two letters of ASCII.
    may_start
        && (bytes[at] == b'\'' || at == 0 || !bytes[at - 1].is_ascii_alphabetic())
        && CONTRACTIONS.iter().any(|known| known.len_at(&text[at..]).is_some())
}

/// Puts blanks between the two parts of each contraction and around it, one pattern after the other.
///
/// `text` must hold no white space but single blanks; `room` is overwritten.
pub(super) fn split(text: &mut String, room: &mut String) {
    for contraction in &CONTRACTIONS {
        room.clear();
        if contraction.split(text, room) {
            mem::swap(text, room);
        }
    }
}

impl Contraction {
    /// Writes `from` to `to` with blanks added; false, and nothing of use in `to`, if the contraction does not occur.
    fn split(&self, from: &str, to: &mut String) -> bool {
        let mut copied = 0;
        let mut before: Option<char> = None;
        for (at, c) in from.char_indices() {
            let previous = before.replace(c);
            if at < copied || !self.starts(previous, c) {
                continue;
            }
            let Some((first, second)) = self.len_at(&from[at..]) else { continue };
            let (middle, end) = (at + first, at + first + second);
            let next = from[end..].chars().next();
            let ends = if self.before_blank { next == Some(' ') } else { !next.is_some_and(is_word) };
            if ends {
                // A blank before it belongs to the match.
                let start = if self.after_blank { at - 1 } else { at };
                to.extend([&from[copied..start], " ", &from[at..middle], " ", &from[middle..end], " "]);
                copied = end;
            }
        }
        to.push_str(&from[copied..]);
        copied > 0
    }

    fn starts(&self, previous: Option<char>, c: char) -> bool {
        let expected = self.first.chars().next().expect("no contraction is empty");
        folds_to(c, expected) && if self.after_blank { previous == Some(' ') } else { !previous.is_some_and(is_word) }
    }

    /// Bytes of the two parts if `text` starts with them, in any case.
    fn len_at(&self, text: &str) -> Option<(usize, usize)> {
        let first = folded_len(text, self.first)?;
        Some((first, folded_len(&text[first..], self.second)?))
    }
}

/// Bytes of the start of `text` that Python's `(?i)` takes for `pattern`.
fn folded_len(text: &str, pattern: &str) -> Option<usize> {
    let mut chars = text.chars();
    let mut len = 0;
    for expected in pattern.chars() {
        let c = chars.next().filter(|c| folds_to(*c, expected))?;
        len += c.len_utf8();
    }
    Some(len)
}

/// Returns whether Python's `re` takes `c` for the lower-case ASCII letter `letter` when case is ignored.
fn folds_to(c: char, letter: char) -> bool {
    c.to_ascii_lowercase() == letter || matches!((c, letter), ('ſ', 's') | ('ı' | 'İ', 'i'))
}
