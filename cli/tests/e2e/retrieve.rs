//! `closeread retrieve`: what retrieval finds, without a model.

use crate::support::{Sandbox, readers, rewrite_lines, tales};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const GRID: [&str; 13] = [
    "retrieve",
    "--benchmark",
    "tales",
    "--retriever",
    "bm25",
    "--passage-tokens",
    "8,16",
    "--neighbours",
    "0,1",
    "--budget",
    "16,40",
    "--k",
    "1,5",
];

fn retrieve(sandbox: &Sandbox, more: &[&str]) -> Value {
    sandbox.run(&[&GRID[..], &["--out", "r", "--json"], more].concat()).exits(0).json()
}

/// Means by configuration, budget and metric.
fn means(report: &Value) -> BTreeMap<String, (f64, u64)> {
    let mut means = BTreeMap::new();
    for cell in report["runs"][0]["cells"].as_array().unwrap() {
        for (metric, estimate) in cell["metrics"].as_object().unwrap() {
            let name = format!("{} {} {metric}", cell["method"].as_str().unwrap(), cell["budget"]);
            means.insert(name, (estimate["value"].as_f64().unwrap(), estimate["n"].as_u64().unwrap()));
        }
    }
    means
}

#[test]
fn a_grid_is_a_run_folder_that_goes_on_where_it_stopped() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let first = means(&retrieve(&sandbox, &[]));
    let names: Vec<&str> = first.keys().map(|name| name.split(' ').next().unwrap()).collect();
    for name in ["bm25-8-n0", "bm25-8-n1", "bm25-16-n0", "bm25-16-n1"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let (recall, n) = first["bm25-16-n0 40 evidence_recall"];
    assert_eq!(n, 12, "items with evidence");
    assert!(recall > first["bm25-16-n0 16 evidence_recall"].0 - 1e-12 && recall > 0.5, "{recall}");
    assert!(first["bm25-16-n0 40 evidence_precision"].0 < first["bm25-16-n0 16 evidence_precision"].0);
    for metric in ["mrr", "hit@1", "hit@5", "ndcg@5", "precision@5", "recall@5"] {
        assert!(first.contains_key(&format!("bm25-8-n0 null {metric}")), "{metric}");
    }
    assert!(first["bm25-8-n0 null hit@5"].0 >= first["bm25-8-n0 null hit@1"].0);
    sandbox.run(&["verify", "r"]).refuses(&["rankings of `closeread retrieve`", "with another --out"]);
    for asked in [
        &["judge", "r", "--judge-model", "builtin/rule"][..],
        &["people", "rate", "r", "--out", "s"],
        &["export", "predictions", "r", "--out", "p.jsonl"],
    ] {
        sandbox.run(asked).refuses(&["r holds rankings of `closeread retrieve`, and no answers"]);
    }
    // Half of the lines of both folders are lost: the same command makes them again.
    for file in ["r/records.jsonl", "r/ranked/records.jsonl"] {
        let text = std::fs::read_to_string(sandbox.path(file)).unwrap();
        let kept: Vec<&str> = text.lines().take(text.lines().count() / 2).collect();
        sandbox.write(file, kept.join("\n") + "\n{\"item\": \"cut");
    }
    assert_eq!(means(&retrieve(&sandbox, &[])), first);
    let out = sandbox.run(&[&GRID[..], &["--out", "r"]].concat()).exits(0).out();
    assert!(out.contains("Paired differences, evidence recall") && out.contains("Paired differences, mrr"), "{out}");
    let compared =
        ["compare", "r", "--method", "bm25-8-n0,bm25-16-n0", "--budget", "40", "--metric", "evidence_recall"];
    assert!(sandbox.run(&compared).exits(0).out().contains("12 items"));
    sandbox.run(&["gate", "r", "--min", "evidence_recall=0.2", "--at", "bm25-16-n0@40"]).exits(0);
    let other = sandbox.run(&[&GRID[..], &["--out", "r", "--limit", "3"]].concat());
    assert!(!other.err().contains("--extend"), "retrieve has no such option: {}", other.err());
    other.refuses(&["another configuration", "--out for another folder"]);
    rewrite_lines(&sandbox, "tales/items.jsonl", |item| drop(item.as_object_mut().unwrap().remove("evidence")));
    sandbox.run(&[&GRID[..], &["--out", "x"]].concat()).refuses(&["no item", "gold evidence"]);
}

