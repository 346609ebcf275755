//! Logs of other tools beside ours: those that inspect_ai and lm-evaluation-harness wrote (`tests/readers`).

use crate::provider::Server;
use crate::support::{Sandbox, run_tales, tales};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

fn fixture(name: &str) -> String {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/readers")).join(name);
    path.to_str().unwrap().to_owned()
}

/// The samples of a model of lm-evaluation-harness, whose file has a date in its name.
fn samples(model: &str, task: &str) -> String {
    let folder = PathBuf::from(fixture(&format!("lm_eval/listed__{model}")));
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&format!("samples_{task}_")));
    file.unwrap().to_str().unwrap().to_owned()
}

#[test]
fn what_a_log_cost_is_not_known() {
    let sandbox = Sandbox::new();
    let log = fixture("inspect/first-choice.eval");
    let gate = sandbox.run(&["gate", &log, "--max-cost", "0"]).exits(11);
    assert!(gate.out().contains("the calls of another tool's log are not read"), "{}", gate.out());
    let report = sandbox.run(&["report", &log, "--json"]).json();
    let tables = report["tables"].as_array().unwrap();
    let usage = tables.iter().find(|table| table["id"] == "usage").unwrap();
    let at = |name: &str| usage["columns"].as_array().unwrap().iter().position(|column| column == name).unwrap();
    for column in ["calls", "prompt tokens", "dollars"] {
        assert_eq!(usage["rows"][0][at(column)]["kind"], "missing", "{column}");
    }
    assert_eq!(usage["rows"][0][at("s median")]["kind"], "number");
    // The harness states no times.
    let report = sandbox.run(&["report", &samples("first", "tales_choice"), "--json"]).json();
    let scores = &report["tables"][0];
    assert_eq!(scores["columns"].as_array().unwrap().last().unwrap(), "seconds");
    assert_eq!(scores["rows"][0].as_array().unwrap().last().unwrap()["kind"], "missing");
}

#[test]
fn two_logs_of_inspect_are_compared_item_by_item() {
    let sandbox = Sandbox::new();
    let (a, b) = (fixture("inspect/first-choice.eval"), fixture("inspect/second-choice.eval"));
    let ended = sandbox.run(&["compare", &a, &b, "--json"]).exits(0);
    let comparisons = ended.json()["comparisons"].as_array().unwrap().clone();
    let metrics: Vec<&str> = comparisons.iter().map(|one| one["metric"].as_str().unwrap()).collect();
    assert_eq!(metrics, ["accuracy", "choice"], "ours and theirs");
    for one in &comparisons {
        let overall = &one["overall"];
        assert_eq!((&overall["n"], &overall["clusters"]), (&json!(6), &json!(2)), "by the document of the metadata");
        assert!((overall["difference"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12, "{overall}");
        let gained: Vec<&str> =
            one["gained"].as_array().unwrap().iter().map(|flip| flip["id"].as_str().unwrap()).collect();
        assert_eq!(gained, ["fair-3", "mill-3"]);
        assert!(
            one["by"]["kind"].is_object() && one["conclusion"].as_str().unwrap().contains("on the same 6 items"),
            "{one}"
        );
    }
}

#[test]
fn a_log_in_json_is_the_same_log_and_so_are_samples_of_lm_eval() {
    let sandbox = Sandbox::new();
    let (eval, json) = (fixture("inspect/second-open.eval"), fixture("inspect/second-open.json"));
    let same = sandbox.run(&["compare", &eval, &json, "--metric", "match"]).exits(0).out();
    assert!(same.contains("score the same on each of the 6 items by match"), "{same}");
    let (a, b) = (samples("first", "tales_open"), samples("second", "tales_open"));
    sandbox.run(&["compare", &a, &b, "--metric", "exact_match"]).refuses(&["exact_match,as-is"]);
    let ended =
        sandbox.run(&["compare", &a, &b, "--metric", "f1,exact_match,without-article", "--json"]).exits(0).json();
    let names: Vec<&str> =
        ended["comparisons"].as_array().unwrap().iter().map(|one| one["metric"].as_str().unwrap()).collect();
    assert_eq!(names, ["f1", "exact_match,without-article"], "a metric and its filter have one name");
    let ended = sandbox.run(&["compare", &a, &b, "--json"]).exits(0).json();
    let of = |metric: &str| {
        let all = ended["comparisons"].as_array().unwrap().iter();
        all.clone().find(|one| one["metric"] == metric).unwrap_or_else(|| panic!("{metric}"))["overall"].clone()
    };
    assert!((of("exact_match,as-is")["difference"].as_f64().unwrap() - 1.0 / 6.0).abs() < 1e-12);
    assert!(of("exact_match,without-article")["n"] == 6 && of("f1")["clusters"] == 2);
    // Two tools on the same items.
    let choice = samples("second", "tales_choice");
    let inspect = fixture("inspect/first-choice.eval");
    let across = sandbox.run(&["compare", &inspect, &choice, "--metric", "accuracy"]).exits(0).out();
    assert!(across.contains("on the same 6 items"), "{across}");
}

#[test]
fn a_log_stands_in_a_report_and_gates_a_run() {
    let sandbox = Sandbox::new();
    let logs = [fixture("inspect/first-choice.eval") + "=one", fixture("inspect/second-choice.eval") + "=two"];
    let report = sandbox.run(&["report", &logs[0], &logs[1], "--json"]).exits(0).json();
    let cells = report["runs"].as_array().unwrap().iter().map(|run| run["cells"][0].clone()).collect::<Vec<_>>();
    let accuracy = |n: usize| cells[n]["metrics"]["accuracy"]["value"].as_f64().unwrap();
    assert_eq!((accuracy(0), accuracy(1)), (4.0 / 6.0, 1.0));
    assert_eq!((&cells[0]["method"], &cells[0]["model"]), (&json!("tales_choice"), &json!("mockllm/first")));
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "closed-book,dos-rag", "--budget", "30"]);
    sandbox.run(&["export", "inspect", "r", "--out", "logs"]).exits(0);
    // Our own logs come back as what they were.
    let back = sandbox.run(&["compare", "r", "logs", "--metric", "accuracy", "--json"]).exits(0).json();
    for one in back["comparisons"].as_array().unwrap() {
        assert_eq!((&one["overall"]["difference"], &one["overall"]["n"]), (&json!(0.0), &json!(12)), "{one}");
        assert_eq!(one["overall"]["clusters"], 6);
    }
    assert_eq!(back["comparisons"].as_array().unwrap().len(), 2);
    sandbox.run(&["gate", "r", "--no-worse-than", "logs", "--margin", "30"]).exits(0);
    sandbox.run(&["gate", "logs", "--no-worse-than", "r", "--margin", "30", "--max-failed", "0"]).exits(0);
    let worst = fixture("inspect/first-choice.eval");
    let gated = sandbox.run(&[
        "gate",
        &worst,
        "--min",
        "choice=0.1",
        "--no-worse-than",
        &fixture("inspect/second-choice.eval"),
    ]);
    assert!(gated.exits(11).out().starts_with("passed: "), "two thirds are more than a tenth, and six items are few");
}

