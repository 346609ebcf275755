//! Folders, submissions and servers of others: what they name, link to and send on to leads nowhere else, and their numbers
//! are not counted up to. A case a finding, by the numbers of issue 19.

use crate::fault_server::{FaultServer, cases, response, run_cases};
use crate::http::{HttpServer, ok};
use crate::support::{Ended, Sandbox, rewrite_lines};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Mutex;

/// A run of the cases without a server.
const RUN: [&str; 9] =
    ["run", "--benchmark", "cases", "--method", "vanilla-rag", "--retriever", "bm25", "--budget", "50"];

/// A finished run of two questions, in the folder `r`.
fn a_run() -> Sandbox {
    let sandbox = Sandbox::new();
    cases(&sandbox, &["a".to_owned(), "b".to_owned()]);
    rewrite_lines(&sandbox, "cases/items.jsonl", |item| {
        item["evidence"] = json!([{"quote": "Ana came to the mill at dusk."}]);
    });
    sandbox.run(&[&RUN[..], &["--out", "r"]].concat()).exits(0);
    sandbox
}

/// Answers each request with the next of `answers`, whole, and gives what it heard.
fn receiver(answers: Vec<String>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let one = |answer: String| {
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            let head: Vec<String> =
                stream.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
            let length =
                head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            stream.read_exact(&mut vec![0; length.unwrap_or(0)]).unwrap();
            // Whoever has read enough goes.
            let _ = stream.get_mut().write_all(answer.as_bytes());
            head.join("\n")
        };
        answers.into_iter().map(one).collect()
    });
    (url, heard)
}

