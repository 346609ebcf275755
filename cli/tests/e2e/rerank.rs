//! Rerankers: a tiny one of our own, computed here, and servers of the test's own.

use crate::http::{Answered, Asked, HttpServer, ok};
use crate::support::{Ended, Sandbox, rewrite_lines, tales};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The passages of the tales that are evidence.
const EVIDENCE: &str = " had found ";

/// A model of the conformance vectors, as a published folder.
fn write_model(sandbox: &Sandbox, folder: &str) {
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/rerank.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(vectors).unwrap()).unwrap();
    let model = &vectors["models"][0];
    for file in ["config.json", "tokenizer.json"] {
        sandbox.write(&format!("{folder}/{file}"), model[file].as_str().unwrap());
    }
    let weights = BASE64_STANDARD.decode(model["model.safetensors"].as_str().unwrap()).unwrap();
    sandbox.write(&format!("{folder}/model.safetensors"), weights);
}

fn texts(asked: &Asked, name: &str) -> Vec<String> {
    asked.json()[name].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Answers as Cohere and vLLM do, best first, three tokens a text.
pub(crate) fn scored(asked: &Asked, score: impl Fn(&str) -> f64) -> Value {
    let texts = texts(asked, "documents");
    let mut results: Vec<(usize, f64)> = texts.iter().map(|text| score(text)).enumerate().collect();
    results.sort_by(|a, b| b.1.total_cmp(&a.1));
    let results = results.iter().map(|(index, score)| json!({"index": index, "relevance_score": score}));
    json!({"id": "1", "results": results.collect::<Vec<_>>(), "usage": {"total_tokens": 3 * texts.len()}})
}

pub(crate) fn oracle(text: &str) -> f64 {
    if text.contains(EVIDENCE) { 0.9 } else { -0.9 }
}

fn grid<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["retrieve", "--benchmark", "tales", "--retriever", "bm25", "--passage-tokens", "12"];
    [&fixed[..], &["--budget", "16,40", "--k", "1,5", "--out", "r"], more].concat()
}

/// Means by configuration, budget and metric.
fn means(report: &Value) -> BTreeMap<String, f64> {
    let mut means = BTreeMap::new();
    for cell in report["runs"][0]["cells"].as_array().unwrap() {
        for (metric, estimate) in cell["metrics"].as_object().unwrap() {
            let name = format!("{} {} {metric}", cell["method"].as_str().unwrap(), cell["budget"]);
            means.insert(name, estimate["value"].as_f64().unwrap());
        }
    }
    means
}

fn contexts(sandbox: &Sandbox, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut found: Vec<String> =
        lines.map(|line| json!([line["item"], line["method"], line["budget"], line["context"]]).to_string()).collect();
    found.sort();
    found
}

