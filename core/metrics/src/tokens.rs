//! Tokens of a text and the numbers they are compared by.

use closeread_text::python;
use std::borrow::Cow;
use std::ops::Range;

/// A text as a metric has normalised it, and where its tokens lie.
#[derive(Debug)]
pub(super) struct Tokens<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) spans: Vec<Range<usize>>,
}

impl Tokens<'_> {
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spans.iter().map(|span| &self.text[span.clone()])
    }

    /// The tokens as keys, which takes less time than numbering [`Self::iter`].
    pub(super) fn keys(&self) -> impl Iterator<Item = Token<'_>> {
        self.spans.iter().map(|span| Token { text: &self.text, start: span.start, end: span.end })
    }

    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(super) fn to_strings(&self) -> Vec<String> {
        self.iter().map(str::to_owned).collect()
    }
}

/// Length in bytes of the white space that begins at `at`, where a character begins; 0 if there is none.
pub(super) fn space_at(text: &str, at: usize) -> usize {
    let byte = text.as_bytes()[at];
    if byte.is_ascii() {
        return usize::from(python::is_space(char::from(byte)));
    }
    let c = text[at..].chars().next().expect("a character begins here");
    if python::is_space(c) { c.len_utf8() } else { 0 }
}

/// The keys that [`Numbering`] numbers.
pub(super) trait Key: Copy + Eq {
    fn code(self) -> Code;
}

/// A key in sixteen bytes: all of it if it has at most eight bytes, the first in the lowest place, else what tells it
/// from most others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code {
    word: u64,
    n_bytes: usize,
}

impl Code {
    const WHOLE: usize = 8;

    fn hash(self) -> u32 {
        (mixed(self.n_bytes as u64, self.word) >> 32) as u32
    }
}

/// Odd, with bits all over: the golden ratio of 2^64.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(26) ^ word).wrapping_mul(MIX)
}

impl Key for &str {
    /// Returns a code whatever the length, in few steps that do not depend on it much: most words have at most eight
    /// bytes.
    fn code(self) -> Code {
        let bytes = self.as_bytes();
        let four = |at: usize| u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
        let n_bytes = bytes.len();
        let one = |at: usize| u64::from(bytes[at]) << (8 * at);
        // Bytes that are read twice are put in the same place.
        let word = match n_bytes {
            0 => 0,
            1..4 => one(0) | one(n_bytes / 2) | one(n_bytes - 1),
            4..=Code::WHOLE => four(0) | four(n_bytes - 4) << (8 * (n_bytes - 4)),
            _ => {
                let (words, _) = bytes.as_chunks::<8>();
                let hash = words.iter().fold(0, |hash, word| mixed(hash, u64::from_le_bytes(*word)));
                mixed(hash, four(n_bytes - 8) | four(n_bytes - 4) << 32)
            }
        };
        Code { word, n_bytes }
    }
}

/// A token in its text, so that a short one is read at once with what follows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

impl<'t> Token<'t> {
    fn as_str(self) -> &'t str {
        &self.text[self.start..self.end]
    }
}

impl PartialEq for Token<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Token<'_> {}

impl Key for Token<'_> {
    fn code(self) -> Code {
        let n_bytes = self.end - self.start;
        match self.text.as_bytes()[self.start..].first_chunk() {
            Some(eight) if (1..=Code::WHOLE).contains(&n_bytes) => {
                let word = u64::from_le_bytes(*eight) & (u64::MAX >> (64 - 8 * n_bytes));
                Code { word, n_bytes }
            }
            _ => self.as_str().code(),
        }
    }
}

impl Key for u64 {
    fn code(self) -> Code {
        Code { word: self ^ self >> 31, n_bytes: Code::WHOLE }
    }
}

/// Numbers distinct keys from 0 in the order in which they come.
///
/// A table of its own, as nearly all the time of a metric goes into this: a power of two slots, at most half of them
/// taken, each with a key's hash and its number plus one; the next slot where one is taken. Short keys, which are most,
/// are compared by their codes alone.
#[derive(Debug)]
pub(super) struct Numbering<K> {
    slots: Vec<(u32, u32)>,
    /// Codes by number plus one; the first belongs to no key.
    codes: Vec<Code>,
    keys: Vec<K>,
}

impl<K: Key> Numbering<K> {
    pub(super) fn with_capacity(n_keys: usize) -> Self {
        let mut codes = Vec::with_capacity(n_keys + 1);
        codes.push(Code { word: 0, n_bytes: usize::MAX });
        Self { slots: vec![(0, 0); (2 * n_keys + 2).next_power_of_two()], codes, keys: Vec::with_capacity(n_keys) }
    }

