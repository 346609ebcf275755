//! Limits of judges: their cost is told before, limited while they are asked, reported and verified afterwards; what cannot judge is refused.

use crate::provider::{Server, answer};
use crate::support::{Ended, Sandbox, rewrite_lines, run_tales, tales};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A judge's response of the test's server has 7 tokens, which cost 0.7 cents; one at the limit of 10 tokens costs a cent.
const PRICES: &str = r#"
["openai-compatible/j"]
source = "this test"
date = "2026-01-02"
price = { input = 0.0, output = 1_000.0 }
"#;

fn judge_server() -> Server {
    Server::start(vec![("200 OK", answer("\\boxed{CORRECT}"))])
}

/// Six open answers of a reader without a model, and a judge that costs money.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    sandbox.write("prices.toml", PRICES);
    sandbox
}

fn run<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let bench = ["run", "--benchmark", "tales", "--retriever", "bm25", "--passage-tokens", "12", "--method", "dos-rag"];
    let judge =
        ["--budget", "30", "--judge-model", "openai-compatible/j", "--judge-base-url", url, "--concurrency", "1"];
    let limits = ["--judge-max-output-tokens", "10", "--model-info", "prices.toml", "--out", "r", "--json"];
    [&bench[..], &judge, &limits, more].concat()
}

#[test]
fn judges_are_paid_from_the_money_of_the_run() {
    let server = judge_server();
    let sandbox = sandbox();
    let n_requests = || server.requests.lock().unwrap().len();
    let stopped = sandbox.run(&run(&server.url, &["--max-cost", "0.03"])).exits(1);
    assert!(stopped.err().contains("--max-cost: $0.0210 of it are spent"), "{}", stopped.err());
    assert_eq!(n_requests(), 3, "a fourth could cost a cent, and less than one is left");
    let again = ["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url, "--concurrency", "1"];
    let limits = ["--max-output-tokens", "10", "--model-info", "prices.toml", "--json"];
    let judge = |dollars| sandbox.run(&[&again[..], &limits, &["--max-cost", dollars]].concat());
    assert_eq!(judge("0.03").exits(1).json()["out_of_money"], true);
    let gate = sandbox.run(&["gate", "r", "--min", "judged_accuracy=0.9"]).exits(11).out();
    assert!(gate.contains(" without a verdict"), "what nobody judged may be right or wrong: {gate}");
    assert_eq!(n_requests(), 3, "what was spent before counts");

    let report = sandbox.run(&run(&server.url, &["--max-cost", "1"])).exits(0).json();
    assert_eq!(n_requests(), 6, "nothing is asked twice");
    let usage = report["usage"].as_array().unwrap().iter().find(|usage| usage["judging"] == true).unwrap();
    assert_eq!(
        (&usage["method"], &usage["model"], &usage["calls"], &usage["completion_tokens"]),
        (&json!("judge-sagascale"), &json!("openai-compatible/j"), &json!(6), &json!(42))
    );
    assert!((usage["dollars"].as_f64().unwrap() - 0.042).abs() < 1e-9, "{usage}");
    let table = sandbox.run(&["report", "r"]).exits(0).out();
    for words in ["judge-sagascale (judge)", "0.0420", "prices of openai-compatible/j as of 2026-01-02"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    let unknown: Vec<&str> = run(&server.url, &["--max-cost", "1", "--fresh"]);
    let unknown: Vec<&str> =
        unknown.into_iter().filter(|word| !["--model-info", "prices.toml"].contains(word)).collect();
    sandbox.run(&unknown).refuses(&["price of openai-compatible/j is not known", "/blob/main/docs/costs.md)"]);
}

#[test]
fn finding_07_a_persons_own_limit_holds_for_judges_of_a_finished_run() {
    let server = judge_server();
    let sandbox = sandbox();
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "30"]);
    sandbox.write("config/run.toml", "max-cost = 0.03\nmodel-info = '../prices.toml'\n");
    let judge = ["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url, "--concurrency", "1"];
    let judge = [&judge[..], &["--max-output-tokens", "10"]].concat();
    let n_requests = || server.requests.lock().unwrap().len();
    let stopped = sandbox.run(&judge).exits(1).err();
    assert!(stopped.contains("--max-cost: $0.0210 of it are spent") && n_requests() == 3, "{stopped}");
    let more = Ended(sandbox.command(&judge).env("CLOSEREAD_RUN_MAX_COST", "0.035").output().unwrap()).exits(1).err();
    assert!(more.contains("--max-cost: $0.0280 of it are spent") && n_requests() == 4, "{more}");
    sandbox.run(&[&judge[..], &["--max-cost", "1"]].concat()).exits(0);
    assert_eq!(n_requests(), 6);
}

#[test]
fn verdicts_that_cost_nothing_are_there_when_money_ends() {
    let server = judge_server();
    let sandbox = sandbox();
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "30"]);
    let models = "builtin/rule,openai-compatible/j";
    let judge = ["judge", "r", "--judge-model", models, "--base-url", &server.url, "--concurrency", "1"];
    let limits = ["--max-output-tokens", "10", "--model-info", "prices.toml", "--max-cost", "0.01"];
    sandbox.run(&[&judge[..], &limits].concat()).exits(1);
    let lines = crate::judge::judgements(&sandbox, "r");
    let of = |model: &str| lines.iter().filter(|line| line["judge_model"] == model).count();
    assert_eq!((of("builtin/rule"), of("openai-compatible/j")), (18 + 6, 1));
}

