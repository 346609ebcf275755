//! Naive RAG: three passages with their place in the text.

use crate::support::{Case, ScriptedHost, book, item};
use closeread_eval::{Outcome, Task};
use closeread_llm::HostError;
use closeread_retrieve::Retriever;
use expect_test::expect;
use serde_json::json;

#[test]
fn naive_rag_hands_over_three_passages_with_their_idx_best_first() {
    Case::new("naive-rag", json!({"max_tokens": 10})).check(
        &ScriptedHost::always(Ok("It is hidden.\n<answer>\nunder the third stair\n</answer>")),
        &item(Task::Generative),
        &expect![[r#"
            embed Query ["Where was the key?"]
            chat sagascale-contexts (<= 64 tokens, temperature 0)
              | You will get some contexts from "The Key", and behind them one question. Rely on nothing but the contexts to answer it. Every context is copied from the book; the index before it ('idx') tells where in the book it stands.
              |
              | If the contexts by themselves allow an answer, give it in English, and give it in this form, each tag on a line of its own:
              | <answer>
              | your final answer
              | </answer>
              |
              | If they do not, write:
              | <answer>
              | NONE
              | </answer>
              |
              | === CONTEXTS ===
              | [idx 4]
              |  for nine years.
              |
              | [idx 3]
              |  a lantern. He found the key and kept it
              |
              | [idx 2]
              |  and took the bridge. Ben rowed across with
              |
              | === QUESTION ===
              | Where was the key?
            context 168..184 128..168 85..128 (24 tokens)
            Answered { answer: "under the third stair", choice: None }
        "#]],
    );
}

#[test]
fn the_order_of_the_passages_and_their_number_are_parameters() {
    let case = Case::new("naive-rag", json!({"max_tokens": 10, "order": "document", "top_k": 2}));
    let trial = case.trial(&ScriptedHost::always(Ok("<answer>x</answer>")), &item(Task::Generative));
    let context = trial.context.unwrap();
    assert_eq!(context.passages.len(), 2);
    assert!(context.passages.is_sorted_by_key(|passage| passage.start));
}

#[test]
fn passages_of_several_books_are_numbered_through() {
    let books = vec![book("story", "The Key", "Ana hid the key."), book("other", "The Lamp", "Ben lit the lamp.")];
    let case = Case { books, retriever: Retriever::Bm25, ..Case::new("naive-rag", json!({})) };
    let host = ScriptedHost::always(Ok("<answer>Ana</answer>"));
    let trial = case.trial(&host, &item(Task::Generative));
    let documents: Vec<String> = trial.context.unwrap().passages.into_iter().map(|p| p.document).collect();
    assert_eq!(documents, ["story", "other"]);
    let transcript = host.transcript();
    assert!(transcript.contains("| [idx 0]\n  | Ana hid the key."), "{transcript}");
    assert!(transcript.contains("| [idx 1]\n  | Ben lit the lamp."), "{transcript}");
    assert!(transcript.contains("\"The Key; The Lamp\""), "{transcript}");
}

#[test]
fn a_chinese_book_is_answered_in_chinese() {
    let books = vec![book("zh", "钥匙", "安娜把钥匙藏在第三级台阶下面。没有人看见她这样做。春天河水涨了，冲走了桥。")];
    let case = Case { books, ..Case::new("naive-rag", json!({})) };
    let host = ScriptedHost::always(Ok("<answer>\n台阶下面\n</answer>"));
    let trial = case.trial(&host, &item(Task::Generative));
    assert_eq!(trial.outcome, Outcome::Answered { answer: "台阶下面".to_owned(), choice: None });
    assert!(host.transcript().contains("give it in Chinese"), "{}", host.transcript());
}

#[test]
fn what_the_reader_says_decides_the_outcome() {
    let outcome = |task, response| {
        Case::new("naive-rag", json!({})).trial(&ScriptedHost::always(Ok(response)), &item(task)).outcome
    };
    assert_eq!(outcome(Task::Generative, "<answer>\nNONE\n</answer>"), Outcome::NotFound);
    let none = Outcome::Answered { answer: "None".to_owned(), choice: None };
    assert_eq!(outcome(Task::Generative, "<answer>None</answer>"), none, "a word, and no flag");
    let chosen = Outcome::Answered { answer: "Under a stair".to_owned(), choice: Some(1) };
    assert_eq!(outcome(Task::Choice, "<answer>1</answer>"), chosen);
    for response in ["", "under the stair", "<answer></answer>", "<answer>under"] {
        assert_eq!(outcome(Task::Generative, response), Outcome::Unparsed { response: response.to_owned() });
    }
    assert!(matches!(outcome(Task::Choice, "<answer>2</answer>"), Outcome::Unparsed { .. }));
}

#[test]
fn what_cannot_be_asked_is_an_outcome() {
    let refused = ScriptedHost::always(Err(HostError::Blocked { reason: "no".into() }));
    let trial = Case::new("naive-rag", json!({})).trial(&refused, &item(Task::Generative));
    assert_eq!(trial.outcome, Outcome::Blocked { reason: "no".into() });

    let host = ScriptedHost::always(Ok("never asked"));
    let small = Case { window: Some(100), ..Case::new("naive-rag", json!({})) };
    let trial = small.trial(&host, &item(Task::Generative));
    assert!(matches!(trial.outcome, Outcome::Overflow { context_window: Some(100), .. }), "{:?}", trial.outcome);
    assert_eq!((host.asked(), trial.prompt_tokens), (0, 0));
}

#[test]
fn nothing_is_asked_twice() {
    let script = |_: &closeread_llm::Call, _| Ok("<answer>x</answer>".to_owned());
    Case::new("naive-rag", json!({})).survives_any_death(&script, &[&item(Task::Generative), &item(Task::Choice)]);
}