#[test]
fn the_score_of_a_log_that_was_cut_off_is_incomplete() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "closed-book"]);
    let records = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    sandbox.write("r/records.jsonl", records.lines().take(5).map(|line| format!("{line}\n")).collect::<String>());
    sandbox.run(&["export", "inspect", "r", "--out", "logs"]).exits(1);
    let mut files = std::fs::read_dir(sandbox.path("logs")).unwrap().map(|entry| entry.unwrap().path());
    let log = files.find(|path| path.extension().is_some_and(|end| end == "eval")).unwrap();
    let score = ["score", "--format", "inspect", log.to_str().unwrap()];
    let told = sandbox.run(&score).exits(1).out();
    assert!(
        told.contains("5 items: ") && told.contains("INCOMPLETE: inspect_ai says of this log `cancelled`"),
        "{told}"
    );
    let card = sandbox.run(&[&score[..], &["--json"]].concat()).exits(1).json();
    assert_eq!((&card["complete"], &card["n"]), (&json!(false), &json!(5)));
}

#[test]
fn a_judged_run_comes_back_from_its_logs_with_every_mean() {
    let sandbox = Sandbox::new();
    let run = ["run", "--method", "dos-rag,vanilla-rag", "--budget", "300", "--retriever", "bm25", "--out", "r"];
    sandbox.run(&[&run[..], &["--judge-model", "builtin/rule"]].concat()).exits(0);
    sandbox.run(&["export", "inspect", "r", "--out", "logs"]).exits(0);
    let means = |run: &str| -> BTreeMap<String, Vec<(String, Value, Value)>> {
        let report = sandbox.run(&["report", run, "--json"]).exits(0).json();
        let cells = report["runs"].as_array().unwrap().iter().flat_map(|run| run["cells"].as_array().unwrap());
        let of = |(name, mean): (&String, &Value)| (name.clone(), mean["value"].clone(), mean["n"].clone());
        let metrics = |cell: &Value| cell["metrics"].as_object().unwrap().iter().map(of).collect();
        cells.map(|cell| (cell["method"].to_string(), metrics(cell))).collect()
    };
    let (own, back) = (means("r"), means("logs"));
    assert!(own.values().all(|metrics| metrics.iter().any(|(name, ..)| name == "recall")), "{own:?}");
    assert_eq!(own, back);
}

