//! Token ids against tiktoken's and the tokenizers library's, and the laws of token ends.

#![allow(clippy::disallowed_methods, reason = "tests read files that the environment names")]

use closeread_books::tokens::Tokenizer;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

#[test]
#[ignore = "needs CLOSEREAD_VECTORS"]
fn needs_vectors_token_vectors() {
    let folder = std::env::var("CLOSEREAD_VECTORS").expect("CLOSEREAD_VECTORS is set");
    let json = std::fs::read_to_string(Path::new(&folder).join("token_counts.json")).expect("the vectors are there");
    let vectors: Value = serde_json::from_str(&json).expect("the vectors are JSON");
    let tokenizers =
        [("cl100k_base", Tokenizer::cl100k()), ("o200k_base", Tokenizer::o200k()), ("minilm_wordpiece", minilm())];
    let cases = vectors["cases"].as_array().expect("cases");
    for case in cases {
        let text = case["text"].as_str().expect("a text");
        for (field, tokenizer) in &tokenizers {
            let id = format!("{} {field} {text:?}", case["id"]);
            let expected: Vec<u32> = serde_json::from_value(case[field].clone()).expect("ids");
            let n_tokens = match &case[format!("{field}_count")] {
                Value::Null => expected.len(),
                count => count.as_u64().expect("a count") as usize,
            };
            let ids = tokenizer.encode(text);
            assert_eq!(ids[..expected.len().min(ids.len())], expected, "{id}");
            assert_eq!(ids.len(), n_tokens, "{id}");
            assert_eq!(tokenizer.count(text), n_tokens, "{id}");
            assert_eq!(tokenizer.token_ends(text).len(), n_tokens, "{id}");
        }
    }
    assert!(cases.len() >= 60, "only {} cases", cases.len());
}

#[test]
fn special_tokens_are_ordinary_text() {
    let tokenizer = Tokenizer::cl100k();
    assert!(tokenizer.count("<|endoftext|>") > 1);
    assert_eq!(Tokenizer::o200k().token_ends("<|endoftext|>").last(), Some(&13));
}

#[test]
fn padding_and_truncation_of_a_file_are_ignored() {
    let minilm = minilm();
    assert_eq!(minilm.name(), "minilm");
    assert_eq!(minilm.count("word"), 1);
    assert_eq!(minilm.count(&"word ".repeat(1000)), 1000);
}

proptest! {
    #[test]
    fn token_ends_can_cut_the_text(text in any::<String>()) {
        for tokenizer in [Tokenizer::cl100k(), Tokenizer::o200k(), minilm()] {
            let ends = tokenizer.token_ends(&text);
            prop_assert_eq!(ends.len(), tokenizer.count(&text));
            prop_assert_eq!(ends.len(), tokenizer.encode(&text).len());
            prop_assert!(ends.is_sorted());
            prop_assert!(ends.iter().all(|&end| text.is_char_boundary(end)));
            if tokenizer.name() != "minilm" {
                prop_assert_eq!(ends.last().copied().unwrap_or(0), text.len());
            }
        }
    }
}

fn minilm() -> Tokenizer {
    static MINILM: std::sync::LazyLock<Tokenizer> = std::sync::LazyLock::new(|| {
        Tokenizer::from_json("minilm", closeread_models::all_minilm_l6_v2::TOKENIZER).expect("the model's own file")
    });
    MINILM.clone()
}
