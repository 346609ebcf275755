//! The laws of the chunkers.

#![allow(clippy::disallowed_methods, reason = "tests read files that the environment names")]

use closeread_books::chunk::{Chunker, Pieces};
use closeread_books::tokens::Tokenizer;
use closeread_text::FlowSpan;
use closeread_text::sentence::{Rules, split};
use proptest::prelude::*;
use std::path::Path;

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_novels_obey_the_laws() {
    let folder = std::env::var("CLOSEREAD_DATA").expect("CLOSEREAD_DATA is set");
    let tokenizer = Tokenizer::cl100k();
    let mut n_novels = 0;
    for (language, rules) in [("en", Rules::English), ("zh", Rules::Chinese)] {
        let folder = Path::new(&folder).join("novels").join(language);
        for entry in std::fs::read_dir(&folder).expect("the novels are there") {
            let path = entry.expect("a readable folder").path();
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let sentences = split(&text, rules);
            for chunker in Chunker::ALL {
                let max_tokens = chunker.default_max_tokens();
                let passages = chunker.pieces(&text, &sentences, &tokenizer, max_tokens);
                assert_lawful(&text, &passages);
                for passage in &passages {
                    let joined = passage.joined(&text);
                    // Its long parts are cut by words.
                    if chunker == Chunker::StrongerBaselines {
                        continue;
                    }
                    // The first word is counted with a space before it, without which it can take more tokens.
                    if passage.n_tokens <= max_tokens || tokenizer.count(&format!(" {joined}")) <= max_tokens {
                        continue;
                    }
                    let delimiters = [',', ';', ':', '，', '；', '：', '、'];
                    let inner = joined.trim_end_matches(delimiters);
                    assert!(!inner.contains(delimiters), "{}: {joined:?}", path.display());
                }
            }
            n_novels += 1;
        }
    }
    assert!(n_novels > 0, "no novel is UTF-8");
}

#[test]
fn hostile_inputs() {
    let tokenizer = Tokenizer::cl100k();
    let cut = |text: &str, chunker: Chunker, max_tokens| {
        let passages = chunker.pieces(text, &split(text, Rules::English), &tokenizer, max_tokens);
        assert_lawful(text, &passages);
        passages
    };
    for chunker in Chunker::ALL {
        assert!(cut("", chunker, chunker.default_max_tokens()).is_empty());
        assert_eq!(cut("One.\r\nTwo.", chunker, chunker.default_max_tokens()).len(), 1);
    }
    assert!(cut(" \r\n\t\u{3000}", Chunker::Dos, 100).is_empty());
    let long = "word ".repeat(900);
    let passages = cut(&long, Chunker::Dos, 100);
    assert_eq!((passages.len(), passages[0].n_tokens), (1, 900));
    assert!(cut(&format!("Before. {long}, and after, it ends. Done."), Chunker::Dos, 100).len() == 4);
    assert_eq!(cut("one two three", Chunker::Window, 0).len(), 3);
    let chinese = "他走了，她也走了；".repeat(50);
    assert!(cut(&chinese, Chunker::Dos, 20).iter().all(|passage| passage.n_tokens <= 20));
}

#[test]
fn numbers_and_chinese_clauses_are_not_torn() {
    let tokenizer = Tokenizer::cl100k();
    let text = "A sentence, long enough to be cut, of 1,000,000 words: 红，黄，蓝。";
    let passages = Chunker::Dos.pieces(text, &[FlowSpan::new(0, text.len())], &tokenizer, 24);
    let texts: Vec<_> = passages.iter().map(|passage| passage.joined(text)).collect();
    assert_eq!(texts.concat().replace(' ', ""), text.replace(' ', ""));
    assert!(texts[0].contains("1,000,000"), "{texts:?}");
}

