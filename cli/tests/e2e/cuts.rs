//! Responses that end at their limit, prompts that a server cuts without saying so, models that change within a run.

use crate::fault_server::{Act, FaultServer, cases, records, response, run_cases, stream};
use crate::provider::Server;
use crate::support::{Ended, Sandbox};
use serde_json::{Value, json};

fn success(body: &Value) -> Act {
    response("200 OK", "", &body.to_string())
}

#[test]
fn a_response_that_ends_at_its_limit_holds_an_answer_or_is_cut_short() {
    let server = FaultServer::start(|name, _, _| {
        let content = if name == "answers" { "So [[1]], for" } else { "Let me think" };
        success(&json!({"choices": [{"message": {"content": content}, "finish_reason": "length"}],
            "model": "tiny-2026", "system_fingerprint": format!("fp_{name}")}))
    });
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["answers", "thinks"].map(str::to_owned));
    let arguments = run_cases("openai-compatible/tiny", &server.url, &["--max-output-tokens", "7"]);
    let ended = sandbox.run(&arguments).exits(0);
    let told = records(&sandbox);
    assert_eq!(told["answers"]["outcome"], "answered");
    let thinks = &told["thinks"];
    assert_eq!((&thinks["outcome"], &thinks["response"]), (&json!("cut_short"), &json!("Let me think")));
    assert_eq!((&thinks["max_output_tokens"], &thinks["scores"]["accuracy"]), (&json!(7), &json!(0.0)));
    let call = &thinks["calls"][0];
    assert_eq!((&call["finish"], &call["served_by"]["model"]), (&json!("length"), &json!("tiny-2026")));
    assert!(call["counted_tokens"].as_u64() > Some(20), "{call}");
    for words in [
        "closed-book with openai-compatible/tiny: 2 of 2 responses ended at their limit of tokens, 1 trial ended without \
         an answer; raise --max-output-tokens (7)",
        "changed it within this run, so its scores mix 2 versions: tiny-2026 (fp_answers) (1 call), tiny-2026 \
         (fp_thinks) (1 call)",
        "whether the server of openai-compatible/tiny cut prompts is not known",
    ] {
        assert!(ended.err().contains(words), "{words}: {}", ended.err());
    }
    sandbox.run(&arguments).exits(0);
    assert_eq!(server.n_requests(), 2, "what was cut short would be cut again");
}

#[test]
fn of_very_many_versions_of_a_model_a_few_are_named() {
    let server = FaultServer::start(|name, _, _| {
        let choices = json!([{"message": {"content": "[[1]]"}, "finish_reason": "stop"}]);
        success(&json!({"choices": choices, "model": if name < "q2" { "tiny" } else { name }}))
    });
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &(0..9).map(|n| format!("q{n}")).collect::<Vec<_>>());
    let told = sandbox.run(&run_cases("openai-compatible/tiny", &server.url, &[])).exits(0).err();
    assert!(told.contains("mix 8 versions: tiny (2 calls), q2 (1 call), "), "{told}");
    assert!(told.contains("q5 (1 call) and 3 more; records.jsonl has all"), "{told}");
}

#[test]
fn finding_13_a_stream_that_was_not_asked_for_is_read() {
    let piece = r#"{"choices":[{"delta":{"content":"[[1]]"}}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let server = FaultServer::start(move |_, _, _| stream(&[piece, end, "[DONE]"]));
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["short".to_owned()]);
    sandbox.run(&run_cases("openai-compatible/tiny", &server.url, &["--max-output-tokens", "7"])).exits(0);
    assert_eq!((&records(&sandbox)["short"]["outcome"], server.n_requests()), (&json!("answered"), 1));
}

#[test]
fn finding_13_a_connection_that_breaks_behind_the_end_of_a_stream_loses_no_answer() {
    let piece = r#"{"choices":[{"delta":{"content":"[[1]]"}}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let server = FaultServer::start(move |_, _, _| {
        let events = format!("data: {piece}\n\ndata: {end}\n\n");
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
        // The last chunk never comes.
        Act::Send(format!("{head}\r\n\r\n{:x}\r\n{events}\r\n", events.len()).into_bytes())
    });
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["whole".to_owned()]);
    sandbox.run(&run_cases("openai-compatible/tiny", &server.url, &["--max-output-tokens", "4096"])).exits(0);
    assert_eq!((&records(&sandbox)["whole"]["outcome"], server.n_requests()), (&json!("answered"), 1));
}