#[test]
fn finding_15_a_key_for_a_receiver_goes_to_no_other_address_and_is_not_repeated() {
    let sandbox = a_run();
    let send = |url: &str| {
        let mut command = sandbox.command(&["export", "otlp", "r", "--endpoint", url]);
        command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=Bearer PLANTED-0123456789");
        Ended(command.output().unwrap()).exits(2)
    };
    let (elsewhere, stolen) =
        receiver(vec!["HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned()]);
    let sent_on =
        format!("HTTP/1.1 307 Moved\r\nlocation: {elsewhere}/steal\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    let said = "you sent PLANTED-0123456789";
    let refused = format!("HTTP/1.1 400 Bad\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{said}", said.len());
    let (url, heard) = receiver(vec![sent_on, refused]);
    let ended = send(&url);
    assert!(ended.err().contains("give that by --endpoint"), "{}", ended.err());
    let ended = send(&url);
    assert!(ended.err().contains("you sent ***") && !ended.err().contains("PLANTED"), "{}", ended.err());
    assert!(heard.join().unwrap()[0].contains("PLANTED"), "the receiver itself has the key");
    std::net::TcpStream::connect(elsewhere.strip_prefix("http://").unwrap()).unwrap().write_all(b"\r\n").unwrap();
    assert_eq!(stolen.join().unwrap(), [""], "nobody else was asked");
}

#[test]
fn finding_15_a_key_that_a_batch_repeats_is_written_nowhere() {
    const KEY: &str = "sk-PLANTED0123456789abcdef";
    for (status, code) in [("failed", 1), ("completed", 0)] {
        let sandbox = Sandbox::with_own_cache();
        cases(&sandbox, &["a".to_owned()]);
        let file = Mutex::new(String::new());
        let server = HttpServer::start(move |asked| match (asked.method.as_str(), asked.path.as_str()) {
            ("POST", "/v1/files") => {
                file.lock().unwrap().clone_from(&asked.body);
                ok(&json!({"id": "file-1"}))
            }
            ("GET", path) if path.starts_with("/v1/batches?") => ok(&json!({"data": [], "has_more": false})),
            ("GET", "/v1/files/out-1/content") => {
                let file = file.lock().unwrap();
                let id = file.split("custom_id\":\"").nth(1).unwrap().split('"').next().unwrap();
                let message = json!({"role": "assistant", "content": format!("{KEY} [[1]]")});
                let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
                ok(&json!({"custom_id": id, "response": {"status_code": 200, "body": body}}))
            }
            _ => ok(&json!({"id": "batch_1", "status": status, "errors": {"data": [{"message": format!("no {KEY}")}]},
                "output_file_id": "out-1", "request_counts": {}})),
        });
        let url = format!("{}/v1", server.url);
        let arguments = run_cases("openai/tiny", &url, &["--batch", "--batch-poll", "0.1"]);
        let mut run = sandbox.command(&arguments);
        let ended = Ended(run.env("OPENAI_API_KEY", KEY).output().unwrap()).exits(code);
        let records = fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
        assert!(records.contains("***"), "{records}");
        for said in [records, ended.out(), ended.err()] {
            assert!(!said.contains("PLANTED"), "{said}");
        }
        for file in fs::read_dir(sandbox.path("r/batches")).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("PLANTED"));
        }
    }
}

#[test]
fn finding_07_what_is_named_twice_is_paid_once() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["a".to_owned()]);
    open_questions(&sandbox);
    let answer = |text: &str| json!({"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]});
    let reader = FaultServer::start(move |_, _, _| response("200 OK", "", &answer("Ana").to_string()));
    let judge = FaultServer::start(move |_, _, _| response("200 OK", "", &answer("\\boxed{CORRECT}").to_string()));
    let twice = "openai-compatible/tiny,openai-compatible/tiny";
    let no_judge = ["--judge-model", "none", "--no-cache"];
    sandbox.run(&run_cases(twice, &reader.url, &no_judge)).exits(0);
    let args = ["judge", "r", "--judge", "judge-sagascale", "--judge-model", twice, "--base-url", &judge.url];
    sandbox.run(&[&args[..], &["--no-cache"]].concat()).exits(0);
    assert_eq!((reader.n_requests(), judge.n_requests()), (1, 1));

    rewrite_lines(&sandbox, "cases/items.jsonl", |item| item["evidence"] = json!([{"quote": "Ana came to the mill"}]));
    let retrieve = ["retrieve", "--benchmark", "cases", "--retriever", "bm25,bm25", "--budget", "50,50", "--out", "x"];
    sandbox.run(&retrieve).exits(0);
}

#[test]
fn finding_10_logs_and_submissions_behind_links_in_circles_end() {
    let sandbox = Sandbox::new();
    cases(&sandbox, &["a".to_owned()]);
    fs::create_dir_all(sandbox.path("logs/in")).unwrap();
    for name in ["logs/a", "logs/b", "logs/in/c"] {
        symlink(sandbox.path("logs"), sandbox.path(name)).unwrap();
    }
    for args in [vec!["report", "logs"], vec!["compare", "logs"], vec!["gate", "logs", "--min", "accuracy=0.5"]] {
        sandbox.run(&args).refuses(&["logs is neither a run folder"]);
    }
    sandbox.run(&["leaderboard", "site", "--runs", "logs/**", "--gold", "cases"]).refuses(&["`**` is not read"]);
}

#[test]
fn finding_10_numbers_of_a_part_are_not_counted_up_to() {
    let sandbox = a_run();
    let manifest: Value = serde_json::from_slice(&fs::read(sandbox.path("r/manifest.json")).unwrap()).unwrap();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut changed = manifest.clone();
        change(&mut changed);
        sandbox.write("r/manifest.json", changed.to_string());
    };
    with(&|manifest| manifest["shard"] = json!({"index": 1, "of": 1_u64 << 60}));
    sandbox.run(&["merge", "r", "--out", "all"]).refuses(&["`shard` is 1 of 1152921504606846976"]);
    with(&|manifest| manifest["configuration"]["repeats"] = json!(u32::MAX));
    for args in [vec!["report", "r"], vec!["verify", "r"], vec!["export", "trec", "r", "--out", "x"]] {
        sandbox.run(&args).refuses(&["`repeats` is 4294967295: expected 1 to 10000"]);
    }
    with(&|manifest| manifest["shard"] = json!({"index": 1, "of": 1_000}));
    let merged = sandbox.run(&["merge", "r", "--out", "all"]).exits(1);
    assert!(merged.err().contains("2/1000, ") && merged.err().contains("/1000 and 989 more"), "{}", merged.err());
}

