//! Judging: with a run, afterwards, after a kill, by a panel, against people.

use crate::provider::{Server, answer};
use crate::support::{Sandbox, run_tales, tales};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

/// Returns what the message of a request says.
fn prompt(request: &Value) -> &str {
    request["messages"][0]["content"].as_str().unwrap()
}

/// A judge that finds every second tale's answer correct, by the reader's place.
fn judge_server() -> Server {
    Server::replying(|_, request| {
        let said = prompt(request);
        let verdict = match said {
            _ if said.contains("Ana") || said.contains("Cleo") => "\\boxed{CORRECT}",
            _ if said.contains("Edda") => "I cannot say.",
            _ => "\\boxed{INCORRECT}",
        };
        ("200 OK", answer(verdict))
    })
}

/// Judges run `r` by that server, one call after the other.
fn one_by_one<'a>(server: &'a Server, option: &'a str) -> [&'a str; 9] {
    ["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url, "--concurrency", "1", option]
}

/// The judgements of a run, one a line.
pub(crate) fn judgements(sandbox: &Sandbox, run: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(run).join("judgements.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn by_judge<'j>(lines: &'j [Value], judge: &str) -> Vec<&'j Value> {
    lines.iter().filter(|line| line["judge"] == judge).collect()
}

#[test]
fn the_sample_is_judged_end_to_end_without_a_key() {
    let sandbox = Sandbox::new();
    let run = ["run", "--method", "closed-book,full-document", "--retriever", "bm25", "--out", "r"];
    let printed = sandbox.run(&[&run[..], &["--judge-model", "builtin/rule"]].concat()).exits(0).out();
    for words in
        ["judged accuracy", "recall", "faithfulness", "accuracy strict", "accuracy tolerant", "judged by builtin/rule"]
    {
        assert!(printed.contains(words), "{words} is not in:\n{printed}");
    }
    let lines = judgements(&sandbox, "r");
    let asked: BTreeSet<&str> = lines.iter().map(|line| line["judge"].as_str().unwrap()).collect();
    assert_eq!(asked, ["align-key-facts", "judge-novelqa", "rule", "verify-facts"].into());
    let items: Vec<&Value> = by_judge(&lines, "verify-facts").into_iter().map(|line| &line["item"]).collect();
    assert!(items.iter().any(|id| id.as_str().unwrap().starts_with("en-kf")));
    assert!(items.iter().any(|id| id.as_str().unwrap().starts_with("zh-kf")));
    let report = sandbox.run(&["report", "r"]).exits(0).out();
    for words in [
        "Who judged what",
        "Recall of key facts by fifth of the book",
        "Faithfulness of summary sentences",
        "Recall by model, fifth of the book and level",
        "Faithfulness errors by type",
        "analytical",
        "narrative",
    ] {
        assert!(report.contains(words), "{words} is not in:\n{report}");
    }
    let table = printed.lines().filter(|line| !line.starts_with("judged by"));
    let differs: Vec<&str> = table.filter(|line| !report.contains(line)).collect();
    assert!(differs.is_empty(), "the run printed what its report does not say:\n{}\n{report}", differs.join("\n"));
    let again = std::fs::read(sandbox.path("r/judgements.jsonl")).unwrap();
    sandbox.run(&[&run[..], &["--judge-model", "builtin/rule"]].concat()).exits(0);
    assert_eq!(std::fs::read(sandbox.path("r/judgements.jsonl")).unwrap(), again, "nothing is judged twice");
}

#[test]
fn a_run_is_judged_while_it_is_made_or_afterwards_with_the_same_result() {
    let server = judge_server();
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let judge = ["--judge-model", "openai-compatible/judge", "--judge-base-url", &server.url];
    run_tales(&sandbox, "at-once", &[&["--method", "closed-book,dos-rag", "--budget", "30"][..], &judge].concat());
    let asked = server.requests.lock().unwrap().len();
    assert_eq!(asked, 6, "six answers: a closed book finds none, and a choice needs no judge");

    run_tales(&sandbox, "later", &["--method", "closed-book,dos-rag", "--budget", "30"]);
    let readers = std::fs::read(sandbox.path("later/records.jsonl")).unwrap();
    let with = ["judge", "later", "--judge-model", "openai-compatible/judge", "--base-url", &server.url];
    let judged = sandbox.run(&[&with[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(server.requests.lock().unwrap().len(), asked, "the same questions are remembered");
    assert_eq!(std::fs::read(sandbox.path("later/records.jsonl")).unwrap(), readers, "no reader is asked");
    assert_eq!(judged["cells"][1]["metrics"]["judged_accuracy"]["n"], 5, "Edda's response could not be read: {judged}");
    assert_eq!(judged["cells"][1]["metrics"]["judged_accuracy"]["value"], 0.4);
    assert_eq!(judged["cells"][0]["metrics"]["judged_accuracy"]["value"], 0.0, "what was not answered is wrong");

    let plain = |run| {
        let mut lines = judgements(&sandbox, run);
        for line in &mut lines {
            line.as_object_mut().unwrap().remove("calls");
        }
        lines.sort_by_key(Value::to_string);
        lines
    };
    assert_eq!(plain("at-once"), plain("later"));
    let line = judgements(&sandbox, "at-once").into_iter().find(|line| line["judge"] == "judge-sagascale").unwrap();
    assert_eq!(line["calls"][0]["prompt"], "judge-sagascale");
    assert_eq!(line["calls"][0]["usage"], json!({"prompt_tokens": 11, "completion_tokens": 7}));
    assert_eq!(line["calls"][0]["sha256"].as_str().unwrap().len(), 64);
    let panels: Value = serde_json::from_slice(&std::fs::read(sandbox.path("later/judging.json")).unwrap()).unwrap();
    assert_eq!(panels["panels"][0]["models"], json!(["openai-compatible/judge"]));
    assert_eq!(panels["panels"][0]["prompts"]["judge-sagascale"].as_str().unwrap().len(), 64);
    let report = sandbox.run(&["report", "later"]).exits(0).out();
    assert!(report.contains("judged accuracy") && report.contains("openai-compatible/judge"), "{report}");
}

#[test]
fn a_panel_votes_and_its_agreement_is_reported() {
    let server = Server::replying(|n, _| ("200 OK", answer(["\\boxed{CORRECT}", "\\boxed{INCORRECT}"][n % 2])));
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "30"]);
    let panel = |rule: &str, votes: &str| {
        let with =
            ["judge", "r", "--judge-model", "openai-compatible/a,openai-compatible/b", "--base-url", &server.url];
        let how = ["--votes", votes, "--panel", rule, "--temperature", "0.7", "--concurrency", "1", "--json"];
        sandbox.run(&[&with[..], &how].concat()).exits(0).json()
    };
    let majority = panel("majority", "2");
    assert_eq!(server.requests.lock().unwrap().len(), 24, "six answers, two models, two votes");
    let temperature = server.requests.lock().unwrap()[0]["temperature"].as_f64().unwrap();
    assert!((temperature - 0.7).abs() < 1e-6, "{temperature}");
    assert_eq!(majority["cells"][0]["metrics"]["judged_accuracy"]["value"], 0.0, "a tie is no majority");
    let agreement = majority["tables"].as_array().unwrap().iter().find(|table| table["id"] == "judging-agreement");
    assert_eq!(agreement.unwrap()["rows"][0][2]["count"], 6, "{majority}");
    let unanimous = panel("unanimity", "2");
    assert_eq!(server.requests.lock().unwrap().len(), 24, "another rule for the same votes asks nobody");
    assert_eq!(unanimous["panels"].as_array().unwrap().len(), 2);
    let tables: Vec<&str> = unanimous["tables"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap()).collect();
    assert_eq!(tables, ["judging", "judged-accuracy", "judging-agreement"]);
    panel("majority", "3");
    assert_eq!(server.requests.lock().unwrap().len(), 36, "one more vote of each");
    let seeded = ["judge", "r", "--judge-model", "openai-compatible/a", "--base-url", &server.url, "--seed", "1"];
    let how = ["--votes", "2", "--temperature", "0.7"];
    let told = sandbox.run(&[&seeded[..], &how].concat()).exits(0).err();
    assert!(told.contains("2 votes with one seed are mostly one vote repeated"), "{told}");
}

#[test]
fn a_killed_judge_goes_on_where_it_stopped() {
    let server = Server::replying(|_, _| {
        std::thread::sleep(Duration::from_millis(30));
        ("200 OK", answer("\\boxed{CORRECT}"))
    });
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "15,30"]);
    let with = one_by_one(&server, "--no-cache");
    let path = sandbox.path("r/judgements.jsonl");
    let n_lines = || std::fs::read_to_string(&path).map_or(0, |text| text.matches("judge-sagascale").count());
    let mut child = sandbox.command(&with).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while n_lines() < 3 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What a kill in the middle of a line leaves.
    let mut text = std::fs::read_to_string(&path).unwrap();
    let whole = text.lines().count();
    text.push_str("{\"item\":\"t0-3\",\"tri");
    std::fs::write(&path, text).unwrap();

    let judged = sandbox.run(&[&with[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(judged["cells"][0]["metrics"]["judged_accuracy"]["n"], 6);
    let lines = judgements(&sandbox, "r");
    assert!(lines.len() > whole);
    let key = |line: &Value| json!([line["item"], line["trial"], line["judge"]]).to_string();
    let keys: BTreeSet<String> = lines.iter().map(key).collect();
    assert_eq!(keys.len(), lines.len(), "nothing is asked twice");
    assert!(server.requests.lock().unwrap().len() <= 12 + 1, "at most the call under way is asked again");
}

#[test]
fn a_call_that_failed_is_asked_again() {
    let refused = r#"{"error":{"message":"no such model"}}"#;
    let server = Server::replying(move |n, _| match n {
        0 => ("404 Not Found", refused.to_owned()),
        _ => ("200 OK", answer("\\boxed{CORRECT}")),
    });
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "30"]);
    let with = one_by_one(&server, "--json");
    let first = sandbox.run(&with).exits(1);
    assert!(first.err().contains("1 call to judges failed"), "{}", first.err());
    assert_eq!(first.json()["cells"][0]["metrics"]["judged_accuracy"]["n"], 5, "a silent judge makes nothing wrong");
    let second = sandbox.run(&with).exits(0).json();
    assert_eq!(second["cells"][0]["metrics"]["judged_accuracy"]["n"], 6);
    assert_eq!(server.requests.lock().unwrap().len(), 7);
}

#[test]
fn a_judge_is_measured_against_people() {
    let server = judge_server();
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "dos-rag,closed-book", "--budget", "15,30"]);
    sandbox.run(&["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url]).exits(0);
    let labels = "item,method,budget,label\n\
                  t0-3,dos-rag,30,correct\nt1-3,dos-rag,30,C\nt2-3,dos-rag,30,yes\nt3-3,dos-rag,30,0\n\
                  t9-3,dos-rag,30,correct\nt5-3,dos-rag,30,perhaps\nt0-3,dos-rag,30,N\nt1-3,,,N\nt4-3,dos-rag,30,N\n";
    let file = sandbox.write("labels.csv", labels);
    let file = file.to_str().unwrap();
    let ended = sandbox.run(&["agreement", "r", file, "--json"]).exits(1);
    let found = ended.json();
    let judge = &found["judges"][0];
    assert_eq!((&judge["judge"], &judge["question"]), (&json!("openai-compatible/j"), &json!("judge-sagascale")));
    assert_eq!((&judge["n"], &judge["observed"]), (&json!(4), &json!(0.75)), "{found}");
    assert_eq!(judge["kappa"]["kappa"], 0.5);
    assert!(judge["kappa"]["interval"][0].is_f64() && judge["ac1"]["interval"][0].is_f64());
    assert_eq!(judge["confusion"], json!({"labels": ["correct", "incorrect"], "counts": [[2, 1], [0, 1]]}));
    let problems: Vec<String> =
        found["problems"].as_array().unwrap().iter().map(|p| format!("{}", p["line"])).collect();
    assert_eq!(problems, ["6", "7", "8", "9"], "{found}");
    let text = sandbox.run(&["agreement", "r", file]).exits(1);
    for words in ["labels.csv:6 (t9-3)", "labels.csv:7 (t5-3)", "`perhaps`", "second label", "several"] {
        let said = text.err().replace("2 trials", "several");
        assert!(said.contains(words), "{words} is not in: {said}");
    }
    assert!(text.out().contains("judge: incorrect"), "{}", text.out());
    sandbox.write("labels.csv", "item,method,budget,label\nt77-3,dos-rag,30,correct\n");
    let none = sandbox.run(&["agreement", "r", file]).exits(2);
    assert_eq!(none.out(), "", "no table without a label");
    assert!(none.err().contains("labels.csv:2 (t77-3)") && none.err().contains("no label of"), "{}", none.err());
    sandbox.write("labels.csv", "item,method,budget,label\n");
    sandbox.run(&["agreement", "r", file]).refuses(&["labels.csv has no label: expected columns `item` and `label`"]);
    sandbox.write("labels.csv", b"item;method;budget;label\r\nt0-3;dos-rag;30;\xD5\xFD\xC8\xB7\r\n");
    let chinese = sandbox.run(&["agreement", "r", file, "--json"]).exits(0);
    assert_eq!(chinese.json()["judges"][0]["n"], 1, "{}", chinese.err());
    sandbox.write("labels.csv", b"PK\x03\x04xl/workbook.xml\xFF");
    sandbox.run(&["agreement", "r", file]).refuses(&["is an Excel workbook, not plain text: save it as CSV UTF-8"]);
}

/// A judge that prefers long answers, and takes whatever stands second for right.
#[test]
fn a_judge_is_probed_for_position_and_verbosity() {
    let biased = |said: &str| {
        if said.contains("I have thought about the question") { r"\boxed{CORRECT}" } else { r"\boxed{INCORRECT}" }
    };
    let server = Server::replying(move |_, request| ("200 OK", answer(biased(&request["messages"].to_string()))));
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "30"]);
    let probe = [
        "judge",
        "r",
        "--judge-model",
        "openai-compatible/j",
        "--base-url",
        &server.url,
        "--probe",
        "position,verbosity",
    ];
    let found = sandbox.run(&[&probe[..], &["--json"]].concat()).exits(0).json();
    let table = found["tables"].as_array().unwrap().iter().find(|table| table["id"] == "probes").unwrap().clone();
    let counts = |row: usize| [2, 3, 6, 7].map(|at| table["rows"][row][at]["count"].as_u64().unwrap());
    assert_eq!((counts(0), counts(1)), ([6, 0, 0, 0], [6, 6, 6, 0]), "{table}");
    sandbox
        .run(&["judge", "r", "--judge-model", "builtin/rule", "--probe", "taste"])
        .refuses(&["position", "verbosity"]);
}