#[test]
fn a_memory_that_reasoning_used_up_is_told_with_its_own_limit() {
    let server = Server::replying(|n, _| {
        let said = |text: &str, why: &str| json!({"choices": [{"message": {"content": text}, "finish_reason": why}]});
        let response = if n == 0 { said("<think>Let me see", "length") } else { said("\\boxed{A}", "stop") };
        ("200 OK", response.to_string())
    });
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["a".to_owned()]);
    let fixed = ["run", "--benchmark", "cases", "--method", "memory-agent", "--out", "r", "--json"];
    let served = ["--model", "openai-compatible/tiny", "--base-url", &server.url];
    let ended = sandbox.run(&[&fixed[..], &served].concat()).exits(0);
    let words = "1 of 1 memories came back empty";
    assert!(ended.err().contains(words) && ended.err().contains("memory-agent.memory_tokens"), "{}", ended.err());
    assert!(!ended.err().contains("--max-output-tokens"), "{}", ended.err());
}

#[test]
fn gists_that_were_cut_at_their_limit_are_told() {
    let server = Server::replying(|_, request| {
        let is_gist = request.to_string().contains("Make the passage below shorter");
        let (text, finish) = if is_gist { ("Ana came to", "length") } else { ("Answer: (A)", "stop") };
        let response = json!({"choices": [{"message": {"content": text}, "finish_reason": finish}]});
        ("200 OK", response.to_string())
    });
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["a".to_owned()]);
    let fixed = ["run", "--benchmark", "cases", "--method", "read-agent", "--out", "r", "--json"];
    let served = ["--model", "openai-compatible/tiny", "--base-url", &server.url];
    let ended = sandbox.run(&[&fixed[..], &served].concat()).exits(0);
    let words = "1 of 1 responses that prepared books ended at their limit of tokens";
    assert!(ended.err().contains(words), "{}", ended.err());
}

#[test]
fn without_a_limit_none_is_sent_and_what_the_server_cuts_is_said() {
    let cut = json!({"choices": [{"message": {"content": "Let me think"}, "finish_reason": "length"}]});
    let server = Server::start(vec![("200 OK", cut.to_string())]);
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["thinks".to_owned()]);
    let arguments = |more: &[&'static str]| {
        let all = run_cases("openai-compatible/tiny", &server.url, more);
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let ended = sandbox.run(&arguments(&[]).iter().map(String::as_str).collect::<Vec<_>>()).exits(0);
    assert!(ended.err().contains("the limit is the server's own: --max-output-tokens may name"), "{}", ended.err());
    let request = server.requests.lock().unwrap()[0].clone();
    assert!(request.get("max_tokens").is_none() && request["stream"] == true, "{request}");
    let record = &records(&sandbox)["thinks"];
    assert_eq!((&record["outcome"], &record["max_output_tokens"]), (&json!("cut_short"), &Value::Null));
    let manifest =
        || -> Value { serde_json::from_slice(&std::fs::read(sandbox.path("r/manifest.json")).unwrap()).unwrap() };
    assert_eq!(manifest()["configuration"]["max_output_tokens"], Value::Null);
    let limited = arguments(&["--max-output-tokens", "9"]);
    sandbox
        .run(&limited.iter().map(String::as_str).collect::<Vec<_>>())
        .refuses(&["max_output_tokens: null there, 9 now"]);
    let told = sandbox.run(&arguments(&["--dry-run"]).iter().map(String::as_str).collect::<Vec<_>>()).exits(0).json();
    assert_eq!((&told["max_output_tokens"], &told["assumed_output_tokens"]), (&Value::Null, &json!(1024)));

    let costly = ["--model-info", "prices.toml", "--max-cost", "1", "--fresh"];
    let price = "['openai-compatible/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }";
    sandbox.write("prices.toml", price);
    let costly = arguments(&costly);
    sandbox
        .run(&costly.iter().map(String::as_str).collect::<Vec<_>>())
        .refuses(&["how long responses of openai-compatible/tiny can get is not known", "--max-output-tokens"]);
}