#[test]
fn finding_10_evidence_that_ends_before_it_begins_is_no_evidence() {
    let sandbox = a_run();
    rewrite_lines(&sandbox, "r/items.jsonl", |item| item["evidence"][0]["start"] = json!(i64::MAX));
    sandbox.run(&["export", "trec", "r", "--out", "x"]).refuses(&["no item has gold evidence whose place is known"]);
}

#[test]
fn finding_02_merge_writes_over_no_part_and_keeps_verdicts_on_what_it_joined() {
    let sandbox = open_cases(&["a", "b"]);
    for part in ["1", "2"] {
        sandbox.run(&[&RUN[..], &["--shard", &format!("{part}/2"), "--out", part]].concat()).exits(0);
    }
    let judge = |folder: &str| {
        sandbox.run(&["judge", folder, "--judge", "rule", "--judge-model", "builtin/rule"]);
        lines(&sandbox.path(folder).join("judgements.jsonl"))
    };
    let said = judge("1");
    assert_eq!(said.len(), 1);
    symlink(sandbox.path("1"), sandbox.path("alias")).unwrap();
    for out in ["1", "alias", "1/texts"] {
        sandbox.run(&["merge", "1", "2", "--out", out, "--fresh"]).refuses(&["which is read: name another"]);
    }
    assert_eq!(judge("1"), said);

    sandbox.run(&["merge", "2", "--out", "all"]).exits(1);
    let of_second = judge("all");
    assert_eq!(of_second.len(), 1);
    sandbox.run(&["merge", "1", "2", "--out", "all", "--fresh"]).exits(0);
    let kept = lines(&sandbox.path("all/judgements.jsonl"));
    assert_eq!((&kept[..1], kept.len()), (&of_second[..], 2), "what was said of the joined run stays");
    assert_eq!(lines(&sandbox.path("all/records.jsonl")).len(), 2);

    // As a kill leaves a merge: whoever went on there would pay again for what the parts hold.
    let manifest = fs::read_to_string(sandbox.path("all/manifest.json")).unwrap();
    assert!(!manifest.contains("\"joining\""));
    sandbox.write("all/manifest.json", manifest.replacen('{', "{\"joining\": true,", 1));
    sandbox.write("all/records.jsonl", "");
    sandbox.run(&[&RUN[..], &["--out", "all"]].concat()).refuses(&["closeread merge", "give that command again"]);
    sandbox.run(&["merge", "1", "2", "--out", "all"]).exits(0);
    assert_eq!(lines(&sandbox.path("all/records.jsonl")).len(), 2);

    // Another run in that folder is another run.
    sandbox.run(&[&RUN[..4], &["closed-book", "--out", "other"]].concat()).exits(0);
    sandbox.run(&["merge", "other", "--out", "all", "--fresh"]).exits(0);
    assert!(!sandbox.path("all/judgements.jsonl").exists());
}

#[test]
fn a_verdict_on_an_answer_that_does_not_count_in_the_joined_run_stays_behind() {
    let sandbox = open_cases(&["a", "b"]);
    for twin in ["1", "2"] {
        sandbox.run(&[&RUN[..], &["--out", twin]].concat()).exits(0);
    }
    rewrite_lines(&sandbox, "2/records.jsonl", |record| {
        if record["item"] == "a" {
            record["answer"] = json!("what another machine was answered");
        }
    });
    sandbox.run(&["judge", "2", "--judge", "rule", "--judge-model", "builtin/rule"]);
    assert_eq!(lines(&sandbox.path("2/judgements.jsonl")).len(), 2);
    sandbox.run(&["merge", "1", "2", "--out", "whole"]).exits(1);
    let said = fs::read_to_string(sandbox.path("whole/judgements.jsonl")).unwrap();
    assert!(said.lines().count() == 1 && said.contains("\"item\":\"b\""), "{said}");
}