proptest! {
    #[test]
    fn passages_ascend_and_lose_only_white_space(text in nasty_text(), max_tokens in 1_usize..40) {
        let tokenizer = Tokenizer::cl100k();
        for rules in [Rules::English, Rules::Chinese] {
            let sentences = split(&text, rules);
            for chunker in Chunker::ALL {
                let passages = chunker.pieces(&text, &sentences, &tokenizer, max_tokens);
                assert_lawful(&text, &passages);
                for passage in &passages {
                    prop_assert_eq!(passage.n_tokens, tokenizer.count(&passage.joined(&text)));
                }
            }
        }
    }

    #[test]
    fn only_a_piece_without_delimiter_exceeds_the_cap(text in nasty_text(), max_tokens in 1_usize..40) {
        let tokenizer = Tokenizer::cl100k();
        let count = |piece: &str| tokenizer.count(&format!(" {piece}"));
        let sentences = split(&text, Rules::English);
        for passage in Chunker::Dos.pieces(&text, &sentences, &tokenizer, max_tokens) {
            let pieces: Vec<_> = passage.spans.iter().map(|span| &text[span.range()]).collect();
            if pieces.iter().map(|piece| count(piece)).sum::<usize>() <= max_tokens {
                continue;
            }
            // Cut from a sentence longer than the cap: it was packed by parts.
            let delimiters = [',', ';', ':', '，', '；', '：', '、'];
            let parts: Vec<_> = pieces.iter().flat_map(|piece| piece.split_inclusive(delimiters)).collect();
            let total: usize = parts.iter().map(|part| count(part.trim())).sum();
            prop_assert!(parts.len() == 1 || total <= max_tokens, "{total} tokens in {parts:?}");
        }
    }

    #[test]
    fn a_passage_is_closed_only_when_the_next_piece_does_not_fit(text in nasty_text(), max_tokens in 1_usize..40) {
        let tokenizer = Tokenizer::cl100k();
        let count = |span: &FlowSpan| tokenizer.count(&format!(" {}", text[span.range()].trim()));
        let sentences = split(&text, Rules::English);
        let passages = Chunker::Dos.pieces(&text, &sentences, &tokenizer, max_tokens);
        for pair in passages.windows(2) {
            let sum: usize = pair[0].spans.iter().map(count).sum();
            let next = count(&pair[1].spans[0]);
            let long = |span: &FlowSpan| {
                let holds = |s: &&FlowSpan| s.start <= span.start && span.end <= s.end;
                count(sentences.iter().find(holds).expect("pieces are inside sentences")) > max_tokens
            };
            let beside_long = pair.iter().flat_map(|passage| &passage.spans).any(long);
            prop_assert!(sum + next > max_tokens || beside_long, "{pair:?}");
        }
    }

    #[test]
    fn windows_rebuild_the_text(text in any::<String>(), max_tokens in 1_usize..20) {
        let windows = Chunker::Window.pieces(&text, &[], &Tokenizer::cl100k(), max_tokens);
        let rebuilt: String = windows.iter().map(|window| window.joined(&text)).collect();
        prop_assert_eq!(rebuilt, text);
    }

    #[test]
    fn only_a_single_token_or_character_exceeds_a_window(text in nasty_text(), max_tokens in 1_usize..20) {
        for tokenizer in [Tokenizer::cl100k(), minilm()] {
            let windows = Chunker::Window.pieces(&text, &[], &tokenizer, max_tokens);
            let rebuilt: String = windows.iter().map(|window| window.joined(&text)).collect();
            prop_assert_eq!(rebuilt, text.as_str());
            let ends = tokenizer.token_ends(&text);
            for window in windows {
                let inside = window.cover();
                let mut ends = ends.iter().filter(|&&end| inside.start < end && end < inside.end);
                let single = ends.next().is_none();
                prop_assert!(window.n_tokens <= max_tokens || single, "{window:?}");
            }
        }
    }
}

/// Words, marks, delimiters and spaces of several scripts, or anything.
fn nasty_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "word",
        "Word",
        "1,000",
        ". ",
        "! ",
        "? ",
        ", ",
        "; ",
        ": ",
        ",",
        "，",
        "；",
        "、",
        "。",
        "”",
        "\"",
        ")",
        " ",
        "\n",
        "\r\n",
        "\u{a0}",
        "他",
        "她们",
        "\u{1f469}\u{200d}\u{1f680}",
        "\u{10a7f}",
        "e\u{301}",
        "Mr.",
        "...",
    ]);
    let known = prop::collection::vec(pieces, 0..120).prop_map(|pieces| pieces.concat());
    prop_oneof![3 => known, 1 => any::<String>()]
}

/// Passages ascend, are disjoint and lose only white space. Cutting inside a character would panic.
fn assert_lawful(text: &str, passages: &[Pieces]) {
    let lost = |from: usize, to: usize| {
        let lost = &text[from..to];
        let white = |c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c);
        assert!(lost.chars().all(white), "{lost:?} is in no passage of {text:?}");
    };
    let mut end = 0;
    for span in passages.iter().flat_map(|passage| &passage.spans) {
        assert!(end <= span.start && span.start < span.end, "{span:?} is empty or before {end} in {text:?}");
        lost(end, span.start);
        end = span.end;
    }
    lost(end, text.len());
    for passage in passages {
        assert!(!passage.spans.is_empty());
        assert_eq!(passage.cover().start, passage.spans[0].start);
    }
}

fn minilm() -> Tokenizer {
    static MINILM: std::sync::LazyLock<Tokenizer> = std::sync::LazyLock::new(|| {
        Tokenizer::from_json("minilm", closeread_models::all_minilm_l6_v2::TOKENIZER).expect("the model's own file")
    });
    MINILM.clone()
}
