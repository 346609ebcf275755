//! Tokens of a text and the numbers they are compared by.

use super::python;
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

/// What [`Numbering`] numbers.
pub(super) trait Key: Copy + Eq {
    fn code(self) -> Code;
}

/// A key in sixteen bytes: all of it if it has at most eight bytes, else what tells it from most others.
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
    /// Whatever the length, in few steps that do not depend on it much: most words have at most eight bytes.
    fn code(self) -> Code {
        let bytes = self.as_bytes();
        let four = |at: usize| u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
        let n_bytes = bytes.len();
        let word = match n_bytes {
            0 => 0,
            1..4 => u64::from(bytes[0]) | u64::from(bytes[n_bytes / 2]) << 8 | u64::from(bytes[n_bytes - 1]) << 16,
            4..=Code::WHOLE => four(0) | four(n_bytes - 4) << 32,
            _ => {
                let (words, _) = bytes.as_chunks::<8>();
                let hash = words.iter().fold(0, |hash, word| mixed(hash, u64::from_le_bytes(*word)));
                mixed(hash, four(n_bytes - 8) | four(n_bytes - 4) << 32)
            }
        };
        Code { word, n_bytes }
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
    keys: Vec<(Code, K)>,
}

impl<K: Key> Numbering<K> {
    pub(super) fn with_capacity(n_keys: usize) -> Self {
        Self { slots: vec![(0, 0); (2 * n_keys + 2).next_power_of_two()], keys: Vec::with_capacity(n_keys) }
    }

    pub(super) fn number(&mut self, key: K) -> u32 {
        let code = key.code();
        let slot = match self.find(code, key) {
            Ok(number) => return number,
            Err(slot) => slot,
        };
        self.keys.push((code, key));
        let count = u32::try_from(self.keys.len()).expect("a text has fewer than 2^32 distinct tokens");
        self.slots[slot] = (code.hash(), count);
        if 2 * self.keys.len() > self.slots.len() {
            self.grow();
        }
        count - 1
    }

    pub(super) fn known(&self, key: K) -> Option<u32> {
        self.find(key.code(), key).ok()
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The key's number, or else the slot where it belongs.
    fn find(&self, code: Code, key: K) -> Result<u32, usize> {
        let hash = code.hash();
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                (_, 0) => return Err(slot),
                (taken, count) if taken == hash && self.is(count - 1, code, key) => return Ok(count - 1),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn is(&self, number: u32, code: Code, key: K) -> bool {
        let (known_code, known) = self.keys[number as usize];
        known_code == code && (code.n_bytes <= Code::WHOLE || known == key)
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
    }
}
