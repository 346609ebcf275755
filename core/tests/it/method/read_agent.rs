//! ReadAgent: pages, gists, look-up, answer.

mod words;

use crate::support::{Case, ScriptedHost, book, item};
use closeread_eval::{Outcome, Task};
use closeread_llm::{Call, HostError};
use closeread_methods::{AnyPrepared, Pages};
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
fn break_points_that_make_no_sense_fall_back_to_the_last_label() {
    let case = case(json!({}));
    let last = spans(&pages(&case, &script("Break point: <3>", "g", "", "")));
    for response in
        ["", "3", "Break point: <0>", "Break point: <99>", "I choose <1>", "<think>Break point: <1></think> Hm."]
    {
        assert_eq!(spans(&pages(&case, &script(response, "g", "", ""))), last, "{response}");
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
    let looked_up = |response: &str, parameters: Value| {
        let host = script("Break point: <1>", "g", response, "under a stair");
        let trial = case(parameters).trial(&host, &item(Task::Generative));
        let n = trial.context.unwrap().passages.len();
        assert_eq!(trial.measures["pages_looked_up"], n as f64);
        n
    };
    for (response, n) in [("Page [0, 1]", 2), ("Page [1, 1, 0, 17]", 2), ("STOP", 0), ("Page 1", 0), ("", 0)] {
        assert_eq!(looked_up(response, json!({})), n, "{response}");
        assert_eq!(looked_up(response, json!({ "max_pages": 1 })), n.min(1), "{response}");
        assert_eq!(looked_up(response, json!({ "lookup": "sequential" })), n.min(1), "{response}: named again");
        assert_eq!(looked_up(response, json!({ "max_pages": 0 })), 0);
    }
}

#[test]
fn empty_gists_and_unreadable_answers_are_values() {
    let answered = |gist, answer, task| case(json!({})).trial(&script("", gist, "", answer), &item(task));
    let trial = answered("", "Answer: B", Task::Choice);
    assert_eq!(trial.outcome, Outcome::Answered { answer: "Under a stair".to_owned(), choice: Some(1) });
    assert_eq!((trial.measures["compression"], trial.context.unwrap().n_tokens), (1.0, 0));
    for (response, task) in [("B", Task::Choice), ("Answer: (C)", Task::Choice), (" ", Task::Generative)] {
        let outcome = answered("g", response, task).outcome;
        assert_eq!(outcome, Outcome::Unparsed { response: response.to_owned() });
    }
    assert_eq!(answered("g", "Not found in context.", Task::Generative).outcome, Outcome::NotFound);
    assert!(matches!(answered("g", "Ana hid it.", Task::Summary).outcome, Outcome::Answered { .. }));
}

#[test]
fn reasoning_that_did_not_end_is_no_gist() {
    let trial = case(json!({})).trial(&script("", "<think>The page says", "", "Answer: B"), &item(Task::Choice));
    assert!(matches!(&trial.outcome, Outcome::Failed { error } if error.contains("reasoning alone")), "{trial:?}");
    let trial = case(json!({})).trial(&script("", "<think>Hm.</think>Rain.", "", "Answer: B"), &item(Task::Choice));
    assert!(matches!(trial.outcome, Outcome::Answered { .. }), "{trial:?}");
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
