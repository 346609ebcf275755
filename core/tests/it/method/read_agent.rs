//! ReadAgent: pages, gists, look-up, answer.

use crate::support::{Case, ScriptedHost, book, item};
use closeread_eval::{Outcome, Task};
use closeread_llm::{Call, HostError};
use closeread_methods::{AnyPrepared, Pages};
use expect_test::expect;
use serde_json::{Value, json};

/// Pages of some ten words instead of hundreds.
fn case(parameters: Value) -> Case {
    let mut given = json!({ "word_limit": 16, "start_threshold": 8, "min_words": 10 });
    given.as_object_mut().unwrap().extend(parameters.as_object().unwrap().clone());
    Case::new("read-agent", given)
}

/// Replies by prompt.
fn script<'a>(breaks: &'a str, gist: &'a str, look_up: &'a str, answer: &'a str) -> ScriptedHost<'a> {
    ScriptedHost::scripted(move |call, _| {
        Ok(match call.prompt.as_str() {
            "read-agent-paginate" => breaks,
            "read-agent-gist" => gist,
            "read-agent-lookup" | "read-agent-lookup-next" => look_up,
            _ => answer,
        }
        .to_owned())
    })
}

fn pages(case: &Case, host: &ScriptedHost<'_>) -> Pages {
    let (preparation, _) = case.run(host, &[]);
    let AnyPrepared::ReadAgent(pages) = preparation.unwrap().prepared.unwrap() else {
        panic!("read-agent prepares pages")
    };
    pages
}

fn spans(pages: &Pages) -> Vec<(usize, usize)> {
    pages.pages.iter().map(|page| (page.start, page.end)).collect()
}