/// FineSurE's row of HAMLET's Table 3.
#[test]
fn sentences_are_verified_against_the_whole_book_by_a_panel_of_its_own() {
    let sandbox = Sandbox::new();
    let reader = ["--method", "query-summary", "--model", "builtin/extractive", "--judge-model", "builtin/rule"];
    sandbox.run(&[&["run", "--out", "r"], &reader[..]].concat()).exits(0);
    let whole = ["judge", "r", "--judge-model", "builtin/rule", "--judge", "verify-facts", "--reference", "book"];
    sandbox.run(&whole).exits(0);
    sandbox.run(&["verify", "r"]).exits(0);
    sandbox
        .run(&["people", "rate", "r", "--ask", "key-fact,sentence", "--draw", "30", "--by", "asks", "--out", "s"])
        .exits(0);
    let study: Value = serde_json::from_slice(&std::fs::read(sandbox.path("s/study.json")).unwrap()).unwrap();
    let answers: serde_json::Map<String, Value> = study["units"]
        .as_array()
        .unwrap()
        .iter()
        .map(|unit| (unit["id"].as_str().unwrap().to_owned(), json!({"state": "answered", "label": "yes"})))
        .collect();
    sandbox.write("ann.json", json!({"study": study["id"], "rater": "ann", "answers": answers}).to_string());
    let found = sandbox.run(&["people", "read", "s", "ann.json", "--json"]).exits(0).json();
    let table =
        found["tables"].as_array().unwrap().iter().find(|table| table["id"] == "accuracy-by-task").unwrap().clone();
    let row = |of: &str| table["rows"].as_array().unwrap().iter().find(|row| row[1]["text"] == of).unwrap().clone();
    assert_eq!(row("whole book")[2]["kind"], "missing", "it aligns no key facts: N/A in the paper");
    assert!(row("chunk")[2]["value"].is_number(), "{table}");
}

