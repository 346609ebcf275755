//! A model behind the OpenAI protocol, on a server of the test's own.

use crate::embeddings::openai;
use crate::http::{HttpServer, ok};
use crate::rerank::{oracle, scored};
use crate::support::{Sandbox, tales};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A server that answers requests one after the other; [`Server::start`] with the next of its responses (status line,
/// body), the last one for ever.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) requests: Arc<Mutex<Vec<Value>>>,
    n_authorized: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) fn start(responses: Vec<(&'static str, String)>) -> Self {
        Self::replying(move |n, _| responses[n.min(responses.len() - 1)].clone())
    }

    /// Answers by the number of the request and its body.
    pub(crate) fn replying(response: impl Fn(usize, &Value) -> (&'static str, String) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let n_authorized = Arc::new(AtomicUsize::new(0));
        let (log, authorized) = (Arc::clone(&requests), Arc::clone(&n_authorized));
        std::thread::spawn(move || {
            // A client that was killed in the middle of a request is skipped.
            let mut n = 0;
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let Ok((body, has_key)) = read_request(&mut stream) else { continue };
                authorized.fetch_add(usize::from(has_key), Ordering::SeqCst);
                log.lock().unwrap().push(body.clone());
                let (status, response) = response(n, &body);
                n += 1;
                let head =
                    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", response.len());
                let _ = stream.get_mut().write_all((head + &response).as_bytes());
            }
        });
        Self { url, requests, n_authorized }
    }
}

/// The body of a request, and whether it came with a key.
fn read_request(stream: &mut impl BufRead) -> std::io::Result<(Value, bool)> {
    let (mut n_bytes, mut has_key) = (0, false);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let lower = line.to_lowercase();
        if let Some(length) = lower.strip_prefix("content-length:") {
            n_bytes = length.trim().parse().unwrap();
        }
        has_key |= lower.starts_with("authorization: bearer");
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; n_bytes];
    stream.read_exact(&mut body)?;
    Ok((serde_json::from_slice(&body)?, has_key))
}

pub(crate) fn answer(text: &str) -> String {
    let usage = serde_json::json!({"prompt_tokens": 11, "completion_tokens": 7});
    serde_json::json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage})
        .to_string()
}

fn arguments<'a>(url: &'a str, items: &'a str) -> Vec<&'a str> {
    let fixed = ["run", "--method", "dos-rag", "--retriever", "bm25", "--budget", "500", "--out", "r", "--json"];
    [&fixed[..], &["--model", "openai-compatible/tiny", "--base-url", url, "--items", items, "--concurrency", "1"]]
        .concat()
}

#[test]
fn a_server_is_asked_with_the_key_and_the_key_is_written_nowhere() {
    let server = Server::start(vec![("503 Busy", String::new()), ("200 OK", answer("Surely [[1]]."))]);
    let sandbox = Sandbox::with_own_cache();
    let secret = "sk-do-not-write-me-down";
    let mut command = sandbox.command(&arguments(&server.url, "en-002,en-003"));
    let output = command.env("OPENAI_COMPATIBLE_API_KEY", secret).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));

    let requests = server.requests.lock().unwrap();
    assert_eq!(requests.len(), 3, "two questions, one of them asked again after a 503");
    assert_eq!(requests[0]["model"], "tiny");
    assert_eq!(requests[0]["temperature"], 0.0);
    assert_eq!(server.n_authorized.load(Ordering::SeqCst), 3);
    let records = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    assert!(records.contains("Surely [[1]].") && records.contains("\"prompt_tokens\":11"), "{records}");
    for name in ["manifest.json", "records.jsonl", "report.json", "items.jsonl"] {
        assert!(!std::fs::read_to_string(sandbox.path("r").join(name)).unwrap().contains(secret), "{name}");
    }
    assert!(!String::from_utf8_lossy(&output.stderr).contains(secret));
}

#[test]
fn a_final_error_is_not_tried_again_and_an_overflow_is_told_apart() {
    let overflow = r#"{"error":{"code":"context_length_exceeded","message":"maximum context length is 5 tokens"}}"#;
    let refused = r#"{"error":{"message":"no such model"}}"#;
    let server = Server::start(vec![("400 Bad Request", overflow.to_owned()), ("404 Not Found", refused.to_owned())]);
    let sandbox = Sandbox::with_own_cache();
    let ended = sandbox.run(&arguments(&server.url, "en-002,en-003")).exits(1);
    let words = "1 of 2 prompts did not fit the context window by the server's count";
    assert!(ended.err().contains(words), "{}", ended.err());
    let report = ended.json();
    let ledger = &report["cells"][0]["ledger"];
    assert_eq!((&ledger["overflow"], &ledger["failed"]), (&1.into(), &1.into()), "{ledger}");
    assert_eq!(server.requests.lock().unwrap().len(), 2);
}

