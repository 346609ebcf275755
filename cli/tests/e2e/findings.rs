//! Hostile and broken servers, addresses and texts: a case a finding, by the numbers of issue 19.

use crate::fault_server::{Act, FaultServer, cases, endless, records, response, run_cases};
use crate::faults::{Case, check, closed_after_ten, error, passes, stays};
use crate::provider::answer;
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

const MODEL: &str = "openai-compatible/tiny";

/// A fault that is no fault to who reads on.
fn read_at_once(name: &'static str, body: &str) -> Case {
    Case { name, acts: vec![response("200 OK", "", body)], outcome: "answered", says: "[[1]]", asked: 1 }
}

#[test]
fn finding_01_a_folder_of_a_persons_is_not_written_into() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["q".to_owned()]);
    let server = FaultServer::start(|_, _, _| response("200 OK", "", &answer("[[1]]")));
    sandbox.write("r/items.jsonl", "one\ntwo\nthree\n");
    sandbox.write("r/journal/diary.txt", "mine");
    for more in [&[][..], &["--fresh"]] {
        sandbox.run(&run_cases(MODEL, &server.url, more)).refuses(&["no manifest.json of closeread", "--out"]);
    }
    assert_eq!(std::fs::read_to_string(sandbox.path("r/items.jsonl")).unwrap(), "one\ntwo\nthree\n");
    assert!(sandbox.path("r/journal/diary.txt").is_file() && server.n_requests() == 0);
    std::fs::remove_dir_all(sandbox.path("r")).unwrap();
    sandbox.run(&run_cases(MODEL, &server.url, &[])).exits(0);

    sandbox.write("site/index.html", "my own page");
    sandbox.run(&["report", "r", "--html", "site"]).refuses(&["`index.html`, which is no part of a site", "--html"]);
    assert_eq!(std::fs::read_to_string(sandbox.path("site/index.html")).unwrap(), "my own page");
}

#[test]
fn finding_02_no_command_writes_over_its_own_input() {
    let sandbox = Sandbox::new();
    let item = json!({"id": "a", "documents": ["d"], "question": "Who?", "task": "generative", "answers": ["Ana"]});
    sandbox.write("items.jsonl", format!("{item}\n"));
    let hash = |out: &str| sandbox.run(&["data", "hash", "--salt", "s", "--out", out, "items.jsonl"]);
    for out in ["items.jsonl", "./items.jsonl"] {
        hash(out).refuses(&["is the input items.jsonl: name another file"]);
    }
    assert_eq!(std::fs::read_to_string(sandbox.path("items.jsonl")).unwrap(), format!("{item}\n"));
    hash("hashed.jsonl").exits(0);
}

#[test]
fn hashed_items_have_no_field_that_could_tell_an_answer() {
    let sandbox = Sandbox::new();
    let item = json!({"id": "a", "documents": ["d"], "question": "Who?", "task": "generative", "answers": ["Ana"],
        "answer": "Ana", "sql": "SELECT 'Ana'", "canary": "C", "language": "en"});
    sandbox.write("items.jsonl", format!("{item}\n"));
    let ended = sandbox.run(&["data", "hash", "--salt", "s", "--out", "hashed.jsonl", "items.jsonl"]).exits(0);
    assert_eq!(ended.err(), "fields that could tell an answer are not written: answer, sql\n");
    let hashed = std::fs::read_to_string(sandbox.path("hashed.jsonl")).unwrap();
    assert!(!hashed.contains("Ana") && hashed.contains(r#""canary":"C","language":"en""#), "{hashed}");
    sandbox.run(&["data", "hash", "--salt", "s", "--out", "of-folder.jsonl", "."]).exits(0);
    assert_eq!(std::fs::read_to_string(sandbox.path("of-folder.jsonl")).unwrap(), hashed);
}

#[test]
#[cfg(unix)]
fn finding_03_paths_of_documents_stay_inside_and_pipes_are_refused() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["q".to_owned()]);
    sandbox.write("secret.txt", "The key lies under the third stair. ".repeat(20));
    std::os::unix::fs::symlink(sandbox.path("secret.txt"), sandbox.path("cases/link.txt")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(sandbox.path("cases/pipe.txt")).status().unwrap().success());
    let server = FaultServer::start(|_, _, _| response("200 OK", "", &answer("[[1]]")));
    let absolute = sandbox.path("secret.txt").display().to_string();
    let with = |path: &str, more: &[&str]| {
        sandbox.write("cases/documents.jsonl", format!("{}\n", json!({"id": "book", "language": "en", "path": path})));
        sandbox.run(&run_cases(MODEL, &server.url, more))
    };
    for path in [absolute.as_str(), "../secret.txt", "link.txt"] {
        let ended = with(path, &[]);
        assert!(
            ended.err().contains("`path` leads out of") && ended.err().contains("--allow-outside"),
            "{}",
            ended.err()
        );
    }
    let piped = with("pipe.txt", &[]);
    assert!(piped.err().contains("it is a pipe or a device"), "{}", piped.err());
    assert_eq!(server.n_requests(), 0, "nothing of it is sent");
    with("../secret.txt", &["--allow-outside"]).exits(0);
    let predictions = ["score", "--gold", "cases", "--predictions", "/dev/zero"];
    sandbox.run(&predictions).refuses(&["it is a pipe or a device"]);
}

