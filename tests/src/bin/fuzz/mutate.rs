//! Random bytes that look like what people write.

use closeread_core::random::SplitMix64;

/// Seeded choices.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    /// A number below `n`, which must not be 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// What breaks readers: JSON in pieces, numbers at their limits, bytes that are no UTF-8, and the words parsers look for.
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

/// A few changes to one of `seeds`; sometimes none, sometimes another seed behind it.
pub(crate) fn mutated(random: &mut Random, seeds: &[&[u8]]) -> Vec<u8> {
    const MAX_BYTES: usize = 1 << 16;
    let mut bytes = random.pick(seeds).to_vec();
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(12)).min(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            3 => {
                let other = random.pick(seeds).to_vec();
                let from = random.below(other.len() + 1);
                bytes.splice(at..at, other[from..].iter().copied());
            }
            4 if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            5 => {
                // Long runs and deep nesting.
                let piece = *random.pick(PIECES);
                let times = 1 << random.below(11);
                bytes.splice(at..at, piece.repeat(times));
            }
            _ => drop(bytes.splice(at..end, random.pick(PIECES).iter().copied())),
        }
        bytes.truncate(MAX_BYTES);
    }
    bytes
}
