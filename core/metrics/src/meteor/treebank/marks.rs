//! Marks of a sentence that rules look for, found in one pass over its bytes.

use super::contractions;

/// Kinds of bytes, and what a sentence holds of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks(u16);

impl Marks {
    pub(super) const APOSTROPHE: u16 = 1;
    pub(super) const QUOTE: u16 = 1 << 1;
    pub(super) const BACKTICK: u16 = 1 << 2;
    pub(super) const COLON_OR_COMMA: u16 = 1 << 3;
    pub(super) const STOP: u16 = 1 << 4;
    pub(super) const SYMBOL: u16 = 1 << 5;
    pub(super) const ASTERISK: u16 = 1 << 6;
    pub(super) const BRACKET: u16 = 1 << 7;
    pub(super) const QUESTION: u16 = 1 << 8;
    /// Typographic quotes; other characters with the same first byte in UTF-8 set it, too.
    pub(super) const WIDE: u16 = 1 << 9;
    /// A word that is a contraction by itself, such as `cannot`.
    pub(super) const CONTRACTION: u16 = 1 << 10;
    /// Two apostrophes in a row.
    pub(super) const APOSTROPHES: u16 = 1 << 11;
    /// Two stops in a row.
    pub(super) const STOPS: u16 = 1 << 12;
    /// Two hyphens in a row.
    pub(super) const DASH: u16 = 1 << 13;
    /// A byte that a contraction may start with.
    const CONTRACTION_START: u16 = 1 << 14;

    pub(super) fn of(text: &str) -> Self {
        let mut marks = 0;
        let mut previous = 0;
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            let kind = KINDS[byte as usize];
            if kind != 0 {
                marks |= kind & !Self::CONTRACTION_START;
                if kind & Self::CONTRACTION_START != 0 && contractions::starts(text, at) {
                    marks |= Self::CONTRACTION;
                }
                if byte == previous {
                    marks |= match byte {
                        b'\'' => Self::APOSTROPHES,
                        b'.' => Self::STOPS,
                        _ => 0,
                    };
                }
            } else if byte == b'-' && previous == b'-' {
                marks |= Self::DASH;
            }
            previous = byte;
        }
        Self(marks)
    }

    /// True if no rule would find anything.
    pub(super) fn is_plain(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, any: u16) -> bool {
        self.0 & any != 0
    }
}

/// Returns whether `byte` is of `kind`, one of the constants for single bytes.
pub(super) fn is(byte: u8, kind: u16) -> bool {
    KINDS[byte as usize] & kind != 0
}

static KINDS: [u16; 256] = {
    let mut kinds = [0; 256];
    let groups: [(&[u8], u16); 11] = [
        (b"'", Marks::APOSTROPHE | Marks::CONTRACTION_START),
        (b"\"", Marks::QUOTE),
        (b"`", Marks::BACKTICK),
        (b":,", Marks::COLON_OR_COMMA),
        (b".", Marks::STOP),
        (b";@#$%&", Marks::SYMBOL),
        (b"*", Marks::ASTERISK),
        (b"[](){}<>", Marks::BRACKET),
        (b"?!", Marks::QUESTION),
        // First bytes of « and », and of ‘ ’ “ ” „.
        (b"\xC2\xE2", Marks::WIDE),
        (b"cCdDgGlLmMwW", Marks::CONTRACTION_START),
    ];
    let mut group = 0;
    while group < groups.len() {
        let (bytes, kind) = groups[group];
        let mut at = 0;
        while at < bytes.len() {
            kinds[bytes[at] as usize] = kind;
            at += 1;
        }
        group += 1;
    }
    kinds
};
