//! Full document: the whole text, and what happens where it does not fit.

use crate::support::{Case, ScriptedHost, item};
use closeread_core::benchmark::Task;
use closeread_core::record::Outcome;
use expect_test::expect;
use serde_json::json;

fn full_document(window: usize, overflow: &str) -> Case {
    Case { window: Some(window), ..Case::new("full-document", json!({ "overflow": overflow })) }
}

#[test]
fn full_document_cut_in_the_middle_keeps_both_ends() {
    full_document(200, "truncate-middle").check(
        &ScriptedHost::always(Ok("under the third stair")),
        &item(Task::Generative),
        &expect![[r#"
            chat read-question (<= 64 tokens, temperature 0)
              | Below is the text you have to work with. It lies between the two marker lines.
              |
              | === CONTEXT BEGINS ===
              | Ana hid the key under the third stair. Nobody saw
              |
              | . He found the key and kept it for nine years.
              | === CONTEXT ENDS ===
              |
              | Question: Where was the key?
              |
              | Rules for your answer:
              | 1. Take it from the context only; what you know from elsewhere does not count.
              | 2. Write between 1 and 20 words, in the language of the question.
              | 3. Give the answer alone, without any explanation.
              | 4. If the context does not hold the answer, write exactly: Not found in context.
            context 0..49 138..184 (23 tokens)
            Answered { answer: "under the third stair", choice: None }
        "#]],
    );
}

#[test]
fn full_document_that_does_not_fit_asks_nothing() {
    full_document(200, "fail").check(
        &ScriptedHost::always(Ok("never asked")),
        &item(Task::Generative),
        &expect![[r#"
            Overflow { needed: Some(217), window: Some(200) }
        "#]],
    );
}

#[test]
fn truncation_always_fits_the_window_and_never_cuts_the_question() {
    for policy in ["truncate-end", "truncate-middle"] {
        for tokens in 180..320 {
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
