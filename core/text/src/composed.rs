//! Letters with marks, which Unicode writes in two ways.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// A text with its letters and marks as one character each where Unicode has one (NFC): `e` and an accent is `é`.
pub fn composed(text: &str) -> Cow<'_, str> {
    match text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.nfc().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_their_marks_are_one() {
        for (apart, one) in
            [("cafe\u{301}", "café"), ("\u{1112}\u{1169}\u{11bc}", "홍"), ("\u{30ab}\u{3099}", "ガ"), ("a x", "a x")]
        {
            assert_eq!(composed(apart), one);
            assert_eq!(composed(one), one);
        }
    }
}
