//! SagaScale's methods and the papers' dresses on the sample, English and Chinese, with the reader that needs no key.

use crate::support::{Sandbox, rewrite_lines, tales, timeless};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn records(sandbox: &Sandbox, run: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(run).join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Items of both languages, choices and open questions.
const ITEMS: &str = "en-001,en-005,en-002,en-003,zh-001,zh-002,zh-007";

fn run(sandbox: &Sandbox, out: &str, more: &[&str]) -> Value {
    let fixed = ["run", "--retriever", "bm25", "--items", ITEMS, "--json", "--out", out];
    sandbox.run(&[&fixed[..], more].concat()).exits(0).json()
}

#[test]
fn sagascales_methods_answer_in_both_languages() {
    let sandbox = Sandbox::new();
    let report = run(&sandbox, "r", &["--method", "naive-rag,agentic-rag"]);
    for cell in report["cells"].as_array().unwrap() {
        assert_eq!(cell["ledger"]["trials"], 7);
        assert_eq!(cell["ledger"]["unparsed"], 0, "{cell}");
        assert!(cell["metrics"]["evidence_recall"]["value"].as_f64().is_some(), "{cell}");
    }
    for record in records(&sandbox, "r") {
        let n_passages = record["context"]["passages"].as_array().unwrap().len();
        assert_eq!(n_passages, 3, "one search, three passages: {record}");
        let agentic = record["method"] == "agentic-rag";
        assert_eq!(record["measures"]["searches"].as_f64(), agentic.then_some(1.0));
        assert_eq!(record["calls"].as_array().unwrap().len(), if agentic { 2 } else { 1 });
    }
    let shown = sandbox.run(&["report", "r"]).exits(0).out();
    assert!(shown.contains("naive-rag") && shown.contains("agentic-rag"), "{shown}");
}

#[test]
fn every_style_runs_on_the_sample() {
    let sandbox = Sandbox::new();
    for style in ["dos-rag", "sagascale", "novelqa", "corpusqa", "hamlet"] {
        let parameters: Vec<String> = ["closed-book", "full-document", "dos-rag", "naive-rag"]
            .map(|method| format!("{method}.style={style}"))
            .to_vec();
        let mut more = vec!["--method", "closed-book,full-document,dos-rag,naive-rag", "--budget", "500"];
        more.extend(parameters.iter().flat_map(|parameter| ["--param", parameter]));
        let report = run(&sandbox, style, &more);
        for cell in report["cells"].as_array().unwrap() {
            assert_eq!(cell["ledger"]["unparsed"], 0, "{style}: {cell}");
            assert_eq!(cell["ledger"]["failed"], 0, "{style}: {cell}");
        }
    }
}

#[test]
fn questions_asked_together_are_counted_once_and_resumed_as_one() {
    let sandbox = Sandbox::new();
    let more = [
        "--method",
        "closed-book,full-document",
        "--param",
        "full-document.style=novelqa",
        "--param",
        "full-document.together=true",
        "--param",
        "full-document.evidence=true",
        "--param",
        "closed-book.style=novelqa",
        "--param",
        "closed-book.together=true",
    ];
    let whole = timeless(&run(&sandbox, "r", &more));
    let of = |method: &str| -> Vec<Value> {
        records(&sandbox, "r").into_iter().filter(|record| record["method"] == method).collect()
    };
    let full = of("full-document");
    assert_eq!(full.len(), 7);
    let by_id: BTreeMap<&str, &Value> = full.iter().map(|r| (r["item"].as_str().unwrap(), r)).collect();
    for record in &full {
        match record["shared_call"].as_str() {
            None => assert!(!record["calls"].as_array().unwrap().is_empty() && record["prompt_tokens"] != 0),
            Some(first) => {
                assert_eq!(record["calls"], json!([]));
                assert_eq!((&record["prompt_tokens"], &record["seconds"]), (&json!(0), &json!(0.0)));
                assert!(by_id[first].get("shared_call").is_none(), "{first} holds the call");
            }
        }
        assert!(record["evidence"].is_array(), "{record}");
    }
    assert!(full.iter().any(|record| record.get("shared_call").is_some()));
    let cell = |report: &Value, metric: &str| report[1]["metrics"][metric]["value"].as_f64().unwrap();
    assert!(cell(&whole, "evidence_recall") < 1.0, "a citation is not the whole book: {whole}");

    // A kill between two lines of one call: its last answer is lost, and all of it is asked again.
    let text = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|line| line.contains("\"shared_call\"")).unwrap();
    let kept: String =
        lines.iter().enumerate().filter(|(n, _)| *n != last).map(|(_, line)| format!("{line}\n")).collect();
    sandbox.write("r/records.jsonl", kept);
    assert_eq!(timeless(&run(&sandbox, "r", &more)), whole);

    rewrite_lines(&sandbox, "r/records.jsonl", |record| record["seconds"] = json!(0.5));
    sandbox.run(&["report", "r", "--html", "site"]).exits(0);
}

