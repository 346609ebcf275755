//! Texts of a run that are damaged while it is under way, or behind it.

use crate::http::{HttpServer, ok};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// Two books, with two questions each.
fn books(sandbox: &Sandbox) {
    let (mut documents, mut items) = (String::new(), String::new());
    for book in ["a", "b"] {
        sandbox.write(&format!("bench/{book}.txt"), format!("Book {book}. Ana hid the key. Ben found it."));
        documents += &format!("{}\n", json!({"id": book, "language": "en", "path": format!("{book}.txt")}));
        for n in 0..2 {
            let evidence = json!([{"quote": "Ana hid the key."}]);
            let item = json!({"id": format!("{book}{n}"), "documents": [book], "task": "choice", "correct": 0,
                "question": "Who hid it?", "options": ["Ana", "Ben"], "evidence": evidence});
            items += &format!("{item}\n");
        }
    }
    sandbox.write("bench/documents.jsonl", documents);
    sandbox.write("bench/items.jsonl", items);
}

/// Returns the last outcome of each trial, by method and item.
fn outcomes(sandbox: &Sandbox) -> BTreeMap<String, (String, String)> {
    let lines = fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |record: Value| {
        (
            format!("{} {}", text(&record["method"]), text(&record["item"])),
            (text(&record["outcome"]), text(&record["error"])),
        )
    };
    lines.map(of).collect()
}

#[test]
fn texts_that_are_damaged_while_a_run_is_under_way_fail_their_trials_and_are_made_anew_by_the_next() {
    let sandbox = Sandbox::with_own_cache();
    books(&sandbox);
    let texts = sandbox.path("r/texts");
    let mut is_first = true;
    let server = HttpServer::start(move |_| {
        // By the first question the first book is open; the second one is not read yet.
        if std::mem::take(&mut is_first) {
            fs::read_dir(&texts).unwrap().for_each(|file| fs::write(file.unwrap().path(), b"no archive").unwrap());
        }
        ok(&json!({"choices": [{"message": {"content": "[[1]]"}, "finish_reason": "stop"}]}))
    });
    let what = ["run", "--benchmark", "bench", "--method", "full-document,dos-rag", "--retriever", "bm25"];
    let how = ["--model", "openai-compatible/tiny", "--base-url", &server.url, "--concurrency", "1", "--out", "r"];
    let run = || sandbox.run(&[&what[..], &how].concat());
    let ended = run().exits(1);
    assert!(!ended.err().contains("panicked"), "{}", ended.err());
    let (first, second): (Vec<_>, Vec<_>) = outcomes(&sandbox).into_iter().partition(|(trial, _)| trial.contains(" a"));
    assert_eq!((first.len(), second.len()), (4, 4));
    assert!(first.iter().all(|(_, (outcome, _))| outcome == "answered"), "{first:?}");
    for (trial, (outcome, error)) in second {
        assert_eq!(outcome, "failed", "{trial}: {error}");
        assert!(error.contains("book `b` cannot be read again: ") && error.contains(".txt.zst is damaged"), "{error}");
        assert!(error.contains("give the run's command again, which writes it anew"), "{error}");
    }
    let report = sandbox.run(&["report", "r"]).exits(1);
    assert!(report.out().contains("DAMAGED: the text of document `b`"), "{}", report.out());

    let n_asked = server.asked("POST", "/").len();
    let again = run().exits(0);
    assert_eq!(again.err().matches("is damaged and is written anew").count(), 2, "{}", again.err());
    assert!(outcomes(&sandbox).values().all(|(outcome, _)| outcome == "answered"), "{:?}", outcomes(&sandbox));
    assert_eq!(server.asked("POST", "/").len() - n_asked, 1, "both methods and items ask the same of a short book");
    sandbox.run(&["verify", "r"]).exits(0);
}

#[test]
fn a_judge_names_the_text_that_it_cannot_read() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["run", "--method", "dos-rag", "--retriever", "bm25", "--judge-model", "builtin/rule", "--out", "r"])
        .exits(0);
    for file in fs::read_dir(sandbox.path("r/texts")).unwrap() {
        fs::write(file.unwrap().path(), b"no archive").unwrap();
    }
    fs::remove_file(sandbox.path("r/judgements.jsonl")).unwrap();
    let judged = sandbox.run(&["judge", "r", "--judge-model", "builtin/rule"]);
    let words = judged.err();
    assert!(words.contains("cannot be read: ") && words.contains(".txt.zst is damaged"), "{words}");
    assert!(words.contains("the chunk of its key facts is not found, so its summaries are not judged"), "{words}");
    assert!(words.contains("give the run's command again") && !words.contains("panicked"), "{words}");
}