#[test]
fn a_run_comes_back_from_its_logs_with_every_ending() {
    let sandbox = Sandbox::new();
    let documents = [("a", "Ana hid the key under the stair."), ("b", "Bo saw it."), ("c", "安娜把钥匙藏在楼梯下面。")]
        .map(|(id, text)| json!({"id": id, "text": text}).to_string());
    sandbox.write("bench/documents.jsonl", documents.join("\n"));
    let item = |id: &str, more: Value| {
        let mut item = json!({"id": id, "documents": [&id[..1]], "question": format!("What of {id}?")});
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item.to_string()
    };
    let items = ["a-right", "a-cut", "b-refused", "b-failed"].map(|id| item(id, json!({"answers": ["the key"]})));
    let summary = |id: &str| item(id, json!({"task": "summary", "answers": ["Ana hid the key."]}));
    let summaries = [summary("a-failed-summary"), summary("b-right-summary")];
    // Scored by its book's language, which its log does not tell.
    let items = [&items[..], &summaries, &[item("c-right", json!({"answers": ["WTO"]}))]].concat();
    sandbox.write("bench/items.jsonl", items.join("\n"));
    let server = Server::replying(|_, body| {
        let asks = |what: &str| body["messages"].to_string().contains(what);
        let said = |text: &str, finish: &str| {
            ("200 OK", json!({"choices": [{"message": {"content": text}, "finish_reason": finish}]}).to_string())
        };
        match () {
            () if asks("failed") => ("400 Bad Request", json!({"error": {"message": "no"}}).to_string()),
            () if asks("cut") => said("Let me", "length"),
            () if asks("refused") => said("", "content_filter"),
            () => said("Ana hid the key.", "stop"),
        }
    });
    let model = ["--model", "openai-compatible/m", "--base-url", &server.url, "--judge-model", "builtin/rule"];
    let run = ["run", "--benchmark", "bench", "--method", "closed-book,query-summary", "--out", "r"];
    sandbox.run(&[&run[..], &model].concat()).exits(1);
    sandbox.run(&["export", "inspect", "r", "--out", "logs"]).exits(0);
    let cells = |run: &str| {
        let report = sandbox.run(&["report", run, "--json"]).exits(0).json();
        let told = ["method", "ledger", "metrics", "failures_left_out", "out"];
        let cells = report["runs"][0]["cells"].as_array().unwrap().iter();
        cells.map(|cell| told.map(|name| cell[name].to_string())).collect::<Vec<_>>()
    };
    assert_eq!(cells("logs"), cells("r"));
}

#[test]
fn logs_are_scored_anew() {
    let sandbox = Sandbox::new();
    let score = |format: &str, file: &str| sandbox.run(&["score", "--format", format, file, "--json"]).exits(0).json();
    let card = score("inspect", &fixture("inspect/first-choice.eval"));
    assert_eq!(card["metrics"]["accuracy"]["value"], 4.0 / 6.0);
    assert_eq!(card["ledger"]["answered"], 6);
    let open = score("lm-eval", &samples("second", "tales_open"));
    assert_eq!(
        (&open["n"], &open["metrics"]["f1"]["value"]),
        (&json!(6), &json!(1.0)),
        "an article counts for nothing"
    );
    assert_eq!(score("lm-eval", &samples("first", "tales_choice"))["metrics"]["accuracy"]["value"], 4.0 / 6.0);
}

#[test]
fn gold_answers_beside_a_log_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("gold.jsonl", json!({"id": "mill-1", "question": "Who?", "answers": ["Dov"]}).to_string());
    for (format, log) in [("inspect", fixture("inspect/first-open.eval")), ("lm-eval", samples("first", "tales_open"))]
    {
        let refused = sandbox.run(&["score", "--format", format, &log, "--gold", "gold.jsonl"]);
        refused.refuses(&["gold.jsonl: ", "files hold their gold answers", "leave --gold away"]);
    }
}

#[test]
fn finding_07_absurd_tokens_of_a_log_do_not_wrap() {
    let sandbox = Sandbox::new();
    let usage = json!({"m": {"input_tokens": u64::MAX, "input_tokens_cache_read": 5}});
    let sample = |id: u32| json!({"id": id, "input": "q", "target": "x", "model_usage": usage});
    let log = json!({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample(1), sample(2)]});
    sandbox.write("l.json", log.to_string());
    let report = sandbox.run(&["report", "l.json", "--json"]).exits(0).json();
    assert_eq!(report["runs"][0]["cells"][0]["ledger"]["trials"], 2);
}

