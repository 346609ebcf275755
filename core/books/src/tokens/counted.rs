//! Counts that are remembered: a book that stands in a thousand prompts is counted once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use twox_hash::XxHash3_128;

/// Bytes of a piece, at least. What follows the last seam, a question for instance, is counted anew each time.
const PIECE: usize = 16 << 10;
/// Most pieces to remember.
const REMEMBERED: usize = 1 << 14;

/// Counts by the hash of the piece: 128 bits, which no two pieces share by chance, at the speed of memory.
#[derive(Default)]
pub(super) struct Counted(Mutex<HashMap<u128, usize>>);

impl Counted {
    /// Returns what `count` gives for the whole text, if it splits texts behind line ends that a letter follows, as
    /// every byte-pair encoding here does: no token spans such a seam.
    pub(super) fn sum(&self, text: &str, count: impl Fn(&str) -> usize) -> usize {
        self.sum_by(text, PIECE, count)
    }

    fn sum_by(&self, text: &str, piece: usize, count: impl Fn(&str) -> usize) -> usize {
        let (mut sum, mut rest) = (0, text);
        while let Some(at) = seam(rest, piece) {
            let (head, tail) = rest.split_at(at);
            sum += self.remembered(head, &count);
            rest = tail;
        }
        sum + count(rest)
    }

    fn remembered(&self, piece: &str, count: impl Fn(&str) -> usize) -> usize {
        let key = XxHash3_128::oneshot(piece.as_bytes());
        let counts = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = counts().get(&key) {
            return known;
        }
        let counted = count(piece);
        let mut counts = counts();
        if counts.len() == REMEMBERED {
            counts.clear();
        }
        counts.insert(key, counted);
        counted
    }
}

/// Returns the first place behind `piece` bytes where a letter follows a line end.
fn seam(text: &str, piece: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = piece;
    loop {
        let at = from + bytes.get(from..)?.iter().position(|&byte| byte == b'\n')? + 1;
        // A line end is one byte, and so a boundary of characters.
        if text[at..].starts_with(|c: char| c.is_ascii_alphabetic() || ('\u{4e00}'..='\u{9fff}').contains(&c)) {
            return Some(at);
        }
        from = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Tokenizer;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_count_as_the_whole(text in "([a-zA-Z' .,/0-9李雷\r\n\t]{0,8}(\n|\r\n|  \n|\n\n)){0,40}", piece in 1usize..40) {
            for tokenizer in [Tokenizer::cl100k(), Tokenizer::o200k()] {
                let counted = Counted::default();
                let whole = tokenizer.encode(&text).len();
                for _ in 0..2 {
                    prop_assert_eq!(counted.sum_by(&text, piece, |text| tokenizer.encode(text).len()), whole);
                }
            }
        }
    }

    #[test]
    fn a_text_that_is_known_is_not_counted_again() {
        let book = "It rained for a week.\n".repeat(3_000);
        let counted = Counted::default();
        let calls = std::cell::RefCell::new(Vec::new());
        let count = |text: &str| {
            calls.borrow_mut().push(text.len());
            text.len()
        };
        assert_eq!(counted.sum(&book, count), book.len());
        let n_first = calls.borrow().len();
        assert_eq!(counted.sum(&(book.clone() + "Who?"), count), book.len() + 4);
        assert_eq!(calls.borrow().len(), n_first + 1, "only the end");
    }
}