#[test]
fn finding_07_a_judges_blocked_prompt_stays_charged_when_the_run_is_resumed() {
    let choices = json!([{"message": {"content": ""}, "finish_reason": "content_filter"}]);
    let server = Server::start(vec![("200 OK", json!({"choices": choices}).to_string())]);
    let sandbox = sandbox();
    sandbox.write("prices.toml", PRICES.replace("input = 0.0, output = 1_000.0", "input = 1_000.0, output = 0.0"));
    let n_requests = || server.requests.lock().unwrap().len();
    let spent = |said: String| said.split_once("--max-cost: ").unwrap().1.split(' ').next().unwrap().to_owned();
    let limited = run(&server.url, &["--max-cost", "0.5"]);
    let stopped = sandbox.run(&limited).exits(1);
    let asked = n_requests();
    assert!((1..6).contains(&asked), "{asked}: {}", stopped.err());
    let again = sandbox.run(&limited).exits(1);
    assert_eq!((n_requests(), spent(again.err())), (asked, spent(stopped.err())), "{}", again.err());
}

#[test]
fn finding_07_probes_end_where_the_money_does() {
    let server = judge_server();
    let sandbox = sandbox();
    sandbox.run(&run(&server.url, &[])).exits(0);
    let judge = ["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url, "--concurrency", "1"];
    let limits = ["--max-output-tokens", "10", "--model-info", "prices.toml", "--json", "--max-cost", "0.06"];
    let stopped = sandbox.run(&[&judge[..], &limits, &["--probe", "verbosity"]].concat()).exits(1);
    assert!(stopped.err().contains("--max-cost: $0.0560 of it are spent"), "{}", stopped.err());
    assert_eq!(stopped.json()["out_of_money"], true);
    assert_eq!(server.requests.lock().unwrap().len(), 8, "six verdicts, and two of the probe");
}

#[test]
#[cfg(unix)]
fn finding_08_after_a_signal_no_probe_begins() {
    let server = Server::replying(|_, _| {
        std::thread::sleep(Duration::from_millis(100));
        ("200 OK", answer("\\boxed{CORRECT}"))
    });
    let sandbox = sandbox();
    sandbox.run(&run(&server.url, &[])).exits(0);
    let judge = ["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url, "--concurrency", "1"];
    let probe = ["--max-output-tokens", "10", "--votes", "2", "--no-cache", "--probe", "verbosity,position"];
    let mut command = sandbox.command(&[&judge[..], &probe].concat());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let n_asked = || server.requests.lock().unwrap().len();
    while n_asked() < 14 {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(1) && said.contains("stopped; give the same command again"), "{said}");
    assert!(n_asked() <= 16, "{} requests of 24", n_asked());
}

#[test]
fn probes_that_a_kill_ended_go_on_without_a_cache() {
    let server = Server::replying(|_, _| {
        std::thread::sleep(Duration::from_millis(50));
        ("200 OK", answer("\\boxed{CORRECT}"))
    });
    let sandbox = sandbox();
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "30"]);
    let judge = ["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url, "--concurrency", "1"];
    let probe = [&judge[..], &["--no-cache", "--probe", "verbosity", "--json"]].concat();
    let mut child = sandbox.command(&probe).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let n_asked = || server.requests.lock().unwrap().len();
    while n_asked() < 10 {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let found = sandbox.run(&probe).exits(0).json();
    let table = found["tables"].as_array().unwrap().iter().find(|table| table["id"] == "probes").unwrap();
    assert_eq!(table["rows"][0][2]["count"], 6, "{table}");
    assert!(n_asked() <= 13, "{} requests: six verdicts, six of the probe, and one that the kill lost", n_asked());
    assert!(!sandbox.path("r/journal").exists());
}

#[test]
fn judges_keep_to_the_minute() {
    let server = judge_server();
    let sandbox = sandbox();
    let started = Instant::now();
    sandbox.run(&run(&server.url, &["--rpm", "240"])).exits(0);
    assert!(started.elapsed() >= Duration::from_millis(5 * 250), "{:?}", started.elapsed());
    let told = sandbox.run(&run(&server.url, &["--tpm", "20", "--fresh", "--no-cache"])).exits(1);
    assert!(told.err().contains("6 calls to judges failed"), "{}", told.err());
    assert_eq!(server.requests.lock().unwrap().len(), 6, "what can never be sent is not sent");
}

#[test]
fn failed_calls_to_a_judge_have_their_reason_and_the_option_that_helps() {
    let moved = "308 Permanent Redirect\r\nlocation: https://elsewhere.example/v1/chat/completions";
    let server = Server::start(vec![(moved, String::new())]);
    let sandbox = sandbox();
    let says = |option: &str| {
        let why = "the call failed: the server answered 308 and sends us to https://elsewhere.example/v1";
        format!("  6 x {why}: give the address it means by {option}")
    };
    let told = sandbox.run(&run(&server.url, &[])).exits(1).err();
    assert!(told.contains(&says("--judge-base-url")), "{told}");
    let judge = ["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url];
    let told = sandbox.run(&judge).exits(1).err();
    assert!(told.contains("6 calls to judges failed") && told.contains(&says("--base-url")), "{told}");
}

#[test]
fn judges_are_in_the_estimate() {
    let sandbox = sandbox();
    let told = sandbox.run(&[&run("http://127.0.0.1:9/v1", &["--dry-run"])[..]].concat()).exits(0).json();
    let judge = &told["judges"][0];
    assert_eq!((&judge["method"], &judge["calls"]), (&json!("judge-sagascale"), &json!({"low": 6, "high": 6})));
    assert_eq!(judge["response_tokens"]["high"], 60);
    let model = told["models"].as_array().unwrap().iter().find(|m| m["model"] == "openai-compatible/j").unwrap();
    assert!((model["dollars"]["list"][1].as_f64().unwrap() - 0.06).abs() < 1e-9, "{model}");

    let all = ["estimate", "--method", "all", "--model", "openai-compatible/tiny", "--json"];
    let told = sandbox.run(&all).exits(0).json();
    let judges: BTreeSet<&str> =
        told["judges"].as_array().unwrap().iter().map(|judge| judge["method"].as_str().unwrap()).collect();
    let every = ["align-key-facts", "classify-question", "judge-corpusqa", "judge-novelqa", "judge-sagascale"];
    assert_eq!(judges, every.into_iter().chain(["verify-facts"]).collect(), "no reader is asked for evidence");
    let nobody = sandbox.run(&[&all[..], &["--judge-model", "none"]].concat()).exits(0).json();
    assert!(nobody.get("judges").is_none() && nobody["items"].as_u64() < told["items"].as_u64(), "{nobody}");
}

#[test]
fn judges_without_an_address_are_asked_where_readers_are() {
    let server = judge_server();
    let sandbox = sandbox();
    let args = ["run", "--benchmark", "tales", "--method", "closed-book", "--out", "r", "--json"];
    let models = ["--model", "openai-compatible/x", "--judge-model", "openai-compatible/j", "--base-url", &server.url];
    sandbox.run(&[&args[..], &models].concat()).exits(0);
    let asked: BTreeSet<String> =
        server.requests.lock().unwrap().iter().map(|request| request["model"].to_string()).collect();
    assert_eq!(asked, ["\"j\"".to_owned(), "\"x\"".to_owned()].into());
}

#[test]
fn a_paper_that_judges_says_so_where_nobody_does() {
    let sandbox = sandbox();
    let args = ["run", "--benchmark", "novelqa", "--data", "tales", "--method", "closed-book"];
    let told = sandbox.run(&args).exits(0);
    for words in ["nothing is judged", "the paper judges with GPT-4", "--judge-model", "builtin/rule"] {
        assert!(told.err().contains(words), "{words}: {}", told.err());
    }
    let told = sandbox.run(&[&args[..], &["--judge-model", "builtin/rule", "--out", "j"]].concat()).exits(0);
    assert!(told.err().contains("judged by builtin/rule; in the paper by GPT-4"), "{}", told.err());
    sandbox
        .run(&[&args[..], &["--judge-model", "none,builtin/rule"]].concat())
        .refuses(&["expected models, or none alone"]);
}

#[test]
fn judgements_are_read_again_and_a_changed_one_is_named() {
    let server = Server::replying(|n, _| {
        let response = if n == 2 { "I cannot say." } else { "\\boxed{CORRECT}" };
        ("200 OK", answer(response))
    });
    let sandbox = sandbox();
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "30", "--judge-model", "builtin/rule"]);
    sandbox.run(&["judge", "r", "--judge-model", "openai-compatible/j", "--base-url", &server.url]).exits(0);
    let told = sandbox.run(&["verify", "r", "--json"]).exits(0).json();
    assert_eq!(told["judgements"]["judgements"], 18 + 6 + 6, "the rule on all, both judges on the open ones: {told}");
    let text = sandbox.run(&["verify", "r"]).exits(0).out();
    assert!(text.ends_with("30 judgements read again: 0 differences\n"), "{text}");

    rewrite_lines(&sandbox, "r/judgements.jsonl", |line| {
        if line["judge_model"] == "openai-compatible/j" && line["item"] == "t0-3" {
            line["ruling"]["correct"] = json!(false);
        }
        if line["judge"] == "rule" && line["item"] == "t1-1" {
            line["ruling"]["strict"] = json!(!line["ruling"]["strict"].as_bool().unwrap());
        }
    });
    let ended = sandbox.run(&["verify", "r"]).exits(1);
    for words in
        ["item t0-3, dos-rag at 30", "judge-sagascale by openai-compatible/j, vote 0: verdict", "2 differences"]
    {
        assert!(ended.out().contains(words), "{words}: {}", ended.out());
    }
    let differences = sandbox.run(&["verify", "r", "--json"]).exits(1).json()["judgements"]["differences"].clone();
    let items: Vec<&Value> = differences.as_array().unwrap().iter().map(|one| &one["item"]).collect();
    assert_eq!(items, ["t0-3", "t1-1"]);

    let front = "+++\npaper = 'ours'\nvariables = []\nresponse = 'a box'\n+++\n";
    sandbox.write("prompts/judge-sagascale.md", format!("{front}Is {{{{ answer }}}} right?"));
    let ended = sandbox.run(&["verify", "r", "--prompts", "prompts"]).exits(1);
    assert!(ended.out().contains("judge-sagascale: 6 judgements were not verified"), "{}", ended.out());
}

#[test]
fn responses_of_judges_that_were_cut_are_counted() {
    let cut = answer("It is the same as the").replace("\"stop\"", "\"length\"");
    let server = Server::start(vec![("200 OK", cut)]);
    let sandbox = sandbox();
    sandbox.run(&run(&server.url, &[]));
    let report = sandbox.run(&["report", "r"]).exits(0).out();
    assert!(report.contains("responses that ended at their limit of tokens: judge-sagascale 6"), "{report}");
}

#[test]
fn what_cannot_judge_is_refused() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "dos-rag", "--budget", "30"]);
    sandbox.run(&["judge", "r", "--judge-model", "builtin/extractive"]).refuses(&["does not judge", "builtin/rule"]);
    sandbox.run(&["judge", "r", "--judge-model", "gpt-4"]).refuses(&["unknown model `gpt-4`"]);
    sandbox
        .run(&["judge", "r", "--judge-model", "builtin/rule", "--votes", "0"])
        .refuses(&["--votes <N>", "from 1 to"]);
    sandbox
        .run(&["judge", "r", "--judge-model", "builtin/rule", "--judge", "gpt"])
        .refuses(&["no judge `gpt`", "judge-novelqa"]);
    for command in [&["judge", "r"][..], &["run", "--method", "closed-book"]] {
        let given = [command, &["--judge-model", "builtin/rule", "--judge", "openai/gpt-4o"]].concat();
        sandbox.run(&given).refuses(&["--judge openai/gpt-4o", "models are named by --judge-model"]);
    }
    sandbox.run(&["run", "--max-tokens", "9"]).refuses(&["no --max-tokens", "--passage-tokens", "--max-output-tokens"]);
    sandbox.run(&["judge", "nowhere", "--judge-model", "builtin/rule"]).refuses(&["nowhere", "closeread run --out"]);
    sandbox.run(&["agreement", "r", "labels.csv"]).refuses(&["was not judged", "closeread judge r"]);
    sandbox.run(&["judge", "r", "--judge-model", "builtin/rule", "--judge", "classify-question"]).exits(0);
    let lines = crate::judge::judgements(&sandbox, "r");
    assert!(lines.iter().all(|line| line["judge"] == "classify-question" && line.get("trial").is_none()));
    rewrite_lines(&sandbox, "r/judgements.jsonl", |line| line["state"] = json!("odd"));
    sandbox.run(&["report", "r"]).refuses(&["judgements.jsonl:1"]);
}

#[test]
fn what_judges_said_of_a_part_that_is_in_its_whole_too_was_paid_once() {
    let (server, sandbox) = (judge_server(), sandbox());
    sandbox.run(&run(&server.url, &["--max-cost", "1"])).exits(0);
    sandbox.run(&["merge", "r", "--out", "whole"]).exits(0);
    sandbox.run(&["merge", "whole", "r", "--out", "again"]).exits(0);
    for folder in ["r", "whole", "again"] {
        let spent = sandbox.run(&["status", folder, "--json"]).json()[0]["dollars"].as_f64().unwrap();
        assert!((spent - 0.042).abs() < 1e-9, "six judgements for 0.7 cents in {folder}: {spent}");
    }
}
