//! No response, whatever it holds, makes a parser fail; what a parser reads is what was written.

use closeread_eval::answer::boxed::{QaPair, all_boxed, boxed_label, last_boxed, memagent_boxed, qa_pair};
use closeread_eval::answer::corpusqa::{Reading, Value};
use closeread_eval::answer::infinitebench::{
    infinitebench_choice, infinitebench_dialogue, strict_choice, strict_letter,
};
use closeread_eval::answer::json::{json_value, json_values};
use closeread_eval::answer::novelqa::{answer_lines, choice_lines, evidence_lines, evidence_marks, judge_letter};
use closeread_eval::answer::tag::{AgentTurn, agent_turn, answer_block, nocha_verdict, sub_queries};
use closeread_eval::answer::{
    Parsed, after_thinking, choice_marker, corpusqa, leval_letter, memagent_answer, readagent_choice, short_answer,
};
use proptest::prelude::*;

/// Pieces of the forms, cut and mixed, among anything at all.
fn response() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<answer>",
        "</answer>",
        "<query>",
        "</query>",
        "<summary>",
        "</summary>",
        "</think>",
        "TRUE",
        "NONE",
        "\\boxed{",
        "\\boxed ",
        "\\fbox{",
        "{",
        "}",
        "$",
        "[[",
        "]]",
        "1",
        "3",
        "99999999999999999999",
        "Answer",
        "Answer0:",
        "Answer1: ",
        "Answer: (",
        "answer is",
        "answer:",
        "option is",
        "C",
        "ABCD",
        "The answer is: ",
        "[[YES]]",
        "[[NO]]",
        "[\"a\", ",
        "\"b\"]",
        "```json",
        "```",
        "{\"a\":",
        "C50R66S33",
        "R0",
        "2024-05",
        "45.20%",
        "'",
        "\"",
        "，",
        "。",
        "é",
        "\u{301}",
        "\x1c",
        "\n",
        " ",
        "  ",
    ]);
    let piece = prop_oneof![9 => piece.prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// A short text without marks of any form.
fn plain() -> impl Strategy<Value = String> {
    "[a-z0-9孔乙己]([a-z0-9 ,孔乙己]{0,20}[a-z0-9孔乙己])?"
}

proptest! {
    #[test]
    fn no_response_makes_a_parser_fail(response in response(), gold in response()) {
        let inside = |text: &str| response.contains(text);
        for text in all_boxed(&response).into_iter().chain(sub_queries(&response)) {
            prop_assert!(inside(text));
        }
        for parsed in [last_boxed(&response), memagent_boxed(&response)] {
            prop_assert!(parsed.answer().is_none_or(inside));
        }
        if let Parsed::Answer(label) = boxed_label(&response, &["YES", "NO"]) {
            prop_assert!(label < 2);
        }
        if let Parsed::Answer(text) = answer_block(&response) {
            prop_assert!(!text.is_empty() && inside(text));
        }
        if let AgentTurn::Unparsed { n_answers, n_queries } = agent_turn(&response) {
            prop_assert!(n_answers + n_queries != 1);
        }
        for chosen in [choice_marker(&response, 4), readagent_choice(&response, 4).answer(), leval_letter(&response).answer(),
            strict_letter(&response).answer()]
        {
            prop_assert!(chosen.is_none_or(|idx| idx < 4));
        }
        prop_assert_eq!(answer_lines(&response, 3).len(), 3);
        prop_assert_eq!(evidence_lines(&response, 3).len(), 3);
        for chosen in choice_lines(&response, &[vec!["C", "é"], vec![], vec!["1"]]).into_iter().filter_map(Parsed::answer) {
            prop_assert!(chosen < 2);
        }
        if let Parsed::Answer(marks) = evidence_marks(&response) {
            prop_assert!((1.0..=100.0).contains(&marks.mean()));
        }
        if let Parsed::Answer(value) = json_value(&response) {
            prop_assert!(value.is_array() || value.is_object());
            prop_assert_eq!(Some(value), json_values(&response).pop());
        }
        for reading in [Reading::Strict, Reading::Tolerant] {
            if let Parsed::Answer(Value::Date { month, .. }) = corpusqa::value(&response, reading) {
                prop_assert!((1..=12).contains(&month));
            }
            let _ = corpusqa::agrees(&response, &gold, reading);
        }
        prop_assert!(inside(corpusqa::answer(&response)) && inside(after_thinking(&response)));
        let _ = (corpusqa::verdict(&response), nocha_verdict(&response), judge_letter(&response), memagent_answer(&response));
        let _ = (qa_pair(&response), short_answer(&response), infinitebench_dialogue(&response, &[&gold]));
        let _ = (infinitebench_choice(&response, &[&gold]), strict_choice(&response, &[&gold]));
    }

    #[test]
    fn what_is_written_in_a_form_is_read(question in plain(), answer in plain(), noise in plain()) {
        let said = format!("{noise}\n<answer>\n{answer}\n</answer>\n{noise}");
        prop_assert_eq!(answer_block(&said), Parsed::Answer(answer.as_str()));
        let turn = format!("{noise} <query>{answer}</query>");
        prop_assert_eq!(agent_turn(&turn), AgentTurn::Query(&answer));
        let pair = format!("{noise} \\boxed{{{question}}} \\boxed{{ {answer} }}");
        prop_assert_eq!(qa_pair(&pair), Parsed::Answer(QaPair::Pair { question: &question, answer: &answer }));
        let lines = format!("{noise}\nAnswer1: {answer}\nAnswer0: {question}");
        prop_assert_eq!(answer_lines(&lines, 2), [Parsed::Answer(question.as_str()), Parsed::Answer(answer.as_str())]);
        let line = format!("{noise} The answer is: {answer}\n{noise}");
        prop_assert_eq!(corpusqa::answer(&line), answer.as_str());
        let json = serde_json::json!({"question": question, "answer": [answer]});
        prop_assert_eq!(json_value(&format!("{noise}: {json} {noise}")), Parsed::Answer(json.clone()));
        prop_assert_eq!(json_value(&format!("{noise}\n```json\n{json}\n```")), Parsed::Answer(json));
    }

    #[test]
    fn an_answer_agrees_with_itself(response in response(), number in -1e6..1e6f64) {
        for reading in [Reading::Strict, Reading::Tolerant] {
            let agrees = corpusqa::agrees(&response, &response, reading);
            prop_assert!(agrees != Parsed::Answer(false), "{reading:?} {response:?}");
            prop_assert_eq!(corpusqa::agrees(&format!("{number:.2}"), &format!("{number:.2}"), reading), Parsed::Answer(true));
        }
    }
}
