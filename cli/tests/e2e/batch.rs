//! Runs through batch APIs: a server of the test's own speaks OpenAI's and Anthropic's.

use crate::batch_server::{BatchServer, End};
use crate::support::{Sandbox, tales};
use serde_json::{Value, json};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PRICES: &str = "['openai/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 20, output = 0 }\n\
    batch = { input = 10, output = 0 }\n['anthropic/tiny']\nsource = 's'\ndate = '2026-01-02'\n\
    price = { input = 20, output = 0 }\nbatch = { input = 10, output = 0 }\n";

/// A sandbox with the tales, and the arguments of a run over them: 18 items, asked once each.
pub(crate) struct Case {
    pub(crate) sandbox: Sandbox,
    arguments: Vec<String>,
}

impl Case {
    pub(crate) fn new(model: &str, server: &BatchServer, more: &[&str]) -> Self {
        let sandbox = Sandbox::with_own_cache();
        tales(&sandbox);
        let prices = sandbox.write("prices.toml", PRICES).display().to_string();
        let base = format!("{}/v1", server.http.url);
        let fixed =
            ["run", "--benchmark", "tales", "--retriever", "bm25", "--passage-tokens", "12", "--out", "r", "--json"];
        let own = ["--model", model, "--base-url", &base, "--model-info", &prices, "--batch", "--batch-poll", "0.2"];
        let method = ["--method", "dos-rag", "--budget", "60"];
        let more = if more.is_empty() { &method[..] } else { more };
        let arguments = fixed.iter().chain(&own).chain(more).map(|argument| (*argument).to_owned()).collect();
        Self { sandbox, arguments }
    }