#[test]
fn judged_summaries_fill_the_tables_of_hamlet() {
    let sandbox = Sandbox::new();
    let reader = ["--method", "query-summary", "--model", "builtin/extractive", "--judge-model", "builtin/rule"];
    sandbox.run(&[&["run", "--out", "r"], &reader[..]].concat()).exits(0);
    let report = sandbox.run(&["report", "r", "--json"]).exits(0).json();
    let table = |id: &str| {
        let found = report["tables"].as_array().unwrap().iter().find(|table| table["id"] == id);
        found.unwrap_or_else(|| panic!("no {id}")).clone()
    };
    let figure = table("hamlet-figure-3");
    assert_eq!(figure["rows"].as_array().unwrap().len(), 8, "two perspectives by four levels: {figure}");
    assert!(figure["rows"][7][3]["n"].as_u64() > Some(0), "{figure}");
    let counted = |row: usize| table("hamlet-summaries")["rows"][row][3]["count"].clone();
    assert_eq!([counted(0), counted(1)], [16, 16]);
    let of = |id: &str, row: usize, column: usize| table(id)["rows"][row][column]["n"].as_u64().unwrap_or(0);
    let in_fifths: u64 = (3..8).map(|fifth| of("hamlet-figure-3", 3, fifth)).sum();
    assert_eq!(of("hamlet-table-13", 0, 25), in_fifths, "the fifths hold all facts");
}