    pub(super) fn number(&mut self, key: K) -> u32 {
        let code = key.code();
        let slot = self.slot(code, key);
        let known = self.slots[slot].1;
        if known > 0 {
            return known - 1;
        }
        self.codes.push(code);
        self.keys.push(key);
        let count = u32::try_from(self.keys.len()).expect("a text has fewer than 2^32 distinct tokens");
        self.slots[slot] = (code.hash(), count);
        if 2 * self.keys.len() > self.slots.len() {
            self.grow();
        }
        count - 1
    }

    pub(super) fn known(&self, key: K) -> Option<u32> {
        self.slots[self.slot(key.code(), key)].1.checked_sub(1)
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The slot that holds the key, or else the one where it belongs.
    fn slot(&self, code: Code, key: K) -> usize {
        let hash = code.hash();
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (taken, count) = self.slots[slot];
            let is_free = count == 0;
            let is_alike = (taken == hash) & (self.codes[count as usize] == code);
            if (is_free | is_alike) && (code.n_bytes <= Code::WHOLE || is_free || self.keys[count as usize - 1] == key)
            {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![(0, 0); old.len() * 2];
        let mask = self.slots.len() - 1;
        for (hash, count) in old.into_iter().filter(|(_, count)| *count > 0) {
            let mut slot = hash as usize & mask;
            while self.slots[slot].1 > 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = (hash, count);
        }
    }
}

/// Counts of how often each token of a text is there.
///
/// A table as in [`Numbering`], with the counts in the slots: whether a token is known, and whether one is left of it, are
/// values here and not branches, which nobody could predict.
#[derive(Debug)]
pub(super) struct Multiset<'t> {
    text: &'t str,
    slots: Vec<Counted>,
}

/// A slot; free if its token has no bytes, which no token has.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    word: u64,
    start: usize,
    n_bytes: usize,
    n_left: usize,
}

impl<'t> Multiset<'t> {
    pub(super) fn new(tokens: &'t Tokens<'_>) -> Self {
        let n_slots = (tokens.len() * 3 / 2 + 1).next_power_of_two();
        let mut set = Self { text: &tokens.text, slots: vec![Counted::default(); n_slots] };
        for token in tokens.keys() {
            let Code { word, n_bytes } = token.code();
            let slot = set.slot(token);
            let n_left = set.slots[slot].n_left + 1;
            let start = if n_left == 1 { token.start } else { set.slots[slot].start };
            set.slots[slot] = Counted { word, start, n_bytes, n_left };
        }
        set
    }

    /// Takes one of the token out; how many there were to take, 0 or 1.
    pub(super) fn take(&mut self, token: Token<'_>) -> usize {
        let slot = self.slot(token);
        let n_left = &mut self.slots[slot].n_left;
        let taken = usize::from(*n_left > 0);
        *n_left -= taken;
        taken
    }

    /// The slot that holds the token, or else the one where it belongs.
    fn slot(&self, token: Token<'_>) -> usize {
        let code = token.code();
        let mask = self.slots.len() - 1;
        let mut slot = code.hash() as usize & mask;
        loop {
            let Counted { word, start, n_bytes, .. } = self.slots[slot];
            let is_free = n_bytes == 0;
            let is_alike = Code { word, n_bytes } == code;
            let is_same = || &self.text[start..start + n_bytes] == token.as_str();
            if (is_free | is_alike) && (code.n_bytes <= Code::WHOLE || is_free || is_same()) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_numbered_in_the_order_of_their_first_coming(words in prop::collection::vec("[ab孔]{0,12}", 0..300)) {
            let mut numbering = Numbering::with_capacity(0);
            let mut seen: Vec<&str> = vec![];
            for word in &words {
                let expected = seen.iter().position(|known| known == word);
                prop_assert_eq!(numbering.known(word.as_str()), expected.map(|number| number as u32));
                prop_assert_eq!(numbering.number(word.as_str()) as usize, expected.unwrap_or(seen.len()));
                if expected.is_none() {
                    seen.push(word);
                }
            }
            prop_assert_eq!(numbering.len(), seen.len());
        }

        #[test]
        fn a_multiset_gives_out_what_was_put_in(
            inside in prop::collection::vec("[ab孔]{1,12}", 0..200), asked in prop::collection::vec("[ab孔]{1,12}", 0..200)
        ) {
            let (inside, asked) = (spaced(&inside), spaced(&asked));
            let mut left: Vec<&str> = inside.iter().collect();
            let mut set = Multiset::new(&inside);
            for (key, token) in asked.keys().zip(asked.iter()) {
                let place = left.iter().position(|known| *known == token);
                prop_assert_eq!(set.take(key), usize::from(place.is_some()));
                place.map(|place| left.swap_remove(place));
            }
        }
    }

    fn spaced(words: &[String]) -> Tokens<'static> {
        let text = words.join(" ");
        let mut start = 0;
        let spans = words.iter().map(|word| {
            let span = start..start + word.len();
            start = span.end + 1;
            span
        });
        Tokens { spans: spans.collect(), text: text.into() }
    }
}