#[test]
fn a_book_becomes_pages_and_gists_and_a_question_is_answered_from_them() {
    let host = ScriptedHost::scripted(|call, n| {
        Ok(match (call.prompt.as_str(), n) {
            ("read-agent-paginate", 0) => "Break point: <2>\nBecause the river rises.",
            ("read-agent-paginate", _) => "Break point: <4>",
            ("read-agent-gist", _) if call.messages[0].content.contains("Ana") => " Ana hid a key. ",
            ("read-agent-gist", _) if call.messages[0].content.contains("Ben") => "Ben came over the flood.",
            ("read-agent-gist", _) => "He kept it.",
            ("read-agent-lookup", _) => "I want to look up Page [0] to see where she hid it.",
            _ => "Answer: (B) Under a stair",
        }
        .to_owned())
    });
    case(json!({})).check(&host, &item(Task::Choice), &expect![[r#"
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | Ana hid the key under the third stair.
          | <1>
          | Nobody saw her do it.
          | <2>
          | In spring the river rose and took the bridge.
          | <3>
          | Ben rowed across with a lantern.
          | ...
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | ...
          | Ana hid the key under the third stair. Nobody saw her do it.
          | In spring the river rose and took the bridge.
          | <3>
          | Ben rowed across with a lantern.
          | <4>
          | He found the key and kept it for nine years.
          | <5>
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | ...
          | In spring the river rose and took the bridge. Ben rowed across with a lantern.
          | He found the key and kept it for nine years.
          | <5>
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | Ana hid the key under the third stair. Nobody saw her do it.
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | In spring the river rose and took the bridge. Ben rowed across with a lantern.
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | He found the key and kept it for nine years.
        chat read-agent-lookup (<= 64 tokens, temperature 0)
          | Here is what you remember of a text that you have read, page by page, and a question about it. You may read up to 6 pages again before you have to answer.
          |
          | Say which pages you want to read, by their numbers in square brackets. For page 8 alone, write "I want to look up Page [8] to ..."; for pages 7 and 12, write "I want to look up Page [7, 12] to ...". Write out every number; a range such as 3-5 is not understood. Ask for no more pages than you need, and do not answer the question yet.
          |
          | What you remember:
          | <Page 0>
          | Ana hid a key.
          | <Page 1>
          | Ben came over the flood.
          | <Page 2>
          | He kept it.
          |
          | Question:
          | Where was the key?
          |
          | (A) In the river
          | (B) Under a stair
          |
          | Which pages do you want to read again?
        chat read-agent-choice (<= 64 tokens, temperature 0)
          | Read the text below, parts of which are shortened, and answer the question that follows it by choosing one option.
          |
          | Begin your reply with the letter of the option, in parentheses: if (C) is right, write "Answer: (C) ...".
          |
          | Text:
          | Ana hid the key under the third stair. Nobody saw her do it.
          | Ben came over the flood.
          | He kept it.
          |
          | Question:
          | Where was the key?
          |
          | (A) In the river
          | (B) Under a stair
        context 0..60 (25 tokens)
        measures {"compression":0.6842105263157895,"compression_after_lookup":0.4473684210526315,"pages":3.0,"pages_looked_up":1.0}
        Answered { answer: "Under a stair", choice: Some(1) }
    "#]]);
}

#[test]
fn one_page_a_turn_until_stop() {
    let host = ScriptedHost::scripted(|call, _| {
        let text = &call.messages[0].content;
        Ok(match call.prompt.as_str() {
            "read-agent-lookup-next" if text.contains("page 2") => "STOP",
            "read-agent-lookup-next" if text.contains("page 0") => "I want to look up Page [2] to be sure.",
            "read-agent-lookup-next" => "I want to look up Page [0, 1] to see.",
            "read-agent-gist" => "Something.",
            "read-agent-question" => "under the third stair",
            _ => "no idea",
        }
        .to_owned())
    });
    let case = case(json!({ "lookup": "sequential", "word_limit": 10, "start_threshold": 5, "min_words": 5 }));
    case.check(&host, &item(Task::Generative), &expect![[r#"
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | Ana hid the key under the third stair.
          | <1>
          | Nobody saw her do it.
          | <2>
          | In spring the river rose and took the bridge.
          | ...
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | ...
          | Ana hid the key under the third stair. Nobody saw her do it.
          | In spring the river rose and took the bridge.
          | <3>
          | Ben rowed across with a lantern.
          | <4>
          | He found the key and kept it for nine years.
          | ...
        chat read-agent-paginate (<= 64 tokens, temperature 0)
          | Below is a stretch of a longer text. Inside it stand numbered labels in angle brackets: label 19, for example, is written <19>.
          |
          | Choose the label at which a reader would most naturally pause: where a scene changes, a conversation or an argument comes to its end, or the story takes a turn.
          |
          | Begin your reply with the label, in the form below, and then say why you chose it. If you choose label 57, write:
          | Break point: <57>
          | Because ...
          |
          | Text:
          |
          | ...
          | In spring the river rose and took the bridge. Ben rowed across with a lantern.
          | He found the key and kept it for nine years.
          | <5>
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | Ana hid the key under the third stair. Nobody saw her do it.
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | In spring the river rose and took the bridge. Ben rowed across with a lantern.
        chat read-agent-gist (<= 64 tokens, temperature 0)
          | Make the passage below shorter. Keep what happens and who is involved; write in the language of the passage. Reply with the shortened passage alone, without any remark on what you did.
          |
          | Passage:
          | He found the key and kept it for nine years.
        chat read-agent-lookup-next (<= 64 tokens, temperature 0)
          | Here is what you remember of a text that you have read, page by page, and a question about it. Before you have to answer you may read pages again, one at a time.
          |
          | If another page would help, name it by its number in square brackets: for page 8, write "I want to look up Page [8] to ...". Name one page only, and none that is already in full. If you know enough, write STOP. Do not answer the question yet.
          |
          | What you remember:
          | <Page 0>
          | Something.
          | <Page 1>
          | Something.
          | <Page 2>
          | Something.
          |
          | Question:
          | Where was the key?
          |
          |
          | Which page do you want to read next, or STOP?
        chat read-agent-lookup-next (<= 64 tokens, temperature 0)
          | Here is what you remember of a text that you have read, page by page, and a question about it. Before you have to answer you may read pages again, one at a time. Already in full below: page 0.
          |
          | If another page would help, name it by its number in square brackets: for page 8, write "I want to look up Page [8] to ...". Name one page only, and none that is already in full. If you know enough, write STOP. Do not answer the question yet.
          |
          | What you remember:
          | <Page 0>
          | Ana hid the key under the third stair. Nobody saw her do it.
          | <Page 1>
          | Something.
          | <Page 2>
          | Something.
          |
          | Question:
          | Where was the key?
          |
          |
          | Which page do you want to read next, or STOP?
        chat read-agent-lookup-next (<= 64 tokens, temperature 0)
          | Here is what you remember of a text that you have read, page by page, and a question about it. Before you have to answer you may read pages again, one at a time. Already in full below: page 0, page 2.
          |
          | If another page would help, name it by its number in square brackets: for page 8, write "I want to look up Page [8] to ...". Name one page only, and none that is already in full. If you know enough, write STOP. Do not answer the question yet.
          |
          | What you remember:
          | <Page 0>
          | Ana hid the key under the third stair. Nobody saw her do it.
          | <Page 1>
          | Something.
          | <Page 2>
          | He found the key and kept it for nine years.
          |
          | Question:
          | Where was the key?
          |
          |
          | Which page do you want to read next, or STOP?
        chat read-agent-question (<= 64 tokens, temperature 0)
          | Read the text below, parts of which are shortened, and answer the question that follows it.
          |
          | Text:
          | Ana hid the key under the third stair. Nobody saw her do it.
          | Something.
          | He found the key and kept it for nine years.
          |
          | Question: Where was the key?
          |
          | Rules for your answer:
          | - Rely on the text and on nothing else.
          | - Be brief and factual: preferably 1 to 20 words.
          | - Give no explanation, and no details that are not needed.
          | - If the text does not explicitly state the answer, write exactly: Not found in context.
        context 0..60 140..184 (28 tokens)
        measures {"compression":0.9210526315789473,"compression_after_lookup":0.368421052631579,"pages":3.0,"pages_looked_up":2.0}
        Answered { answer: "under the third stair", choice: None }
    "#]]);
}

#[test]
fn break_points_that_make_no_sense_fall_back_to_the_last_label() {
    let case = case(json!({}));
    let last = spans(&pages(&case, &script("Break point: <3>", "g", "", "")));
    for reply in
        ["", "3", "Break point: <0>", "Break point: <99>", "I choose <1>", "<think>Break point: <1></think> Hm."]
    {
        assert_eq!(spans(&pages(&case, &script(reply, "g", "", ""))), last, "{reply}");
    }
    let first = spans(&pages(&case, &script("<think>Hm.</think>\nBreak point: <1>", "g", "", "")));
    assert_ne!(first, last);
    assert_eq!(first[0], (0, 38));
}

#[test]
fn paragraphs_may_be_the_unit_and_no_page_holds_text_of_two_books() {
    let text = "One two three.\n\nFour five six.\nSeven eight nine.";
    let books = vec![book("a", "", text), book("b", "", "Ten eleven twelve.")];
    let parameters = json!({ "unit": "paragraph", "word_limit": 6, "start_threshold": 3, "min_words": 3 });
    let host = script("Break point: <1>", "g", "Page [1, 2]", "x");
    let case = Case { books, ..case(parameters) };
    let pages = pages(&case, &host);
    let places: Vec<_> = pages.pages.iter().map(|p| (p.book, p.start, p.end, p.words)).collect();
    assert_eq!(places, [(0, 0, 14, 3), (0, 16, 48, 6), (1, 0, 18, 3)]);
    assert!(
        host.transcript().contains("| One two three.\n  | <1>\n  | Four five six.\n  | <2>\n  | Seven eight nine.")
    );

    let host = script("Break point: <1>", "g", "Page [1, 2]", "x");
    let trial = case.trial(&host, &item(Task::Generative));
    let expected =
        "| # Document 1:\n  | g\n  | Four five six.\n  | Seven eight nine.\n  | # Document 2:\n  | Ten eleven twelve.";
    assert!(host.transcript().contains(expected), "{}", host.transcript());
    assert_eq!(trial.context.unwrap().passages.len(), 2);
}

#[test]
fn a_chinese_page_is_measured_in_characters() {
    let text = "那口钟是在奥维克铸的，花了三年。汤姆扫了院子，然后回家了。河水在春天涨了起来。";
    let case = Case { books: vec![book("zh", "", text)], ..case(json!({})) };
    let pages = pages(&case, &script("Break point: <1>", "钟", "", ""));
    let words: Vec<usize> = pages.pages.iter().map(|page| page.words).collect();
    assert_eq!(words, [14, 20]);
}

#[test]
fn what_is_looked_up_is_bounded_and_exists() {
    let looked_up = |reply: &str, parameters: Value| {
        let host = script("Break point: <1>", "g", reply, "under a stair");
        let trial = case(parameters).trial(&host, &item(Task::Generative));
        let n = trial.context.unwrap().passages.len();
        assert_eq!(trial.measures["pages_looked_up"], n as f64);
        n
    };
    for (reply, n) in [("Page [0, 1]", 2), ("Page [1, 1, 0, 17]", 2), ("STOP", 0), ("Page 1", 0), ("", 0)] {
        assert_eq!(looked_up(reply, json!({})), n, "{reply}");
        assert_eq!(looked_up(reply, json!({ "max_pages": 1 })), n.min(1), "{reply}");
        assert_eq!(looked_up(reply, json!({ "lookup": "sequential" })), n.min(1), "{reply}: named again");
        assert_eq!(looked_up(reply, json!({ "max_pages": 0 })), 0);
    }
}

#[test]
fn empty_gists_and_unreadable_answers_are_values() {
    let answered = |gist, answer, task| case(json!({})).trial(&script("", gist, "", answer), &item(task));
    let trial = answered("", "Answer: B", Task::Choice);
    assert_eq!(trial.outcome, Outcome::Answered { answer: "Under a stair".to_owned(), choice: Some(1) });
    assert_eq!((trial.measures["compression"], trial.context.unwrap().n_tokens), (1.0, 0));
    for (reply, task) in [("B", Task::Choice), ("Answer: (C)", Task::Choice), (" ", Task::Generative)] {
        let outcome = answered("g", reply, task).outcome;
        assert_eq!(outcome, Outcome::Unparsed { response: reply.to_owned() });
    }
    assert_eq!(answered("g", "Not found in context.", Task::Generative).outcome, Outcome::NotFound);
    assert!(matches!(answered("g", "Ana hid it.", Task::Summary).outcome, Outcome::Answered { .. }));
}

#[test]
fn what_does_not_fit_the_window_is_an_overflow() {
    let outcome = |window| {
        let host = script("Break point: <1>", "a gist of a few words", "Page [0, 1, 2]", "under a stair");
        Case { window: Some(window), ..case(json!({})) }.trial(&host, &item(Task::Generative)).outcome
    };
    assert!(matches!(outcome(1000), Outcome::Answered { .. }));
    for window in [100, 250] {
        let Outcome::Overflow { needed, .. } = outcome(window) else { panic!("{window}: {:?}", outcome(window)) };
        assert!(needed.unwrap() > window);
    }
}

#[test]
fn a_refused_gist_ends_every_question_and_keeps_the_calls_that_were_answered() {
    let host = ScriptedHost::scripted(|call, _| match call.prompt.as_str() {
        "read-agent-gist" if call.messages[0].content.contains("river") => {
            Err(HostError::Blocked { reason: "no".to_owned() })
        }
        _ => Ok("Break point: <1>".to_owned()),
    });
    let items = [item(Task::Choice), item(Task::Generative)];
    let (preparation, trials) = case(json!({})).run(&host, &items.each_ref());
    let blocked = Outcome::Blocked { reason: "no".to_owned() };
    assert!(trials.iter().all(|trial| trial.outcome == blocked));
    let preparation = preparation.unwrap();
    assert_eq!(preparation.prepared, Err(blocked));
    assert_eq!(preparation.calls.len() + 1, host.asked(), "all but the refused one");
}

#[test]
fn nothing_is_asked_twice() {
    let script = |call: &Call, _| {
        Ok(match call.prompt.as_str() {
            "read-agent-paginate" => "Break point: <2>".to_owned(),
            "read-agent-gist" => format!("gist of {}", call.messages[0].content.len()),
            "read-agent-lookup" => "Page [0, 2]".to_owned(),
            "read-agent-lookup-next" if call.messages[0].content.contains("page 1") => "STOP".to_owned(),
            "read-agent-lookup-next" => "Page [1]".to_owned(),
            _ => format!("Answer: (A) {}", call.messages[0].content.len()),
        })
    };
    for lookup in ["parallel", "sequential"] {
        let items = [item(Task::Choice), item(Task::Generative)];
        case(json!({ "lookup": lookup })).survives_any_death(&script, &items.each_ref());
    }
}
