//! ReadAgent and the memory agent on the sample; runs that are killed in the middle of a trial.

use crate::support::{Sandbox, rewrite_lines};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The answer to a request: status line and body; nothing for a request that is left waiting for ever.
type Answer = Option<(&'static str, String)>;

/// A model behind the OpenAI protocol that answers by a function of the prompt and the number of the request.
struct Server {
    url: String,
    /// The prompts, in the order of arrival.
    prompts: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answer: impl Fn(&str, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let prompts = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&prompts), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream.unwrap(), &log, &*answer));
            }
        });
        Self { url, prompts }
    }

    fn asked(&self) -> Vec<String> {
        self.prompts.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, log: &Mutex<Vec<String>>, answer: &dyn Fn(&str, usize) -> Answer) {
    let mut stream = BufReader::new(stream);
    let mut n_bytes = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        if let Some(length) = line.to_lowercase().strip_prefix("content-length:") {
            n_bytes = length.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; n_bytes];
    stream.read_exact(&mut body).unwrap();
    let request: Value = serde_json::from_slice(&body).unwrap();
    let prompt = request["messages"][0]["content"].as_str().unwrap().to_owned();
    let n = {
        let mut log = log.lock().unwrap();
        log.push(prompt.clone());
        log.len() - 1
    };
    match answer(&prompt, n) {
        Some((status, body)) => {
            let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.get_mut().write_all((head + &body).as_bytes()).unwrap();
        }
        // Until the client is gone.
        None => drop(stream.read(&mut [0])),
    }
}

/// A completion whose usage tells prompts apart. Memories are cut short at their limit: the cache keeps no such response.
fn response(text: &str, prompt: &str) -> (&'static str, String) {
    let finish = if text.starts_with("memory") { "length" } else { "stop" };
    let usage = json!({"prompt_tokens": prompt.len(), "completion_tokens": text.len()});
    let choices = json!([{"message": {"content": text}, "finish_reason": finish}]);
    ("200 OK", json!({"choices": choices, "usage": usage}).to_string())
}

/// Returns what a model says to the prompts of both methods; always the same to the same prompt.
fn said(prompt: &str) -> String {
    match prompt {
        p if p.contains("Make the passage below shorter") => format!("gist {}", p.len()),
        p if p.contains("Break point: <57>") => "No label is better than another.".to_owned(),
        p if p.contains("Which pages do you want") => "I want to look up Page [1, 3] to see.".to_owned(),
        p if p.contains("New memory:") => format!("memory {}", p.len()),
        p if p.contains("\\boxed{}") => "\\boxed{B}".to_owned(),
        _ => "Answer: (B)".to_owned(),
    }
}

/// A benchmark of a hundred paragraphs in one or several documents, and a choice about all of them.
fn benchmark(sandbox: &Sandbox, n_documents: usize) {
    let paragraph = |n| format!("On day {n} the ferry came late. Ana counted {n} sacks and wrote the number down.");
    let text: Vec<String> = (0..100).map(paragraph).collect();
    let ids: Vec<String> = (0..n_documents).map(|n| format!("ferry-{n}")).collect();
    let documents = ids.iter().zip(text.chunks(text.len() / n_documents)).map(|(id, text)| {
        let document = json!({"id": id, "title": "The Ferry", "language": "en", "text": text.join("\n\n")});
        format!("{document}\n")
    });
    sandbox.write("bench/documents.jsonl", documents.collect::<String>());
    let item = json!({"id": "q", "documents": ids, "question": "How many sacks on day 7?", "task": "choice",
        "options": ["Six", "Seven", "Eight"], "correct": 1});
    sandbox.write("bench/items.jsonl", format!("{item}\n"));
}

fn arguments<'a>(method: &'a str, url: &'a str, out: &'a str) -> Vec<&'a str> {
    let fixed = ["run", "--benchmark", "bench", "--no-cache", "--concurrency", "1", "--json"];
    let params = ["--param", "memory-agent.section_tokens=200", "--param", "read-agent.word_limit=200"];
    let more = ["--param", "read-agent.start_threshold=100", "--param", "read-agent.min_words=120"];
    let varied = ["--method", method, "--model", "openai-compatible/tiny", "--base-url", url, "--out", out];
    [&fixed[..], &params, &more, &varied].concat()
}