#[test]
fn finding_09_bodies_without_end_are_given_up() {
    let list = vec![
        stays(
            "a response without end",
            endless("200 OK", "", r#"{"choices":[{"message":{"content":""#),
            "failed",
            "the server's response is larger than 64 MiB",
        ),
        passes("an error without end", endless("503 Busy", "", "busy ")),
        stays(
            "a refusal without end",
            endless("404 Not Found", "", "no "),
            "failed",
            "the server answered 404: no xxx",
        ),
    ];
    check(MODEL, list, answer("[[1]]"), &["--timeout", "60"]);
}

#[test]
fn finding_09_a_line_of_a_stream_without_end_is_given_up() {
    let head = "content-type: text/event-stream\r\n";
    let content = r#"data: {"choices":[{"delta":{"content":""#;
    let list = vec![
        stays("an event without end", endless("200 OK", head, content), "failed", "the stream does not end"),
        stays("a comment without end", endless("200 OK", head, ": "), "failed", "the stream does not end"),
    ];
    let good =
        "data: {\"choices\":[{\"delta\":{\"content\":\"[[1]]\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    check(MODEL, list, good.to_owned(), &["--timeout", "60", "--max-output-tokens", "4096"]);
}

/// A closed port: nobody listens there any more.
fn closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

#[test]
fn finding_11_a_closed_port_is_said_at_once_by_providers_check() {
    let sandbox = Sandbox::with_own_cache();
    for embeddings in [&[][..], &["--embeddings"]] {
        let begun = Instant::now();
        let address = closed_port();
        let check = [&["providers", "check", MODEL, "--base-url", &address][..], embeddings].concat();
        let ended = sandbox.run(&check).exits(1);
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert!(ended.out().contains("onnection refused"), "{}", ended.out());
    }
}

#[test]
fn finding_11_what_can_never_work_is_refused_before_anything_is_sent() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["q".to_owned()]);
    for (url, words) in [
        ("", "--base-url is empty"),
        ("localhost:1/v1", "--base-url is no web address"),
        ("ftp://localhost/v1", "but one of `ftp`"),
    ] {
        sandbox.run(&run_cases(MODEL, url, &[])).refuses(&[words, "http://"]);
    }
    let mut run = sandbox.command(&run_cases(MODEL, "http://localhost:1/v1", &[]));
    let ended = crate::support::Ended(run.env("OPENAI_COMPATIBLE_API_KEY", "sk-a\u{1b}b").output().unwrap());
    ended.refuses(&["the key in OPENAI_COMPATIBLE_API_KEY holds a space, a line break"]);
    assert!(!sandbox.path("r").exists());
}

#[test]
fn finding_11_what_is_tried_again_and_again_is_said_once_without_being_asked() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["q".to_owned()]);
    // The address of some other program's page.
    let server = FaultServer::start(|_, _, _| response("200 OK", "", "<html><title>Our wiki</title></html>"));
    let mut run = sandbox.command(&run_cases(MODEL, &server.url, &[]));
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    let again = said.find(|line| line.contains("try 2 of 8, again in")).unwrap();
    assert!(again.contains("a web page: Our wiki") && again.contains("--verbose says every try"), "{again}");
    run.kill().unwrap();
    assert_eq!(said.find(|line| line.contains("of 8")), None, "the first was not said");
    run.wait().unwrap();
}

