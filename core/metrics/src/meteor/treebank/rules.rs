//! The substitutions one by one, in the order in which they are applied; each names its pattern.

use super::marks::{Marks, is};
use closeread_text::python::{is_digit, is_space, is_word};

/// `([«“‘„]|[`]+)` becomes ` \1 `.
pub(super) fn opening_quotes(from: &str, to: &mut String) {
    let mut in_backticks = false;
    for c in from.chars() {
        if in_backticks && c != '`' {
            to.push(' ');
        }
        match c {
            '`' if in_backticks => to.push('`'),
            '`' => to.push_str(" `"),
            '«' | '“' | '‘' | '„' => to.extend([' ', c, ' ']),
            _ => to.push(c),
        }
        in_backticks = c == '`';
    }
    if in_backticks {
        to.push(' ');
    }
}

/// `^"` becomes two backticks.
pub(super) fn first_quote(from: &str, to: &mut String) {
    match from.strip_prefix('"') {
        Some(rest) => to.extend(["``", rest]),
        None => to.push_str(from),
    }
}

/// `([ \(\[{<])("|'{2})` becomes `\1` and two backticks between blanks.
pub(super) fn quote_after_bracket(from: &str, to: &mut String) {
    let bytes = from.as_bytes();
    let (mut copied, mut at) = (0, 1);
    while at < bytes.len() {
        let len = match &bytes[at..] {
            [b'"', ..] => 1,
            [b'\'', b'\'', ..] => 2,
            _ => 0,
        };
        // The character before must not belong to the match before.
        if len > 0 && at > copied && matches!(bytes[at - 1], b' ' | b'(' | b'[' | b'{' | b'<') {
            to.extend([&from[copied..at], " `` "]);
            at += len;
            copied = at;
        } else {
            at += 1;
        }
    }
    to.push_str(&from[copied..]);
}

/// `(')(?!re|ve|ll|m|t|s|d|n)(\w)\b`, in any case, becomes `\1 \2`.
pub(super) fn apostrophe_before_letter(from: &str, to: &mut String) {
    let mut copied = 0;
    for (at, _) in from.match_indices('\'') {
        let mut after = from[at + 1..].chars();
        // The lookahead's longer clitics cannot hold where a word of one character is asked for. Python folds ſ to s.
        let splits = after.next().is_some_and(|c| {
            !matches!(c, 'm' | 'M' | 't' | 'T' | 's' | 'S' | 'ſ' | 'd' | 'D' | 'n' | 'N') && is_word(c)
        });
        if splits && !after.next().is_some_and(is_word) {
            to.extend([&from[copied..=at], " "]);
            copied = at + 1;
        }
    }
    to.push_str(&from[copied..]);
}

/// `([^\.])(\.)([closing]*)\s*$` becomes `\1 \2`, `between`, `\3` and a blank.
pub(super) fn final_stop(from: &str, to: &mut String, closing: &str, between: &str) {
    // No stop may follow, so only the last one can match.
    let matched = from.rfind('.').filter(|&at| at > 0 && !from[..at].ends_with('.')).and_then(|at| {
        let rest = &from[at + 1..];
        let n_closing = rest.len() - rest.trim_start_matches(|c| closing.contains(c)).len();
        rest[n_closing..].chars().all(is_space).then(|| (at, &rest[..n_closing]))
    });
    match matched {
        Some((at, closing)) => to.extend([&from[..at], " .", between, closing, " "]),
        None => to.push_str(from),
    }
}

/// `([:,])([^\d])` becomes ` \1 \2`.
pub(super) fn colon_or_comma(from: &str, to: &mut String) {
    let bytes = from.as_bytes();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        if is(bytes[at], Marks::COLON_OR_COMMA)
            && let Some(next) = from[at + 1..].chars().next()
            && !is_digit(next)
        {
            to.extend([&from[copied..at], " ", &from[at..=at], " "]);
            // The character behind it belongs to the match, so another comma there is not looked at.
            copied = at + 1;
            at += 1 + next.len_utf8();
        } else {
            at += 1;
        }
    }
    to.push_str(&from[copied..]);
}

/// `([:,])$` becomes ` \1 `; Python's `$` also stands before a line feed at the very end.
pub(super) fn final_colon_or_comma(from: &str, to: &mut String) {
    let (body, end) = match from.strip_suffix('\n') {
        Some(body) => (body, "\n"),
        None => (from, ""),
    };
    match body.chars().next_back() {
        Some(mark @ (':' | ',')) => {
            to.push_str(&body[..body.len() - 1]);
            to.extend([' ', mark, ' ']);
        }
        _ => to.push_str(body),
    }
    to.push_str(end);
}

