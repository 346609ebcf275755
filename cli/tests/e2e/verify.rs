//! `closeread verify`: a run computed again from its stored responses.

use crate::provider::Server;
use crate::support::{Sandbox, rewrite_lines, run_tales, tales};
use serde_json::{Value, json};

fn run(sandbox: &Sandbox) {
    tales(sandbox);
    run_tales(sandbox, "r", &["--method", "closed-book,full-document,dos-rag", "--budget", "30,60"]);
}

#[test]
fn a_run_that_nobody_touched_is_verified() {
    let sandbox = Sandbox::new();
    run(&sandbox);
    let told = sandbox.run(&["verify", "r", "--json"]).exits(0).json();
    assert_eq!((&told["trials"], &told["differences"]), (&json!(18 * 4), &json!([])));
    let text = sandbox.run(&["verify", "r"]).exits(0).out();
    assert_eq!(text, "r: 72 trials parsed and scored again: 0 differences\n");
}

#[test]
fn a_preparation_whose_response_was_blocked_is_paid_for_and_not_made_again() {
    let sandbox = Sandbox::with_own_cache();
    let server = Server::replying(|n, _| {
        let (text, finish) = if n == 0 { ("<0>", "stop") } else { ("", "content_filter") };
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 3});
        let choices = json!([{"message": {"content": text}, "finish_reason": finish}]);
        ("200 OK", json!({"choices": choices, "usage": usage}).to_string())
    });
    let model = ["--model", "openai-compatible/m", "--base-url", &server.url, "--concurrency", "1"];
    let run = ["run", "--method", "read-agent", "--limit", "1", "--out", "r", "--json"];
    let report = sandbox.run(&[&run[..], &model].concat()).exits(0).json();
    let (asked, taken) = (server.requests.lock().unwrap().len(), report["usage"].as_array().unwrap().iter());
    let taken = taken.map(|usage| (usage["calls"].as_u64().unwrap(), usage["completion_tokens"].as_u64().unwrap()));
    let asked = asked as u64;
    assert_eq!(taken.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)), (asked, 3 * asked), "{report}");
    assert!(asked > 1 && report["cells"][0]["ledger"]["blocked"] == 1, "{report}");
    sandbox.run(&["verify", "r"]).exits(0);
}

#[test]
fn dense_retrieval_is_computed_again_too() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    sandbox
        .run(&[
            "run",
            "--benchmark",
            "tales",
            "--method",
            "vanilla-rag",
            "--budget",
            "30",
            "--passage-tokens",
            "12",
            "--out",
            "r",
        ])
        .exits(0);
    sandbox.run(&["verify", "r"]).exits(0);
    rewrite_lines(&sandbox, "r/records.jsonl", |record| {
        if record["item"] == "t0-1" {
            record["context"]["passages"].as_array_mut().unwrap().pop();
        }
    });
    let told = sandbox.run(&["verify", "r", "--json"]).exits(1).json();
    assert_eq!(
        (&told["differences"][0]["item"], &told["differences"][0]["what"]),
        (&json!("t0-1"), &json!("passages"))
    );
}

#[test]
fn a_changed_score_and_a_changed_response_are_named() {
    let sandbox = Sandbox::new();
    run(&sandbox);
    rewrite_lines(&sandbox, "r/records.jsonl", |record| {
        if record["item"] == "t1-1" && record["method"] == "dos-rag" && record["budget"] == 60 {
            let accuracy = record["scores"]["accuracy"].as_f64().unwrap();
            record["scores"]["accuracy"] = json!(1.0 - accuracy);
        }
        if record["item"] == "t2-1" && record["method"] == "full-document" {
            record["calls"][0]["response"] = json!("I cannot say.");
        }
    });
    let ended = sandbox.run(&["verify", "r"]).exits(1);
    for words in ["item t1-1, dos-rag at 60 with builtin/extractive, repetition 0: accuracy stored", "recomputed"] {
        assert!(ended.out().contains(words), "{words}: {}", ended.out());
    }
    assert!(ended.out().contains("item t2-1, full-document with builtin/extractive, repetition 0: outcome stored"));
    let told = sandbox.run(&["verify", "r", "--json"]).exits(1).json();
    let changed = &told["differences"].as_array().unwrap().iter().find(|d| d["item"] == "t1-1").unwrap().clone();
    assert_eq!(changed["stored"].as_f64().unwrap() + changed["recomputed"].as_f64().unwrap(), 1.0, "{changed}");
}

#[test]
fn what_cannot_be_verified_says_why() {
    let sandbox = Sandbox::new();
    run(&sandbox);
    sandbox.run(&["verify", "nowhere"]).refuses(&["nowhere", "expected a run folder"]);
    let prompt =
        "+++\npaper = 'ours'\nvariables = ['title', 'question', 'options']\nresponse = '[[1]]'\n+++\n{{ question }}";
    sandbox.write("prompts/closed-book-choice.md", prompt);
    sandbox.run(&["verify", "r", "--prompts", "prompts"]).refuses(&[
        "other prompts",
        "closed-book-choice",
        "--prompts",
    ]);
}

#[test]
fn pages_and_dresses_are_replayed_and_a_method_without_its_pages_is_named() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let methods = "read-agent,memory-agent,naive-rag,agentic-rag,corpus-rag,full-document";
    run_tales(&sandbox, "r", &["--method", methods, "--budget", "60", "--param", "full-document.style=novelqa"]);
    let told = sandbox.run(&["verify", "r", "--json"]).exits(0).json();
    assert_eq!((&told["not_replayed"], &told["differences"]), (&json!({}), &json!([])), "{told}");
    assert_eq!(told["trials"].as_u64().unwrap() + told["scored_only"].as_u64().unwrap(), 18 * 6);

    let preparations = sandbox.path("r/preparations");
    let file = std::fs::read_dir(&preparations).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read_to_string(&file).unwrap();
    let mut changed: Value = serde_json::from_str(&kept).unwrap();
    for call in changed["calls"].as_array_mut().unwrap() {
        call["response"] = json!("Another gist.");
    }
    std::fs::write(&file, changed.to_string()).unwrap();
    let ended = sandbox.run(&["verify", "r"]).exits(1);
    assert!(ended.out().contains("read-agent") && ended.out().contains(": preparation stored"), "{}", ended.out());

    std::fs::remove_dir_all(preparations).unwrap();
    let ended = sandbox.run(&["verify", "r"]).exits(1);
    assert!(ended.out().contains("read-agent: 18 trials were not verified"), "{}", ended.out());
}
