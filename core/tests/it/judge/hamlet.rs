//! HAMLET's verification of facts and alignment of key facts.

use super::Case;
use closeread_judges::{Judge, Ruling, Verdict};
use closeread_report::paper::hamlet::ErrorCategory;
use closeread_text::Language;
use expect_test::expect;
use serde_json::{Value, json};

const VERIFIED: &str = r#"[{"sentence": "Ana hid the key.", "reason": "The text says so.", "category": "No error"},
    {"sentence": "Ben was a king.", "reason": "No king is named.", "category": "Out-of-article error"}]"#;
const ALIGNED: &str = r#"[{"key-fact": "Ana loses the key.", "response": "No", "line number": []},
    {"key-fact": "Ana hides the key.", "response": "Yes", "line number": [1]},
    {"key-fact": "The stair is the third.", "response": "No", "line number": []}]"#;

#[test]
fn each_sentence_gets_a_category() {
    Case::summary(Judge::VerifyFacts).check(VERIFIED, &expect![[r#"
            chat verify-facts (<= 64 tokens, temperature 0)
              | Check a summary against the text it is about, sentence by sentence.
              |
              | === TEXT BEGINS ===
              | Ana hid the key under the third stair.
              | === TEXT ENDS ===
              |
              | The sentences of the summary:
              | 1. Ana hid the key.
              | 2. Ben was a king.
              |
              | For every sentence, compare what it states with the text alone, give the reason for your decision in one sentence, and put it into one of these categories:
              | - No error: the text supports everything the sentence says
              | - Out-of-article error: the sentence says something that the text neither says nor implies
              | - Relation error: the persons and things are right, but what the sentence says of how they relate or what they do is not
              | - Entity error: a person, place, thing, number or time in the sentence is not the one of the text
              | - Sentence error: the sentence as a whole contradicts the text
              |
              | Reply with a JSON list and nothing else, one object for each sentence, in their order:
              | [{"sentence": "the sentence as given", "reason": "why", "category": "No error"}]
            {"state":"ruled","ruling":{"kind":"sentences","sentences":[{"category":"no_error","reason":"The text says so."},{"category":"out_of_article","reason":"No king is named."}]}}
        "#]]);
}

#[test]
fn each_key_fact_gets_a_yes_or_no() {
    Case::summary(Judge::AlignKeyFacts).check(ALIGNED, &expect![[r#"
            chat align-key-facts (<= 64 tokens, temperature 0)
              | Find out which key facts a summary states.
              |
              | The sentences of the summary, by line number:
              | [1] Ana hid the key.
              | [2] Ben was a king.
              |
              | The key facts:
              | 1. Ana loses the key.
              | 2. Ana hides the key.
              | 3. The stair is the third.
              |
              | For every key fact, decide whether the summary states it or clearly implies it; other words do not matter. If it does, answer Yes and list the line numbers of all sentences that do; if it does not, answer No with an empty list.
              |
              | Reply with a JSON list and nothing else, one object for each key fact, in their order:
              | [{"key-fact": "the key fact as given", "response": "Yes", "line number": [1]}, {"key-fact": "another", "response": "No", "line number": []}]
            {"state":"ruled","ruling":{"kind":"key_facts","facts":[{"stated":false},{"stated":true,"sentences":[1]},{"stated":false}]}}
        "#]]);
}

fn categories(verdict: Verdict) -> Vec<Option<ErrorCategory>> {
    match verdict {
        Verdict::Ruled { ruling: Ruling::Sentences { sentences } } => {
            sentences.into_iter().map(|sentence| sentence.map(|sentence| sentence.category)).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn facts(verdict: Verdict) -> Vec<Option<(bool, Vec<usize>)>> {
    match verdict {
        Verdict::Ruled { ruling: Ruling::KeyFacts { facts } } => {
            facts.into_iter().map(|fact| fact.map(|fact| (fact.stated, fact.sentences))).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_are_read_in_fences_in_prose_and_in_objects() {
    let case = Case::summary(Judge::VerifyFacts);
    let expected = vec![Some(ErrorCategory::NoError), Some(ErrorCategory::OutOfArticle)];
    for reply in [
        format!("Here:\n```json\n{VERIFIED}\n```\nDone [1]."),
        format!("<think>[1]</think> {VERIFIED}"),
        format!("{{\"sentences\": {VERIFIED}}}"),
    ] {
        assert_eq!(categories(case.verdict(&reply)), expected, "{reply}");
    }
}

#[test]
fn missing_and_extra_sentences_are_told_by_their_words() {
    let case = Case::summary(Judge::VerifyFacts);
    let entry = |sentence: &str, category: &str| json!({"sentence": sentence, "reason": "r", "category": category});
    let of = |entries: &[Value]| categories(case.verdict(&json!(entries).to_string()));
    let (no, entity) = (Some(ErrorCategory::NoError), Some(ErrorCategory::Entity));
    assert_eq!(of(&[entry("2. Ben was a king", "Entity error")]), [None, entity], "one is left out");
    let extra = entry("Summary:", "No error");
    let (first, second) = (entry("Ana hid the key.", "No error"), entry("\"Ben was a king.\"", "entity"));
    assert_eq!(of(&[extra.clone(), second.clone(), first.clone()]), [no, entity], "one too many, in another order");
    assert_eq!(of(&[first.clone(), entry("Ben was a king.", "Strange error")]), [no, None], "an unknown category");
    assert_eq!(of(&[entry("Ana hid a key", "No error"), second]), [no, entity], "as many as there are: in their order");
    assert_eq!(case.verdict(&json!([extra]).to_string()), Verdict::Unparsed, "nothing can be placed");
}

#[test]
fn line_numbers_stay_within_the_summary() {
    let case = Case::summary(Judge::AlignKeyFacts);
    let entry = |response: &str, lines: Value| json!({"key-fact": "f", "response": response, "line number": lines});
    let reply = json!([entry("Yes", json!([2, 1, 2, 9, 0])), entry("no", json!([1])), entry("YES.", json!("[1]"))]);
    let expected = [Some((true, vec![1, 2])), Some((false, vec![])), Some((true, vec![1]))];
    assert_eq!(facts(case.verdict(&reply.to_string())), expected);
    let only = json!([{"key-fact": "ana hides the key", "response": "Yes", "line number": [1]}]);
    assert_eq!(facts(case.verdict(&only.to_string())), [None, Some((true, vec![1])), None]);
    assert_eq!(case.verdict("[{\"key-fact\": \"Ana hides the key.\", \"response\": \"maybe\"}]"), Verdict::Unparsed);
}

#[test]
fn a_chinese_summary_is_cut_by_chinese_rules() {
    let case = Case {
        answer: "安娜藏了钥匙。本是国王！",
        chunk: "安娜把钥匙藏在第三级台阶下。",
        language: Language::CHINESE,
        ..Case::summary(Judge::VerifyFacts)
    };
    let reply = r#"[{"sentence": "本是国王！", "reason": "无", "category": "Sentence error"}]"#;
    assert_eq!(categories(case.verdict(reply)), [None, Some(ErrorCategory::Sentence)]);
}
