//! The memory agent: one call a section, one for the answer.

use crate::support::{Case, ScriptedHost, book, item};
use closeread_eval::{Outcome, Task};
use closeread_llm::{Call, HostError};
use expect_test::expect;
use serde_json::{Value, json};

fn case(parameters: Value) -> Case {
    let mut given = json!({ "section_tokens": 20, "memory_tokens": 32 });
    given.as_object_mut().unwrap().extend(parameters.as_object().unwrap().clone());
    Case::new("memory-agent", given)
}

/// Returns the outcome if the third of the three calls on the story is answered with `response`.
fn answered(task: Task, response: &str) -> Outcome {
    case(json!({})).trial(&ScriptedHost::replying(&["a", "b", "c", response]), &item(task)).outcome
}

#[test]
fn each_response_replaces_the_memory_and_the_last_call_sees_nothing_else() {
    case(json!({})).check(
        &ScriptedHost::replying(&[
            "The key is under the third stair.",
            "<think>Ben?</think>\nKey: third stair. Ben rows.",
            "Ben found it.",
            "It is \\boxed{under the third stair}.",
        ]),
        &item(Task::Generative),
        &expect![[r#"
            chat memory-agent-update (<= 32 tokens, temperature 0)
              | You are working on a question about a text that is too long to be read at once. It comes to you section by section, and what you carry from one section to the next is a memory that you write yourself.
              |
              | <question>
              | Where was the key?
              | </question>
              |
              | <memory>
              | No previous memory
              | </memory>
              |
              | <section>
              | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose
              | </section>
              |
              | Read the section and look for whatever helps to answer the question. Then write the memory anew: keep every detail of the old memory that still matters, and add what this section contributes. The old memory is lost once you have answered, so what you leave out is forgotten.
              |
              | New memory:
            chat memory-agent-update (<= 32 tokens, temperature 0)
              | You are working on a question about a text that is too long to be read at once. It comes to you section by section, and what you carry from one section to the next is a memory that you write yourself.
              |
              | <question>
              | Where was the key?
              | </question>
              |
              | <memory>
              | The key is under the third stair.
              | </memory>
              |
              | <section>
              |  and took the bridge. Ben rowed across with a lantern. He found the key and kept it
              | </section>
              |
              | Read the section and look for whatever helps to answer the question. Then write the memory anew: keep every detail of the old memory that still matters, and add what this section contributes. The old memory is lost once you have answered, so what you leave out is forgotten.
              |
              | New memory:
            chat memory-agent-update (<= 32 tokens, temperature 0)
              | You are working on a question about a text that is too long to be read at once. It comes to you section by section, and what you carry from one section to the next is a memory that you write yourself.
              |
              | <question>
              | Where was the key?
              | </question>
              |
              | <memory>
              | Key: third stair. Ben rows.
              | </memory>
              |
              | <section>
              |  for nine years.
              | </section>
              |
              | Read the section and look for whatever helps to answer the question. Then write the memory anew: keep every detail of the old memory that still matters, and add what this section contributes. The old memory is lost once you have answered, so what you leave out is forgotten.
              |
              | New memory:
            chat memory-agent-question (<= 64 tokens, temperature 0)
              | Below stand a question about a long text and the memory that you kept while you read the text. Answer the question from the memory.
              |
              | <question>
              | Where was the key?
              | </question>
              |
              | <memory>
              | Ben found it.
              | </memory>
              |
              | Write the answer, in the language of the question, inside \boxed{}.
              |
              | Your answer:
            context 0..184 (44 tokens)
            measures {"sections":3.0}
            Answered { answer: "under the third stair", choice: None }
        "#]],
    );
}

#[test]
fn a_choice_is_a_letter_in_a_box() {
    case(json!({ "section_tokens": 5000 })).check(
        &ScriptedHost::replying(&["The key is under the third stair.", "\\boxed{B}"]),
        &item(Task::Choice),
        &expect![[r#"
            chat memory-agent-update (<= 32 tokens, temperature 0)
              | You are working on a question about a text that is too long to be read at once. It comes to you section by section, and what you carry from one section to the next is a memory that you write yourself.
              |
              | <question>
              | Where was the key?
              | (A) In the river
              | (B) Under a stair
              | </question>
              |
              | <memory>
              | No previous memory
              | </memory>
              |
              | <section>
              | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
              | </section>
              |
              | Read the section and look for whatever helps to answer the question. Then write the memory anew: keep every detail of the old memory that still matters, and add what this section contributes. The old memory is lost once you have answered, so what you leave out is forgotten.
              |
              | New memory:
            chat memory-agent-choice (<= 64 tokens, temperature 0)
              | Below stand a question about a long text and the memory that you kept while you read the text. Decide from the memory which option answers the question.
              |
              | <question>
              | Where was the key?
              | (A) In the river
              | (B) Under a stair
              | </question>
              |
              | <memory>
              | The key is under the third stair.
              | </memory>
              |
              | Choose exactly one option and write its letter inside \boxed{}, for example \boxed{A}.
              |
              | Your answer:
            context 0..184 (44 tokens)
            measures {"sections":1.0}
            Answered { answer: "Under a stair", choice: Some(1) }
        "#]],
    );
    for (response, choice) in [("\\boxed{(B) Under a stair}", Some(1)), ("So the answer is **A**.", Some(0))] {
        let Outcome::Answered { choice: got, .. } = answered(Task::Choice, response) else { panic!("{response}") };
        assert_eq!(got, choice, "{response}");
    }
    for response in ["B", "\\boxed{C}", "\\boxed{}", "\\boxed{B", "<think>\\boxed{B}</think> Who knows?", ""] {
        assert_eq!(answered(Task::Choice, response), Outcome::Unparsed { response: response.to_owned() }, "{response}");
    }
}

#[test]
fn an_open_answer_is_in_the_last_box_or_behind_the_answer_is() {
    let text = |answer: &str| Outcome::Answered { answer: answer.to_owned(), choice: None };
    assert_eq!(answered(Task::Generative, "\\boxed{in the river} no: \\boxed{ here }"), text("here"));
    assert_eq!(answered(Task::Generative, "Therefore the answer is under a stair."), text("under a stair"));
    assert_eq!(answered(Task::Generative, "\\boxed{Not found in context.}"), Outcome::NotFound);
    assert_eq!(answered(Task::Generative, "\\boxed{}"), Outcome::Unparsed { response: "\\boxed{}".to_owned() });
    assert_eq!(answered(Task::Summary, " Ana hid it. Ben found it.\n"), text("Ana hid it. Ben found it."));
}

#[test]
fn in_a_style_the_last_call_shows_the_memory_as_that_papers_text() {
    for (style, prompt, response, outcome) in [
        ("sagascale", "sagascale-contexts", "<answer>third stair</answer>", Some("third stair")),
        ("sagascale", "sagascale-contexts", "<answer>NONE</answer>", None),
        ("novelqa", "novelqa-questions", "Answer0: third stair", Some("third stair")),
        ("corpusqa", "corpusqa-documents", "The answer is: third stair", Some("third stair")),
        ("dos-rag", "read-question", "third stair", Some("third stair")),
    ] {
        let responses = ["It is under the THIRD stair.", response];
        let host = ScriptedHost::replying(&responses);
        let trial = case(json!({ "section_tokens": 5000, "style": style })).trial(&host, &item(Task::Generative));
        let expected =
            outcome.map_or(Outcome::NotFound, |answer| Outcome::Answered { answer: answer.to_owned(), choice: None });
        assert_eq!(trial.outcome, expected, "{style}");
        assert_eq!(trial.calls.iter().map(|call| call.prompt.as_str()).collect::<Vec<_>>()[1..], [prompt]);
        let last = host.transcript();
        let last = last.rsplit("chat ").next().unwrap();
        assert!(last.contains("It is under the THIRD stair.") && !last.contains("Ana hid"), "{last}");
        assert_eq!((trial.measures["sections"], trial.context.unwrap().n_tokens), (1.0, 44));
    }
}

#[test]
fn of_several_documents_the_centre_may_be_left_out() {
    let books = vec![book("first", "", "One two three four."), book("second", "", "Five six seven eight.")];
    let case = Case { books, ..case(json!({ "max_context": 15, "temperature": 0.7 })) };
    case.check(
        &ScriptedHost::replying(&["Numbers.", "\\boxed{four}"]),
        &item(Task::Generative),
        &expect![[r#"
            chat memory-agent-update (<= 32 tokens, temperature 0.7)
              | You are working on a question about a text that is too long to be read at once. It comes to you section by section, and what you carry from one section to the next is a memory that you write yourself.
              |
              | <question>
              | Where was the key?
              | </question>
              |
              | <memory>
              | No previous memory
              | </memory>
              |
              | <section>
              | # Document 1:
              | One two 2:
              | Five six seven eight.
              | </section>
              |
              | Read the section and look for whatever helps to answer the question. Then write the memory anew: keep every detail of the old memory that still matters, and add what this section contributes. The old memory is lost once you have answered, so what you leave out is forgotten.
              |
              | New memory:
            chat memory-agent-question (<= 64 tokens, temperature 0.7)
              | Below stand a question about a long text and the memory that you kept while you read the text. Answer the question from the memory.
              |
              | <question>
              | Where was the key?
              | </question>
              |
              | <memory>
              | Numbers.
              | </memory>
              |
              | Write the answer, in the language of the question, inside \boxed{}.
              |
              | Your answer:
            context 0..7 0..21 (15 tokens)
            measures {"sections":1.0}
            Answered { answer: "four", choice: None }
        "#]],
    );
}

#[test]
fn an_empty_memory_is_a_memory_and_a_failed_call_ends_the_trial() {
    let empty = ScriptedHost::replying(&["", "", "", "\\boxed{x}"]);
    let trial = case(json!({})).trial(&empty, &item(Task::Generative));
    assert_eq!((trial.measures["sections"], trial.calls.len()), (3.0, 4));
    assert!(empty.transcript().contains("| <memory>\n  |\n  | </memory>"), "{}", empty.transcript());

    let refused = ScriptedHost::scripted(|_, n| match n {
        0 => Ok("kept".to_owned()),
        _ => Err(HostError::Blocked { reason: "no".to_owned() }),
    });
    let trial = case(json!({})).trial(&refused, &item(Task::Generative));
    assert_eq!(trial.outcome, Outcome::Blocked { reason: "no".to_owned() });
    assert_eq!((trial.measures["sections"], trial.calls.len()), (1.0, 1));
    assert_eq!(trial.context.unwrap().n_tokens, 20, "one section was read");
}

#[test]
fn a_section_that_exceeds_the_window_is_not_sent() {
    let case = Case { window: Some(150), ..case(json!({})) };
    let host = ScriptedHost::always(Ok("never asked"));
    let trial = case.trial(&host, &item(Task::Generative));
    assert!(
        matches!(trial.outcome, Outcome::Overflow { needed: Some(needed), context_window: Some(150) } if needed > 150)
    );
    assert_eq!((trial.prompt_tokens, host.asked()), (0, 0));
}

#[test]
fn nothing_is_asked_twice() {
    let script = |call: &Call, _| {
        let n = call.messages[0].content.len();
        Ok(if call.prompt == "memory-agent-update" { format!("memory of {n}") } else { format!("\\boxed{{{n}}}") })
    };
    case(json!({})).survives_any_death(&script, &[&item(Task::Generative), &item(Task::Choice)]);
}

#[test]
fn corpusqas_requirements_are_part_of_the_question_in_every_call() {
    let host = ScriptedHost::replying(&["The stair.", "The answer is: \"third\""]);
    let parameters = json!({ "section_tokens": 5000, "requirements": true });
    let trial = case(parameters.clone()).trial(&host, &item(Task::Generative));
    assert_eq!(trial.outcome, Outcome::Answered { answer: "\"third\"".to_owned(), choice: None });
    let transcript = host.transcript();
    let problem = "  | <question>\n  | Where was the key?\n  |\n  | # Output requirements:\n  | 1. ";
    assert_eq!(transcript.matches(problem).count(), 2, "{transcript}");
    let host = ScriptedHost::replying(&["The stair.", "\\boxed{B}"]);
    case(parameters).trial(&host, &item(Task::Choice));
    assert!(!host.transcript().contains("# Output requirements:"), "they are for open questions");
}