fn records(sandbox: &Sandbox, out: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(out).join("records.jsonl")).unwrap();
    let timeless = |line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record.as_object_mut().unwrap().remove("seconds");
        record
    };
    text.lines().map(timeless).collect()
}

fn preparations(sandbox: &Sandbox, out: &str) -> Vec<Value> {
    let Ok(folder) = std::fs::read_dir(sandbox.path(out).join("preparations")) else { return Vec::new() };
    folder.map(|file| serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap()).collect()
}

/// Waits until the server has been asked `n_asked` times, then kills the process as nothing can refuse.
fn kill_at(mut child: Child, server: &Server, n_asked: usize) {
    let started = Instant::now();
    while server.asked().len() < n_asked {
        assert!(started.elapsed() < Duration::from_secs(60), "asked {} times", server.asked().len());
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Runs undisturbed, then once more with two kills: nothing that was answered is asked again, and what is kept is the same.
fn survives_kills(method: &str, n_documents: usize, kills: [usize; 2]) {
    let sandbox = Sandbox::with_own_cache();
    benchmark(&sandbox, n_documents);
    let undisturbed = Server::start(|prompt, _| Some(response(&said(prompt), prompt)));
    sandbox.run(&arguments(method, &undisturbed.url, "whole")).exits(0);
    let expected = undisturbed.asked();
    assert!(expected.len() > kills[1] + 2, "{} calls", expected.len());

    let server = Server::start(move |prompt, n| (!kills.contains(&n)).then(|| response(&said(prompt), prompt)));
    for kill in kills {
        let mut command = sandbox.command(&arguments(method, &server.url, "r"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        kill_at(child, &server, kill + 1);
    }
    let journals = std::fs::read_dir(sandbox.path("r/journal")).unwrap().count();
    assert_eq!(journals, 1, "one trial is under way");
    sandbox.run(&arguments(method, &server.url, "r")).exits(0);

    let mut answered = server.asked();
    // What was under way when the run was killed was not answered.
    for kill in kills.into_iter().rev() {
        answered.remove(kill);
    }
    assert_eq!(answered, expected, "nothing is asked twice, and everything is asked");
    assert_eq!(records(&sandbox, "r"), records(&sandbox, "whole"), "usage included");
    assert_eq!(preparations(&sandbox, "r"), preparations(&sandbox, "whole"));
    assert!(!sandbox.path("r/journal").exists(), "nothing is left of the journal");

    sandbox.run(&arguments(method, &server.url, "r")).exits(0);
    assert_eq!(server.asked().len(), expected.len() + 2, "a finished run asks nothing");
}

#[test]
fn a_memory_goes_on_where_the_run_was_killed() {
    survives_kills("memory-agent", 1, [3, 7]);
}

#[test]
fn a_memory_goes_on_in_the_middle_of_a_corpus() {
    survives_kills("memory-agent", 20, [3, 8]);
}

#[test]
fn pages_gists_and_look_ups_go_on_where_the_run_was_killed() {
    survives_kills("read-agent", 1, [4, 12]);
}

/// Fails in the middle of a trial, then goes on in the folder that `moved` returns.
fn goes_on_where_it_failed(moved: impl Fn(&Sandbox) -> &'static str) {
    let sandbox = Sandbox::with_own_cache();
    benchmark(&sandbox, 1);
    let server = Server::start(|prompt, n| match n {
        5 => Some(("404 Not Found", r#"{"error":{"message":"no such model"}}"#.to_owned())),
        _ => Some(response(&said(prompt), prompt)),
    });
    let report = sandbox.run(&arguments("memory-agent", &server.url, "r")).exits(1).json();
    assert_eq!(report["cells"][0]["ledger"]["failed"], 1, "{report}");
    let out = moved(&sandbox);
    let report = sandbox.run(&arguments("memory-agent", &server.url, out)).exits(0).json();
    assert_eq!(report["cells"][0]["ledger"]["answered"], 1, "{report}");
    let mut asked = server.asked();
    assert_eq!(asked[5], asked[6], "the call that failed, and no other, is made again");
    asked.remove(5);
    let n = asked.len();
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), n);
    let last = records(&sandbox, out).pop().unwrap();
    let calls = last["calls"].as_array().unwrap();
    assert_eq!(calls.len(), n);
    assert!(calls.iter().all(|call| call.get("cached").is_none()), "all of it was spent in this run");
    assert!(!sandbox.path(out).join("journal").exists(), "nothing is left of the journal");
}

#[test]
fn a_trial_that_failed_goes_on_where_it_failed() {
    goes_on_where_it_failed(|_| "r");
}

#[test]
fn a_trial_that_failed_in_a_part_goes_on_in_the_merged_run() {
    goes_on_where_it_failed(|sandbox| {
        sandbox.run(&["merge", "r", "--out", "all"]).exits(0);
        sandbox.run(&["merge", "r", "r", "--out", "all", "--fresh"]).exits(0);
        "all"
    });
}

#[test]
fn both_agents_read_the_sample_without_a_language_model() {
    let sandbox = Sandbox::new();
    let items = "en-001,en-002,en-003,zh-001,zh-002,zh-003";
    let arguments = ["run", "--method", "read-agent,memory-agent", "--items", items, "--out", "r", "--json"];
    let report = sandbox.run(&arguments).exits(0).json();
    for cell in report["cells"].as_array().unwrap() {
        let ledger = &cell["ledger"];
        assert_eq!(ledger["trials"], 6, "{cell}");
        assert_eq!(ledger["answered"].as_u64().unwrap() + ledger["not_found"].as_u64().unwrap(), 6, "{cell}");
    }
    for record in records(&sandbox, "r") {
        let measure = |name: &str| record["measures"][name].as_f64().unwrap();
        if record["method"] == "memory-agent" {
            assert!(measure("sections") > 1.0, "{record}");
        } else {
            assert!(measure("pages") > 10.0 && measure("pages_looked_up") <= 6.0, "{record}");
            assert!(measure("compression") > measure("compression_after_lookup"), "{record}");
            assert!(measure("compression") > 0.3, "{record}");
        }
    }
    assert_eq!(preparations(&sandbox, "r").len(), 2, "one for each book");
}

#[test]
fn preparations_that_several_parts_paid_for_all_count_in_the_merged_run() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox, 1);
    let server = Server::start(|prompt, _| Some(response(&said(prompt), prompt)));
    for out in ["p1", "p2"] {
        sandbox.run(&arguments("read-agent", &server.url, out)).exits(0);
    }
    let made = std::fs::read_dir(sandbox.path("p2/preparations")).unwrap().next().unwrap().unwrap().path();
    let mut other: Value = serde_json::from_slice(&std::fs::read(&made).unwrap()).unwrap();
    other["calls"].as_array_mut().unwrap().pop();
    std::fs::write(&made, other.to_string()).unwrap();
    let n_calls = |out: &str| {
        let report = sandbox.run(&["report", out, "--json"]).exits(0).json();
        let usage = report["tables"].as_array().unwrap().iter().find(|table| table["id"] == "usage").unwrap();
        let calls = usage["columns"].as_array().unwrap().iter().position(|column| column == "calls").unwrap();
        usage["rows"].as_array().unwrap().iter().map(|row| row[calls]["count"].as_u64().unwrap()).sum::<u64>()
    };
    let expected = n_calls("p1") + other["calls"].as_array().unwrap().len() as u64;
    for (parts, out) in [(["p1", "p2"], "m"), (["m", "m"], "again")] {
        sandbox.run(&["merge", parts[0], parts[1], "--out", out]).exits(0);
        assert_eq!(n_calls(out), expected, "{out}");
    }
    assert_eq!(preparations(&sandbox, "m").len(), 2);
    rewrite_lines(&sandbox, "bench/documents.jsonl", |book| book["title"] = json!("The Other Ferry"));
    sandbox.run(&[&arguments("read-agent", &server.url, "m")[..], &["--extend"]].concat()).exits(0);
    assert_eq!(preparations(&sandbox, "m").len(), 1, "those of all parts are of the old book");
}

#[test]
fn trials_of_joined_parts_are_verified_by_what_their_part_made_of_the_book() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox, 1);
    let item = std::fs::read_to_string(sandbox.path("bench/items.jsonl")).unwrap();
    sandbox.write("bench/items.jsonl", [item.clone(), item.replace("\"q\"", "\"other\"")].concat());
    // A model that never says the same twice.
    let server = Server::start(|prompt, n| Some(response(&format!("{} {n}", said(prompt)), prompt)));
    for (part, out) in [("1/2", "p1"), ("2/2", "p2")] {
        sandbox.run(&[&arguments("read-agent", &server.url, out)[..], &["--shard", part]].concat()).exits(0);
    }
    sandbox.run(&["merge", "p1", "p2", "--out", "m"]).exits(0);
    assert_eq!(preparations(&sandbox, "m").len(), 2);
    sandbox.run(&["verify", "m"]).exits(0);
    rewrite_lines(&sandbox, "m/records.jsonl", |record| record["calls"][0]["sha256"] = json!("0"));
    sandbox.run(&["verify", "m"]).exits(1);
}