#[test]
fn finding_12_used_up_credit_of_anthropic_ends_the_asking() {
    let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}"#;
    closed_after_ten("400 Bad Request", body, "Your credit balance is too low");
}

#[test]
fn finding_12_overflows_of_every_wording_are_overflows() {
    let overflow =
        |name, words: &str| stays(name, error("400 Bad Request", &json!({"message": words})), "overflow", "");
    let list = vec![
        stays(
            "Anthropic, with the response",
            error(
                "400 Bad Request",
                &json!({"type": "error", "error": {"type": "invalid_request_error", "message": "input length and \
                    `max_tokens` exceed context limit: 178959 + 64000 > 200000"}}),
            ),
            "overflow",
            "242959",
        ),
        overflow("Bedrock", "Input is too long for requested model."),
        overflow("Cohere", "too many tokens: size limit exceeded by 19296 tokens."),
        stays(
            "LiteLLM",
            error(
                "400 Bad Request",
                &json!({"error": {"message": "litellm.ContextWindowExceededError: x", "code": "400"}}),
            ),
            "overflow",
            "",
        ),
    ];
    check(MODEL, list, answer("[[1]]"), &[]);
}

#[test]
fn finding_13_a_complete_response_is_read_or_refused_once() {
    let nan = r#"{"choices":[{"message":{"content":"[[1]]"},"logprobs":{"content":[{"logprob":NaN}]},"finish_reason":"stop"}]}"#;
    let surrogate = r#"{"choices":[{"message":{"content":"[[1]] \ud83d"},"finish_reason":"stop"}]}"#;
    let deep = format!("{{\"choices\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let limit = |wait: &str| response("429 Too Many Requests", &format!("retry-after: {wait}\r\n"), "slow down");
    let list = vec![
        read_at_once("NaN", nan),
        read_at_once("a lone surrogate", surrogate),
        read_at_once("a byte order mark", &format!("\u{feff}{}", answer("[[1]]"))),
        stays(
            "deep nesting",
            response("200 OK", "", &deep),
            "failed",
            "no JSON that can be read: recursion limit exceeded",
        ),
        stays("forty digits", limit(&"9".repeat(40)), "failed", "asks to wait more than an hour"),
        stays("inf", limit("inf"), "failed", "asks to wait more than an hour"),
    ];
    check(MODEL, list, answer("[[1]]"), &[]);
}

#[test]
fn finding_14_control_sequences_of_servers_and_books_do_not_reach_the_terminal() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["q".to_owned()]);
    let words = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m \u{202e}";
    let server = FaultServer::start(move |_, _, _| error("404 Not Found", &json!({"error": {"message": words}})));
    let ended = sandbox.run(&run_cases(MODEL, &server.url, &["--verbose"])).exits(1);
    let checked = sandbox.run(&["providers", "check", MODEL, "--base-url", &server.url]).exits(1);
    sandbox.write("book.txt", format!("{}{words}{}", "It rained. ".repeat(400), "It rained. ".repeat(400)));
    let chunked = sandbox.run(&["chunk", "book.txt"]).exits(0);
    let report = sandbox.run(&["report", "r"]).exits(0);
    for ended in [&ended, &checked, &chunked, &report] {
        for printed in [ended.out(), ended.err()] {
            let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
            assert!(!printed.contains(steers), "{printed:?}");
        }
    }
    assert!(ended.err().contains("\\u001b[2J") && chunked.out().contains("\\u001b[2J"), "it is shown, and not obeyed");
    let record: &Value = &records(&sandbox)["q"];
    assert!(record.to_string().contains("\\u001b[2J"), "the record holds it as it came");
}

#[test]
fn finding_15_an_extra_body_cannot_change_what_is_asked_or_hold_a_key() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["q".to_owned()]);
    let server = FaultServer::start(|_, _, _| Act::Reset);
    let with = |body: &str| sandbox.run(&run_cases(MODEL, &server.url, &["--extra-body", body]));
    with(r#"{"messages": []}"#).refuses(&["may not set `messages`"]);
    with(r#"closed-book={"model": "other"}"#).refuses(&["may not set `model`"]);
    with(r#"{"api_key": "sk-planted-5f0e77c1d2a94b6e"}"#).refuses(&["holds a key, in `api_key`", "file .env"]);
    assert_eq!(server.n_requests(), 0);
}
