//! Limits on what a run may ask a minute and spend, against a server of the test's own.

use crate::crashes::{start, wait_until};
use crate::fault_server::{Act, FaultServer, broken_off, cases, response, run_cases};
use crate::provider::{Server, answer};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A response of the test's server has 7 tokens, which cost 0.7 cents; one at the limit of 10 tokens costs a cent.
const PRICES: &str = r#"
["openai-compatible/tiny"]
source = "this test"
date = "2026-01-02"
price = { input = 0.0, output = 1_000.0 }
"#;

/// Six questions without the book.
fn arguments<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["run", "--method", "closed-book", "--limit", "6", "--json", "--max-output-tokens", "10"];
    [&fixed[..], &["--model", "openai-compatible/tiny", "--base-url", url], more].concat()
}

#[test]
fn a_limit_on_money_is_not_passed_and_the_run_goes_on_when_there_is_more() {
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    sandbox.write("prices.toml", PRICES);
    let with = |dollars| {
        arguments(
            &server.url,
            &["--model-info", "prices.toml", "--out", "r", "--concurrency", "1", "--max-cost", dollars],
        )
    };
    let stopped = sandbox.run(&with("0.03")).exits(1);
    for words in ["--max-cost: $0.0210 of it are spent", "with a higher --max-cost to go on"] {
        assert!(stopped.err().contains(words), "{}", stopped.err());
    }
    let n_requests = || server.requests.lock().unwrap().len();
    assert_eq!(n_requests(), 3, "a fourth could cost a cent, and less than one is left");
    let report = stopped.json();
    assert_eq!(
        (&report["cells"][0]["ledger"]["answered"], &report["cells"][0]["ledger"]["failed"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(report["cells"][0]["ledger"]["missing"], 3);

    assert!(!stopped.err().contains("longest response"), "the response has a limit: {}", stopped.err());
    sandbox.write("long.toml", format!("{PRICES}window = 9_000\nmax_output = 8_000\n"));
    let unlimited =
        ["run", "--method", "closed-book", "--limit", "6", "--model", "openai-compatible/tiny", "--out", "l"];
    let priced = ["--base-url", &server.url, "--model-info", "long.toml", "--max-cost", "1"];
    let told = sandbox.run(&[&unlimited[..], &priced].concat()).exits(1).err();
    assert!(told.contains("without --max-output-tokens each call counts as the longest response"), "{told}");
    let tree = ["tree", "sample", "--retriever", "bm25", "--model", "openai-compatible/tiny"];
    let told = sandbox.run(&[&tree[..], &priced].concat()).exits(1).err();
    assert!(told.contains("without --max-output-tokens each call counts as the longest response"), "{told}");
    assert_eq!(n_requests(), 3, "each could cost eight dollars");

    let again = sandbox.run(&with("0.03")).exits(1);
    assert!(again.err().contains("$0.0210 of it are spent"), "what was spent before counts: {}", again.err());
    assert_eq!(n_requests(), 3);
    let without_list = ["--out", "r", "--concurrency", "1", "--max-cost", "0.03", "--allow-unknown-price"];
    sandbox.run(&arguments(&server.url, &without_list)).exits(1);
    assert_eq!(n_requests(), 3, "the folder knows the price");
    let report = sandbox.run(&with("1")).exits(0).json();
    assert_eq!(n_requests(), 6, "nothing is asked twice");
    let usage = &report["usage"][0];
    assert_eq!(
        (&usage["calls"], &usage["prompt_tokens"], &usage["completion_tokens"]),
        (&json!(6), &json!(66), &json!(42))
    );
    assert!((usage["dollars"].as_f64().unwrap() - 0.042).abs() < 1e-9, "{usage}");

    let table = sandbox.run(&["report", "r"]).exits(0).out();
    for words in ["What it took", "0.0420", "prices of openai-compatible/tiny as of 2026-01-02, this test"] {
        assert!(table.contains(words), "{words}: {table}");
    }
}

#[test]
fn what_a_trial_has_cost_that_the_limit_stopped_counts_too() {
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    sandbox.write("prices.toml", PRICES);
    let with = |dollars| {
        let agent = ["--param", "memory-agent.section_tokens=200", "--param", "memory-agent.memory_tokens=10"];
        let fixed = ["run", "--method", "memory-agent", "--limit", "1", "--max-output-tokens", "10", "--json"];
        let model = ["--model", "openai-compatible/tiny", "--base-url", &server.url, "--model-info", "prices.toml"];
        let limits = ["--out", "r", "--concurrency", "1", "--no-cache", "--max-cost", dollars];
        [&fixed[..], &agent, &model, &limits].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |dollars| sandbox.run(&with(dollars).iter().map(String::as_str).collect::<Vec<_>>());
    for _ in 0..2 {
        let stopped = run("0.03").exits(1);
        assert!(stopped.err().contains("$0.0210 of it are spent"), "{}", stopped.err());
        assert_eq!(server.requests.lock().unwrap().len(), 3, "in the middle of a trial");
    }
    let report = run("100").exits(0).json();
    let calls = report["usage"][0]["calls"].as_u64().unwrap();
    assert_eq!(calls, server.requests.lock().unwrap().len() as u64, "nothing is asked twice, all of it is counted");
}

#[test]
fn finding_07_a_limit_on_money_holds_where_usage_is_missing_or_absurd() {
    let absurd = json!({"prompt_tokens": u64::MAX, "completion_tokens": u64::MAX, "total_tokens": u64::MAX});
    for usage in [json!(null), json!({}), json!({"prompt_tokens": 0, "completion_tokens": 0}), absurd] {
        let choices = json!([{"message": {"content": "[[1]]"}, "finish_reason": "stop"}]);
        let server = Server::start(vec![("200 OK", json!({"choices": choices, "usage": usage}).to_string())]);
        let sandbox = Sandbox::with_own_cache();
        sandbox.write("prices.toml", PRICES);
        let limits = ["--model-info", "prices.toml", "--out", "r", "--concurrency", "1", "--max-cost", "0.02"];
        let stopped = sandbox.run(&arguments(&server.url, &limits)).exits(1);
        let n_asked = server.requests.lock().unwrap().len();
        assert!((2..6).contains(&n_asked), "{usage}: {n_asked} requests");
        for words in ["calls were counted here: the provider named none", "--max-cost"] {
            assert!(stopped.err().contains(words), "{words}: {}", stopped.err());
        }
        let taken = stopped.json()["usage"][0].clone();
        let (dollars, own) = (taken["dollars"].as_f64().unwrap(), taken["own_count"].as_u64().unwrap());
        assert!(dollars > 0.0 && dollars <= 0.02 && own as usize == n_asked, "{taken}");
        sandbox.run(&arguments(&server.url, &limits)).exits(1);
        assert_eq!(server.requests.lock().unwrap().len(), n_asked, "what was charged stays charged");
    }
}

#[test]
fn finding_07_a_blocked_prompt_stays_charged_when_the_run_is_resumed() {
    let choices = json!([{"message": {"content": ""}, "finish_reason": "content_filter"}]);
    let server = Server::start(vec![("200 OK", json!({"choices": choices}).to_string())]);
    let sandbox = Sandbox::with_own_cache();
    sandbox.write("prices.toml", PRICES.replace("input = 0.0, output = 1_000.0", "input = 1_000.0, output = 0.0"));
    let with = |dollars| ["--model-info", "prices.toml", "--out", "r", "--concurrency", "1", "--max-cost", dollars];
    let spent = |said: String| said.split_once("--max-cost: ").unwrap().1.split(' ').next().unwrap().to_owned();
    let stopped = sandbox.run(&arguments(&server.url, &with("0.3"))).exits(1);
    let n_asked = server.requests.lock().unwrap().len();
    assert!((1..6).contains(&n_asked), "{n_asked} requests: {}", stopped.err());
    let again = sandbox.run(&arguments(&server.url, &with("0.3"))).exits(1);
    assert_eq!(server.requests.lock().unwrap().len(), n_asked, "{}", again.err());
    assert_eq!(spent(again.err()), spent(stopped.err()));
}

/// The options of a run of which a call costs at most a cent.
pub(crate) fn in_cents<'a>(url: &'a str, dollars: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let limits = ["--model-info", "prices.toml", "--max-output-tokens", "10", "--max-cost", dollars];
    run_cases("openai-compatible/tiny", url, &[&limits[..], more].concat())
}

pub(crate) fn six(sandbox: &Sandbox) {
    cases(sandbox, &(0..6).map(|n| format!("q{n}")).collect::<Vec<_>>());
    sandbox.write("prices.toml", PRICES);
}

#[test]
fn finding_07_calls_in_flight_at_a_kill_stay_charged_when_the_run_is_resumed() {
    let sandbox = Sandbox::with_own_cache();
    six(&sandbox);
    let server = FaultServer::start(|name, n, _| match (name, n) {
        ("q0" | "q1", 0) => Act::Hang,
        _ => response("200 OK", "", &answer("[[1]]")),
    });
    let mut run = start(sandbox.command(&in_cents(&server.url, "0.02", &["--concurrency", "2"])));
    wait_until(&mut run, "two calls in flight", || server.n_requests() == 2);
    run.kill().unwrap();
    run.wait().unwrap();
    let again = sandbox.run(&in_cents(&server.url, "0.02", &[])).exits(1);
    for words in [
        "the end of 2 earlier calls is not known",
        "--max-cost: $0.0200 of it are spent at most ($0 are known, and up to $0.0200 for calls whose end is not known)",
    ] {
        assert!(again.err().contains(words), "{}", again.err());
    }
    assert_eq!(server.n_requests(), 2, "the provider may bill both");
    let ended = sandbox.run(&in_cents(&server.url, "1", &[])).exits(0).err();
    assert!(ended.contains("; $0.0420, and up to $0.0200 for calls whose end is not known"), "{ended}");
    assert_eq!(server.n_requests(), 8);
    let part = sandbox.run(&["status", "r", "--json"]).json()[0].clone();
    let dollars = |name: &str| part[name].as_f64().unwrap();
    assert!((dollars("dollars") - 0.062).abs() < 1e-9, "two lost at a cent, six answered for 0.7: {part}");
    assert!((dollars("dollars_open") - 0.02).abs() < 1e-9, "{part}");
}

#[test]
fn finding_07_calls_in_flight_at_a_kill_count_for_a_limit_that_comes_later() {
    let sandbox = Sandbox::with_own_cache();
    six(&sandbox);
    let server = FaultServer::start(|name, n, _| match (name, n) {
        ("q0" | "q1", 0) => Act::Hang,
        _ => response("200 OK", "", &answer("[[1]]")),
    });
    let limited = in_cents(&server.url, "0.02", &["--concurrency", "2"]);
    let unlimited: Vec<&str> = limited.into_iter().filter(|a| !matches!(*a, "--max-cost" | "0.02")).collect();
    let mut run = start(sandbox.command(&unlimited));
    wait_until(&mut run, "two calls in flight", || server.n_requests() == 2);
    run.kill().unwrap();
    run.wait().unwrap();
    let marked =
        |told: String| told.contains("≤0.02") && told.contains("$0.02 spent at most: $0.02 of it is what calls");
    assert!(marked(sandbox.run(&["status", "r"]).exits(1).out()));
    let again = sandbox.run(&in_cents(&server.url, "0.02", &[])).exits(1);
    assert!(again.err().contains("the end of 2 earlier calls is not known"), "{}", again.err());
    assert_eq!(server.n_requests(), 2, "the provider may bill both");
    assert!(marked(sandbox.run(&["status", "r"]).exits(1).out()), "the doubt stays");
    let ended = sandbox.run(&unlimited).exits(0);
    assert!(!ended.err().contains("is not known") && ended.err().contains("$0.0420"), "{}", ended.err());
}

/// Three of six questions, each answered so, take a limit of three cents.
fn costs_a_cent(acts: impl IntoIterator<Item = Act>) {
    for act in acts {
        let sandbox = Sandbox::with_own_cache();
        six(&sandbox);
        let each = act.clone();
        let server = FaultServer::start(move |_, _, _| each.clone());
        let stopped = sandbox.run(&in_cents(&server.url, "0.03", &["--concurrency", "1", "--timeout", "1"])).exits(1);
        assert_eq!(server.n_requests(), 3, "{act:?}: {}", stopped.err());
        assert!(stopped.err().contains("--max-cost: $0.0300 of it are spent"), "{act:?}: {}", stopped.err());
        sandbox.run(&in_cents(&server.url, "0.03", &[])).exits(1);
        assert_eq!(server.n_requests(), 3, "{act:?}: what was charged stays charged");
    }
}

#[test]
fn finding_07_a_response_that_is_lost_is_charged_and_not_asked_for_beyond_the_limit() {
    costs_a_cent([Act::Reset, Act::Hang, broken_off(&answer("[[1]]")), response("200 OK", "", "{\"choices\": [}")]);
    let sandbox = Sandbox::with_own_cache();
    six(&sandbox);
    let server = FaultServer::start(|_, n, _| match n {
        0 => response("500 Internal Server Error", "retry-after-ms: 1\r\n", "oops"),
        _ => response("200 OK", "", &answer("[[1]]")),
    });
    let report = sandbox.run(&in_cents(&server.url, "0.06", &[])).exits(0).json();
    assert_eq!(report["cells"][0]["ledger"]["answered"], 6, "an error that the server states costs nothing");
}

#[test]
fn finding_07_fields_that_ask_for_more_are_counted_before_a_call_is_sent() {
    for fields in [r#"{"max_tokens": 40}"#, r#"{"n": 4}"#] {
        let sandbox = Sandbox::with_own_cache();
        six(&sandbox);
        let server = FaultServer::start(|_, _, _| response("200 OK", "", &answer("[[1]]")));
        sandbox.run(&in_cents(&server.url, "0.03", &["--extra-body", fields])).exits(1);
        assert_eq!(server.n_requests(), 0, "{fields}: one call may cost four cents");
    }
}

#[test]
fn finding_07_what_a_server_bills_without_an_answer_is_charged() {
    let billed = |choices: Value| {
        let usage = json!({"prompt_tokens": 9, "completion_tokens": 10});
        response("200 OK", "", &json!({"choices": choices, "usage": usage}).to_string())
    };
    let ended = |message: Value, how: &str| billed(json!([{"message": message, "finish_reason": how}]));
    costs_a_cent([
        response("504 Gateway Timeout", "retry-after-ms: 1\r\n", ""),
        response("524 A Timeout Occurred", "retry-after-ms: 1\r\n", "<html>A timeout occurred</html>"),
        billed(json!([])),
        ended(json!({"content": "[[1"}), "error"),
        ended(json!({"content": "[[1"}), "content_filter"),
        ended(json!({"content": null, "refusal": "I cannot."}), "stop"),
    ]);
}

#[test]
fn finding_07_a_run_of_which_no_call_is_kept_says_what_may_be_billed() {
    let sandbox = Sandbox::with_own_cache();
    six(&sandbox);
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 8});
    let billed = json!({"choices": [{"message": {"content": 7}}], "usage": usage}).to_string();
    let server =
        FaultServer::start(move |name, _, _| response("200 OK", "", if name == "q0" { "{no}" } else { &billed }));
    let said = sandbox.run(&in_cents(&server.url, "1", &[])).exits(1).err();
    assert!(said.contains("0 calls: 0 tokens") && said.contains("$0; $0.0400 with embeddings"), "{said}");
    assert!(said.contains(", and up to $0.0100 for calls whose end is not known"), "{said}");
}

#[test]
fn finding_07_what_a_blocked_answer_was_billed_is_in_the_report() {
    let sandbox = Sandbox::with_own_cache();
    six(&sandbox);
    let choices = json!([{"message": {"content": "[[1"}, "finish_reason": "content_filter"}]);
    let body = json!({"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 8}}).to_string();
    let server = FaultServer::start(move |_, _, _| response("200 OK", "", &body));
    let report = sandbox.run(&in_cents(&server.url, "1", &[])).exits(0).json();
    let usage = &report["usage"][0];
    assert_eq!(report["cells"][0]["ledger"]["blocked"], 6);
    assert_eq!((&usage["calls"], &usage["completion_tokens"]), (&json!(6), &json!(48)), "{usage}");
    let spent = sandbox.run(&["status", "r", "--json"]).json()[0]["dollars"].as_f64().unwrap();
    assert!((usage["dollars"].as_f64().unwrap() - spent).abs() < 1e-9 && spent > 0.04, "{spent}: {usage}");
    sandbox.run(&["verify", "r"]).exits(0);
}

#[test]
fn finding_07_a_merged_run_knows_what_its_parts_were_charged() {
    let sandbox = Sandbox::with_own_cache();
    six(&sandbox);
    let server = FaultServer::start(|name, n, _| match (name, n) {
        ("q0" | "q5", 0) => Act::Reset,
        _ => response("200 OK", "", &answer("[[1]]")),
    });
    for (part, out) in [("1/2", "r1"), ("2/2", "r2")] {
        let limited = in_cents(&server.url, "1", &["--shard", part]);
        sandbox.run(&limited.into_iter().map(|a| if a == "r" { out } else { a }).collect::<Vec<_>>()).exits(0);
    }
    assert!(!sandbox.run(&["merge", "r1", "r2", "--out", "r"]).exits(0).err().contains("other prices"));
    let spent = sandbox.run(&["status", "r", "--json"]).json()[0]["dollars"].as_f64().unwrap();
    assert!((spent - 0.062).abs() < 1e-9, "two lost at a cent, six answered for 0.7: {spent}");
    sandbox.run(&["merge", "r", "r1", "--out", "again"]).exits(0);
    let spent = sandbox.run(&["status", "again", "--json"]).json()[0]["dollars"].as_f64().unwrap();
    assert!((spent - 0.072).abs() < 1e-9, "what was answered is a copy, the lost call may not be: {spent}");

    let mut prices: Value = serde_json::from_slice(&std::fs::read(sandbox.path("r2/prices.json")).unwrap()).unwrap();
    prices["openai-compatible/tiny"]["price"]["input"] = json!(77.0);
    sandbox.write("r2/prices.json", prices.to_string());
    let told = sandbox.run(&["merge", "r1", "r2", "--out", "dear"]).exits(0).err();
    assert!(told.contains("r2 has other prices of openai-compatible/tiny: all calls are counted by those"), "{told}");
}

#[test]
fn a_limit_on_money_wants_to_know_the_prices() {
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    let limited = arguments(&server.url, &["--out", "r", "--max-cost", "1"]);
    sandbox.run(&limited).refuses(&["price of openai-compatible/tiny is not known", "--allow-unknown-price"]);
    assert!(server.requests.lock().unwrap().is_empty() && !sandbox.path("r").exists());
    let told = sandbox.run(&[&limited[..], &["--allow-unknown-price"]].concat()).exits(0);
    assert_eq!(told.json()["usage"][0]["unpriced"], 6);
    assert!(told.err().contains("6 calls of unknown price"), "{}", told.err());
    sandbox
        .run(&arguments(&server.url, &["--max-cost=-1"]))
        .refuses(&["--max-cost <DOLLARS>", "expected a number from 0"]);
}

#[test]
fn requests_keep_to_the_minute() {
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    let started = Instant::now();
    sandbox.run(&arguments(&server.url, &["--rpm", "240", "--out", "r"])).exits(0);
    assert!(started.elapsed() >= Duration::from_millis(5 * 250), "{:?}", started.elapsed());

    let report = sandbox.run(&arguments(&server.url, &["--tpm", "50", "--out", "t", "--no-cache"])).exits(1).json();
    assert_eq!(report["cells"][0]["ledger"]["failed"], 6);
    let records = std::fs::read_to_string(sandbox.path("t/records.jsonl")).unwrap();
    assert!(records.contains("--tpm allows 50 a minute: it can never be sent"), "{records}");
    assert_eq!(server.requests.lock().unwrap().len(), 6, "what can never be sent is not sent");
}