#[test]
fn pages_are_made_once_for_all_readers_and_repetitions() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox, 1);
    let server = Server::start(|prompt, _| Some(response(&said(prompt), prompt)));
    let mut run = arguments("read-agent", &server.url, "r");
    let models = run.iter_mut().find(|argument| **argument == "openai-compatible/tiny").unwrap();
    *models = "openai-compatible/tiny,openai-compatible/large";
    run.extend(["--repeats", "2", "--preparer", "openai-compatible/maker"]);
    let report = sandbox.run(&run).exits(0).json();
    let made = preparations(&sandbox, "r");
    assert_eq!(made.len(), 1);
    assert_eq!(made[0]["model"], "openai-compatible/maker");
    let n_pages = made[0]["prepared"]["Ok"]["pages"].as_array().unwrap().len();
    let gists = server.asked().iter().filter(|prompt| prompt.contains("Make the passage below shorter")).count();
    assert!(n_pages > 3 && gists == n_pages, "{gists} gists of {n_pages} pages");
    assert_eq!(records(&sandbox, "r").len(), 4, "two readers, two repetitions");
    let usage = report["usage"].as_array().unwrap();
    let prepared: Vec<_> = usage.iter().filter(|usage| usage["preparation"] == true).collect();
    assert_eq!(prepared.len(), 1, "billed once: {usage:?}");
    assert_eq!(prepared[0]["model"], "openai-compatible/maker");
    sandbox.run(&["verify", "r"]).exits(0);

    // What only an answer reads leaves the pages as they are.
    let asked = server.asked().len();
    run.extend(["--extend", "--param", "read-agent.max_pages=1"]);
    sandbox.run(&run).exits(0);
    let new = server.asked().split_off(asked);
    assert!(new.iter().all(|prompt| !prompt.contains("Make the passage below shorter")) && !new.is_empty());

    let estimate = |more: &[&str]| {
        let fixed = ["estimate", "--benchmark", "bench", "--method", "read-agent", "--json", "--repeats", "2"];
        let models = ["--model", "openai-compatible/tiny,openai-compatible/large"];
        let estimate = sandbox.run(&[&fixed[..], &models, more].concat()).exits(0).json();
        let calls = |cell: &Value| cell["calls"]["low"].as_u64().unwrap();
        let cells = estimate["cells"].as_array().unwrap();
        (cells.len(), cells.iter().map(calls).sum::<u64>())
    };
    let ((each, n_each), (shared, n_shared)) = (estimate(&[]), estimate(&["--preparer", "openai-compatible/maker"]));
    assert_eq!((each, shared), (2, 3), "the preparer has a line of its own");
    assert!(n_shared < n_each, "{n_shared} calls with a preparer, {n_each} without");
}
