//! Byte-pair encoding over a published vocabulary.
//!
//! A text is split into pieces by a pattern; a piece that is a token is one; in any other the neighbours whose merger has the
//! lowest rank are merged, the leftmost of equals first, until no merger is a token. The result is tiktoken's
//! (`openai/tiktoken`, `src/lib.rs`) for pieces of up to 4 MiB, in time that grows with n log n of a piece, whatever it holds.

use super::encoding::Encoding;
#[cfg(feature = "vocabularies")]
use super::encoding::INSIDE;
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use rustc_hash::FxHasher;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hasher as _;

/// An encoding that is ready to use.
pub(super) struct BytePairs {
    /// Pattern of the next piece of a text; the last character of a match of the second pattern is given back.
    splitter: Regex,
    /// Bytes of all tokens, one behind the other, by their rank.
    bytes: Vec<u8>,
    /// Offsets where each token begins in `bytes`, and where the last ends.
    starts: Vec<u32>,
    /// Ranks at the hash of their token or in the next free place behind it. The length is a power of two.
    places: Vec<u32>,
}

const FREE: u32 = u32::MAX;
/// Bytes of a word that are merged at once: merging takes many times their memory. No book has a longer word.
const MAX_PIECE: usize = 4 << 20;

impl BytePairs {
    /// Makes the encoding from the vocabulary inside the binary.
    #[cfg(feature = "vocabularies")]
    pub(super) fn inside(encoding: Encoding) -> Self {
        Self::new(encoding, &encoding.vocabulary()).expect(INSIDE)
    }

    /// Reads a vocabulary: a byte for the length of each token, by rank, and behind them the bytes of all tokens. `None` if the
    /// file is something else.
    pub(super) fn new(encoding: Encoding, vocabulary: &[u8]) -> Option<Self> {
        let n_tokens = encoding.n_tokens();
        let (lengths, bytes) = vocabulary.split_at_checked(n_tokens as usize)?;
        let mut end = 0;
        let ends = lengths.iter().map(|&length| {
            end += u32::from(length);
            end
        });
        let starts: Vec<u32> = [0].into_iter().chain(ends).collect();
        if starts.last().map(|&end| end as usize) != Some(bytes.len()) {
            return None;
        }
        let splitter = Regex::new_many(&encoding.patterns()).expect("the patterns are tested to compile");
        let places = vec![FREE; (2 * lengths.len()).next_power_of_two()];
        let mut read = Self { splitter, bytes: bytes.to_vec(), starts, places };
        for rank in 0..n_tokens {
            let place = read.place(read.token(rank));
            read.places[place] = rank;
        }
        // Any byte alone is a token, so any piece can be encoded.
        (0..=u8::MAX).all(|byte| read.rank(&[byte]).is_some()).then_some(read)
    }

    /// The rank and the length of each token of `text`, in their order.
    pub(super) fn each_token(&self, text: &str, mut take: impl FnMut(u32, usize)) {
        let mut merging = Merging::default();
        for piece in self.pieces(text) {
            match self.rank(piece.as_bytes()) {
                Some(rank) => take(rank, piece.len()),
                None => piece.as_bytes().chunks(MAX_PIECE).for_each(|part| merging.merge(self, part, &mut take)),
            }
        }
    }

