//! The papers' prompts and answer forms, on the methods that end in a reading.

use crate::support::{Case, STORY, ScriptedHost, book, item};
use closeread_eval::{Outcome, Task};
use closeread_llm::HostError;
use expect_test::expect;
use serde_json::json;

#[test]
fn sagascale_reads_the_whole_text_and_answers_between_tags() {
    Case::new("full-document", json!({"style": "sagascale"})).check(
        &ScriptedHost::always(Ok("She hid it there.\n<answer>\nunder the third stair\n</answer>")),
        &item(Task::Generative),
        &expect![[r#"
            chat sagascale-text (<= 64 tokens, temperature 0)
              | You will read "The Key" from beginning to end, and behind it one question. Rely on nothing but the text of the book to answer it.
              |
              | Give the answer in English, and give it in this form, each tag on a line of its own:
              | <answer>
              | your final answer
              | </answer>
              |
              | === BOOK ===
              | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
              |
              | === QUESTION ===
              | Where was the key?
            context 0..184 (44 tokens)
            Answered { answer: "under the third stair", choice: None }
        "#]],
    );
}

#[test]
fn sagascale_asks_a_closed_book_for_the_number_of_an_option() {
    Case::new("closed-book", json!({"style": "sagascale"})).check(
        &ScriptedHost::always(Ok("<answer>\n1\n</answer>")),
        &item(Task::Choice),
        &expect![[r#"
            chat sagascale-closed-book (<= 64 tokens, temperature 0)
              | You will get one question about "The Key". Answer it from what you know of the book.
              |
              | Give the answer in English, and give it in this form, each tag on a line of its own:
              | <answer>
              | the number of the option you choose
              | </answer>
              |
              | === QUESTION ===
              | Where was the key?
              | 0. In the river
              | 1. Under a stair
            Answered { answer: "Under a stair", choice: Some(1) }
        "#]],
    );
}

#[test]
fn novelqa_asks_for_a_line_also_where_there_is_one_question() {
    Case::new("full-document", json!({"style": "novelqa"})).check(
        &ScriptedHost::always(Ok("Answer0: under the third stair")),
        &item(Task::Generative),
        &expect![[r#"
            chat novelqa-questions (<= 64 tokens, temperature 0)
              | You are a professor of literature. Your task: read the whole novel "The Key" below thoroughly and then answer 1 question about it.
              |
              | Title: The Key
              |
              | === NOVEL BEGINS ===
              | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
              | === NOVEL ENDS ===
              |
              | === QUESTIONS BEGIN ===
              | Question0: Where was the key?
              | === QUESTIONS END ===
              |
              | Answer every question from the novel with one word or a few words, in the language of the question. Write one line for each question, numbered as the question is, in exactly this form and with nothing else:
              | Answer0: <answer>
            context 0..184 (44 tokens)
            Answered { answer: "under the third stair", choice: None }
        "#]],
    );
}

#[test]
fn novelqa_wants_the_index_of_an_option_from_0() {
    Case::new("closed-book", json!({"style": "novelqa"})).check(
        &ScriptedHost::always(Ok("Answer0: 1")),
        &item(Task::Choice),
        &expect![[r#"
            chat novelqa-closed-book-choices (<= 64 tokens, temperature 0)
              | You are a professor of literature. Your task: answer 1 question about the novel "The Key" from what you know of it. Its text is not given.
              |
              | === QUESTIONS BEGIN ===
              | Question0: Where was the key?
              | 0. In the river
              | 1. Under a stair
              | === QUESTIONS END ===
              |
              | Every question has several options, numbered from 0, of which exactly one is right. Choose it. Write one line for each question, numbered as the question is, with the number of the option alone, in exactly this form and with nothing else:
              | Answer0: <number>
            Answered { answer: "Under a stair", choice: Some(1) }
        "#]],
    );
}

#[test]
fn novelqa_has_the_evidence_behind_a_dollar() {
    Case::new("full-document", json!({"style": "novelqa", "evidence": true})).check(
        &ScriptedHost::always(Ok("Answer0: under a stair$ \"Ana hid the key under the third stair.\" $ Nobody saw her do it.")),
        &item(Task::Generative),
        &expect![[r#"
            chat novelqa-evidence (<= 64 tokens, temperature 0)
              | You are a professor of literature. Your task: read the whole novel "The Key" below thoroughly and then answer 1 question about it.
              |
              | Title: The Key
              |
              | === NOVEL BEGINS ===
              | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
              | === NOVEL ENDS ===
              |
              | === QUESTIONS BEGIN ===
              | Question0: Where was the key?
              | === QUESTIONS END ===
              |
              | Answer every question from the novel with one word or a few words, in the language of the question. Then copy the sentences of the novel that your answer rests on, word for word, all on the same line: the answer, the mark $, and the sentences, with another $ between two of them. Write one line for each question, numbered as the question is, in exactly this form and with nothing else:
              | Answer0: <answer>$ <sentences>
            context 0..184 (44 tokens)
            Answered { answer: "under a stair", choice: None }
            cites ["Ana hid the key under the third stair.", "Nobody saw her do it."]
        "#]],
    );
    let chosen = Case::new("full-document", json!({"style": "novelqa", "evidence": true}));
    let trial = chosen.trial(&ScriptedHost::always(Ok("Answer0: 1$ Ana hid it.")), &item(Task::Choice));
    assert_eq!(trial.outcome, Outcome::Answered { answer: "Under a stair".to_owned(), choice: Some(1) });
    assert_eq!(trial.evidence, Some(vec!["Ana hid it.".to_owned()]));
    let silent = chosen.trial(&ScriptedHost::always(Ok("Answer0:")), &item(Task::Generative));
    assert_eq!(silent.evidence, Some(Vec::new()), "it was asked for and gave none");
}

#[test]
fn corpusqa_numbers_its_documents_and_announces_the_answer() {
    let books = vec![book("a", "", "Ana Ltd earned 12 marks."), book("b", "", "Ben Ltd earned 15 marks.")];
    Case { books, ..Case::new("full-document", json!({"style": "corpusqa"})) }.check(
        &ScriptedHost::always(Ok("15 is more.\nThe answer is: [\"Ben Ltd\"]")),
        &item(Task::Generative),
        &expect![[r#"
            chat corpusqa-documents (<= 64 tokens, temperature 0)
              | # Document 1:
              | Ana Ltd earned 12 marks.
              |
              | # Document 2:
              | Ben Ltd earned 15 marks.
              |
              | # Question:
              | Where was the key?
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
            context 0..24 0..24 (24 tokens)
            Answered { answer: "[\"Ben Ltd\"]", choice: None }
        "#]],
    );
}

#[test]
fn retrieved_passages_stand_as_the_paper_shows_them() {
    let books = || vec![book("a", "", STORY), book("b", "", "The key was cast in Orvik. It cost nine marks.")];
    let transcript = |style: &str| {
        let host = ScriptedHost::always(Ok("x"));
        let case = Case { books: books(), budget: Some(60), ..Case::new("dos-rag", json!({ "style": style })) };
        case.trial(&host, &item(Task::Generative));
        host.transcript()
    };
    let corpusqa = transcript("corpusqa");
    assert_eq!(corpusqa.matches("| # Document 1:").count(), 1, "{corpusqa}");
    assert!(corpusqa.contains("| # Document 2:\n  | The key was cast"), "{corpusqa}");
    let sagascale = transcript("sagascale");
    assert!(sagascale.contains("| [idx 3]\n  | The key was cast"), "{sagascale}");
    assert!(sagascale.contains("| NONE\n"), "{sagascale}");
}

#[test]
fn a_summary_is_hamlets_in_every_style() {
    for style in ["dos-rag", "sagascale", "novelqa", "corpusqa", "hamlet"] {
        for (method, prompt) in [("full-document", "read-summary"), ("closed-book", "closed-book-summary")] {
            let trial = Case::new(method, json!({ "style": style }))
                .trial(&ScriptedHost::always(Ok("Ana hid it. Ben found it.")), &item(Task::Summary));
            assert_eq!(trial.calls[0].prompt, prompt);
            assert!(matches!(trial.outcome, Outcome::Answered { .. }));
        }
    }
}

#[test]
fn every_style_tells_good_responses_from_bad_ones() {
    let outcome = |style: &str, response: &str| {
        let case = Case::new("full-document", json!({ "style": style }));
        case.trial(&ScriptedHost::always(Ok(response)), &item(Task::Generative)).outcome
    };
    let over_long = "word ".repeat(20_000);
    for (style, good, bad) in [
        ("dos-rag", "a stair", vec!["", " \n"]),
        ("sagascale", "<answer>a stair</answer>", vec!["", "a stair", "<answer>", &over_long]),
        ("novelqa", "Answer0: a stair", vec!["", "a stair", "Answer1:", "Answer5: a stair", &over_long]),
        ("corpusqa", "The answer is: a stair", vec!["", "The answer is: "]),
    ] {
        assert_eq!(outcome(style, good), Outcome::Answered { answer: "a stair".to_owned(), choice: None }, "{style}");
        for response in bad {
            assert_eq!(outcome(style, response), Outcome::Unparsed { response: response.to_owned() }, "{style}");
        }
        let case = Case::new("full-document", json!({ "style": style }));
        let refused = ScriptedHost::always(Err(HostError::Blocked { reason: "no".to_owned() }));
        let outcome = case.trial(&refused, &item(Task::Generative)).outcome;
        assert_eq!(outcome, Outcome::Blocked { reason: "no".to_owned() }, "{style}");
    }
    let whole = Outcome::Answered { answer: "a stair".to_owned(), choice: None };
    assert_eq!(
        outcome("corpusqa", " a stair "),
        whole,
        "without the words the whole response is the answer, as in its scorer"
    );
}

#[test]
fn nothing_is_asked_twice_in_any_style() {
    for style in ["dos-rag", "sagascale", "novelqa", "corpusqa", "hamlet"] {
        for method in ["closed-book", "full-document", "vanilla-rag", "naive-rag"] {
            let case = Case { budget: Some(40), ..Case::new(method, json!({ "style": style })) };
            let script = |_: &closeread_llm::Call, _| Ok("Answer0: 1 <answer>1</answer>".to_owned());
            case.survives_any_death(&script, &[&item(Task::Choice), &item(Task::Generative), &item(Task::Summary)]);
        }
    }
}