#[test]
fn a_neighbour_ranks_behind_its_passage_where_the_ranking_has_the_order_of_the_text() {
    let sandbox = Sandbox::new();
    let text = "Ana hid the key. It rained all day long. The key was old, heavy and cold.";
    sandbox.write("b/documents.jsonl", json!({"id": "mill", "text": text}).to_string());
    let item = json!({"id": "q", "documents": ["mill"], "question": "Who hid the key?", "answers": ["Ana"],
        "evidence": [{"quote": "It rained all day long."}]});
    sandbox.write("b/items.jsonl", item.to_string());
    let settings = ["--benchmark", "b", "--retriever", "bm25", "--passage-tokens", "9", "--neighbours", "1"];
    let told = sandbox.run(&[&["retrieve", "--k", "2,3", "--out", "r", "--json"][..], &settings].concat()).exits(0);
    let told = means(&told.json());
    assert_eq!((told["bm25 null mrr"].0, told["bm25 null hit@2"].0), (0.5, 1.0), "{told:?}");
    sandbox.run(&["export", "trec", "r", "--out", "trec"]).exits(0);
    let ranks = std::fs::read_to_string(sandbox.path("trec/r_bm25.run")).unwrap();
    assert!(ranks.contains("q Q0 mill:17-40 2 "), "{ranks}");
}

#[test]
fn evidence_whose_offsets_hold_nothing_is_no_piece_to_find() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    rewrite_lines(&sandbox, "tales/items.jsonl", |item| {
        let evidence = match item["id"].as_str().unwrap() {
            "t0-1" => json!([{"start": 0, "end": 9999}]),
            "t1-1" => json!([{"start": 7, "end": 7}]),
            "t2-1" => json!([{"quote": "Nobody says this.", "start": 0, "end": 90}]),
            _ => return,
        };
        item["evidence"] = evidence;
    });
    let found = means(&retrieve(&sandbox, &[]));
    for metric in ["null mrr", "null hit@1", "16 evidence_precision", "16 evidence_recall"] {
        assert_eq!(found[&format!("bm25-8-n0 {metric}")].1, 9, "{metric}");
    }
    let told = sandbox.run(&["data", "stats", "tales"]).exits(0).err();
    let told_of = |words: &str| assert!(told.contains(words), "{words} in {told}");
    told_of("(t0-1): evidence 1: bytes 0..9999 of document `tale-0`");
    told_of("(t1-1): evidence 1: bytes 7..7 of document `tale-1` hold no words");
    told_of("(t2-1): evidence 1: “Nobody says this.” is not in document `tale-2`");
}

#[test]
#[ignore = "needs the readers of exports"]
fn needs_readers_trec_eval_counts_what_we_count() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    // Two pieces of evidence an item, so that ranks and ideals differ.
    rewrite_lines(&sandbox, "tales/items.jsonl", |item| {
        if let Some(evidence) = item["evidence"].as_array_mut() {
            evidence.push(json!({"quote": "The road was closed."}));
        }
    });
    let told = means(&retrieve(&sandbox, &[]));
    sandbox.run(&["export", "trec", "r", "--out", "trec"]).exits(0);
    for name in ["bm25-8-n0", "bm25-16-n1"] {
        let seen = readers(&sandbox, &["trec", "trec/qrels", &format!("trec/r_{name}.run")]);
        for (measure, value) in seen.as_object().unwrap() {
            let (mean, _) = told[&format!("{name} null {measure}")];
            assert!(
                (value.as_f64().unwrap() - mean).abs() < 1e-9,
                "{name} {measure}: {value} by trec_eval, {mean} by us"
            );
        }
    }
}
