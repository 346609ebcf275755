//! Corpus RAG: one search over all documents, and what it cannot have seen.

use crate::support::{Case, ScriptedHost, book};
use closeread_eval::Item;
use closeread_retrieve::Retriever;
use expect_test::expect;
use serde_json::json;

/// Three reports; only the second and the third speak of rent.
fn corpus(budget: usize, parameters: serde_json::Value) -> Case {
    let reports = [
        ("north", "Northside has 40 flats and a garden that its members dig together every spring."),
        ("south", "Southgate was founded in 1982 by nine families. The rent at Southgate is 310 a month."),
        ("west", "Westhill collects a rent of 295 a month from each of its 61 flats, heating included."),
    ];
    Case {
        books: reports.iter().map(|(id, text)| book(id, id, text)).collect(),
        retriever: Retriever::Bm25,
        budget: Some(budget),
        ..Case::new("corpus-rag", parameters)
    }
}

fn item() -> Item {
    let json = json!({
        "id": "q", "documents": ["north", "south", "west"], "question": "Which rent is lower than 300 a month?",
        "task": "generative", "answers": ["[\"Westhill\"]"],
    });
    serde_json::from_value(json).unwrap()
}

#[test]
fn chunks_stand_under_their_documents_in_the_order_of_the_text() {
    corpus(45, json!({})).check(
        &ScriptedHost::always(Ok("Both charge rent.\nThe answer is: [\"Westhill\"]")),
        &item(),
        &expect![[r#"
            chat corpusqa-documents (<= 64 tokens, temperature 0)
              | # Document 2:
              | Southgate was founded in 1982 by nine families. The rent at Southgate is 310
              |
              |  a month.
              |
              | # Document 3:
              | Westhill collects a rent of 295 a month from each of its 61 flats, heating included
              |
              | # Question:
              | Which rent is lower than 300 a month?
              |
              | # Output requirements:
              | 1. Your answer is of one of these types and no other: a list of strings, which may be the empty list "[]"; one short string; a number, with 2 decimal places if it is not whole, and without its unit; a percentage, with 2 decimal places.
              | 2. A date has the form "YYYY-MM".
              | 3. Where files state different values of the same item, take that of the latest file.
              | 4. The final answer stands at the end, strictly in this form: The answer is: xxx.
              |
              | # Answer format examples:
              | - a list of strings: The answer is: ["FIRST NAME INC", "SECOND & CO"]
              | - one string: The answer is: "North"
              | - a number: The answer is: 2048.50
              | - a percentage: The answer is: 45.60%
            context 0..76 76..85 0..83 (43 tokens)
            measures {"chunks":3.0,"documents":3.0,"documents_read":2.0,"fewer_chunks_than_documents":0.0}
            Answered { answer: "[\"Westhill\"]", choice: None }
        "#]],
    );
}

#[test]
fn a_budget_without_room_for_a_chunk_reads_nothing_and_says_so() {
    let trial = corpus(1, json!({})).trial(&ScriptedHost::always(Ok("The answer is: []")), &item());
    assert_eq!(
        json!(trial.measures),
        json!({"chunks": 0.0, "documents": 3.0, "documents_read": 0.0, "fewer_chunks_than_documents": 1.0})
    );
}

#[test]
fn neighbours_do_not_reach_into_the_next_document() {
    let shown = |neighbours| {
        let trial = corpus(60, json!({"neighbours": neighbours})).trial(
            &ScriptedHost::always(Ok("Both charge rent.\nThe answer is: [\"Westhill\"]")),
            &Item { question: "Northside".into(), ..item() },
        );
        trial.context.unwrap().passages.iter().map(|p| p.document.clone()).collect::<Vec<_>>()
    };
    assert_eq!(shown(1)[..1], ["north"]);
    assert!(shown(9).is_sorted(), "documents in the item's order, whatever was ranked first");
}

#[test]
fn nothing_is_asked_twice() {
    corpus(45, json!({})).survives_any_death(&|_, _| Ok("Westhill".to_owned()), &[&item()]);
}
