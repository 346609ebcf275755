//! Fuzzed texts: a seed with a few changes.

/// Choices drawn from the fuzzer's bytes; 0 after their end.
pub(crate) struct Choices<'b>(pub(crate) &'b [u8]);

impl Choices<'_> {
    /// A number below `n`, which must not be 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let (two, rest) = self.0.split_at(self.0.len().min(2));
        self.0 = rest;
        two.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)) % n
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Snippets that may break readers: pieces of JSON, numbers at their limits, invalid UTF-8, words that parsers look for.
const PIECES: &[&[u8]] = &[
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\0",
    b"\r\n",
    b"\n",
    b"\r",
    b"\x1c",
    b"\xc2\x85",
    b"\xe3\x80\x80",
    b"null",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0",
    b"18446744073709551616",
    b"0.1",
    b"true",
    b"{}",
    b"[]",
    b"\"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\\ud800",
    b"\\u0000",
    b"'",
    b"[[1]]",
    b"[[",
    b"\\boxed{",
    b"}}",
    b"<answer>",
    b"</answer>",
    b"<query>",
    b"Answer0:",
    b"Answer1: $",
    b"The answer is: ",
    b"answer is:",
    b"C50R66S33",
    b"```json",
    b"```",
    b"(A)",
    b"ABCD",
    b"\xe4\xb8\xad",
    b"\xe3\x80\x8a",
    b"\xc4\xb0",
    b"\xcf\x83\xcf\x82",
    b"\xf0\x9f\x98\x80",
    b"a",
    b" ",
    b"%",
    b"$1,000",
    b"2021-13",
    b"&lt;",
    b"<skipped>",
    b"don't",
    b"Mr. ",
    b"...",
];

/// Returns one of `seeds` with a few changes; sometimes unchanged, sometimes with another seed appended.
pub(crate) fn mutated(choices: &mut Choices<'_>, seeds: &[Vec<u8>]) -> Vec<u8> {
    const MAX_BYTES: usize = 1 << 16;
    let mut bytes = choices.pick(seeds).to_vec();
    for _ in 0..choices.below(6) {
        let at = choices.below(bytes.len() + 1);
        let end = (at + choices.below(12)).min(bytes.len());
        match choices.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = choices.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            3 => {
                let other = choices.pick(seeds).to_vec();
                let from = choices.below(other.len() + 1);
                bytes.splice(at..at, other[from..].iter().copied());
            }
            4 if !bytes.is_empty() => {
                let at = choices.below(bytes.len());
                bytes[at] = choices.below(256) as u8;
            }
            5 => {
                // Long runs and deep nesting.
                let piece = *choices.pick(PIECES);
                let times = 1 << choices.below(11);
                bytes.splice(at..at, piece.repeat(times));
            }
            _ => drop(bytes.splice(at..end, choices.pick(PIECES).iter().copied())),
        }
        bytes.truncate(MAX_BYTES);
    }
    bytes
}