#[test]
fn two_logs_of_one_task_and_model_are_scored_each() {
    let sandbox = Sandbox::new();
    let text = std::fs::read_to_string(fixture("inspect/second-open.json")).unwrap();
    sandbox.write("a.json", &text);
    sandbox.write("b.json", text.replace("\"target\": \"", "\"target\": \"not "));
    let card = sandbox.run(&["score", "--format", "inspect", "a.json", "b.json", "--json"]).exits(0).json();
    let systems: Vec<(&String, &Value)> = card["systems"].as_object().unwrap().iter().collect();
    let names: Vec<&str> = systems.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["mockllm/second on tales_open in a.json", "mockllm/second on tales_open in b.json"]);
    let f1 = |n: usize| systems[n].1["metrics"]["f1"]["value"].as_f64().unwrap();
    assert!(f1(0) > f1(1), "{card}");
}

#[test]
fn a_folder_of_logs_holds_those_in_json_too() {
    let sandbox = Sandbox::new();
    sandbox.write("logs/a.json", std::fs::read(fixture("inspect/second-open.json")).unwrap());
    sandbox.write("logs/b.eval", std::fs::read(fixture("inspect/first-open.eval")).unwrap());
    // The listing that inspect writes beside logs, and another tool's file.
    sandbox.write("logs/listing.json", r#"{"b.eval": {"version": 2, "status": "success", "eval": {}}}"#);
    sandbox.write("logs/results.json", "[1]");
    let report = sandbox.run(&["report", "logs", "--json"]).exits(0).json();
    let cells = report["runs"][0]["cells"].as_array().unwrap().iter();
    let models: BTreeSet<&str> = cells.map(|cell| cell["model"].as_str().unwrap()).collect();
    assert_eq!(models, BTreeSet::from(["mockllm/second", "mockllm/first"]));
}

#[test]
fn what_is_no_log_gets_one_message() {
    let sandbox = Sandbox::new();
    let text = std::fs::read_to_string(fixture("inspect/second-open.json")).unwrap();
    sandbox.write("newer.json", text.replacen("\"version\": 2", "\"version\": 3", 1));
    let known = fixture("inspect/second-open.json");
    sandbox.run(&["compare", "newer.json", &known]).refuses(&["newer.json: a log of inspect_ai of version 3"]);
    sandbox.run(&["report", "newer.json"]).refuses(&["version 3", "use a newer closeread"]);
    sandbox.run(&["score", "--format", "inspect", "newer.json"]).refuses(&["version 3"]);
    sandbox.write("twice.json", text.replace("\"id\": \"mill-2\"", "\"id\": \"mill-1\""));
    sandbox.run(&["report", "twice.json"]).refuses(&["two samples of epoch 1 have the id `mill-1`"]);
    sandbox.run(&["score", "--format", "inspect", "twice.json"]).refuses(&["two samples have the id `mill-1`"]);
    sandbox.write("cut.eval", &std::fs::read(fixture("inspect/first-open.eval")).unwrap()[..9000]);
    sandbox.run(&["compare", "cut.eval", &known]).refuses(&["cut.eval"]);
    sandbox.write("other.json", "{}");
    sandbox.run(&["report", "other.json"]).refuses(&["neither a run folder", "lm-evaluation-harness"]);
    sandbox.write("all/r/manifest.json", "{}");
    sandbox.run(&["report", "all"]).refuses(&["all is neither a run folder", "; in it is the run all/r"]);
    sandbox.write("ada/predictions.jsonl", "");
    sandbox
        .run(&["compare", "ada", &known])
        .refuses(&["ada is neither", "score --gold ITEMS --predictions ada --json"]);
    sandbox.write("m/samples_t_2026.jsonl", "{\"doc_id\": 1}\n");
    sandbox.run(&["compare", "m/samples_t_2026.jsonl", &known]).refuses(&["line 1", "lists no metrics"]);
}

#[test]
#[ignore = "needs the readers of exports"]
fn needs_readers_what_inspect_counts_is_what_we_count() {
    let sandbox = Sandbox::new();
    let ours = sandbox.run(&["report", &fixture("inspect/first-open.eval"), "--json"]).json();
    sandbox.write("logs/x.txt", "");
    std::fs::remove_file(sandbox.path("logs/x.txt")).unwrap();
    std::fs::copy(fixture("inspect/first-open.eval"), sandbox.path("logs/a.eval")).unwrap();
    let code = "import json,sys\nfrom inspect_ai.log import read_eval_log\nprint(json.dumps(read_eval_log('logs/a.eval').results.scores[0].metrics['accuracy'].value))";
    let python = std::process::Command::new(crate::support::readers_python())
        .args(["-c", code])
        .current_dir(sandbox.dir.path())
        .output();
    let theirs: f64 = String::from_utf8(python.unwrap().stdout).unwrap().trim().parse().unwrap();
    assert_eq!(ours["runs"][0]["cells"][0]["metrics"]["match"]["value"].as_f64().unwrap(), theirs);
}
