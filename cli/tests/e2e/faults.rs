//! Faults of servers, one question each: what is asked again and what is not, what the user sees, what the records hold.
//! The bodies are those that real servers were seen to send.

use crate::fault_server::{Act, FaultServer, broken_off, cases, records, response, run_cases, stream};
use crate::provider::answer;
use crate::support::{Ended, Sandbox};
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// A fault and how its question ends.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Acts on the first requests; requests after them get the answer.
    pub(crate) acts: Vec<Act>,
    /// Outcome in the record.
    pub(crate) outcome: &'static str,
    /// Words that the record has.
    pub(crate) says: &'static str,
    /// Number of times that the server is asked.
    pub(crate) asked: usize,
}

/// A fault that passes: the question is asked again and answered.
pub(crate) fn passes(name: &'static str, act: Act) -> Case {
    Case { name, acts: vec![act], outcome: "answered", says: "[[1]]", asked: 2 }
}

/// A fault that asking again does not mend.
pub(crate) fn stays(name: &'static str, act: Act, outcome: &'static str, says: &'static str) -> Case {
    Case { name, acts: vec![act], outcome, says, asked: 1 }
}

pub(crate) fn error(status: &str, body: &Value) -> Act {
    response(status, "", &body.to_string())
}

fn success(body: &Value) -> Act {
    response("200 OK", "", &body.to_string())
}

/// A body that a gateway has packed.
fn packed(body: &str) -> Act {
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(body.as_bytes()).unwrap();
    let body = packed.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    Act::Send([head.as_bytes(), &body].concat())
}

/// Makes the response whose one choice has this message.
fn choice(message: &Value, finish_reason: &str) -> Act {
    success(&json!({"choices": [{"message": message, "finish_reason": finish_reason}]}))
}

const PAGE: &str = "<html><head><title>Bad Gateway</title></head><body><h1>nginx</h1></body></html>";

/// A limit that asks to wait until a moment three seconds from now.
fn until_a_date() -> Vec<u8> {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3));
    format!("HTTP/1.1 429 Too Many\r\nretry-after: {date}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        .into_bytes()
}

/// Runs the cases against a server that answers `good` once a script is through, and holds each to its record; then again:
/// only what failed is asked.
pub(crate) fn check(model: &str, cases_: Vec<Case>, good: String, more: &[&str]) -> (Sandbox, FaultServer) {
    let names: Vec<String> = cases_.iter().map(|case| case.name.to_owned()).collect();
    let scripts: BTreeMap<&str, Vec<Act>> = cases_.iter().map(|case| (case.name, case.acts.clone())).collect();
    let is_stream = good.starts_with("data: ");
    let server = FaultServer::start(move |name, n, _| match scripts[name].get(n) {
        Some(act) => act.clone(),
        None if is_stream => response("200 OK", "content-type: text/event-stream\r\n", &good),
        None => response("200 OK", "", &good),
    });
    let base = if model.starts_with("openai") { server.url.clone() } else { server.url.replace("/v1", "") };
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names);
    let timeout = if more.contains(&"--timeout") { &[][..] } else { &["--timeout", "3"] };
    let arguments = [&run_cases(model, &base, &["--verbose"])[..], timeout, more].concat();
    let n_failed = cases_.iter().filter(|case| case.outcome == "failed").count();
    let ended = sandbox.run(&arguments).exits(i32::from(n_failed > 0));

    let (told, asked) = (records(&sandbox), server.asked());
    let report = ended.json();
    for case in &cases_ {
        let record = &told[case.name];
        assert_eq!(record["outcome"], case.outcome, "{}: {record}\n{}", case.name, ended.err());
        assert!(record.to_string().contains(case.says), "{}: `{}` is not in {record}", case.name, case.says);
        assert_eq!(asked[case.name], case.asked, "{}: {record}", case.name);
        let scored = record["scores"]["accuracy"].as_f64().unwrap_or(0.0);
        assert_eq!(scored, f64::from(u8::from(case.outcome == "answered")), "{record}");
    }
    let ledger = &report["cells"][0]["ledger"];
    let n_of = |names: &[&str]| cases_.iter().filter(|case| names.contains(&case.outcome)).count() as u64;
    for outcome in ["answered", "failed", "blocked", "overflow"] {
        assert_eq!(ledger[outcome], n_of(&[outcome]), "{outcome}: {ledger}");
    }
    let without_form: u64 = ["unparsed", "cut_short"].iter().filter_map(|name| ledger[name].as_u64()).sum();
    assert_eq!(without_form, n_of(&["unparsed", "cut_short"]), "{ledger}");
    if n_failed > 0 {
        let trials = if n_failed == 1 { "1 trial".to_owned() } else { format!("{n_failed} trials") };
        let words = format!("{trials} failed; the same command tries again");
        assert!(ended.err().contains(&words), "{words}: {}", ended.err());
    }

    sandbox.run(&arguments);
    for (name, n) in server.asked() {
        let failed = cases_.iter().any(|case| case.name == name && case.outcome == "failed");
        assert_eq!(n > asked[&name], failed, "{name}: only what failed is asked again");
    }
    (sandbox, server)
}

