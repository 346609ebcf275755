//! Tests of every method against a server that nobody here wrote: llama.cpp's llama-server over tiny random weights.
//!
//! `CLOSEREAD_SERVERS` names the folder that holds `bin/llama-server` and `tiny.gguf`.

use crate::support::Sandbox;
use closeread_methods::METHODS;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A choice on the English book, an open question on the Chinese one, and a summary of fifteen key facts.
const ITEMS: [&str; 3] = ["en-002", "zh-007", "en-kf-01"];
/// Id of the item that is a summary.
const SUMMARY: &str = "en-kf-01";
/// Names of every judge that something is asked of where no reader cites evidence.
const JUDGES: [&str; 7] = [
    "align-key-facts",
    "classify-question",
    "judge-corpusqa",
    "judge-novelqa",
    "judge-sagascale",
    "rule",
    "verify-facts",
];
/// Tokens of the server's window, by the model's own count: more than any method needs but the whole book.
const WINDOW: &str = "32768";
/// Longest that anything here may take.
const PATIENCE: Duration = Duration::from_secs(900);

/// A llama-server on a port of its own; killed when dropped.
pub(crate) struct LlamaServer {
    folder: PathBuf,
    pub(crate) port: u16,
    more: &'static [&'static str],
    child: Child,
}

impl LlamaServer {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts the server with further arguments.
    pub(crate) fn start_with(more: &'static [&'static str]) -> Self {
        let folder = PathBuf::from(std::env::var_os("CLOSEREAD_SERVERS").expect("CLOSEREAD_SERVERS is set"));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Self::spawn(&folder, port, more);
        Self { folder, port, more, child }.ready()
    }

    fn spawn(folder: &Path, port: u16, more: &[&str]) -> Child {
        // The weights were made for fewer positions than the window has; being random, they do not mind.
        let positions = format!("llama.context_length=int:{WINDOW}");
        let mut command = Command::new(folder.join("bin/llama-server"));
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "-a", "tiny", "-t", "2", "--jinja"]);
        command.args(["-c", WINDOW, "-np", "1", "--override-kv", &positions, "-m"]).arg(folder.join("tiny.gguf"));
        command.args(more).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("CLOSEREAD_SERVERS holds bin/llama-server, made by the script that starts it")
    }

    fn ready(self) -> Self {
        let until = Instant::now() + Duration::from_secs(60);
        while !is_healthy(self.port) {
            assert!(Instant::now() < until, "llama-server does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
        self
    }

    /// Kills the server as `kill -9` does and starts another in its place.
    fn replaced(mut self) -> Self {
        self.kill();
        let (folder, port, more) = (self.folder.clone(), self.port, self.more);
        let child = Self::spawn(&folder, port, more);
        Self { folder, port, more, child }.ready()
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for LlamaServer {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_healthy(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response)
    };
    ask().is_ok_and(|response| response.starts_with("HTTP/1.1 200"))
}

/// Stands before the server and counts the requests that were answered, by their bodies.
struct Counter {
    url: String,
    answered: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Counter {
    fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let answered = Arc::new(Mutex::new(BTreeMap::new()));
        let log = Arc::clone(&answered);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&log);
                std::thread::spawn(move || {
                    // What fails here is a server that was killed: the client sees its connection break.
                    if let Ok(Some(body)) = relay(stream, port) {
                        *log.lock().unwrap().entry(body).or_default() += 1;
                    }
                });
            }
        });
        Self { url, answered }
    }

    fn n_answered(&self) -> usize {
        self.answered.lock().unwrap().values().sum()
    }
}

/// Relays one request and its response; returns the body of the request if the response came whole and claims success.
fn relay(client: TcpStream, port: u16) -> std::io::Result<Option<String>> {
    let mut client = BufReader::new(client);
    let (mut head, mut n_bytes) = (String::new(), 0);
    loop {
        let mut line = String::new();
        client.read_line(&mut line)?;
        let lower = line.to_lowercase();
        if let Some(length) = lower.strip_prefix("content-length:") {
            n_bytes = length.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
        if !lower.starts_with("connection:") {
            head += &line;
        }
    }
    let mut body = vec![0; n_bytes];
    client.read_exact(&mut body)?;
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    server.write_all(format!("{head}connection: close\r\n\r\n").as_bytes())?;
    server.write_all(&body)?;
    let mut response = Vec::new();
    server.read_to_end(&mut response)?;
    let is_whole = response.starts_with(b"HTTP/1.1 200") && response.ends_with(b"}");
    client.get_mut().write_all(&response)?;
    Ok(is_whole.then(|| String::from_utf8_lossy(&body).into_owned()))
}

fn example() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/llama-server.toml").display().to_string()
}

fn arguments<'a>(example: &'a str, url: &'a str, items: &'a str, out: &'a str) -> Vec<&'a str> {
    // Two sections of a book are as good as all of them.
    let shorter = ["--param", "memory-agent.max_context=10000"];
    let fixed = ["run", "--config", example, "--base-url", url, "--items", items, "--out", out, "--json"];
    [&fixed[..], &shorter].concat()
}

