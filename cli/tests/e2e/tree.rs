//! `closeread tree`: the tree of summaries, built and kept.

use crate::provider::{Server, answer};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::path::Path;

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample").join(name).to_string_lossy().into_owned()
}

/// Checks that everything hangs together: children below, no orphans, counts that add up, places that hold the text.
fn check(tree: &Value, source: &str) {
    let nodes = tree["nodes"].as_array().unwrap();
    let (leaves, summaries) = (tree["leaves"].as_u64().unwrap(), tree["summaries"].as_u64().unwrap());
    assert_eq!(nodes.len() as u64, leaves + summaries);
    assert!(leaves > 50 && summaries > 3, "{leaves} leaves, {summaries} summaries");
    let mut has_parent: Vec<bool> = vec![false; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        assert_eq!(node["index"], index);
        let children = node["children"].as_array().unwrap();
        let is_leaf = (index as u64) < leaves;
        assert_eq!(node["layer"] == 0, is_leaf);
        assert_eq!(children.is_empty(), is_leaf);
        for child in children {
            let child = child.as_u64().unwrap() as usize;
            assert!(nodes[child]["layer"].as_u64() < node["layer"].as_u64());
            has_parent[child] = true;
        }
        if is_leaf {
            let (start, end) = (node["start"].as_u64().unwrap() as usize, node["end"].as_u64().unwrap() as usize);
            assert_eq!(node["text"], source[start..end]);
        } else {
            assert!(node["tokens"].as_u64().unwrap() <= 100 && node["text"] != "");
        }
    }
    for root in tree["roots"].as_array().unwrap() {
        has_parent[root.as_u64().unwrap() as usize] = true;
    }
    assert!(has_parent.iter().all(|&is| is));
}

#[test]
fn the_sample_has_trees_in_both_languages() {
    let sandbox = Sandbox::new();
    for (book, remark) in [("the-loan-of-the-bell.txt", ""), ("shedu-bu.txt", "clustered by words")] {
        let path = sample(book);
        let ended = sandbox.run(&["tree", &path, "--json"]).exits(0);
        assert!(ended.err().contains(remark), "{}", ended.err());
        check(&ended.json(), &std::fs::read_to_string(&path).unwrap());
        assert_eq!(sandbox.run(&["tree", &path, "--json"]).exits(0).out(), ended.out(), "the same every time");
    }
}

#[test]
fn a_run_keeps_its_trees_and_they_can_be_looked_at() {
    let sandbox = Sandbox::new();
    let run = ["run", "--method", "raptor", "--budget", "500", "--limit", "3", "--out", "r"];
    let report = sandbox.run(&[&run[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(report["cells"][0]["ledger"]["missing"], 0);
    let records = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    let record: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    let leaves = record["context"]["passages"].as_array().unwrap().len() as f64;
    assert_eq!(record["measures"]["leaves"], leaves);
    assert!(record["context"]["n_tokens"].as_u64().unwrap() <= 500);

    let kept = sandbox.run(&["tree", "--run", "r", "the-loan-of-the-bell", "--json"]).exits(0);
    let path = sample("the-loan-of-the-bell.txt");
    check(&kept.json(), &std::fs::read_to_string(&path).unwrap());
    let built = sandbox.run(&["tree", &path, "--out", "tree.json"]).exits(0);
    assert_eq!(built.out(), "");
    let built: Value = serde_json::from_slice(&std::fs::read(sandbox.path("tree.json")).unwrap()).unwrap();
    assert_eq!(built["roots"], kept.json()["roots"]);

    let printed = sandbox.run(&["tree", "--run", "r", "the-loan-of-the-bell"]).exits(0).out();
    let root = format!("[{}] summary of ", built["roots"][0]);
    assert!(printed.starts_with(&root) && printed.contains("\n  [") && printed.contains(" bytes "), "{printed}");
}

#[test]
fn finding_07_a_tree_costs_no_more_than_its_limit() {
    let server = Server::start(vec![("200 OK", answer("A short summary."))]);
    let sandbox = Sandbox::with_own_cache();
    let prices =
        "['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 1000 }\n";
    sandbox.write("prices.toml", prices);
    let path = sample("the-loan-of-the-bell.txt");
    let fixed = ["tree", &path, "--retriever", "bm25", "--max-output-tokens", "10", "--json"];
    let tree = [&fixed[..], &["--model", "openai-compatible/tiny", "--base-url", &server.url]].concat();
    let n_requests = || server.requests.lock().unwrap().len();
    sandbox.run(&[&tree[..], &["--max-cost", "1"]].concat()).refuses(&["price of openai-compatible/tiny is not known"]);
    let stopped = sandbox.run(&[&tree[..], &["--model-info", "prices.toml", "--max-cost", "0.03"]].concat()).exits(1);
    assert!(stopped.err().contains("--max-cost: $0.0210 of it are spent"), "{}", stopped.err());
    assert_eq!(n_requests(), 3, "a fourth could cost a cent, and less than one is left");
    sandbox.write("config/run.toml", "max-cost = 0\nmodel-info = '../prices.toml'\n");
    sandbox.run(&tree).exits(1);
    assert_eq!(n_requests(), 3, "a limit of one's own holds too");
    sandbox.run(&[&tree[..], &["--max-cost", "9"]].concat()).exits(0);
    assert!(n_requests() > 3);
}

#[test]
fn a_summary_that_came_back_empty_is_asked_again() {
    let server = Server::replying(|n, _| {
        let said = if n == 0 { "" } else { "They lent the bell. [[1]]" };
        let choices = json!([{"message": {"content": said}, "finish_reason": "stop"}]);
        ("200 OK", json!({"choices": choices}).to_string())
    });
    let sandbox = Sandbox::with_own_cache();
    let fixed = ["run", "--method", "raptor", "--budget", "500", "--limit", "1", "--retriever", "bm25", "--out", "r"];
    let served = ["--model", "openai-compatible/tiny", "--base-url", &server.url, "--max-output-tokens", "99"];
    let run = [&fixed[..], &served].concat();
    let failed = sandbox.run(&run).exits(1);
    assert!(failed.err().contains("came back empty") && failed.err().contains("tries again"), "{}", failed.err());
    let n_asked = server.requests.lock().unwrap().len();
    sandbox.run(&run).exits(0);
    assert!(server.requests.lock().unwrap().len() > n_asked);
    assert!(!sandbox.path("r/journal").exists());
}

#[test]
fn what_cannot_be_shown_says_why() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("tale.txt", "It rained. Ana slept.");
    let path = path.to_str().unwrap();
    sandbox.run(&["tree", path, "--param", "depth"]).refuses(&["expected NAME=VALUE"]);
    sandbox.run(&["tree", path, "--param", "leaves=3"]).refuses(&["`leaves`", "max_layers"]);
    sandbox.run(&["tree", "--run", "nowhere", "tale"]).refuses(&["nowhere", "keeps no tree of a document `tale`"]);
    sandbox.run(&["tree", "nothing.txt"]).refuses(&["nothing.txt"]);
    let one = sandbox.run(&["tree", path, "--retriever", "bm25", "--json"]).exits(0).json();
    assert_eq!((&one["leaves"], &one["summaries"], &one["roots"]), (&1.into(), &0.into(), &serde_json::json!([0])));
}
