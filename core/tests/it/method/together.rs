//! Several questions in one call, as NovelQA asks them.

use crate::support::{Case, ScriptedHost, item, question};
use closeread_eval::{Item, Outcome, Task};
use closeread_llm::{Call, HostError};
use expect_test::expect;
use serde_json::{Value, json};

fn together(method: &str, more: Value) -> Case {
    let mut parameters = json!({"style": "novelqa", "together": true});
    parameters.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Case::new(method, parameters)
}

fn questions() -> [Item; 4] {
    [
        question("a", "Where was the key?", Task::Generative),
        question("b", "Was it in the river?", Task::Choice),
        question("c", "Who had a lantern?", Task::Generative),
        question("d", "Tell of the key.", Task::Summary),
    ]
}

fn answered(answer: &str) -> Outcome {
    Outcome::Answered { answer: answer.to_owned(), choice: None }
}

#[test]
fn the_questions_of_one_kind_go_into_one_call() {
    let [a, b, c, d] = questions();
    together("closed-book", json!({})).check_all(
        &ScriptedHost::replying(&["Answer0: 1", "Answer0: under a stair\nAnswer1: Ben", "Ana hid it."]),
        &[&a, &b, &c, &d],
        &expect![[r#"
            chat novelqa-closed-book-choices (<= 64 tokens, temperature 0)
              | You are a professor of literature. Your task: answer 1 question about the novel "The Key" from what you know of it. Its text is not given.
              |
              | === QUESTIONS BEGIN ===
              | Question0: Was it in the river?
              | 0. In the river
              | 1. Under a stair
              | === QUESTIONS END ===
              |
              | Every question has several options, numbered from 0, of which exactly one is right. Choose it. Write one line for each question, numbered as the question is, with the number of the option alone, in exactly this form and with nothing else:
              | Answer0: <number>
            chat novelqa-closed-book-questions (<= 128 tokens, temperature 0)
              | You are a professor of literature. Your task: answer 2 questions about the novel "The Key" from what you know of it. Its text is not given.
              |
              | === QUESTIONS BEGIN ===
              | Question0: Where was the key?
              | Question1: Who had a lantern?
              | === QUESTIONS END ===
              |
              | Answer every question with one word or a few words, in the language of the question. Write one line for each question, numbered as the question is, in exactly this form and with nothing else:
              | Answer0: <answer>
              | Answer1: <answer>
            chat closed-book-summary (<= 64 tokens, temperature 0)
              | You know literature well. The query below is about "The Key". Answer from memory; the text is not given.
              |
              | Respond to the query with a summary of several full sentences, in the language of the query.
              |
              | Query: Tell of the key.
            a
            Answered { answer: "under a stair", choice: None }
            b
            Answered { answer: "Under a stair", choice: Some(1) }
            c, asked with a
            Answered { answer: "Ben", choice: None }
            d
            Answered { answer: "Ana hid it.", choice: None }
        "#]],
    );
}

#[test]
fn the_call_is_counted_in_the_first_trial_alone() {
    let [a, _, c, _] = questions();
    let host = ScriptedHost::always(Ok("Answer0: under a stair\nAnswer1: Ben"));
    let (_, trials) = together("full-document", json!({})).run(&host, &[&a, &c]);
    assert_eq!(host.asked(), 1);
    assert!(host.transcript().contains("(<= 128 tokens"), "64 for the first question and 64 for the second");
    let counted: Vec<_> =
        trials.iter().map(|trial| (trial.calls.len(), trial.prompt_tokens > 0, trial.shared_call.as_deref())).collect();
    assert_eq!(counted, [(1, true, None), (0, false, Some("a"))]);
    assert_eq!(trials[0].context, trials[1].context, "both saw the whole text");
}

#[test]
fn a_line_that_is_missing_is_missing_for_its_question_alone() {
    let [a, _, c, _] = questions();
    let outcomes = |response: &str| {
        let (_, trials) = together("full-document", json!({})).run(&ScriptedHost::always(Ok(response)), &[&a, &c]);
        trials.into_iter().map(|trial| trial.outcome).collect::<Vec<_>>()
    };
    let unparsed = |response: &str| Outcome::Unparsed { response: response.to_owned() };
    assert_eq!(outcomes("Answer0: x"), [answered("x"), unparsed("Answer0: x")]);
    assert_eq!(outcomes("Answer1: y\nAnswer0: x"), [answered("x"), answered("y")]);
    assert_eq!(outcomes("Answer1: x\nAnswer2: y"), [answered("x"), answered("y")], "counted from 1");
    assert_eq!(outcomes("Answer0: x\nAnswer7: y"), [answered("x"), unparsed("Answer0: x\nAnswer7: y")]);
    assert_eq!(outcomes("x and y"), [unparsed("x and y"), unparsed("x and y")]);
}

#[test]
fn what_happens_to_the_call_happens_to_all() {
    let [a, _, c, _] = questions();
    let refused = ScriptedHost::always(Err(HostError::Blocked { reason: "no".to_owned() }));
    let (_, trials) = together("full-document", json!({})).run(&refused, &[&a, &c]);
    assert!(trials.iter().all(|trial| trial.outcome == Outcome::Blocked { reason: "no".to_owned() }));
    let host = ScriptedHost::always(Ok("never asked"));
    let (_, trials) = Case { window: Some(200), ..together("full-document", json!({})) }.run(&host, &[&a, &c]);
    assert!(trials.iter().all(|trial| matches!(trial.outcome, Outcome::Overflow { .. })));
    assert_eq!(host.asked(), 0);
}

#[test]
fn truncation_cuts_the_text_and_never_a_question() {
    let [a, _, c, _] = questions();
    let mut cut = 0;
    for window in (200..900).step_by(3) {
        let host = ScriptedHost::always(Ok("Answer0: x\nAnswer1: y"));
        let case = Case { window: Some(window), ..together("full-document", json!({"overflow": "truncate-end"})) };
        let (_, trials) = case.run(&host, &[&a, &c]);
        if matches!(trials[0].outcome, Outcome::Overflow { .. }) {
            continue;
        }
        assert!(trials[0].prompt_tokens + 128 <= window, "{} in {window}", trials[0].prompt_tokens);
        let transcript = host.transcript();
        assert!(
            transcript.contains("Question0: Where was the key?")
                && transcript.contains("Question1: Who had a lantern?")
        );
        assert!(transcript.contains("Answer1: <answer>"));
        cut += usize::from(!transcript.contains("for nine years."));
    }
    assert!(cut > 10, "{cut} windows cut the text");
}

#[test]
fn each_question_has_its_own_evidence() {
    let [a, _, c, _] = questions();
    let response = "Answer0: a stair$ Ana hid the key under the third stair.\nAnswer1: Ben";
    let host = ScriptedHost::always(Ok(response));
    let (_, trials) = together("full-document", json!({"evidence": true})).run(&host, &[&a, &c]);
    let cited: Vec<usize> = trials.iter().map(|trial| trial.evidence.as_ref().unwrap().len()).collect();
    assert_eq!(cited, [1, 0]);
}

#[test]
fn one_item_alone_is_asked_as_ever() {
    let host = ScriptedHost::always(Ok("Answer0: x"));
    let trial = together("full-document", json!({})).trial(&host, &item(Task::Generative));
    assert_eq!((trial.outcome, trial.shared_call), (answered("x"), None));
}

#[test]
fn nothing_is_asked_twice() {
    let [a, b, c, d] = questions();
    let script = |call: &Call, _| Ok(format!("Answer0: 1\nAnswer1: {}", call.prompt));
    for method in ["closed-book", "full-document"] {
        together(method, json!({})).survives_any_death(&script, &[&a, &b, &c, &d]);
    }
}
