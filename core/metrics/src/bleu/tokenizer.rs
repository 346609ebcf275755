//! Tokenizer 13a, as mteval-v13a, sacrebleu and Hugging Face evaluate have it.

use crate::tokens::{Tokens, space_at};
use crate::words::{Words, is_chinese_punctuation, is_spaceless, narrow};
use std::borrow::Cow;

/// The tokens of `text`, case kept.
///
/// The reference runs four substitutions one after the other over the line, each of which only puts spaces between
/// characters; so a token is a stretch of the line, and one pass can say where it ends. In the reference's order:
/// 1. every mark of ASCII but the apostrophe, comma, hyphen and period stands alone;
/// 2. a point (period or comma) stands alone unless a digit stands before it, or a point that this rule has just
///    taken, since a substitution takes no character twice;
/// 3. a point stands alone unless a digit follows;
/// 4. a hyphen stands alone if a digit stands before it.
///
/// The ends of the line count as spaces.
pub(super) fn tokenize(text: &str, words: Words) -> Tokens<'_> {
    let mut text = undo_markup(text);
    if words == Words::ChineseCharacters && !text.is_ascii() {
        text = Cow::Owned(separate_chinese(&text));
    }
    let bytes = text.as_bytes();
    let kind = |at: usize| bytes.get(at).map_or(Kind::Space, |&byte| KINDS[usize::from(byte)]);
    let mut spans = Vec::with_capacity(bytes.len() / 5 + 1);
    let mut start = 0;
    let mut before = Kind::Space;
    // Whether rule 2 has taken the point just before.
    let mut taken = false;
    let mut at = 0;
    while at < bytes.len() {
        let here = kind(at);
        let alone = match here {
            Kind::Other | Kind::Digit => {
                (before, taken) = (here, false);
                at += 1;
                continue;
            }
            Kind::Beyond => {
                let space = space_at(&text, at);
                if space == 0 {
                    (before, taken) = (Kind::Other, false);
                    at += text[at..].chars().next().map_or(1, char::len_utf8);
                    continue;
                }
                Alone::Never(space)
            }
            Kind::Space => Alone::Never(1),
            Kind::Mark => Alone::Always,
            Kind::Point => {
                taken = before != Kind::Digit && !taken;
                if taken || kind(at + 1) != Kind::Digit { Alone::Always } else { Alone::Joined }
            }
            Kind::Hyphen if before == Kind::Digit => Alone::Always,
            Kind::Hyphen => Alone::Joined,
        };
        if here != Kind::Point {
            taken = false;
        }
        before = here;
        match alone {
            Alone::Joined => at += 1,
            Alone::Always | Alone::Never(_) => {
                if start < at {
                    spans.push(start..at);
                }
                let width = match alone {
                    Alone::Never(width) => width,
                    _ => {
                        spans.push(at..at + 1);
                        1
                    }
                };
                at += width;
                start = at;
            }
        }
    }
    if start < at {
        spans.push(start..at);
    }
    Tokens { text, spans }
}

/// The effect of a character on the token it stands in.
enum Alone {
    /// White space of this many bytes: it ends the token and is none itself.
    Never(usize),
    /// The character ends the token and is one itself.
    Always,
    /// The character belongs to the token.
    Joined,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Digit,
    /// A period or comma.
    Point,
    Hyphen,
    Mark,
    Other,
    /// The first byte of a character beyond ASCII.
    Beyond,
}

const KINDS: [Kind; 256] = {
    let mut table = [Kind::Beyond; 256];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            // What `str.split` takes for white space.
            b'\t'..=b'\r' | 0x1c..=0x1f | b' ' => Kind::Space,
            b'0'..=b'9' => Kind::Digit,
            b'.' | b',' => Kind::Point,
            b'-' => Kind::Hyphen,
            b'\'' => Kind::Other,
            _ if byte.is_ascii_punctuation() => Kind::Mark,
            _ => Kind::Other,
        };
        byte += 1;
    }
    table
};

/// Undoes markup in the reference's order: `&amp;lt;` becomes `<`.
fn undo_markup(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    let mut replace = |signal: u8, from: &str, to: &str| {
        if text.as_bytes().contains(&signal) && text.contains(from) {
            text = Cow::Owned(text.replace(from, to));
        }
    };
    replace(b'<', "<skipped>", "");
    replace(b'\n', "-\n", "");
    replace(b'\n', "\n", " ");
    for (entity, character) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
        replace(b'&', entity, character);
    }
    text
}

fn separate_chinese(line: &str) -> String {
    let mut separated = String::with_capacity(line.len() * 2);
    for c in line.chars().map(narrow) {
        if is_spaceless(c) || is_chinese_punctuation(c) {
            separated.extend([' ', c, ' ']);
        } else {
            separated.push(c);
        }
    }
    separated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, tokens: &str) {
        assert_eq!(tokenize(text, Words::Reference).iter().collect::<Vec<_>>().join(" "), tokens, "{text}");
    }

    #[test]
    fn points_stand_alone_but_between_digits() {
        check("1,000.5 a.b. 5. .5 x,,y ...", "1,000.5 a . b . 5 . . 5 x , , y . . .");
        check("é.é", "é . é");
    }

    #[test]
    fn hyphens_stand_alone_after_digits() {
        check("well-known 5-6 -5 a-5", "well-known 5 - 6 -5 a-5");
    }

    #[test]
    fn markup_is_undone_in_the_order_of_the_reference() {
        check("<skipped>&amp;lt;b&amp;gt; hy-\nphen\nnew &quot;q&quot;", "< b > hyphen new \" q \"");
        check("don't (stop) [now] {a|b} a_b x^2 `c` ~", "don't ( stop ) [ now ] { a | b } a _ b x ^ 2 ` c ` ~");
    }

    #[test]
    fn chinese_is_whole_or_taken_apart() {
        check("他说：“好。”", "他说：“好。”");
        let tokens = tokenize("他说：“好，３．５”", Words::ChineseCharacters);
        assert_eq!(tokens.to_strings(), ["他", "说", ":", "“", "好", ",", "3.5", "”"]);
    }
}