/// Checks HAMLET's Tables 2 and 3.
#[test]
fn raters_agree_and_others_are_held_against_them() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "experts.csv",
        "unit,criterion,rater,label\nk,significance,a,PASS\nk,significance,b,PASS\nk,significance,c,FAIL\n\
         l,significance,a,FAIL\nl,significance,b,PASS\nl,significance,c,FAIL\nl,significance,consensus,PASS\n\
         k,objectivity,a,FAIL\nk,objectivity,b,FAIL\nk,objectivity,c,FAIL\n",
    );
    sandbox.write("filter.csv", "unit,criterion,label\nk,significance,PASS\nl,significance,FAIL\nk,objectivity,FAIL\n");
    let given = ["agreement", "--raters", "experts.csv", "--against", "filter.csv=the filter"];
    let found = sandbox.run(&[&given[..], &["--json"]].concat()).exits(0).json();
    let against = &found["others"][0]["against"];
    assert_eq!((&against["binary"], &against["majority"]["n"]), (&json!(2.0 / 3.0), &json!(3)), "{found}");
    assert_eq!(against["balanced"], 0.75);
    assert_eq!(
        found["others"][0]["borne_out"]["by_label"],
        json!({"FAIL": {"objectivity": {"hit": 1, "of": 1}, "significance": {"hit": 0, "of": 1}},
            "PASS": {"significance": {"hit": 1, "of": 1}}})
    );
    assert_eq!((&found["raters"], &found["majority_of"]), (&json!(["a", "b", "c"]), &json!(3)));
    let shown = sandbox.run(&given).exits(0);
    for words in ["Labels that experts bear out", "the filter  FAIL", "Units that pass by experts", "balanced"] {
        assert!(shown.out().contains(words), "{words} is not in: {}", shown.out());
    }
    sandbox.write("twice.csv", "unit,rater,label\nk,a,PASS\nk,a,PASS\n");
    sandbox.run(&["agreement", "--raters", "twice.csv"]).refuses(&[
        "twice.csv:3",
        "second label of `k` by `a`",
        "line 2",
    ]);
    sandbox.write("others.csv", "unit,label\nk,PASS\n");
    let other = ["agreement", "--raters", "experts.csv", "--against", "others.csv"];
    sandbox.run(&other).refuses(&["others has a label for no unit of experts", "`criterion`"]);
    sandbox.run(&["agreement", "r"]).refuses(&["LABELS"]);
    sandbox
        .run(&["agreement", "--raters", "experts.csv", "--majority-of", "0"])
        .refuses(&["--majority-of <N>", "from 1 to"]);
}