#[test]
fn finding_03_merge_copies_nothing_that_a_link_leads_to() {
    let sandbox = a_run();
    sandbox.write("secret", "mine");
    symlink(sandbox.path("secret"), sandbox.path("r/texts/00.txt.zst")).unwrap();
    sandbox.run(&["merge", "r", "--out", "all"]).refuses(&["r/texts/00.txt.zst is a link", "merge again"]);
    assert!(!sandbox.path("all").exists());
}

#[test]
fn finding_03_what_a_link_in_a_submission_leads_to_is_not_published() {
    let sandbox = Sandbox::new();
    cases(&sandbox, &["a".to_owned()]);
    sandbox.write("secrets", "token = PLANTED\n");
    sandbox.write("runs/one/predictions.jsonl", "{\"item\": \"a\", \"choice\": 0}\n");
    symlink(sandbox.path("secrets"), sandbox.path("runs/one/submission.toml")).unwrap();
    fs::create_dir(sandbox.path("runs/two")).unwrap();
    symlink(sandbox.path("secrets"), sandbox.path("runs/two/predictions.jsonl")).unwrap();
    sandbox.write("runs/three/submission.toml", "about = \"PLANTED\nmodel = 1\n");
    let ended = sandbox.run(&["leaderboard", "site", "--runs", "runs/*", "--gold", "cases"]).exits(1);
    assert_eq!(ended.err().matches("is a link that leads out of the submission").count(), 2, "{}", ended.err());
    assert!(ended.err().contains("submission.toml: line 1: "), "{}", ended.err());
    let published = fs::read_to_string(sandbox.path("site/index.html")).unwrap();
    assert!(published.contains("leads out of the submission"), "{published}");
    assert!(!published.contains("PLANTED") && !ended.err().contains("PLANTED"), "{}", ended.err());
}

#[test]
fn finding_01_an_export_leaves_what_lies_behind_a_link() {
    let sandbox = a_run();
    sandbox.write("mine/thesis.txt", "mine");
    sandbox.write("x/export-files.json", "[\"there/thesis.txt\"]");
    symlink(sandbox.path("mine"), sandbox.path("x/there")).unwrap();
    sandbox.run(&["export", "trec", "r", "--out", "x"]).exits(0);
    sandbox.write("y/export-files.json", "[]");
    symlink(sandbox.path("mine"), sandbox.path("y/data")).unwrap();
    symlink(sandbox.path("mine"), sandbox.path("y/builtin-extractive")).unwrap();
    let hub = ["export", "hf", "r", "--dataset", "a/b", "--out", "y"];
    sandbox.run(&hub).refuses(&["y/builtin-extractive is a link", "remove it"]);
    let there: Vec<_> = fs::read_dir(sandbox.path("mine")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, ["thesis.txt"]);
}

#[test]
fn finding_01_two_exports_never_write_one_folder() {
    let sandbox = a_run();
    let export = ["export", "parquet", "r", "--out", "tables"];
    sandbox.run(&export).exits(0);
    let before = fs::read(sandbox.path("tables/export-files.json")).unwrap();
    let other = fs::File::create(sandbox.path("tables/.lock")).unwrap();
    other.lock().unwrap();
    sandbox.run(&export).refuses(&["another closeread writes an export into tables", "--out"]);
    assert_eq!(fs::read(sandbox.path("tables/export-files.json")).unwrap(), before);
    assert!(sandbox.path("tables/items.parquet").exists(), "nothing of the other's is removed");
    drop(other);
    sandbox.run(&export).exits(0);
    assert!(!sandbox.path("tables/.lock").exists());
}

#[test]
fn finding_01_a_study_that_was_killed_while_it_was_written_is_begun_anew() {
    let sandbox = a_run();
    let study = ["people", "answer", "--benchmark", "cases", "--out", "study"];
    sandbox.write("study/texts/0123456789ab.txt", "cut");
    sandbox.write("study/texts/.x1y2z3.partial", "c");
    sandbox.run(&study).exits(0);
    sandbox.write("mine/texts/chapter.txt", "mine");
    let refused = sandbox.run(&["people", "answer", "--benchmark", "cases", "--out", "mine"]);
    refused.refuses(&["mine holds `texts`, and no study"]);
}