/// The lines of a file that are whole.
fn lines(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn records(sandbox: &Sandbox) -> Vec<Value> {
    lines(sandbox, "r/records.jsonl")
}

/// The judgements of a run by judge, each of them ruled.
fn ruled(sandbox: &Sandbox, run: &str) -> BTreeSet<String> {
    let judgements = lines(sandbox, &format!("{run}/judgements.jsonl"));
    for judgement in &judgements {
        assert_eq!(judgement["state"], "ruled", "{judgement}");
    }
    judgements.iter().map(|judgement| judgement["judge"].as_str().unwrap().to_owned()).collect()
}

/// Starts the run and leaves it when `there` says so.
fn run_until(sandbox: &Sandbox, arguments: &[&str], there: impl Fn() -> bool) -> Child {
    let mut child = sandbox.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    while !there() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before the server could be killed");
        assert!(Instant::now() < until, "the run did not get this far in time");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llama-server"]
fn needs_llama_every_method_and_judge_finishes_on_a_server_that_is_killed_three_times() {
    let mut server = LlamaServer::start();
    let counter = Counter::before(server.port);
    // Responses of this server are not confused with another's: its port is part of what they are remembered by.
    let sandbox = Sandbox::new();
    let (example, items) = (example(), ITEMS.join(","));
    let arguments = arguments(&example, &counter.url, &items, "r");

    // The server dies, and then the run: the same command goes on.
    let mut child = run_until(&sandbox, &arguments, || counter.n_answered() >= 4);
    server.kill();
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();

    // The server dies and comes back: the run waits and goes on by itself.
    server = server.replaced();
    let mut child = run_until(&sandbox, &arguments, || records(&sandbox).len() >= 3);
    let finished = records(&sandbox);
    let server = server.replaced();
    // And once more while the answers are judged.
    let until = Instant::now() + PATIENCE;
    while lines(&sandbox, "r/judgements.jsonl").len() < 60 && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "nothing was judged in time");
        std::thread::sleep(Duration::from_millis(20));
    }
    let server = server.replaced();
    assert!(child.wait().unwrap().success(), "the run ended as if nothing had happened");
    let ended = sandbox.run(&arguments).exits(0);

    let report = ended.json();
    assert_eq!(report["complete"], true, "{report}");
    let cells = report["cells"].as_array().unwrap();
    for entry in METHODS.iter() {
        assert!(cells.iter().any(|cell| cell["method"] == entry.name), "{} was not run", entry.name);
    }
    for cell in cells {
        let (method, ledger) = (&cell["method"], &cell["ledger"]);
        for part in ["failed", "missing", "unparsed", "blocked"] {
            assert_eq!(ledger[part], 0, "{method}: {ledger}");
        }
        let n_overflows = match method.as_str() {
            Some("full-document") => ITEMS.len(),
            // What is no summary it does not ask.
            Some("query-summary") => 1,
            _ => 0,
        };
        assert_eq!(ledger["overflow"], n_overflows, "{method}: {ledger}");
    }

    let all = records(&sandbox);
    for record in &finished {
        assert_eq!(
            all.iter().filter(|other| *other == record).count(),
            1,
            "what was finished stays as it is: {record}"
        );
    }
    let mut n_calls = 0;
    for call in all.iter().flat_map(|record| record["calls"].as_array().unwrap()) {
        let tokens = |name: &str| call["usage"][name].as_u64().unwrap_or(0);
        assert!(tokens("prompt_tokens") > 0 && tokens("completion_tokens") > 0, "usage is counted: {call}");
        n_calls += 1;
    }
    assert!(n_calls > METHODS.len(), "{n_calls} calls");
    assert_eq!(ruled(&sandbox, "r"), JUDGES.map(str::to_owned).into());
    for (metric, method) in [("judged_accuracy", "dos-rag"), ("recall", "memory-agent"), ("faithfulness", "raptor")] {
        let cell = cells.iter().find(|cell| cell["method"] == method).unwrap();
        assert_eq!(cell["metrics"][metric]["n"], 1, "{metric} of {method}: {cell}");
    }
    let judging = report["usage"].as_array().unwrap().iter().filter(|usage| usage["judging"] == true);
    let asked: u64 = judging.map(|usage| usage["calls"].as_u64().unwrap()).sum();
    assert!(asked >= JUDGES.len() as u64, "{asked} calls of judges: {}", report["usage"]);
    {
        let answered = counter.answered.lock().unwrap();
        let twice: Vec<&String> = answered.iter().filter(|(_, n)| **n > 1).map(|(body, _)| body).collect();
        assert!(twice.is_empty(), "{} requests were answered twice, the first: {}", twice.len(), twice[0]);
    }
    sandbox.run(&["verify", "r"]).exits(0);

    // What does not fit is cut for once, and evidence is asked for and judged.
    let whole =
        ["--method", "full-document,query-summary", "--context-window", "6000", "--on-overflow", "truncate-end"];
    let cited = ["--param", "full-document.style=novelqa", "--param", "full-document.evidence=true"];
    let judge = ["--judge-model", "openai-compatible/tiny"];
    let arguments = self::arguments(&example, &counter.url, &items, "whole");
    let report = sandbox.run(&[&arguments[..], &whole, &cited, &judge].concat()).exits(0).json();
    assert_eq!(report["complete"], true, "{report}");
    for cell in report["cells"].as_array().unwrap() {
        assert_eq!((&cell["ledger"]["overflow"], &cell["ledger"]["failed"]), (&json!(0), &json!(0)), "{cell}");
    }
    let judges = ["align-key-facts", "judge-novelqa", "judge-novelqa-evidence", "rule", "verify-facts"];
    assert_eq!(ruled(&sandbox, "whole"), judges.map(str::to_owned).into());
    let summaries = lines(&sandbox, "whole/records.jsonl");
    assert!(
        summaries.iter().any(|r| r["item"] == SUMMARY && r["method"] == "query-summary" && r["scores"].is_object())
    );
    drop(server);
}