/// `\.{2,}` gets blanks around it.
pub(super) fn runs_of_stops(from: &str, to: &mut String) {
    let mut rest = from;
    while let Some(at) = rest.find("..") {
        let n_stops = rest[at..].bytes().take_while(|b| *b == b'.').count();
        to.extend([&rest[..at], " ", &rest[at..at + n_stops], " "]);
        rest = &rest[at + n_stops..];
    }
    to.push_str(rest);
}

/// `([^'])' ` becomes `\1 ' `.
pub(super) fn closing_apostrophe(from: &str, to: &mut String) {
    let mut copied = 0;
    for (at, _) in from.match_indices('\'') {
        // The character before must not belong to the match before.
        let free = at > copied && !from[..at].ends_with('\'');
        if free && from[at + 1..].starts_with(' ') {
            to.extend([&from[copied..at], " ' "]);
            copied = at + 2;
        }
    }
    to.push_str(&from[copied..]);
}

/// `[»”’]` gets blanks around it.
pub(super) fn closing_quotes(from: &str, to: &mut String) {
    let mut copied = 0;
    for (at, quote) in from.match_indices(['»', '”', '’']) {
        to.extend([&from[copied..at], " ", quote, " "]);
        copied = at + quote.len();
    }
    to.push_str(&from[copied..]);
}

/// `"` becomes two apostrophes between blanks.
pub(super) fn straight_quotes(from: &str, to: &mut String) {
    let mut pieces = from.split('"');
    to.extend(pieces.next());
    pieces.for_each(|piece| to.extend([" '' ", piece]));
}

/// Puts a blank before and after the sentence, then makes every run of white space one blank.
pub(super) fn single_blanks(from: &str, to: &mut String) {
    to.push(' ');
    super::for_each_piece(from, |piece| to.extend([piece, " "]));
}

/// `([^' ])('[sS]|'[mM]|'[dD]|') ` becomes `\1 \2 `.
pub(super) fn short_clitics(from: &str, to: &mut String) {
    clitics(from, to, |bytes, at| match &bytes[at + 1..] {
        [b's' | b'S' | b'm' | b'M' | b'd' | b'D', b' ', ..] => Some((at, at + 2)),
        [b' ', ..] => Some((at, at + 1)),
        _ => None,
    });
}

/// `([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ` becomes `\1 \2 `.
pub(super) fn long_clitics(from: &str, to: &mut String) {
    clitics(from, to, |bytes, at| match (at.checked_sub(1).map(|n| bytes[n]), &bytes[at + 1..]) {
        (Some(b'n'), [b't', b' ', ..]) | (Some(b'N'), [b'T', b' ', ..]) => Some((at - 1, at + 2)),
        (_, [b'l', b'l', b' ', ..] | [b'L', b'L', b' ', ..]) => Some((at, at + 3)),
        (_, [b'r' | b'v', b'e', b' ', ..] | [b'R' | b'V', b'E', b' ', ..]) => Some((at, at + 3)),
        _ => None,
    });
}

/// Puts a blank before each clitic that follows neither an apostrophe nor a blank, and takes the blank behind it along.
///
/// `found` says from where to where the clitic stands that has its apostrophe at a place.
fn clitics(from: &str, to: &mut String, found: impl Fn(&[u8], usize) -> Option<(usize, usize)>) {
    let bytes = from.as_bytes();
    let mut copied = 0;
    for (at, _) in from.match_indices('\'') {
        // The character before must not belong to the match before.
        if let Some((start, end)) = found(bytes, at)
            && start > copied
            && !matches!(bytes[start - 1], b'\'' | b' ')
        {
            to.extend([&from[copied..start], " ", &from[start..end], " "]);
            copied = end + 1;
        }
    }
    to.push_str(&from[copied..]);
}

/// Puts blanks around each byte of a kind, which must be one of ASCII.
pub(super) fn pad(from: &str, to: &mut String, kind: u16) {
    let mut copied = 0;
    for (at, byte) in from.bytes().enumerate() {
        if is(byte, kind) {
            to.extend([&from[copied..at], " ", &from[at..=at], " "]);
            copied = at + 1;
        }
    }
    to.push_str(&from[copied..]);
}

/// Puts blanks around each `mark`.
pub(super) fn pad_str(from: &str, to: &mut String, mark: &str) {
    let mut copied = 0;
    for (at, _) in from.match_indices(mark) {
        to.extend([&from[copied..at], " ", mark, " "]);
        copied = at + mark.len();
    }
    to.push_str(&from[copied..]);
}