#[test]
fn a_grid_with_and_without_a_model_of_ones_own_is_remembered_and_goes_on() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    write_model(&sandbox, "models/tiny");
    let arguments = grid(&["--reranker", "none,tiny", "--rerank-from", "4"]);
    let shown = sandbox.run(&arguments).exits(0).out();
    assert!(shown.contains("Paired differences, evidence recall") && shown.contains("bm25-tiny"), "{shown}");
    let told = means(&sandbox.run(&[&arguments[..], &["--json"]].concat()).exits(0).json());
    assert_ne!(told["bm25 null mrr"], told["bm25-tiny null mrr"], "random weights give another order");
    let first = contexts(&sandbox, "r/records.jsonl");
    assert!(first.iter().any(|line| line.contains("\"reranked\":4")), "{}", first[0]);
    let manifest = std::fs::read_to_string(sandbox.path("r/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let reranker = &manifest["configuration"]["methods"]["bm25-tiny"]["reranker"];
    assert_eq!((reranker["name"].as_str(), &reranker["from"]), (Some("tiny"), &json!(4)));

    // The scores are remembered: weights that cannot be read are not needed for the same grid.
    let scores = std::fs::read_dir(sandbox.path("cache/scores")).unwrap().count();
    assert!(scores > 0);
    for file in ["r/records.jsonl", "r/ranked/records.jsonl"] {
        let text = std::fs::read_to_string(sandbox.path(file)).unwrap();
        let kept: Vec<&str> = text.lines().take(text.lines().count() / 2).collect();
        sandbox.write(file, kept.join("\n") + "\n{\"item\": \"cut");
    }
    assert_eq!(means(&sandbox.run(&[&arguments[..], &["--json"]].concat()).exits(0).json()), told);
    assert_eq!(contexts(&sandbox, "r/records.jsonl"), first);
    // From the path of a folder, too; more passages are another configuration.
    let mut by_path = grid(&["--reranker", "models/tiny", "--rerank-from", "4,6"]);
    by_path.iter_mut().filter(|argument| **argument == "r").for_each(|argument| *argument = "by-path");
    let named = means(&sandbox.run(&[&by_path[..], &["--json"]].concat()).exits(0).json());
    assert_eq!(named["bm25-of4 null mrr"], told["bm25-tiny null mrr"]);
    assert!(named.contains_key("bm25-of6 null mrr"), "{named:?}");
}

#[test]
fn an_oracle_finds_all_there_is_and_a_constant_changes_nothing() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    // Not a word of it stands in a tale.
    rewrite_lines(&sandbox, "tales/items.jsonl", |item| item["question"] = json!("Which object matters most?"));
    let server = HttpServer::start(|asked| ok(&scored(asked, oracle)));
    let secret = "sk-rerank-secret-1";
    let arguments =
        grid(&["--reranker", "none,openai-compatible/oracle", "--reranker-base-url", &server.url, "--json"]);
    let ended = Ended(sandbox.command(&arguments).env("OPENAI_COMPATIBLE_API_KEY", secret).output().unwrap()).exits(0);
    let told = means(&ended.json());
    let reranked = |metric: &str| told[&format!("bm25-openai-compatible/oracle {metric}")];
    assert_eq!((reranked("null mrr"), reranked("null hit@1"), reranked("16 evidence_recall")), (1.0, 1.0, 1.0));
    assert!(told["bm25 null mrr"] < 1.0, "{told:?}");

    let asked = server.asked("POST", "/rerank");
    assert!(asked.iter().all(|asked| asked.header("authorization") == Some(&format!("Bearer {secret}"))));
    let mut pairs: HashMap<(String, String), usize> = HashMap::new();
    for asked in &asked {
        assert_eq!(asked.json()["model"], "oracle");
        for text in texts(asked, "documents") {
            *pairs.entry((asked.json()["query"].as_str().unwrap().to_owned(), text)).or_default() += 1;
        }
    }
    assert!(pairs.values().all(|&n| n == 1), "no pair is scored twice: {pairs:?}");
    let log = std::fs::read_to_string(sandbox.path("r/reranking.jsonl")).unwrap();
    assert_eq!(log.lines().count(), asked.len());
    for entry in walk(&sandbox.path("")) {
        let text = String::from_utf8_lossy(&std::fs::read(&entry).unwrap()).into_owned();
        assert!(!text.contains(secret), "{}", entry.display());
    }

    let constant = HttpServer::start(|asked| ok(&scored(asked, |_| 0.5)));
    let more = ["--reranker", "none,openai-compatible/constant", "--reranker-base-url", &constant.url, "--json"];
    let mut arguments = grid(&more);
    arguments.iter_mut().filter(|argument| **argument == "r").for_each(|argument| *argument = "constant");
    let told = means(&sandbox.run(&arguments).exits(0).json());
    for (name, value) in told.iter().filter(|(name, _)| name.starts_with("bm25 ")) {
        assert_eq!(told[&name.replace("bm25 ", "bm25-openai-compatible/constant ")], *value, "{name}");
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

pub(crate) fn run<'a>(model: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed =
        ["run", "--benchmark", "tales", "--method", "vanilla-rag,dos-rag", "--budget", "20", "--retriever", "bm25"];
    let own = ["--passage-tokens", "12", "--json", "--out", "r", "--reranker", model, "--reranker-base-url", url];
    [&fixed[..], &own, more].concat()
}

#[test]
fn a_run_counts_what_it_took_is_verified_and_asks_nothing_twice() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let server = HttpServer::start(|asked| {
        let mut body = scored(asked, oracle);
        body["usage"] = Value::Null;
        body["meta"] = json!({"billed_units": {"search_units": 1}});
        ok(&body)
    });
    let prices = "['cohere/tiny']\nsource = 's'\ndate = '2026-01-02'\nsearches = 2.0\n";
    let prices = sandbox.write("prices.toml", prices).display().to_string();
    let arguments = run("cohere/tiny", &server.url, &["--model-info", &prices, "--max-cost", "1"]);
    let ended = sandbox.run(&arguments).exits(0);
    let took = &ended.json()["reranking"][0];
    let n_asked = server.asked("POST", "/rerank").len();
    // Each of six tales has a question that is asked twice, and one more.
    assert_eq!((n_asked, &took["requests"], &took["searches"]), (12, &json!(12), &json!(12)));
    assert!((took["dollars"].as_f64().unwrap() - 0.024).abs() < 1e-9, "{took}");
    assert!(ended.err().contains("passages scored in 12 requests, 12 searches; $0.02"), "{}", ended.err());
    let manifest = std::fs::read_to_string(sandbox.path("r/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let reranker = &manifest["configuration"]["reranker"];
    assert_eq!((reranker["name"].as_str(), &reranker["from"]), (Some("cohere/tiny"), &json!(50)));
    let whole = sandbox.run(&["report", "r", "--json"]).exits(0).out();
    assert!(whole.contains("cohere/tiny, of the best 50 passages"), "{whole}");

    let again: Vec<&str> = arguments.iter().map(|a| if *a == "r" { "again" } else { a }).collect();
    sandbox.run(&["verify", "r"]).exits(0);
    sandbox.run(&again).exits(0);
    assert_eq!(server.asked("POST", "").len(), n_asked, "all is remembered");
    // As who gets the folder from another has it: nothing is remembered, and nobody is asked.
    std::fs::remove_dir_all(sandbox.path("cache/scores")).unwrap();
    let said = sandbox.run(&["verify", "r"]).exits(1);
    let said = said.out() + &said.err();
    assert!(said.contains("scores of cohere/tiny are not remembered here"), "{said}");
    assert_eq!(server.asked("POST", "").len(), n_asked);
    sandbox.run(&["verify", "r", "--reranker-base-url", &server.url]).exits(0);
    // Other options are another run.
    let other = [&arguments[..], &["--rerank-from", "7"]].concat();
    sandbox.run(&other).refuses(&["another configuration", "reranker"]);
}

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    let calm = Sandbox::with_own_cache();
    tales(&calm);
    let server = HttpServer::start(|asked| ok(&scored(asked, oracle)));
    calm.run(&run("openai-compatible/x", &server.url, &[])).exits(0);
    let n_calm = server.asked("POST", "/rerank").len();

    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let slow = HttpServer::start(|asked| {
        std::thread::sleep(Duration::from_millis(100));
        ok(&scored(asked, oracle))
    });
    let arguments = run("openai-compatible/x", &slow.url, &[]);
    let mut child = sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while slow.asked("POST", "/rerank").len() < 5 {
        assert!(started.elapsed() < Duration::from_secs(120), "five requests");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(sandbox.run(&arguments).exits(0).json()["complete"], true);
    assert_eq!(contexts(&sandbox, "r/records.jsonl"), contexts(&calm, "r/records.jsonl"));
    // What was under way, four at once, is asked again and nothing else.
    assert!(slow.asked("POST", "/rerank").len() <= n_calm + 4);
}

#[test]
fn what_a_server_may_not_answer_fails_the_trial_in_one_clear_message() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let one = r#"{"index":0,"relevance_score":1}"#;
    for (n, (status, body, words)) in [
        ("200 OK", format!(r#"{{"results":[{one}]}}"#), "texts were scored: the server must score all"),
        ("200 OK", format!(r#"{{"results":[{one},{one}]}}"#), "scores text 0 twice"),
        ("200 OK", r#"{"results":[{"index":99,"relevance_score":1}]}"#.to_owned(), "is for text 99"),
        ("200 OK", r#"{"results":[{"relevance_score":1}]}"#.to_owned(), "names no text"),
        ("200 OK", r#"{"results":[{"index":0,"relevance_score":"NaN"}]}"#.to_owned(), "no finite number"),
        ("400 Bad Request", r#"{"message":"sk-rerank-secret-2 is unknown"}"#.to_owned(), "is unknown"),
        (
            "413 Payload Too Large",
            r#"{"error":"inputs must have less than 512 tokens"}"#.to_owned(),
            "The query may be too long for it",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let server = HttpServer::start(move |_| -> Answered { (status, Vec::new(), body.clone()) });
        let out = format!("out-{n}");
        let mut arguments = run("openai-compatible/x", &server.url, &["--limit", "1"]);
        arguments.iter_mut().filter(|argument| **argument == "r").for_each(|argument| *argument = &out);
        let ended =
            sandbox.command(&arguments).env("OPENAI_COMPATIBLE_API_KEY", "sk-rerank-secret-2").output().unwrap();
        let said = Ended(ended).exits(1).err();
        assert!(said.contains(words) && said.contains("reranker openai-compatible/x at"), "{words}: {said}");
        let record = std::fs::read_to_string(sandbox.path(&format!("{out}/records.jsonl"))).unwrap();
        assert!(record.contains("\"failed\"") && !record.contains("secret") && !said.contains("secret"), "{record}");
    }
}

#[test]
fn passages_that_a_server_refuses_as_too_long_are_cut_until_it_takes_them_and_counted() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    const LONGEST: usize = 40;
    let server = HttpServer::start(|asked| {
        if texts(asked, "documents").iter().all(|text| text.len() <= LONGEST) {
            return ok(&scored(asked, oracle));
        }
        let message = "This model's maximum context length is 512 tokens. Please reduce the length of the input.";
        ("400 Bad Request", Vec::new(), json!({"message": message, "code": 400}).to_string())
    });
    let report = sandbox.run(&run("openai-compatible/short", &server.url, &["--limit", "2"])).exits(0).json();
    assert_eq!(report["complete"], true);
    let asked: Vec<(Vec<String>, bool)> = server
        .asked("POST", "/rerank")
        .iter()
        .map(|asked| texts(asked, "documents"))
        .map(|texts| (texts.clone(), texts.iter().all(|text| text.len() <= LONGEST)))
        .collect();
    let sent: Vec<&String> = asked.iter().filter(|(_, taken)| !taken).flat_map(|(texts, _)| texts).collect();
    let taken: Vec<&String> = asked.iter().filter(|(_, taken)| *taken).flat_map(|(texts, _)| texts).collect();
    let cut = taken.iter().filter(|text| {
        !sent.is_empty() && sent.iter().any(|whole| whole.len() > text.len() && whole.starts_with(text.as_str()))
    });
    assert!(cut.count() > 0 && taken.iter().any(|text| sent.contains(text)), "some are cut, some are whole");
    // At most a quarter was taken off at a time, and never more than was needed.
    assert!(taken.iter().all(|text| text.len() > LONGEST / 2), "{taken:?}");
    let records = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    assert!(records.contains("\"cut_for_reranking\":"), "{records}");
}

#[test]
fn a_server_that_is_busy_for_a_moment_is_asked_again() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let mut n_asked = 0;
    let server = HttpServer::start(move |asked| {
        n_asked += 1;
        match n_asked % 3 {
            1 => ("429 Too Many Requests", vec![("retry-after", "0".to_owned())], "{}".to_owned()),
            2 => ("503 Service Unavailable", vec![("retry-after", "0".to_owned())], "{}".to_owned()),
            _ => ok(&scored(asked, oracle)),
        }
    });
    let report = sandbox.run(&run("openai-compatible/x", &server.url, &["--limit", "3"])).exits(0).json();
    assert_eq!((&report["complete"], &report["reranking"][0]["requests"]), (&json!(true), &json!(2)));
}

/// Text-Embeddings-Inference: at most two texts a request.
fn tei(asked: &Asked) -> Answered {
    if asked.path == "/info" {
        return ok(&json!({"model_id": "BAAI/bge-tiny", "model_type": {"reranker": {}}, "max_input_length": 512,
            "max_client_batch_size": 2}));
    }
    assert_eq!((asked.path.as_str(), &asked.json()["truncate"]), ("/rerank", &json!(false)));
    let texts = texts(asked, "texts");
    assert!(texts.len() <= 2, "{texts:?}");
    let scores = texts.iter().enumerate().rev().map(|(index, text)| json!({"index": index, "score": oracle(text)}));
    let body = Value::Array(scores.collect()).to_string();
    ("200 OK", vec![("x-compute-tokens", (5 * texts.len()).to_string())], body)
}

#[test]
fn text_embeddings_inference_says_how_much_it_takes() {
    let server = HttpServer::start(tei);
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let took = sandbox.run(&run("tei/bge-tiny", &server.url, &[])).exits(0).json()["reranking"][0].clone();
    assert_eq!(took["tokens"].as_u64().unwrap(), 5 * took["texts"].as_u64().unwrap());
    assert!(took["requests"].as_u64().unwrap() >= took["texts"].as_u64().unwrap().div_ceil(2));
    let check = ["providers", "check", "tei/bge-tiny", "--reranker", "--base-url", &server.url, "--json"];
    let checked = sandbox.run(&check).exits(0).json();
    assert_eq!((&checked["ok"], checked["scores"].as_array().map(Vec::len)), (&json!(true), Some(2)));
    let other: Vec<&str> = run("tei/bge-huge", &server.url, &["--limit", "1"]);
    let other: Vec<&str> = other.into_iter().map(|argument| if argument == "r" { "other" } else { argument }).collect();
    let said = sandbox.run(&other).exits(1).err();
    assert!(said.contains("serves BAAI/bge-tiny, not bge-huge: correct --reranker"), "{said}");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_asked() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let refused = |more: &[&str], words: &[&str]| {
        sandbox.run(&[&["run", "--benchmark", "tales", "--out", "r"], more].concat()).refuses(words);
    };
    refused(
        &["--reranker", "bge-reranker-base"],
        &["`bge-reranker-base` is installed (installed: none)", "closeread model pull bge-reranker-base"],
    );
    refused(&["--reranker", "cohere/rerank-v3.5"], &["needs a key", "COHERE_API_KEY"]);
    refused(&["--reranker", "tei/x"], &["needs --reranker-base-url"]);
    refused(&["--rerank-from", "9"], &["--rerank-from is for a run with a reranker"]);
    write_model(&sandbox, "models/tiny");
    refused(&["--reranker", "tiny", "--method", "closed-book"], &["no method of the run", "dos-rag"]);
    refused(&["--reranker", "tiny", "--reranker-base-url", "http://h"], &["for a model on a server"]);
    refused(&["--reranker", "tiny", "--rerank-from", "0"], &["--rerank-from"]);
    let estimate = ["estimate", "--benchmark", "tales", "--method", "dos-rag", "--passage-tokens", "12", "--json"];
    let estimate = [&estimate[..], &["--reranker", "cohere/rerank-v3.5", "--budget", "20,40"]].concat();
    let estimated = &sandbox.run(&estimate).exits(0).json()["reranking"];
    assert_eq!(estimated["searches"], 18);
    assert!((estimated["dollars"].as_f64().unwrap() - 0.036).abs() < 1e-9, "{estimated}");
    let verified = sandbox.run(&["model", "verify", "tiny", "--json"]).json();
    assert_eq!(verified["models"][0]["name"], "tiny");
    assert!(sandbox.run(&["model", "list"]).exits(0).out().contains("tiny                             reranker"));
}

#[test]
fn a_grid_names_searches_that_failed_and_rows_left_out_and_ends_with_1() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let server = HttpServer::start(|_| ("400 Bad Request", Vec::new(), r#"{"message":"no such model"}"#.to_owned()));
    let failing = ["--limit", "1", "--reranker", "openai-compatible/x", "--reranker-base-url", &server.url];
    let said = sandbox.run(&grid(&failing)).exits(1).err();
    assert!(said.contains("failed; the same command tries again") && said.contains("no such model"), "{said}");
    let items = std::fs::read_to_string(sandbox.path("tales/items.jsonl")).unwrap();
    sandbox.write("tales/items.jsonl", format!("{items}{{}}\n"));
    let index = ["index", "tales", "--method", "dos-rag", "--retriever", "bm25"];
    for command in [&grid(&["--fresh"])[..], &index] {
        assert!(sandbox.run(command).exits(1).err().contains("[left out]"), "{command:?}");
    }
}