#[test]
fn faults_that_pass_are_waited_for() {
    let by_the_servers_clock = "date: Wed, 21 Oct 2015 07:28:00 GMT\r\nretry-after: Wed, 21 Oct 2015 07:28:02 GMT\r\n";
    let upstream = json!({"error": {"message": "Provider returned error", "code": 502}});
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let limited = json!({"error": {"message": "Rate limit reached", "type": "rate_limit_error", "code": "rate_limit"}});
    let limited = limited.to_string();
    let list = vec![
        passes("429 without a wait", response("429 Too Many Requests", "", &limited)),
        passes("429 with seconds", response("429 Too Many Requests", "retry-after: 1\r\n", &limited)),
        passes("429 with milliseconds", response("429 Too Many Requests", "retry-after-ms: 700\r\n", &limited)),
        passes("429 with a date", Act::Now(until_a_date)),
        passes("429 with a date of another clock", response("429 Too Many Requests", by_the_servers_clock, &limited)),
        passes(
            "429 of LiteLLM",
            error("429 Too Many Requests", &json!({"error": {"type": "internal_server_error", "message": "rpm"}})),
        ),
        passes("408 of LiteLLM", error("408 Request Timeout", &json!({"error": {"type": "invalid_request_error"}}))),
        passes("500", error("500 Internal Server Error", &json!({"detail": "oops"}))),
        passes("502, a page", response("502 Bad Gateway", "content-type: text/html\r\n", PAGE)),
        passes("503", response("503 Service Unavailable", "retry-after: 1\r\n", "loading model")),
        passes("504", response("504 Gateway Timeout", "", "")),
        passes("529", error("529 Overloaded", &overloaded)),
        passes("200, a page", response("200 OK", "content-type: text/html\r\n", PAGE)),
        passes("200, nothing", response("200 OK", "", "")),
        passes("200, cut short", response("200 OK", "", r#"{"choices":[{"message":{"content":"[[1"#)),
        passes("200, broken off", broken_off(r#"{"choices":[{"message":{"content":"[[1]]"}"#)),
        passes("200, an error inside", success(&upstream)),
        passes("200, no choices", success(&json!({"choices": []}))),
        passes("200, finished by an error", choice(&json!({"content": "[[2]]"}), "error")),
        passes("reset", Act::Reset),
        passes("hang", Act::Hang),
        passes("trickle", Act::Trickle(b"HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n{".to_vec())),
    ];
    let (_, server) = check("openai-compatible/tiny", list, answer("[[1]]"), &[]);
    for (name, seconds) in [
        ("429 with seconds", 1.0),
        ("429 with milliseconds", 0.7),
        ("429 with a date", 1.0),
        ("429 with a date of another clock", 2.0),
        ("503", 1.0),
        ("hang", 3.0),
        ("trickle", 3.0),
    ] {
        assert!(server.waited(name) >= seconds, "{name}: asked again after {} s", server.waited(name));
    }
}

#[test]
fn a_stream_that_has_ended_is_not_waited_for() {
    let piece = json!({"choices": [{"delta": {"content": "[[1]]"}, "finish_reason": "stop"}]});
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let stream = format!("{head}data: {piece}\n\ndata: [DONE]\n\n");
    let server = FaultServer::start(move |_, _, _| Act::Endless(stream.clone().into_bytes(), b": ping\n".to_vec()));
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["open".to_owned()]);
    sandbox.run(&run_cases("openai-compatible/tiny", &server.url, &["--timeout", "20"])).exits(0);
    assert_eq!((server.n_requests(), &records(&sandbox)["open"]["outcome"]), (1, &json!("answered")));
}

#[test]
fn faults_that_stay_are_asked_once_and_are_no_answers() {
    let words = |words: &str| json!({"error": {"message": words}});
    let openai = json!({"error": {"code": "context_length_exceeded", "message":
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."}});
    let vllm = "This model's maximum context length is 4096 tokens. However, you requested 100 output tokens and your \
                prompt contains at least 4001 input tokens";
    let sglang = "The input (61709 tokens) is longer than the model's context length (40960 tokens).";
    let llama = json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "exceeds the available \
        context size", "n_prompt_tokens": 5000, "n_ctx": 4096}});
    let tgi = json!({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 \
        `inputs` tokens", "error_type": "validation"});
    let xai = json!({"code": "x", "error": "This model's maximum prompt length is 131072 but the request contains 150000 \
        tokens."});
    let filter = json!({"error": {"code": "content_filter", "message": "The response was filtered"}});
    let bad = "400 Bad Request";
    let overflow = |name, act, says| stays(name, act, "overflow", says);
    let mut list = vec![
        overflow("overflow of OpenAI", error(bad, &openai), r#""needed":9001,"context_window":8192"#),
        overflow("overflow of vLLM", error(bad, &words(vllm)), r#""needed":4001,"context_window":4096"#),
        overflow(
            "overflow of older vLLM",
            error(bad, &json!({"object": "error", "message": vllm})),
            r#""context_window":4096"#,
        ),
        overflow("overflow of SGLang", error(bad, &words(sglang)), r#""needed":61709,"context_window":40960"#),
        overflow("overflow of llama.cpp", error(bad, &llama), r#""needed":5000,"context_window":4096"#),
        overflow("overflow of TGI", error("422 Unprocessable", &tgi), r#""needed":5000,"context_window":4096"#),
        overflow("overflow of xAI", error(bad, &xai), r#""needed":150000,"context_window":131072"#),
        stays("content filter", choice(&json!({"content": ""}), "content_filter"), "blocked", "content_filter"),
        stays("content filter of Azure", error(bad, &filter), "blocked", "The response was filtered"),
        stays("refusal", choice(&json!({"content": null, "refusal": "No."}), "stop"), "blocked", "No."),
        stays("content empty", choice(&json!({"content": ""}), "stop"), "unparsed", r#""response":"""#),
        stays("content null", choice(&json!({"content": null}), "stop"), "unparsed", r#""response":"""#),
        stays(
            "all tokens thought",
            choice(&json!({"content": null, "reasoning_content": "[[1]] or [[2]]"}), "length"),
            "cut_short",
            r#""response":"""#,
        ),
        stays("403", error("403 Forbidden", &words("flagged")), "failed", "the server answered 403: flagged"),
        stays(
            "308",
            response("308 Permanent Redirect", "location: https://elsewhere.example/v1?key=k\r\n", ""),
            "failed",
            "answered 308 and sends us to https://elsewhere.example/v1: give the address it means by --base-url",
        ),
        stays("packed unasked", packed(&answer("[[1]]")), "answered", "[[1]]"),
        stays("404", error("404 Not Found", &json!({"detail": "Not Found"})), "failed", "answered 404: Not Found"),
        stays("413", response("413 Payload Too Large", "", PAGE), "failed", "answered 413: Bad Gateway nginx"),
        stays(
            "a request beyond a minute's limit",
            error("429 Too Many Requests", &words("Request too large for gpt-4o on tokens per min (TPM)")),
            "failed",
            "Request too large",
        ),
        stays(
            "500 of llama.cpp",
            error("500 Internal Server Error", &words("[json.exception.parse_error.101] parse error")),
            "failed",
            "json.exception",
        ),
        stays(
            "429 for hours",
            response("429 Too Many Requests", "retry-after: 7200\r\n", "{}"),
            "failed",
            "asks to wait more than an hour (7200 s)",
        ),
    ];
    let busy = response("503 Service Unavailable", "retry-after-ms: 1\r\n", "busy");
    let says = "the server answered 503: busy, after 8 tries";
    list.push(Case { name: "503 for ever", acts: vec![busy; 8], outcome: "failed", says, asked: 8 });
    let (sandbox, _) = check("openai-compatible/tiny", list, answer("[[1]]"), &[]);
    assert_eq!(
        records(&sandbox).values().filter(|record| record["outcome"] == "answered").count(),
        9,
        "what failed is answered by the second run"
    );
    let listed = sandbox.run(&["cache", "list", "--json"]).exits(0).json();
    assert_eq!(listed["responses"][0]["n"], 9, "only answers are remembered: {listed}");
}

#[test]
fn a_stream_is_an_answer_only_when_it_says_that_it_ended() {
    let piece = r#"{"choices":[{"delta":{"content":"[[1]]"}}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let error = r#"{"error":{"message":"upstream","code":502}}"#;
    let overflow = r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens","error_type":"validation"}"#;
    let stalled = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {piece}\n\n");
    let list = vec![
        passes("truncated", stream(&[piece])),
        passes("done without an end", stream(&[piece, "[DONE]"])),
        passes("malformed", stream(&[piece, r#"{"choices":[{"del"#, end])),
        passes("an error inside", stream(&[piece, error])),
        passes("broken off", Act::Send(stalled.replace("\r\n\r\n", "\r\ncontent-length: 9999\r\n\r\n").into_bytes())),
        passes("stalled", Act::Trickle(stalled.into_bytes())),
        stays("overflow of TGI", stream(&[overflow]), "overflow", r#""needed":5000,"context_window":4096"#),
        stays(
            "packed",
            response("200 OK", "content-type: text/event-stream\r\ncontent-encoding: br\r\n", "\u{1}\u{2}"),
            "failed",
            "is packed (content-encoding: br)",
        ),
        stays("no DONE", stream(&[piece, end]), "answered", "[[1]]"),
        stays("a response at once", response("200 OK", "", &answer("[[1]]")), "answered", "[[1]]"),
    ];
    let good = format!("data: {piece}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    check("openai-compatible/tiny", list, good, &["--max-output-tokens", "4096"]);
}

#[test]
fn anthropics_faults_are_known() {
    let failure = |kind: &str, words: &str| json!({"type": "error", "error": {"type": kind, "message": words}});
    let said = |stop: &str| {
        success(&json!({"content": [], "stop_reason": stop, "usage": {"input_tokens": 5, "output_tokens": 7}}))
    };
    let bad = "400 Bad Request";
    let too_long = failure("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
    let limited = failure("rate_limit_error", "slow down").to_string();
    let list = vec![
        passes("429", response("429 Too Many Requests", "retry-after: 1\r\n", &limited)),
        passes("500", error("500 Internal Server Error", &failure("api_error", "Internal server error"))),
        passes("529", error("529 Overloaded", &failure("overloaded_error", "Overloaded"))),
        stays("overflow", error(bad, &too_long), "overflow", r#""needed":210000,"context_window":200000"#),
        stays("overflow in a success", said("model_context_window_exceeded"), "overflow", r#""completion_tokens":7"#),
        stays("refusal", said("refusal"), "blocked", "refusal"),
        stays("empty", said("end_turn"), "unparsed", r#""response":"""#),
        stays("413", error("413 Too Large", &failure("request_too_large", "too large")), "failed", "answered 413"),
    ];
    let good = json!({"content": [{"type": "text", "text": "[[1]]"}], "stop_reason": "end_turn"});
    check("anthropic/claude-x", list, good.to_string(), &[]);
}

#[test]
fn geminis_faults_are_known() {
    let limited = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota",
        "details": [{"retryDelay": "1.5s"}]}});
    let too_long = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}});
    let ended = |reason: &str| success(&json!({"candidates": [{"finishReason": reason}]}));
    let blocked = success(&json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}));
    let list = vec![
        passes("429 with the wait in its body", error("429 Too Many Requests", &limited)),
        passes("no candidates", success(&json!({"usageMetadata": {"promptTokenCount": 5}}))),
        stays(
            "overflow",
            error("400 Bad Request", &too_long),
            "overflow",
            r#""needed":1200000,"context_window":1048576"#,
        ),
        stays("a blocked prompt", blocked, "blocked", "PROHIBITED_CONTENT"),
        stays("a blocked answer", ended("RECITATION"), "blocked", "RECITATION"),
        stays("nothing but thoughts", ended("MAX_TOKENS"), "cut_short", r#""response":"""#),
    ];
    let good = json!({"candidates": [{"content": {"parts": [{"text": "[[1]]"}]}, "finishReason": "STOP"}]});
    let (_, server) = check("gemini/gemini-x", list, good.to_string(), &[]);
    assert!(server.waited("429 with the wait in its body") >= 1.5);
}

/// Forty questions with a key that works for ten of them, then again with one that works.
pub(crate) fn closed_after_ten(status: &'static str, body: &'static str, says: &str) {
    let names: Vec<String> = (0..40).map(|n| format!("q{n}")).collect();
    let n_answered = AtomicUsize::new(0);
    let server = FaultServer::start(move |_, _, seen| {
        let is_open =
            seen.key.as_deref() == Some("Bearer another-key") || n_answered.fetch_add(1, Ordering::SeqCst) < 10;
        if is_open { response("200 OK", "", &answer("[[1]]")) } else { response(status, "", body) }
    });
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names);
    let run = |key: &str| {
        let arguments = run_cases("openai-compatible/tiny", &server.url, &["--concurrency", "4"]);
        Ended(sandbox.command(&arguments).env("OPENAI_COMPATIBLE_API_KEY", key).output().unwrap())
    };
    let ended = run("a-key").exits(1);
    let ledger = &ended.json()["cells"][0]["ledger"];
    assert_eq!((&ledger["answered"], &ledger["failed"]), (&json!(10), &json!(30)), "{ledger}");
    assert!(server.n_requests() <= 14, "nothing is asked that cannot be answered: {}", server.n_requests());
    for words in [says, "30 trials failed", "not sent, because a call before it failed for good: the server answered"] {
        assert!(ended.err().contains(words), "{words}: {}", ended.err());
    }
    let n_before = server.n_requests();
    run("another-key").exits(0);
    assert_eq!(server.n_requests() - n_before, 30, "what was answered is not asked again");
}

#[test]
fn a_key_that_is_revoked_in_the_middle_ends_the_asking() {
    closed_after_ten("401 Unauthorized", r#"{"error":"Unauthorized"}"#, "the server answered 401: Unauthorized");
}

#[test]
fn a_quota_that_is_used_up_ends_the_asking() {
    let body = r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
    closed_after_ten("429 Too Many Requests", body, "429: You exceeded your current quota");
}

#[test]
fn a_server_that_is_not_there_yet_is_waited_for() {
    // An address of its own where there are several: other tests take the ports of 127.0.0.1 that are let go.
    let listener = TcpListener::bind(if cfg!(target_os = "linux") { "127.0.0.9:0" } else { "127.0.0.1:0" }).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["q".to_owned()]);
    let url = format!("http://{address}/v1");
    let mut run = sandbox.command(&run_cases("openai-compatible/tiny", &url, &["--verbose"]));
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines();
    let refused = said.by_ref().map(Result::unwrap).find(|line| line.contains("try 1 of 8, again in")).unwrap();
    assert!(refused.contains("onnection refused"), "{refused}");
    let server =
        FaultServer::on(TcpListener::bind(address).unwrap(), |_, _, _| response("200 OK", "", &answer("[[1]]")));
    assert!(run.wait().unwrap().success(), "{:?}", said.collect::<Vec<_>>());
    assert_eq!(server.n_requests(), 1);
}
