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
        chat verify-facts (<= 220 tokens, temperature 0)
          | You get an excerpt of a novel and a summary of it as a list of sentences. Assess how faithful each of the sentences is to the excerpt. A sentence is faithful if it renders accurately what the excerpt says and means, adds no claim without support and contradicts nothing.
          |
          | Decide on one of these categories:
          | - Out-of-article error: a fact, an opinion or information that neither stands in the excerpt nor can reasonably be inferred from it.
          | - Entity error: a key subject or object is not the right one, as with a wrong name, number or pronoun.
          | - Relation error: a relation of meaning is mistaken, as with an incorrect verb, preposition or adjective.
          | - Sentence error: several errors at once make the sentence as a whole contradict the excerpt.
          | - No error: what the sentence states is in line with the excerpt.
          |
          | A summary is written anew, so the following is faithful (No error):
          | - Logical inference: a conclusion that follows with good reason from what is in the excerpt.
          | - Paraphrase: another choice of words or another sentence structure for the same meaning.
          | - Generalization: one broader statement for a number of details, as long as it is accurate.
          | - Implicit information: what the context clearly implies.
          |
          | Compare every sentence with the excerpt. Explain an error in one concise sentence that names what is in the one text and what is in the other. Then put the sentence into its category.
          |
          | Reply with a JSON list and nothing else, one object for each sentence, in their order:
          | [{"sentence": "first sentence", "reason": "your reason", "category": "No error"}, {"sentence": "second sentence", "reason": "your reason", "category": "Entity error"}]
          |
          | The excerpt:
          | Ana hid the key under the third stair.
          |
          | The 2 sentences of the summary:
          | 1. Ana hid the key.
          | 2. Ben was a king.
        {"state":"ruled","ruling":{"kind":"sentences","sentences":[{"category":"no_error","reason":"The text says so."},{"category":"out_of_article","reason":"No king is named."}]}}
    "#]]);
}

#[test]
fn each_key_fact_gets_a_yes_or_no() {
    Case::summary(Judge::AlignKeyFacts).check(ALIGNED, &expect![[r#"
        chat align-key-facts (<= 332 tokens, temperature 0)
          | You get a summary and a list of key facts. First hold every key fact against the summary. Then decide for each of them whether it is inferred from the summary: answer "Yes" or "No", and with "Yes" name the line numbers of the sentences of the summary that it comes from.
          |
          | Reply with a JSON list and nothing else, one object for each key fact, in their order:
          | [{"key-fact": "first key-fact", "response": "Yes", "line number": [1]}, {"key-fact": "second key-fact", "response": "No", "line number": []}, {"key-fact": "third key-fact", "response": "Yes", "line number": [1, 2, 3]}]
          |
          | The summary:
          | [1] Ana hid the key.
          | [2] Ben was a king.
          |
          | The 3 key facts:
          | 1. Ana loses the key.
          | 2. Ana hides the key.
          | 3. The stair is the third.
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
    for response in [
        format!("Here:\n```json\n{VERIFIED}\n```\nDone [1]."),
        format!("<think>[1]</think> {VERIFIED}"),
        format!("{{\"sentences\": {VERIFIED}}}"),
    ] {
        assert_eq!(categories(case.verdict(&response)), expected, "{response}");
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
    let response =
        json!([entry("Yes", json!([2, 1, 2, 9, 0])), entry("no", json!([1])), entry("YES.", json!("[1, 2]"))]);
    let expected = [Some((true, vec![1, 2])), Some((false, vec![])), Some((true, vec![1, 2]))];
    assert_eq!(facts(case.verdict(&response.to_string())), expected);
    let only = json!([{"key-fact": "ana hides the key", "response": "Yes", "line number": [1]}]);
    assert_eq!(facts(case.verdict(&only.to_string())), [None, Some((true, vec![1])), None]);
    assert_eq!(case.verdict("[{\"key-fact\": \"Ana hides the key.\", \"response\": \"maybe\"}]"), Verdict::Unparsed);
}

#[test]
fn a_correction_behind_a_whole_list_counts() {
    let case = Case::summary(Judge::AlignKeyFacts);
    let correction = r#"{"key-fact": "Ana hides the key.", "response": "No", "line number": []}"#;
    let expected = vec![Some((false, vec![])); 3];
    for behind in [correction.to_owned(), format!("[{correction}]"), ALIGNED.replace("Yes", "No")] {
        for draft in [ALIGNED.to_owned(), format!("```json\n{ALIGNED}\n```")] {
            assert_eq!(facts(case.verdict(&format!("{draft}\nCorrection: {behind}"))), expected, "{draft} {behind}");
        }
    }
    let unfinished = format!("```json\n[{correction}]\n```\nThat was one of three.\n{ALIGNED}");
    assert_eq!(facts(case.verdict(&unfinished))[1], Some((true, vec![1])), "the whole list counts");
    let quoted = format!("```json\n[{correction}]\n```\nNot [{}]", correction.replace("No", "Yes"));
    assert_eq!(facts(case.verdict(&quoted))[1], Some((false, vec![])), "nothing behind a fence is whole");
}

#[test]
fn a_list_that_was_cut_or_is_broken_says_nothing_of_any_fact() {
    let case = Case::summary(Judge::AlignKeyFacts);
    let (cut, _) = ALIGNED.split_at(ALIGNED.len() - 30);
    for response in [cut.to_owned(), format!("{{\"key-facts\": {cut}"), ALIGNED.replace("hides the", "hides \"the\"")] {
        assert_eq!(case.verdict(&response), Verdict::Unparsed, "{response}");
    }
    let expected = [Some((false, vec![])), Some((true, vec![1])), Some((false, vec![]))];
    let without_a_list = ALIGNED.trim_matches(['[', ']']);
    for response in [without_a_list.to_owned(), format!("[{without_a_list}"), format!("{ALIGNED} See [1].")] {
        assert_eq!(facts(case.verdict(&response)), expected, "{response}");
    }
}

#[test]
fn a_chinese_summary_is_cut_by_chinese_rules() {
    let case = Case {
        answer: "安娜藏了钥匙。本是国王！",
        chunk: "安娜把钥匙藏在第三级台阶下。",
        language: Language::CHINESE,
        ..Case::summary(Judge::VerifyFacts)
    };
    let response = r#"[{"sentence": "本是国王！", "reason": "无", "category": "Sentence error"}]"#;
    assert_eq!(categories(case.verdict(response)), [None, Some(ErrorCategory::Sentence)]);
}
