//! Responses that end at their limit, prompts that a server cuts without saying so, models that change within a run.

use crate::fault_server::{Act, FaultServer, cases, records, reply, run_cases};
use crate::support::{Ended, Sandbox};
use serde_json::{Value, json};

fn success(body: &Value) -> Act {
    reply("200 OK", "", &body.to_string())
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
        "closed-book with openai-compatible/tiny: 2 of 2 responses ended at their limit of tokens, 1 trials have no \
         answer for it; raise --max-output-tokens (7)",
        "changed it within this run, so its scores mix 2 versions: tiny-2026 (fp_answers) (1 calls), tiny-2026 \
         (fp_thinks) (1 calls)",
        "whether the server of openai-compatible/tiny cut prompts is not known",
    ] {
        assert!(ended.err().contains(words), "{words}: {}", ended.err());
    }
    sandbox.run(&arguments).exits(0);
    assert_eq!(server.n_requests(), 2, "what was cut short would be cut again");
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

/// A server that answers and counts prompts, of which it takes at most so many tokens.
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