    pub(crate) fn arguments(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    pub(crate) fn finishes(&self, code: i32) -> Value {
        self.sandbox.run(&self.arguments()).exits(code).json()
    }

    /// Runs with an embedder on a server in the place of BM25; false if that takes more than two minutes.
    pub(crate) fn ends_with_embedder(&self, base: &str) -> bool {
        let arguments =
            self.arguments().into_iter().map(|argument| if argument == "bm25" { "dense" } else { argument });
        let embedder = ["--embedder", "openai-compatible/embedder", "--embedder-base-url", base];
        let arguments: Vec<&str> = arguments.chain(embedder).collect();
        let command = &mut self.sandbox.command(&arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(120);
        while child.try_wait().unwrap().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
        let ended = child.try_wait().unwrap().is_some_and(|status| status.success());
        drop(child.kill());
        child.wait().unwrap();
        ended
    }

    /// Starts the run, and kills it as soon as `there` says so.
    pub(crate) fn is_killed_when(&self, there: impl Fn() -> bool) {
        let command = &mut self.sandbox.command(&self.arguments());
        let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(120);
        while !there() {
            assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be killed");
            assert!(Instant::now() < until, "the run did not get this far in time");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub(crate) fn ticket(&self, number: u32) -> Option<Value> {
        let text = std::fs::read_to_string(self.sandbox.path(&format!("r/batches/{number:04}.json"))).ok()?;
        serde_json::from_str(&text).ok()
    }
}

#[track_caller]
pub(crate) fn each_once(server: &BatchServer, n: usize) {
    let mut ids = server.ids();
    assert_eq!(ids.len(), n);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), n, "a request was handed in twice");
}

pub(crate) const MODELS: [&str; 2] = ["openai/tiny", "anthropic/tiny"];

#[test]
fn all_questions_go_in_one_batch_for_the_price_of_a_batch() {
    for model in MODELS {
        let server = BatchServer::start(|_, _| End::Answered);
        let case = Case::new(model, &server, &[]);
        let report = case.finishes(0);
        assert_eq!(server.n_batches(), 1, "{model}: all books together");
        each_once(&server, 18);
        assert_eq!(report["cells"][0]["ledger"]["answered"], 18);
        let usage = &report["usage"][0];
        assert_eq!((&usage["calls"], &usage["prompt_tokens"]), (&json!(18), &json!(18_000)));
        assert!((usage["dollars"].as_f64().unwrap() - 0.18).abs() < 1e-9, "{model}: {usage}");
        let records = std::fs::read_to_string(case.sandbox.path("r/records.jsonl")).unwrap();
        assert_eq!(records.matches("\"batch\":true").count(), 18);

        let entry = server.world.lock().unwrap().batches[0].0[0].clone();
        assert!(!entry.to_string().contains("\"stream\""), "{entry}");
        // Responses of batches are responses as any other: the same questions cost nothing in another folder.
        let again: Vec<&str> = case.arguments().into_iter().map(|a| if a == "r" { "again" } else { a }).collect();
        case.sandbox.run(&again).exits(0);
        assert_eq!(server.n_batches(), 1);
    }
}

#[test]
fn a_killed_run_takes_up_its_batch() {
    for model in MODELS {
        let server = BatchServer::start(|_, _| End::Answered);
        let case = Case::new(model, &server, &[]);
        server.hold(true);
        case.is_killed_when(|| case.ticket(1).is_some_and(|ticket| ticket["stage"] == "submitted"));
        let without: Vec<&str> =
            case.arguments().into_iter().filter(|a| !matches!(*a, "--batch" | "--batch-poll" | "0.2")).collect();
        case.sandbox.run(&without).refuses(&["waits for 1 batches", "--batch"]);
        server.hold(false);
        let report = case.finishes(0);
        assert_eq!(report["cells"][0]["ledger"]["answered"], 18, "{model}");
        assert_eq!(server.n_batches(), 1, "{model}: it is not handed in twice");
    }
}

#[test]
fn a_kill_while_a_batch_is_handed_in_neither_loses_nor_doubles_it() {
    for model in MODELS {
        let server = BatchServer::start(|_, _| End::Answered);
        server.hold(true);
        let case = Case::new(model, &server, &[]);
        case.is_killed_when(|| case.ticket(1).is_some_and(|ticket| ticket["stage"] == "submitted"));
        // As if the kill had come before the provider's name for the batch was written down.
        let mut ticket = case.ticket(1).unwrap();
        ticket["stage"] = json!("prepared");
        ticket["batch"] = Value::Null;
        case.sandbox.write("r/batches/0001.json", ticket.to_string());
        server.hold(false);
        case.finishes(0);
        assert_eq!(server.n_batches(), 1, "{model}: the batch is found at the provider");

        // As if it had come before the batch was handed in.
        let server = BatchServer::start(|_, _| End::Answered);
        let case = Case::new(model, &server, &[]);
        case.is_killed_when(|| case.ticket(1).is_some());
        let handed_in = server.n_batches();
        if handed_in == 1 && case.ticket(1).is_some_and(|ticket| ticket["stage"] == "prepared") {
            server.world.lock().unwrap().batches.clear();
        }
        case.finishes(0);
        each_once(&server, 18);
    }
}

#[test]
fn a_batch_whose_creation_broke_is_looked_for_before_it_is_handed_in_again() {
    for model in MODELS {
        let server = BatchServer::start(|_, _| End::Answered);
        server.world.lock().unwrap().broken_create = true;
        let case = Case::new(model, &server, &[]);
        case.finishes(0);
        each_once(&server, 18);
    }
}

#[test]
fn a_provider_that_holds_too_much_gets_smaller_batches_one_by_one() {
    let server = BatchServer::start(|_, _| End::Answered);
    server.world.lock().unwrap().enqueued = 5;
    let case = Case::new("openai/tiny", &server, &[]);
    let report = case.finishes(0);
    assert_eq!(report["cells"][0]["ledger"]["answered"], 18);
    let world = server.world.lock().unwrap();
    let sizes: Vec<usize> = world.batches.iter().map(|(entries, _)| entries.len()).collect();
    assert_eq!(sizes, [18, 9, 4, 4, 4, 4, 2]);
}

#[test]
fn a_queue_that_others_fill_is_waited_for() {
    let server = BatchServer::start(|_, _| End::Answered);
    server.world.lock().unwrap().enqueued = 0;
    let world = Arc::clone(&server.world);
    let freed = std::thread::spawn(move || {
        while world.lock().unwrap().batches.len() < 8 {
            std::thread::sleep(Duration::from_millis(20));
        }
        world.lock().unwrap().enqueued = usize::MAX;
    });
    let case = Case::new("openai/tiny", &server, &[]);
    let report = case.finishes(0);
    freed.join().unwrap();
    assert_eq!(report["cells"][0]["ledger"]["answered"], 18);
    let world = server.world.lock().unwrap();
    let sizes: Vec<usize> = world.batches.iter().map(|(entries, _)| entries.len()).collect();
    assert_eq!((&sizes[..7], sizes.last()), (&[18, 9, 4, 2, 1, 1, 1][..], Some(&17)), "{sizes:?}");
}

#[test]
fn each_round_of_a_method_with_several_is_a_batch() {
    let server = BatchServer::start(|_, _| End::Answered);
    let case = Case::new("openai/tiny", &server, &["--method", "memory-agent"]);
    let report = case.finishes(0);
    assert_eq!(server.n_batches(), 2, "the memories of all books, then the answers");
    let n = server.ids().len();
    each_once(&server, n);
    assert_eq!(report["cells"][0]["ledger"]["missing"], 0);
}

#[test]
fn a_model_without_a_batch_api_is_refused() {
    let sandbox = Sandbox::new();
    for model in ["gemini/gemini-x", "openai-compatible/tiny"] {
        sandbox.run(&["run", "--batch", "--model", model]).refuses(&["--batch", model, "openai/MODEL"]);
    }
    sandbox.run(&["run", "--batch-poll", "5"]).refuses(&["--batch-poll is for a run with --batch"]);
    sandbox.run(&["run", "--batch", "--batch-poll", "0"]).refuses(&["--batch-poll <SECONDS>", "from 0.1 to"]);
}