#[test]
fn together_and_evidence_are_novelqas_alone() {
    let sandbox = Sandbox::new();
    let refuse = |parameter: &str, words: &[&str]| {
        sandbox.run(&["run", "--method", "full-document", "--param", parameter]).refuses(words);
    };
    refuse("full-document.together=true", &["full-document", "together=true needs style=novelqa"]);
    refuse("full-document.evidence=true", &["evidence=true needs style=novelqa"]);
    refuse("full-document.style=hamlets", &["`hamlets`", "sagascale"]);
    sandbox
        .run(&["run", "--method", "agentic-rag", "--param", "agentic-rag.on_both=maybe"])
        .refuses(&["`maybe`", "reject"]);
    sandbox
        .run(&["run", "--method", "read-agent", "--param", "read-agent.word_limit=300"])
        .refuses(&["word_limit must be at least min_words"]);
}

#[test]
fn a_method_has_its_own_embedder_where_it_is_installed() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let arguments = |out: &'static str, more: &[&'static str]| -> Vec<&'static str> {
        let fixed = ["run", "--method", "dos-rag,naive-rag", "--benchmark", "tales", "--budget", "30", "--out", out];
        [&fixed[..], more].concat()
    };
    let manifest = |out: &str| -> Value {
        serde_json::from_slice(&std::fs::read(sandbox.path(out).join("manifest.json")).unwrap()).unwrap()
    };
    let ended = sandbox.run(&arguments("none", &[])).exits(0);
    assert!(ended.err().contains("naive-rag embedded by all-MiniLM-L6-v2"), "{}", ended.err());
    let configuration = &manifest("none")["configuration"];
    assert_eq!(configuration["methods"]["naive-rag"]["embedder"], "all-MiniLM-L6-v2");
    assert!(configuration.get("embedders").is_none());

    // The shipped model under the name of the paper's: another model as far as the run can tell.
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/all-MiniLM-L6-v2");
    for name in ["model.onnx", "tokenizer.json", "model.toml", "manifest.json"] {
        let bytes = std::fs::read(format!("{shipped}/{name}")).unwrap();
        let bytes = match name {
            "model.toml" => {
                String::from_utf8(bytes).unwrap().replace("all-MiniLM-L6-v2", "multilingual-e5-large").into_bytes()
            }
            _ => bytes,
        };
        sandbox.write(&format!("models/multilingual-e5-large/{name}"), bytes);
    }
    let ended = sandbox.run(&arguments("own", &[])).exits(0);
    assert!(!ended.err().contains("embedded by"), "{}", ended.err());
    let configuration = &manifest("own")["configuration"];
    assert_eq!(configuration["embedder"]["name"], "all-MiniLM-L6-v2");
    assert_eq!(configuration["embedders"]["naive-rag"]["name"], "multilingual-e5-large");
    let report = sandbox.run(&["report", "own"]).exits(0).out();
    assert!(report.contains("naive-rag"), "{report}");

    sandbox.run(&arguments("one", &["--embedder", "all-MiniLM-L6-v2"])).exits(0);
    let configuration = &manifest("one")["configuration"];
    assert_eq!(configuration["methods"]["naive-rag"]["embedder"], "all-MiniLM-L6-v2");
    assert!(configuration.get("embedders").is_none());
    sandbox
        .run(&arguments("other", &["--param", "naive-rag.embedder=bert"]))
        .refuses(&["`bert`", "closeread model list"]);
}
