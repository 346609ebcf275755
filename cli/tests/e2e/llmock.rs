//! Faults of a server that nobody here wrote, which afterwards says how the client behaved: PyPI's llmock.
//!
//! `CLOSEREAD_SERVERS` names the folder that was given to the script that starts it (`venv/bin/llmock` is in there, or in
//! the folder `llmock` in it or beside it).

use crate::crashes::{start, wait_until};
use crate::fault_server::{cases, records, run_cases};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A llmock on a port of its own; killed when dropped.
struct Llmock {
    port: u16,
    child: Child,
}

impl Llmock {
    fn start(flags: &[&str]) -> Self {
        let beside = |folder: PathBuf| {
            ["venv/bin/llmock", "llmock/venv/bin/llmock", "../llmock/venv/bin/llmock"].map(|path| folder.join(path))
        };
        let folder = std::env::var_os("CLOSEREAD_SERVERS").expect("CLOSEREAD_SERVERS is set");
        let program = beside(folder.into()).into_iter().find(|path| path.is_file()).expect("llmock is in it");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        command.args(["serve", "--port", &port.to_string(), "--context-window", "2000", "--response-style", "echo"]);
        let child = command.args(flags).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Self { port, child };
        let until = Instant::now() + Duration::from_secs(60);
        while server.ask("GET", "/health", "").is_err() {
            assert!(Instant::now() < until, "llmock does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
        server
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let length = body.len();
        let head = "host: localhost\r\nconnection: close\r\ncontent-type: application/json";
        write!(stream, "{method} {path} HTTP/1.1\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}")?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        let body = response.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        Ok(serde_json::from_str(body)?)
    }

    /// Queues what the next requests meet.
    fn script(&self, behaviors: &Value) {
        self.ask("POST", "/_llmock/scenario", &json!({ "behaviors": behaviors }).to_string()).unwrap();
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Holds the client to llmock's verdict: at least so many faults, and nothing to complain about.
    #[track_caller]
    fn approves(&self, n_faults: u64) {
        let verdict = self.ask("GET", "/_llmock/verdict", "").unwrap();
        assert_eq!((&verdict["passed"], &verdict["findings"]), (&json!(true), &json!([])), "{verdict}");
        assert!(verdict["faults_injected"].as_u64().unwrap() >= n_faults, "{verdict}");
    }
}

impl Drop for Llmock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("q{n}")).collect()
}

const PROVIDERS: [(&str, &str, &str); 3] = [
    ("openai-compatible/tiny", "OPENAI_COMPATIBLE_API_KEY", "/v1"),
    ("anthropic/claude-x", "ANTHROPIC_API_KEY", "/anthropic"),
    ("gemini/gemini-x", "GEMINI_API_KEY", "/gemini"),
];

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llmock"]
fn needs_llmock_every_status_is_met_as_llmock_wants_it() {
    let server = Llmock::start(&[]);
    for (model, variable, path) in PROVIDERS {
        let faults = [429, 500, 502, 503, 504, 529, 408].map(|status| json!({"type": "fail", "status": status}));
        let finals = [400, 403, 404, 422].map(|status| json!({"type": "fail", "status": status}));
        let waits = [
            json!({"type": "fail", "status": 429, "retry_after": 1.5}),
            json!({"type": "fail", "status": 503, "retry_after": 1}),
        ];
        server.script(&json!([&faults[..], &finals, &waits].concat()));
        let sandbox = Sandbox::with_own_cache();
        cases(&sandbox, &names(20));
        let url = server.url().replace("/v1", path);
        let run = sandbox.command(&run_cases(model, &url, &["--verbose"])).env(variable, "a-key").output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        let records = records(&sandbox);
        let n_failed = records.values().filter(|record| record["outcome"] == "failed").count();
        assert_eq!((run.status.code(), records.len(), n_failed), (Some(1), 20, 4), "{model}: {said}");
    }
    server.approves(39);
}

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llmock"]
fn needs_llmock_broken_streams_and_stalls_are_asked_again() {
    let server = Llmock::start(&[]);
    for (model, variable, path) in PROVIDERS {
        let broken = ["disconnect", "truncate", "malformed", "stall"]
            .map(|kind| json!({"type": "stream_fault", "kind": kind, "after_chunks": 2, "stall_seconds": 30}));
        server.script(&json!(broken));
        let sandbox = Sandbox::with_own_cache();
        cases(&sandbox, &names(8));
        let url = server.url().replace("/v1", path);
        let options = ["--max-output-tokens", "4096", "--timeout", "3", "--verbose"];
        let run = sandbox.command(&run_cases(model, &url, &options)).env(variable, "a-key").output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!((run.status.code(), records(&sandbox).len()), (Some(0), 8), "{model}: {said}");
        for words in ["the stream ended before the response did", "no JSON", "no response in time"] {
            assert!(said.contains(words), "{model}: {words}: {said}");
        }
    }
    server.approves(12);
}

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llmock"]
fn needs_llmock_limits_of_a_minute_and_a_window_are_kept() {
    let flags = ["--rpm", "40", "--context-window", "400"];
    let server = Llmock::start(&flags);
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(50));
    let long = json!({"id": "long", "language": "en", "text": "Ana came to the mill at dusk. ".repeat(100)});
    let text = std::fs::read_to_string(sandbox.path("cases/documents.jsonl")).unwrap();
    sandbox.write("cases/documents.jsonl", format!("{text}{long}\n"));
    let item = json!({"id": "too-long", "documents": ["long"], "question": "Case long: who came?", "task": "choice",
        "options": ["Ana", "Bo"], "correct": 0});
    let items = std::fs::read_to_string(sandbox.path("cases/items.jsonl")).unwrap();
    sandbox.write("cases/items.jsonl", format!("{items}{item}\n"));
    let url = server.url();
    let mut arguments = run_cases("openai-compatible/tiny", &url, &["--verbose"]);
    arguments
        .iter_mut()
        .filter(|argument| **argument == "closed-book")
        .for_each(|argument| *argument = "full-document");
    let ended = sandbox.run(&arguments).exits(0);
    let records = records(&sandbox);
    assert_eq!(records["too-long"]["outcome"], "overflow", "{}", records["too-long"]);
    assert!(ended.err().contains("429"), "it met the limit: {}", ended.err());
    assert_eq!(records.len(), 51);
    server.approves(0);
}

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llmock"]
fn needs_llmock_a_thousand_items_with_random_faults_killed_twice_are_all_there_once() {
    let flags = [
        "--error-rate",
        "429=0.02",
        "--error-rate",
        "500=0.01",
        "--error-rate",
        "503=0.01",
        "--error-rate",
        "502=0.01",
    ];
    let server = Llmock::start(&flags);
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(1_000));
    let url = server.url();
    let arguments = run_cases("openai-compatible/tiny", &url, &[]);
    for kill in 1..=2 {
        let mut run = start(sandbox.command(&arguments));
        wait_until(&mut run, "more records", || records(&sandbox).len() >= 200 * kill);
        run.kill().unwrap();
        run.wait().unwrap();
    }
    // A run that was killed while it waited does not know of it: only the last one is held to what was asked of it.
    server.ask("DELETE", "/_llmock/requests", "").unwrap();
    let report = sandbox.run(&arguments).exits(0).json();
    assert_eq!((&report["complete"], &report["cells"][0]["ledger"]["failed"]), (&json!(true), &json!(0)));
    let text = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    assert_eq!((text.lines().count(), records(&sandbox).len()), (1_000, 1_000));
    server.approves(10);
}