#[test]
fn judgements_of_parts_are_those_of_the_whole() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    for part in ["1", "2"] {
        let shard = format!("{part}/2");
        let options = ["--method", "dos-rag", "--budget", "30", "--shard", &shard, "--judge-model", "builtin/rule"];
        run_tales(&sandbox, part, &options);
    }
    sandbox.run(&["merge", "1", "2", "--out", "whole"]).exits(0);
    let n = |run| judgements(&sandbox, run).len();
    assert_eq!(n("whole"), n("1") + n("2"));
    let before = std::fs::read(sandbox.path("whole/judgements.jsonl")).unwrap();
    sandbox.run(&["judge", "whole", "--judge-model", "builtin/rule"]).exits(0);
    assert_eq!(std::fs::read(sandbox.path("whole/judgements.jsonl")).unwrap(), before, "nothing is judged twice");
}

#[test]
fn other_prompts_are_other_judges() {
    let server = judge_server();
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "30"]);
    let with = ["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url];
    sandbox.run(&with).exits(0);
    let front = "+++\npaper = 'ours'\nvariables = []\nresponse = 'a box'\n+++\n";
    sandbox.write("prompts/judge-sagascale.md", format!("{front}Is {{{{ answer }}}} right? Ana"));
    sandbox.run(&[&with[..], &["--prompts", "prompts"]].concat()).exits(0);
    assert_eq!(server.requests.lock().unwrap().len(), 12);
    let panels: Value = serde_json::from_slice(&std::fs::read(sandbox.path("r/judging.json")).unwrap()).unwrap();
    assert_eq!(panels["panels"].as_array().unwrap().len(), 2);
}
