//! Tokenizer 13a, as mteval-v13a, sacrebleu and Hugging Face evaluate have it.

use crate::metric::python;
use crate::metric::tokens::Tokens;
use crate::metric::words::{Words, is_chinese_punctuation, is_han, narrow};

/// The tokens of `text`, case kept.
///
/// The reference runs four substitutions one after the other over the whole line. So does this, in bytes: all that
/// they look for is ASCII, and a byte of another character is neither a digit nor a mark, as the character is.
pub(super) fn tokenize(text: &str, words: Words) -> Tokens {
    let mut line = format!(" {} ", undo_markup(text));
    if words == Words::ChineseCharacters && !line.is_ascii() {
        line = separate_chinese(&line);
    }
    let mut bytes = separate_marks(line.as_bytes());
    if line.contains(['.', ',']) {
        bytes = separate_points(&bytes);
    }
    if line.contains('-') {
        bytes = separate_dashes(&bytes);
    }
    let text = String::from_utf8(bytes).expect("only ASCII was put between characters");
    let mut spans = Vec::with_capacity(text.len() / 5 + 1);
    let mut start = 0;
    for piece in text.split(python::is_space) {
        if !piece.is_empty() {
            spans.push(start..start + piece.len());
        }
        start += piece.len() + text[start + piece.len()..].chars().next().map_or(0, char::len_utf8);
    }
    Tokens { text, spans }
}

/// In the reference's order: `&amp;lt;` becomes `<`.
fn undo_markup(text: &str) -> String {
    let mut text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    if text.contains('&') {
        for (entity, character) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
            text = text.replace(entity, character);
        }
    }
    text
}

fn separate_chinese(line: &str) -> String {
    let mut separated = String::with_capacity(line.len() * 2);
    for c in line.chars().map(narrow) {
        if is_han(c) || is_chinese_punctuation(c) {
            separated.extend([' ', c, ' ']);
        } else {
            separated.push(c);
        }
    }
    separated
}

/// Puts spaces around ASCII punctuation but the apostrophe, comma, hyphen and period.
fn separate_marks(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len() * 5 / 4);
    for &byte in line {
        if byte.is_ascii_punctuation() && !matches!(byte, b'\'' | b',' | b'-' | b'.') {
            out.extend([b' ', byte, b' ']);
        } else {
            out.push(byte);
        }
    }
    out
}

/// Separates a period or comma from what stands before it unless that is a digit, then from what follows.
fn separate_points(line: &[u8]) -> Vec<u8> {
    let point = |byte: u8| matches!(byte, b'.' | b',');
    let after = substitute(line, |a, b| !a.is_ascii_digit() && point(b), |a, b| [a, b' ', b, b' ']);
    substitute(&after, |a, b| point(a) && !b.is_ascii_digit(), |a, b| [b' ', a, b' ', b])
}

/// Separates a hyphen from the digit before it.
fn separate_dashes(line: &[u8]) -> Vec<u8> {
    substitute(line, |a, b| a.is_ascii_digit() && b == b'-', |a, b| [a, b' ', b, b' '])
}

/// Replaces pairs of neighbours from left to right; a byte belongs to one pair at most, as in a regular expression's
/// substitution.
fn substitute(line: &[u8], wanted: impl Fn(u8, u8) -> bool, by: impl Fn(u8, u8) -> [u8; 4]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len() * 5 / 4);
    let mut at = 0;
    while at < line.len() {
        match line.get(at + 1) {
            Some(&next) if wanted(line[at], next) => {
                out.extend(by(line[at], next));
                at += 2;
            }
            _ => {
                out.push(line[at]);
                at += 1;
            }
        }
    }
    out
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