    /// The pieces of a text that no token spans.
    fn pieces<'t>(&self, mut rest: &'t str) -> impl Iterator<Item = &'t str> {
        std::iter::from_fn(move || {
            let found = self.splitter.find(Input::new(rest).anchored(Anchored::Yes))?;
            let mut end = found.end();
            if found.pattern().as_usize() == Encoding::GIVES_BACK {
                end -= rest[..end].chars().next_back().map_or(0, char::len_utf8);
            }
            let (piece, behind) = rest.split_at(end);
            rest = behind;
            Some(piece)
        })
    }

    fn rank(&self, token: &[u8]) -> Option<u32> {
        Some(self.places[self.place(token)]).filter(|&rank| rank != FREE)
    }

    /// Returns where the rank of `token` stands, or would stand.
    fn place(&self, token: &[u8]) -> usize {
        let mut hasher = FxHasher::default();
        hasher.write(token);
        let last = self.places.len() - 1;
        // The low bits: where words have 32 bits, as in a page, there are no others.
        let mut place = hasher.finish() as usize & last;
        while self.places[place] != FREE && self.token(self.places[place]) != token {
            place = (place + 1) & last;
        }
        place
    }

    pub(super) fn token(&self, rank: u32) -> &[u8] {
        let at = rank as usize;
        &self.bytes[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// A piece on its way from bytes to tokens. Kept from piece to piece for its memory.
#[derive(Default)]
struct Merging {
    /// End of the part that begins at a byte; 0 where none begins.
    ends: Vec<u32>,
    /// Beginning of the part before the one that begins at a byte.
    before: Vec<u32>,
    /// Merges that two neighbours would make: rank, beginning and end; out of date once either has merged with another.
    mergers: BinaryHeap<Reverse<(u32, u32, u32)>>,
}

impl Merging {
    fn merge(&mut self, vocabulary: &BytePairs, piece: &[u8], take: &mut impl FnMut(u32, usize)) {
        let n = u32::try_from(piece.len()).expect("a piece is below 4 GB");
        self.ends.clear();
        self.ends.extend(1..=n);
        self.before.clear();
        self.before.extend((0..n).map(|at| at.saturating_sub(1)));
        self.mergers.clear();
        for start in 0..n - 1 {
            self.offer(vocabulary, piece, start, start + 2);
        }
        while let Some(Reverse((_, start, end))) = self.mergers.pop() {
            let middle = self.ends[start as usize];
            if middle == 0 || middle == n || self.ends[middle as usize] != end {
                continue;
            }
            self.ends[start as usize] = end;
            self.ends[middle as usize] = 0;
            if end < n {
                self.before[end as usize] = start;
                self.offer(vocabulary, piece, start, self.ends[end as usize]);
            }
            if start > 0 {
                self.offer(vocabulary, piece, self.before[start as usize], end);
            }
        }
        let mut start = 0;
        while start < piece.len() {
            let end = self.ends[start] as usize;
            let rank = vocabulary.rank(&piece[start..end]).expect("what was merged is a token, and so is any byte");
            take(rank, end - start);
            start = end;
        }
    }

    /// Remembers that the two parts from `start` to `end` can merge, if they can.
    fn offer(&mut self, vocabulary: &BytePairs, piece: &[u8], start: u32, end: u32) {
        if let Some(rank) = vocabulary.rank(&piece[start as usize..end as usize]) {
            self.mergers.push(Reverse((rank, start, end)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{Engine, Tokenizer};
    use proptest::prelude::*;

    /// The definition, word by word: look at all neighbours, merge the best, begin again.
    fn merged_one_by_one(vocabulary: &BytePairs, piece: &[u8]) -> Vec<u32> {
        let mut parts: Vec<&[u8]> = piece.chunks(1).collect();
        let mut starts: Vec<usize> = (0..=piece.len()).collect();
        loop {
            let pairs = (0..parts.len().saturating_sub(1)).map(|at| &piece[starts[at]..starts[at + 2]]);
            let best = pairs.enumerate().filter_map(|(at, pair)| Some((vocabulary.rank(pair)?, at))).min();
            let Some((_, at)) = best else { break };
            parts[at] = &piece[starts[at]..starts[at + 2]];
            parts.remove(at + 1);
            starts.remove(at + 1);
        }
        parts.iter().map(|part| vocabulary.rank(part).expect("a token")).collect()
    }

    proptest! {
        #[test]
        fn what_is_merged_at_once_is_what_is_merged_one_by_one(
            text in r"([ \t\r\n]{0,3}([a-zA-Z]{1,12}|[a-z]{30,60}|'[a-zA-Z]{1,2}|[0-9]{1,5}|[李雷走了在山上]{1,40}|[!-/:-@]{1,9}|\PC{1,4}|\p{Any}{1,3})){0,20}"
        ) {
            let vocabulary = Tokenizer::cl100k();
            let Engine::BytePairs(vocabulary) = &vocabulary.engine else { panic!("inside") };
            let pieces: Vec<&str> = vocabulary.pieces(&text).collect();
            prop_assert_eq!(pieces.concat(), text.as_str());
            let expected = pieces.iter().flat_map(|piece| merged_one_by_one(vocabulary, piece.as_bytes()));
            let mut ids = Vec::new();
            vocabulary.each_token(&text, |id, _| ids.push(id));
            prop_assert_eq!(ids, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_piece_of_a_million_bytes_takes_no_time_worth_naming() {
        let vocabulary = BytePairs::inside(Encoding::Cl100k);
        for piece in ["a", "ab", "走", " ", "=-"] {
            let text = piece.repeat(1_000_000 / piece.len());
            let mut n_bytes = 0;
            vocabulary.each_token(&text, |_, n| n_bytes += n);
            assert_eq!(n_bytes, text.len(), "{piece}");
        }
    }

    #[test]
    fn tokens_stand_near_the_place_of_their_hash() {
        let vocabulary = BytePairs::inside(Encoding::Cl100k);
        // Looked for in full places only, a token is as many steps away as it takes to come to a free one, at most.
        let runs = vocabulary.places.split(|&rank| rank == FREE).map(<[u32]>::len);
        let n_steps: usize = runs.map(|length| length * length / 2).sum();
        let mean = n_steps as f64 / vocabulary.places.len() as f64;
        assert!(mean < 2.0, "{mean} steps a token");
    }

    #[test]
    fn what_is_no_vocabulary_is_refused() {
        let inside = Encoding::Cl100k.vocabulary();
        let cut = &inside[..inside.len() - 1];
        // A token of another length; no token of the byte 0 alone.
        let (mut longer, mut without) = (inside.clone(), inside.clone());
        longer[0] += 1;
        let of_zero = inside[Encoding::Cl100k.n_tokens() as usize..].iter().position(|&byte| byte == 0).unwrap();
        without[Encoding::Cl100k.n_tokens() as usize + of_zero] = 1;
        for bytes in [&b""[..], b"IQ== 0\n", cut, &longer, &without] {
            assert!(BytePairs::new(Encoding::Cl100k, bytes).is_none(), "{} bytes", bytes.len());
        }
    }
}