fn answers(study: &Value, rater: &str, text: &str) -> String {
    let units = study["units"].as_array().unwrap().iter();
    let answered = json!({"state": "answered", "text": text, "seconds": 3});
    let answers: serde_json::Map<String, Value> =
        units.map(|unit| (unit["id"].as_str().unwrap().to_owned(), answered.clone())).collect();
    json!({"study": study["id"], "rater": rater, "answers": answers}).to_string()
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Open questions of these ids.
fn open_cases(ids: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    cases(&sandbox, &ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
    open_questions(&sandbox);
    sandbox
}

/// Makes the cases open questions.
fn open_questions(sandbox: &Sandbox) {
    rewrite_lines(sandbox, "cases/items.jsonl", |item| {
        (item["task"], item["answers"]) = (json!("generative"), json!(["Ana"]));
        item.as_object_mut().unwrap().retain(|name, _| name != "options" && name != "correct");
    });
}

#[test]
fn finding_09_very_many_entries_of_people_are_counted_and_few_of_them_named() {
    let sandbox = open_cases(&["a"]);
    sandbox.run(&[&RUN[..], &["--out", "r"]].concat()).exits(0);
    sandbox.run(&["people", "rate", "r", "--out", "rating"]).exits(0);
    let study: Value = serde_json::from_slice(&fs::read(sandbox.path("rating/study.json")).unwrap()).unwrap();
    let label = json!({"state": "answered", "label": "correct"});
    let units = ["u0001".to_owned()].into_iter().chain((0..2_000).map(|n| format!("x{n}")));
    let answers: serde_json::Map<String, Value> = units.map(|unit| (unit, label.clone())).collect();
    sandbox.write("ann.json", json!({"study": study["id"], "rater": "ann", "answers": answers}).to_string());
    let ended = sandbox.run(&["people", "read", "rating", "ann.json"]).exits(1);
    assert!(ended.err().contains("and 1000 more entries that cannot be used"), "{}", ended.err());
    assert_eq!(ended.err().matches("there is no unit `x").count(), 1_000);
}

#[test]
fn finding_01_verdicts_on_what_people_answered_outlast_the_next_reading() {
    let sandbox = open_cases(&["a", "b"]);
    sandbox.run(&["people", "answer", "--benchmark", "cases", "--out", "study"]).exits(0);
    let study: Value = serde_json::from_slice(&fs::read(sandbox.path("study/study.json")).unwrap()).unwrap();
    sandbox.write("ann.json", answers(&study, "ann", "Ana"));
    sandbox.write("bo.json", answers(&study, "bo", "Bo"));
    let read = |files: &[&str]| sandbox.run(&[&["people", "read", "study"], files].concat()).exits(0);
    let judge = || {
        sandbox.run(&["judge", "study/run", "--judge", "rule", "--judge-model", "builtin/rule"]).exits(0);
        lines(&sandbox.path("study/run/judgements.jsonl"))
    };
    read(&["ann.json"]);
    let said = judge();
    assert_eq!(said.len(), 2);
    read(&["ann.json", "bo.json"]);
    assert_eq!(lines(&sandbox.path("study/run/judgements.jsonl")), said, "nothing of Ann's has changed");
    let both = judge();
    assert_eq!((&both[..2], both.len()), (&said[..], 4));

    // What is said of an answer that is another now is put away, not lost.
    sandbox.write("ann.json", answers(&study, "ann", "Cleo"));
    read(&["ann.json", "bo.json"]);
    assert_eq!(lines(&sandbox.path("study/run/judgements.jsonl")), both[2..]);
    assert_eq!(lines(&sandbox.path("study/run/superseded.jsonl")), said);
    assert_eq!(judge().len(), 4);
}