#[test]
fn anthropic_and_gemini_are_asked_in_their_own_shape() {
    let anthropic = r#"{"content":[{"type":"text","text":"[[1]]"}],"stop_reason":"end_turn","usage":{"input_tokens":5,
        "cache_read_input_tokens":6,"output_tokens":7}}"#;
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"[[1]]"}]},"finishReason":"STOP"}],
        "usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":7}}"#;
    for (model, response) in [("anthropic/claude-x", anthropic), ("gemini/gemini-x", gemini)] {
        let server = Server::start(vec![("200 OK", response.to_owned())]);
        let base = server.url.trim_end_matches("/v1").to_owned();
        let sandbox = Sandbox::with_own_cache();
        let report = sandbox
            .run(&[
                "run",
                "--method",
                "full-document",
                "--items",
                "en-002",
                "--out",
                "r",
                "--json",
                "--model",
                model,
                "--base-url",
                &base,
            ])
            .exits(0)
            .json();
        assert_eq!(report["cells"][0]["ledger"]["answered"], 1, "{report}");
        let records = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
        assert!(records.contains(r#""prompt_tokens":11,"completion_tokens":7"#), "{records}");
        let request = &server.requests.lock().unwrap()[0];
        let book = match model.starts_with("anthropic") {
            true => {
                let blocks = &request["messages"][0]["content"];
                assert_eq!(blocks[0]["cache_control"]["type"], "ephemeral", "the book is marked for the prompt cache");
                assert!(blocks[1]["text"].as_str().unwrap().contains("Question:"));
                &blocks[0]["text"]
            }
            false => &request["contents"][0]["parts"][0]["text"],
        };
        assert!(book.as_str().unwrap().len() > 100_000);
    }
}

#[test]
fn a_model_that_refuses_a_field_is_asked_without_it() {
    let refusal = r#"{"error":{"code":"unsupported_value","param":"temperature","message":"Only the default (1)."}}"#;
    let server = Server::start(vec![("400 Bad Request", refusal.to_owned()), ("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    let mut arguments = arguments(&server.url, "en-002,en-003");
    arguments.extend(["--extra-body", r#"{"top_p": 0.5}"#]);
    let said = sandbox.run(&arguments).exits(0).err();
    assert_eq!(said.matches("Only the default (1).; asked again without it, from now on").count(), 1, "{said}");
    let requests = server.requests.lock().unwrap();
    assert_eq!(requests.len(), 3, "refused once, never asked that way again");
    assert!(requests[1].get("temperature").is_none() && requests[2].get("temperature").is_none());
    assert_eq!(requests[0]["top_p"], 0.5);
}

#[test]
fn a_prompt_has_fields_of_its_own_and_other_fields_are_another_question() {
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    let config = "extra-body = '{\"top_p\": 0.5}'\n[extra-bodies.read-choice]\ngrammar = 'root ::= \"[[1]]\"'";
    let config = sandbox.write("run.toml", config).display().to_string();
    let mut run = arguments(&server.url, "en-002");
    run.extend(["--config", &config, "--extra-body", r#"dos-rag={"min_p": 0.1, "top_p": 0.9}"#]);
    sandbox.run(&run).exits(0);
    {
        let requests = server.requests.lock().unwrap();
        let fields = |name: &str| requests[0][name].clone();
        assert_eq!(
            (fields("top_p"), fields("min_p"), fields("grammar")),
            (0.9.into(), 0.1.into(), r#"root ::= "[[1]]""#.into())
        );
    }
    let manifest = std::fs::read_to_string(sandbox.path("r/manifest.json")).unwrap();
    assert!(manifest.contains("\"extra_bodies\"") && manifest.contains("\"min_p\""), "{manifest}");

    sandbox.run(&[&run[..], &["--fresh"]].concat()).exits(0);
    assert_eq!(server.requests.lock().unwrap().len(), 1, "the response is remembered");
    let other = [&run[..], &["--extra-body", r#"read-choice={"grammar": "x"}"#]].concat();
    sandbox.run(&other).refuses(&["another configuration", "extra_bodies"]);
    sandbox.run(&[&other[..], &["--fresh"]].concat()).exits(0);
    assert_eq!(server.requests.lock().unwrap()[1]["grammar"], "x", "with other fields it is asked anew");
    sandbox.run(&[&run[..], &["--extra-body", "reed-choice={}"]].concat()).refuses(&["`reed-choice`", "read-choice"]);
}

#[test]
fn a_provider_is_checked_with_one_small_request() {
    let error = r#"{"error":{"message":"Incorrect API key provided: sk-secret-1"}}"#;
    let server = Server::start(vec![("401 Unauthorized", error.to_owned()), ("200 OK", answer("ready"))]);
    let sandbox = Sandbox::with_own_cache();
    let arguments = ["providers", "check", "openai/gpt-x", "--base-url", &server.url];
    let refused = sandbox.command(&arguments).env("OPENAI_API_KEY", "sk-secret-1").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stdout).into_owned() + &String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said.contains("The key was not accepted") && !said.contains("sk-secret-1"), "{said}");
    std::fs::write(sandbox.path(".env"), "OPENAI_API_KEY=sk-from-file\nCLOSEREAD_RUN_MAX_COST=5\n").unwrap();
    let told = sandbox.run(&arguments).exits(0).err();
    assert!(told.contains(".env: only keys are read from it: set CLOSEREAD_RUN_MAX_COST in the environment"), "{told}");
    assert_eq!(server.n_authorized.load(Ordering::SeqCst), 2, "the key of .env is used");
    let wide = "\u{feff}OPENAI_API_KEY=sk-from-powershell\r\n".encode_utf16().flat_map(u16::to_le_bytes);
    std::fs::write(sandbox.path(".env"), wide.collect::<Vec<u8>>()).unwrap();
    let told = sandbox.run(&["providers"]).exits(0).out();
    assert!(told.contains("key in OPENAI_API_KEY"), "PowerShell's `>` writes UTF-16: {told}");
    assert_eq!(server.requests.lock().unwrap()[0]["max_completion_tokens"], 256);
}

#[test]
fn what_was_asked_before_is_not_asked_again() {
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    let first = arguments(&server.url, "en-002,en-003");
    sandbox.run(&first).exits(0);
    let n_requests = || server.requests.lock().unwrap().len();
    assert_eq!(n_requests(), 2);

    let folder = |name: &'static str, more: &[&'static str]| -> Vec<&str> {
        let renamed = first.iter().map(|argument| if *argument == "r" { name } else { argument });
        renamed.chain(more.iter().copied()).collect()
    };
    sandbox.run(&folder("again", &[])).exits(0);
    assert_eq!(n_requests(), 2, "another folder, the same calls");
    let records = std::fs::read_to_string(sandbox.path("again/records.jsonl")).unwrap();
    assert_eq!(records.matches("\"cached\":true").count(), 2, "{records}");
    sandbox.run(&folder("repeats", &["--repeats", "2"])).exits(0);
    assert_eq!(n_requests(), 4, "a second repetition is asked anew");
    sandbox.run(&folder("seed", &["--seed", "1"])).exits(0);
    assert_eq!(n_requests(), 6, "another seed is another question");
    sandbox.run(&folder("forgetful", &["--no-cache"])).exits(0);
    assert_eq!(n_requests(), 8);

    let listed = sandbox.run(&["cache", "list", "--json"]).exits(0).json();
    assert_eq!(listed["responses"][0]["model"], "openai-compatible/tiny");
    assert_eq!(listed["responses"][0]["n"], 6);
    sandbox.run(&["cache", "verify"]).exits(0);
    sandbox.run(&["cache", "prune", "--older-than", "0"]).exits(0);
    assert_eq!(sandbox.run(&["cache", "list", "--json"]).exits(0).json()["responses"], serde_json::json!([]));
}

#[test]
fn the_quick_cell_is_asked_before_whole_books() {
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    sandbox
        .run(&[
            "run",
            "--method",
            "closed-book,full-document",
            "--items",
            "en-002,en-003,en-004",
            "--out",
            "r",
            "--model",
            "openai-compatible/tiny",
            "--base-url",
            &server.url,
        ])
        .exits(0);
    let requests = server.requests.lock().unwrap();
    let sizes: Vec<usize> = requests.iter().map(|request| request.to_string().len()).collect();
    assert_eq!(sizes.len(), 6);
    let (quick, whole) = sizes.split_at(3);
    assert!(quick.iter().all(|size| *size < 1_000), "the quick cell is asked first: {sizes:?}");
    assert!(whole.iter().all(|size| *size > 100_000), "{sizes:?}");
}

#[test]
fn a_book_does_not_go_to_a_provider_where_other_tools_ask_at_a_gateway() {
    let sandbox = Sandbox::new();
    sandbox.write(".env", "OPENAI_API_KEY=key\nOPENAI_BASE_URL=http://gateway.invalid/v1\n");
    let run = ["run", "--method", "closed-book", "--limit", "1", "--model", "openai/gpt-4.1", "--out", "r"];
    sandbox.run(&run).refuses(&["OPENAI_BASE_URL names another address than https://api.openai.com/v1", "--base-url"]);
    sandbox
        .run(&["search", "sample", "Who?", "--embedder", "openai/text-embedding-3-small"])
        .refuses(&["OPENAI_BASE_URL names another address", "--embedder-base-url"]);
}

#[test]
fn finding_18_what_the_query_of_an_address_chooses_is_another_server() {
    let server = HttpServer::start(|asked| {
        let option = if asked.path.contains("backend=a") { "[[1]]" } else { "[[2]]" };
        let is_judged = asked.body.contains("\\\\boxed{CORRECT}");
        let said = if is_judged { "\\boxed{CORRECT}" } else { option };
        let body: Value = serde_json::from_str(&answer(said)).unwrap();
        ok(&body)
    });
    let sandbox = Sandbox::with_own_cache();
    let run = |query: &str, out: &str| {
        let url = format!("{}/v1?{query}", server.url);
        let model = ["--model", "openai-compatible/tiny", "--base-url", &url];
        sandbox.run(&[&["run", "--method", "closed-book", "--limit", "3", "--out", out][..], &model].concat())
    };
    let n_asked = || server.asked("POST", "/v1/chat/completions").len();
    run("backend=a&key=k1", "a").exits(0);
    assert_eq!(n_asked(), 3);
    run("backend=b&key=k1", "b").exits(0);
    assert_eq!(n_asked(), 6, "the other backend is asked");
    run("backend=b&key=k2", "c").exits(0);
    assert_eq!(n_asked(), 6, "with another key it is the same");
    let refused = run("backend=b", "a").exits(2).err();
    assert!(refused.contains("base_url_query: "), "{refused}");
    let judge = |query: &str| {
        let url = format!("{}/v1?{query}", server.url);
        let model = ["--judge-model", "openai-compatible/tiny", "--judge", "judge-sagascale", "--base-url", &url];
        sandbox.run(&[&["judge", "a"][..], &model].concat()).exits(0);
        n_asked() - 6
    };
    let n_judged = judge("backend=a");
    assert!(n_judged > 0);
    assert_eq!((judge("backend=b"), judge("backend=b")), (2 * n_judged, 2 * n_judged));
}

#[test]
fn finding_18_vectors_and_scores_of_another_query_are_another_server_s() {
    let server = HttpServer::start(|asked| match asked.path.contains("/rerank") {
        true => ok(&scored(asked, oracle)),
        false => ok(&openai(asked)),
    });
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let url = |query: &str| format!("{}/v1?{query}", server.url);
    let n_asked = |query: &str| server.asked("POST", "").iter().filter(|asked| asked.path.contains(query)).count();
    let common = ["run", "--benchmark", "tales", "--method", "dos-rag", "--budget", "60", "--passage-tokens", "12"];
    let model = |option: &'static str| [option, "openai-compatible/tiny"];
    let embedded = |query: &str, out: &str| {
        let served = ["--embedder-base-url", &url(query), "--out", out].map(str::to_owned);
        let served: Vec<&str> = served.iter().map(String::as_str).collect();
        sandbox.run(&[&common[..], &model("--embedder"), &served].concat())
    };
    embedded("backend=a&key=k1", "a").exits(0);
    let of_a = n_asked("backend=a");
    assert!(of_a > 0);
    embedded("backend=b&key=k1", "b").exits(0);
    assert_eq!(n_asked("backend=b"), of_a, "the other backend embeds its own");
    embedded("backend=a&key=k2", "c").exits(0);
    assert_eq!(n_asked("backend=a"), of_a, "with another key it is the same");
    embedded("backend=b", "a").refuses(&["another configuration", "embedder.fingerprint"]);
    let reranked = |query: &str, out: &str| {
        let served = ["--reranker-base-url", &url(query), "--out", out].map(str::to_owned);
        let served: Vec<&str> = served.iter().map(String::as_str).collect();
        sandbox.run(&[&common[..], &["--retriever", "bm25"], &model("--reranker"), &served].concat()).exits(0)
    };
    reranked("gateway=a", "d");
    reranked("gateway=b", "e");
    assert!(n_asked("gateway=a") > 0);
    assert_eq!(n_asked("gateway=a"), n_asked("gateway=b"), "the other backend scores its own");
    for run in ["a", "b", "d", "e"] {
        // A folder names its server by the hash, and what is remembered is found by it.
        sandbox.run(&["verify", run]).exits(0);
    }
    std::fs::remove_dir_all(sandbox.path("cache")).unwrap();
    let words = |option: &str| format!("say {option} {}/v1, with the query that it had", server.url);
    sandbox.run(&["verify", "b"]).refuses(&[&words("--embedder-base-url")]);
    let said = sandbox.run(&["verify", "e"]).exits(1);
    let said = said.out() + &said.err();
    assert!(said.contains(&words("--reranker-base-url")), "{said}");
}
