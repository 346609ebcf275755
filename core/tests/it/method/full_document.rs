//! Full document: the whole text, and what happens where it does not fit.

use crate::support::{Case, ScriptedHost, book, item};
use closeread_eval::{Outcome, Task};
use expect_test::expect;
use serde_json::json;

fn full_document(window: usize, overflow: &str) -> Case {
    Case { window: Some(window), ..Case::new("full-document", json!({ "overflow": overflow })) }
}

#[test]
fn full_document_cut_in_the_middle_keeps_both_ends() {
    full_document(178, "truncate-middle").check(
        &ScriptedHost::always(Ok("under the third stair")),
        &item(Task::Generative),
        &expect![[r#"
            chat read-question (<= 64 tokens, temperature 0)
              | === CONTEXT BEGINS ===
              | Ana hid the key under the third stair. Nobody
              |
              |  found the key and kept it for nine years.
              | === CONTEXT ENDS ===
              |
              | === QUESTION BEGINS ===
              | Question: Where was the key?
              | === QUESTION ENDS ===
              |
              | - Rely on the context and on nothing else.
              | - Be brief and factual: preferably 1 to 20 words.
              | - Give no explanation, and no details that are not needed.
              | - If the context does not explicitly state the answer, write exactly: Not found in context.
            context 0..45 142..184 (20 tokens)
            Answered { answer: "under the third stair", choice: None }
        "#]],
    );
}

#[test]
fn full_document_that_does_not_fit_asks_nothing() {
    full_document(178, "fail").check(
        &ScriptedHost::always(Ok("never asked")),
        &item(Task::Generative),
        &expect![[r#"
            Overflow { needed: Some(198), context_window: Some(178) }
        "#]],
    );
}

#[test]
fn without_a_limit_room_for_a_response_stays_free_and_no_limit_is_sent() {
    let case = |window| Case { max_output_tokens: None, ..full_document(window, "fail") };
    let host = ScriptedHost::always(Ok("under the third stair"));
    let needs = |window| case(window).trial(&host, &item(Task::Generative)).outcome;
    assert_eq!(needs(1_157), Outcome::Overflow { needed: Some(1_158), context_window: Some(1_157) });
    assert!(matches!(needs(1_158), Outcome::Answered { .. }), "134 tokens of prompt and 1024 for the response");
    assert!(host.transcript().starts_with("chat read-question (no limit, temperature 0)"), "{}", host.transcript());
}

#[test]
fn several_documents_stand_under_their_headings() {
    let books = vec![book("a", "A", "Ana hid the key."), book("b", "B", "Ben found the key. He kept it.")];
    let case = Case { books: books.clone(), ..full_document(200, "fail") };
    let host = ScriptedHost::always(Ok("x"));
    let trial = case.trial(&host, &item(Task::Generative));
    let transcript = host.transcript();
    assert!(
        transcript.contains("# Document 1:\n  | Ana hid the key.\n  |\n  | # Document 2:\n  | Ben found"),
        "{transcript}"
    );
    let passages: Vec<_> = trial.context.unwrap().passages.into_iter().map(|p| (p.document, p.start, p.end)).collect();
    assert_eq!(passages, [("a".to_owned(), 0, 16), ("b".to_owned(), 0, 30)]);
    let many = (0..400).map(|i| book(&format!("d{i}"), "", "A report of nothing at all.")).collect();
    let case = Case { books: many, ..full_document(2_000, "fail") };
    let outcome = case.trial(&ScriptedHost::always(Ok("never asked")), &item(Task::Generative)).outcome;
    assert!(matches!(outcome, Outcome::Overflow { needed: Some(needed), .. } if needed > 4_000), "{outcome:?}");
}

#[test]
fn truncation_always_fits_the_window_and_never_cuts_the_question() {
    for policy in ["truncate-end", "truncate-middle"] {
        for tokens in 150..320 {
            let host = ScriptedHost::always(Ok("x"));
            let trial = full_document(tokens, policy).trial(&host, &item(Task::Generative));
            match trial.outcome {
                Outcome::Overflow { .. } => assert_eq!(trial.prompt_tokens, 0),
                _ => {
                    assert!(trial.prompt_tokens + 64 <= tokens, "{} in {tokens}", trial.prompt_tokens);
                    assert!(host.transcript().contains("Question: Where was the key?"));
                }
            }
        }
    }
}

#[test]
fn a_published_prompt_is_sent_as_its_row_has_it() {
    let texts = ["The mill has\n3 rooms.", "The barn  has 5 rooms."];
    let books = vec![book("a", "", texts[0]), book("b", "", texts[1])];
    let case = |parameters| Case { books: books.clone(), ..Case::new("full-document", parameters) };
    let published = json!({"style": "corpusqa", "prompt": "published"});
    let mut asked = item(Task::Generative);
    let host = ScriptedHost::always(Ok("Five.\nThe answer is: the barn"));
    let outcome = case(published.clone()).trial(&host, &asked).outcome;
    assert!(matches!(outcome, Outcome::NotAsked { .. }) && host.asked() == 0, "its item has none: {outcome:?}");

    let words = ["# Document 1:\n", "\n\n# Document 2:\n", "\n\n# Question:\nWhich has most?"];
    let user = json!([words[0], 0, words[1], 1, words[2]]);
    asked.other.insert("published".to_owned(), json!({"system": "Be exact.", "user": user}));
    let trial = case(published.clone()).trial(&host, &asked);
    assert_eq!(trial.outcome, Outcome::Answered { answer: "the barn".to_owned(), choice: None });
    assert_eq!(trial.calls[0].prompt, "corpusqa-published");
    let transcript = host.transcript();
    let sent = "  System\n  | Be exact.\n  User\n  | # Document 1:\n  | The mill has\n  | 3 rooms.\n  |\n  | # Document 2:\n  \
                | The barn  has 5 rooms.\n  |\n  | # Question:\n  | Which has most?\n";
    assert!(transcript.contains(sent), "{transcript}");
    let small = Case { window: Some(90), ..case(published) }.trial(&host, &asked);
    assert!(matches!(small.outcome, Outcome::Overflow { .. }), "nothing of it is cut: {:?}", small.outcome);
}
