//! Fixed token windows.

use crate::text::FlowSpan;
use crate::text::tokens::Tokenizer;

/// Cuts the whole of `text` at every `max_tokens`-th token end; the windows put together are the text.
///
/// A window that would be empty, because all its tokens end inside one character, is left out.
pub(super) fn windows(text: &str, tokenizer: &Tokenizer, max_tokens: usize) -> Vec<Vec<FlowSpan>> {
    let ends = tokenizer.token_ends(text);
    let n_windows = ends.len().div_ceil(max_tokens).max(1);
    let cuts = (1..n_windows).map(|k| ends[k * max_tokens - 1]).chain([text.len()]);
    let mut windows = Vec::with_capacity(n_windows);
    let mut start = 0;
    for end in cuts {
        if start < end {
            windows.push(vec![FlowSpan::new(start, end)]);
            start = end;
        }
    }
    windows
}

#[cfg(all(test, feature = "vocabularies"))]
mod tests {
    use super::*;

    #[test]
    fn windows_follow_the_token_grid() {
        let cut = |text: &str, max| {
            let windows = windows(text, &Tokenizer::cl100k(), max);
            windows.into_iter().map(|window| text[window[0].range()].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(cut("one two three four five", 2), ["one two", " three four", " five"]);
        assert_eq!(cut("one two three four", 4), ["one two three four"]);
        assert_eq!(cut("a\u{10a7f}b", 1), ["a", "\u{10a7f}", "b"]);
        assert!(cut("", 4).is_empty());
    }
}
