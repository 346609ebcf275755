//! Letters with marks, which Unicode writes in two ways.

use std::borrow::Cow;
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::char::compose;

/// Composes letters with the marks after them where Unicode has one character for both: `e` and an accent are `é`.
///
/// What is composed (NFC) and what is not (NFD) becomes the same. It is NFC but for marks on one side of a letter: these may
/// change their order where only the later one has a composed letter. The order of marks needs tables that the scorer,
/// which pages embed, has no room for.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut chars: Vec<char> = Vec::with_capacity(text.len());
    let mut letter = 0;
    for char in text.chars() {
        let place = [chars.len().saturating_sub(1), letter]
            .into_iter()
            .find_map(|at| Some((at, compose(*chars.get(at)?, char)?)));
        match place {
            Some((at, one)) => chars[at] = one,
            None => {
                if get_general_category(char) != GeneralCategory::NonspacingMark {
                    letter = chars.len();
                }
                chars.push(char);
            }
        }
    }
    Cow::Owned(chars.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::UnicodeNormalization as _;

    #[test]
    fn letters_and_their_marks_are_one() {
        for (apart, one) in
            [("cafe\u{301}", "café"), ("\u{1112}\u{1169}\u{11bc}", "홍"), ("\u{30ab}\u{3099}", "ガ"), ("a x", "a x")]
        {
            assert_eq!(composed(apart), one);
            assert_eq!(composed(one), one);
        }
    }

    #[test]
    fn every_letter_is_the_same_in_both_ways_with_more_marks_too() {
        let has_two_ways = |char: &char| *char < '\u{530}' || !char.nfd().eq([*char]);
        for char in (char::MIN..=char::MAX).filter(has_two_ways) {
            for marks in ["", "x", "\u{301}", "\u{323}\u{302}", "\u{327}\u{301}", "\u{64e}\u{653}", "\u{3099}"] {
                let text = format!("{char}{marks}");
                let (apart, one): (String, String) = (text.nfd().collect(), text.nfc().collect());
                assert_eq!(composed(&apart), composed(&one), "{text:?}");
                if marks.len() < 2 {
                    assert_eq!(composed(&apart), one, "{text:?}");
                }
            }
        }
    }
}
