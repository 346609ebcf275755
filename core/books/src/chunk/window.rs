//! Fixed token windows.

use crate::tokens::Tokenizer;
use closeread_text::FlowSpan;

/// Cuts the whole of `text` behind every `max_tokens`-th token, as [`Chunker::pieces`](super::Chunker::pieces) states;
/// the windows, each with its count, put together are the text.
pub(super) fn windows(text: &str, tokenizer: &Tokenizer, max_tokens: usize) -> Vec<(FlowSpan, usize)> {
    let mut ends = tokenizer.token_ends(text);
    // White space behind the last token, which some tokenizers drop.
    match ends.last_mut() {
        Some(last) => *last = text.len(),
        None if text.is_empty() => {}
        None => ends.push(text.len()),
    }
    let mut windows = Vec::with_capacity(ends.len().div_ceil(max_tokens));
    let mut start = 0;
    let mut first = 0;
    while first < ends.len() {
        let mut want = max_tokens;
        let window = loop {
            let last = last_of_window(&ends, first, want);
            let span = FlowSpan::new(start, ends[last]);
            let n_tokens = tokenizer.count(&text[span.range()]);
            // A single token, or the tokens of a single character, cannot shrink.
            if n_tokens <= max_tokens || want == 1 || ends[first] == ends[last] {
                first = last + 1;
                break (span, n_tokens);
            }
            want = (last - first + 1).saturating_sub(n_tokens - max_tokens).max(1);
        };
        start = window.0.end;
        windows.push(window);
    }
    windows
}

/// Returns the last token of the window from token `first` with at most `want` tokens: the last one there that
/// completes a character, or else the one that completes the first character.
fn last_of_window(ends: &[usize], first: usize, want: usize) -> usize {
    let completes = |&token: &usize| ends.get(token + 1).is_none_or(|&next| ends[token] < next);
    let limit = (first + want).min(ends.len());
    let inside = (first..limit).rev().find(completes);
    inside.or_else(|| (limit..ends.len()).find(completes)).expect("the last token completes its character")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, max_tokens: usize, expected: &[&str]) {
        let windows = windows(text, &Tokenizer::cl100k(), max_tokens);
        let found: Vec<_> = windows.iter().map(|(span, _)| &text[span.range()]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn windows_follow_the_token_grid() {
        check("one two three four five", 2, &["one two", " three four", " five"]);
        check("one two three four", 4, &["one two three four"]);
        check("", 4, &[]);
        check(" \n ", 512, &[" \n "]);
    }

    #[test]
    fn a_character_of_several_tokens_is_not_cut() {
        check("a\u{10a7f}b", 1, &["a", "\u{10a7f}", "b"]);
        check("a\u{10a7f}b", 3, &["a", "\u{10a7f}", "b"]);
    }
}