#[test]
fn anthropic_must_be_told_a_limit_which_is_what_the_model_can_write() {
    let said = json!({"content": [{"type": "text", "text": "[[1]]"}], "stop_reason": "end_turn"});
    for (model, limit) in [("anthropic/claude-sonnet-4-5-20250929", 64_000), ("anthropic/claude-next", 32_000)] {
        let server = Server::start(vec![("200 OK", said.to_string())]);
        let sandbox = Sandbox::with_own_cache();
        cases(&sandbox, &["a".to_owned()]);
        sandbox.run(&run_cases(model, &server.url, &[])).exits(0);
        assert_eq!(server.requests.lock().unwrap()[0]["max_tokens"], limit);
        let manifest: Value = serde_json::from_slice(&std::fs::read(sandbox.path("r/manifest.json")).unwrap()).unwrap();
        assert_eq!(manifest["configuration"]["max_output_tokens_of"], json!({model: limit}));
    }
}

/// Ten books of 1000 to 1900 words, each with the question that its number names.
fn books(sandbox: &Sandbox) {
    let (mut documents, mut items) = (String::new(), String::new());
    for n in 0..10 {
        let text = "word ".repeat(1000 + 100 * n);
        documents += &format!("{}\n", json!({"id": format!("b{n}"), "language": "en", "text": text}));
        let item = json!({"id": format!("q{n}"), "documents": [format!("b{n}")], "task": "choice", "correct": 0,
            "question": format!("Case {n}: who came?"), "options": ["Ana", "Bo"]});
        items += &format!("{item}\n");
    }
    sandbox.write("books/documents.jsonl", documents);
    sandbox.write("books/items.jsonl", items);
}

/// Makes a server that answers and counts prompts, of which it takes at most `window` tokens.
fn server_with_window(window: usize) -> FaultServer {
    FaultServer::start(move |name, _, _| {
        let tokens = 1050 + 100 * name.parse::<usize>().unwrap_or_default();
        success(&json!({"choices": [{"message": {"content": "[[1]]"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": tokens.min(window), "completion_tokens": 3}}))
    })
}

fn run_books(sandbox: &Sandbox, server: &FaultServer, out: &str, more: &[&str]) -> Ended {
    let fixed = ["run", "--benchmark", "books", "--method", "full-document", "--json", "--out", out];
    let served = ["--model", "openai-compatible/tiny", "--base-url", &server.url];
    sandbox.run(&[&fixed[..], &served, more].concat()).exits(0)
}

#[test]
fn prompts_that_a_server_cuts_are_told_and_may_count_as_overflows() {
    let sandbox = Sandbox::with_own_cache();
    books(&sandbox);
    let whole = run_books(&sandbox, &server_with_window(4096), "whole", &[]);
    assert!(!whole.err().contains("cut"), "{}", whole.err());

    // The sandbox remembers responses: the server that cuts is another address.
    let cutting = server_with_window(1450);
    let warned = run_books(&sandbox, &cutting, "warned", &[]);
    let ledger = |ended: &Ended| ended.json()["cells"][0]["ledger"].clone();
    assert_eq!((&ledger(&warned)["answered"], &ledger(&warned)["overflow"]), (&json!(10), &json!(0)));
    // Questions 4 to 9 were served as 1450 tokens, though each is over 5% longer than the one before.
    let words = "the server seems to have cut 6 of 10 prompts";
    assert!(warned.err().contains(words) && warned.err().contains("their scores stay"), "{}", warned.err());

    let failed = run_books(&sandbox, &cutting, "failed", &["--on-truncation", "fail"]);
    assert_eq!((&ledger(&failed)["answered"], &ledger(&failed)["overflow"]), (&json!(4), &json!(6)));
    assert!(failed.err().contains("they count as overflows"), "{}", failed.err());
    let report = sandbox.run(&["report", "failed", "--json"]).exits(0).json();
    assert!(report.to_string().contains(r#""overflow":6"#), "{report}");
    // With --extend the folder that is there counts them so.
    let n_asked = cutting.n_requests();
    let extended = run_books(&sandbox, &cutting, "warned", &["--on-truncation", "fail", "--extend"]);
    assert_eq!((&ledger(&extended)["overflow"], cutting.n_requests()), (&json!(6), n_asked));
}
