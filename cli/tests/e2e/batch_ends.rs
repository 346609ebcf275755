//! How the requests of a batch end, and what becomes of them.

use crate::batch::{Case, MODELS, each_once};
use crate::batch_server::{BatchServer, End};
use crate::embeddings::openai;
use crate::http::{HttpServer, ok};
use crate::support::Ended;
use serde_json::json;

#[test]
fn what_expired_is_handed_in_again_and_what_was_refused_is_recorded() {
    fn end(entry: &str, batch: usize) -> End {
        match entry {
            entry if entry.contains("What had Ana found") => End::Refused,
            entry if entry.contains("Where did Ben hide") && batch == 0 => End::Expired,
            _ => End::Answered,
        }
    }
    for model in MODELS {
        let server = BatchServer::start(end);
        let case = Case::new(model, &server, &[]);
        let report = case.finishes(1);
        assert_eq!(server.n_batches(), 2, "{model}");
        assert_eq!(server.ids().len(), 19, "one request was handed in again");
        let ledger = &report["cells"][0]["ledger"];
        let failed = ledger["failed"].as_u64().unwrap();
        assert!(failed > 0 && ledger["answered"] == 18 - failed, "{model}: {ledger}");
        let records = std::fs::read_to_string(case.sandbox.path("r/records.jsonl")).unwrap();
        assert_eq!(records.matches("this field is not known").count() as u64, failed);
    }
}

#[test]
fn what_expires_again_and_again_fails() {
    let server =
        BatchServer::start(|entry, _| if entry.contains("Where did Ben") { End::Expired } else { End::Answered });
    let case = Case::new("openai/tiny", &server, &[]);
    let report = case.finishes(1);
    assert_eq!((server.n_batches(), &report["cells"][0]["ledger"]["failed"]), (3, &json!(1)));
}

#[test]
fn finding_07_a_blocked_request_of_a_batch_costs_what_its_result_names() {
    for model in MODELS {
        let server = BatchServer::start(|_, _| End::Blocked);
        let limited = ["--method", "dos-rag", "--budget", "60", "--max-output-tokens", "10", "--max-cost", "9"];
        let case = Case::new(model, &server, &limited);
        let prices = std::fs::read_to_string(case.sandbox.path("prices.toml")).unwrap();
        case.sandbox.write("prices.toml", prices.replace("input = 10, output = 0", "input = 0, output = 1000"));
        let report = case.finishes(0);
        assert_eq!((server.n_batches(), &report["cells"][0]["ledger"]["blocked"]), (1, &json!(18)));
        let spent = case.sandbox.run(&["status", "r", "--json"]).json()[0]["dollars"].as_f64().unwrap();
        assert!((spent - 0.18).abs() < 1e-9, "{model}: 18 times 10 tokens: {spent}");
        let usage = &report["usage"][0];
        assert_eq!((&usage["calls"], &usage["completion_tokens"]), (&json!(18), &json!(180)), "{model}: {usage}");
        assert!((usage["dollars"].as_f64().unwrap() - spent).abs() < 1e-9, "{model}: the report says so, too: {usage}");
    }
}

#[test]
fn finding_07_results_that_come_cut_short_or_late_are_asked_for_again_and_not_paid_again() {
    for model in MODELS {
        let server = BatchServer::start(|_, _| End::Answered);
        server.world.lock().unwrap().cut = 2;
        server.world.lock().unwrap().late = 2;
        let case = Case::new(model, &server, &[]);
        let report = case.finishes(0);
        each_once(&server, 18);
        assert_eq!(report["cells"][0]["ledger"]["answered"], 18, "{model}");
    }
}

#[test]
fn finding_07_an_answer_that_is_told_of_as_an_error_too_is_kept() {
    let server = BatchServer::start(|_, _| End::Answered);
    server.world.lock().unwrap().twice = true;
    let report = Case::new("openai/tiny", &server, &[]).finishes(0);
    each_once(&server, 18);
    assert_eq!(report["cells"][0]["ledger"]["answered"], 18);
}

#[test]
fn finding_07_answers_that_a_batch_has_lost_are_charged() {
    for model in MODELS {
        let server = BatchServer::start(|_, _| End::Answered);
        server.world.lock().unwrap().cut = usize::MAX;
        let limited = ["--method", "dos-rag", "--budget", "60", "--max-output-tokens", "10", "--max-cost", "9"];
        let case = Case::new(model, &server, &limited);
        let prices = std::fs::read_to_string(case.sandbox.path("prices.toml")).unwrap();
        case.sandbox.write("prices.toml", prices.replace("input = 10, output = 0", "input = 0, output = 1000"));
        case.finishes(1);
        let n_billed = server.ids().len();
        assert!(n_billed > 18, "{model}: what came in no result is handed in again");
        let spent = || case.sandbox.run(&["status", "r", "--json"]).json()[0]["dollars"].as_f64().unwrap();
        assert!((spent() - 0.01 * n_billed as f64).abs() < 1e-9, "{model}: {n_billed} times 10 tokens: {}", spent());
        server.world.lock().unwrap().cut = 0;
        case.finishes(0);
        assert!((spent() - 0.01 * server.ids().len() as f64).abs() < 1e-9, "{model}: {}", spent());
    }
}

#[test]
fn finding_07_what_was_cancelled_at_the_provider_is_not_handed_in_again() {
    let server = BatchServer::start(|_, _| End::Answered);
    server.world.lock().unwrap().cancelled = true;
    let case = Case::new(MODELS[0], &server, &[]);
    let report = case.finishes(1);
    let ledger = &report["cells"][0]["ledger"];
    assert_eq!((server.n_batches(), &ledger["answered"], &ledger["failed"]), (1, &json!(1), &json!(17)));
    let records = std::fs::read_to_string(case.sandbox.path("r/records.jsonl")).unwrap();
    assert_eq!(records.matches("the batch was cancelled").count(), 17);
}

#[test]
fn a_batch_that_is_there_no_more_says_what_to_do() {
    let server = BatchServer::start(|_, _| End::Answered);
    server.hold(true);
    let case = Case::new(MODELS[0], &server, &[]);
    case.is_killed_when(|| case.ticket(1).is_some_and(|ticket| ticket["stage"] == "submitted"));
    server.world.lock().unwrap().gone = true;
    let told = case.sandbox.run(&case.arguments()).exits(2).err();
    assert!(told.contains("answered 404") && told.contains("\n  Its ticket stays in the run folder"), "{told}");
    assert_eq!(server.n_batches(), 1);
}

#[test]
fn finding_15_a_name_of_a_batch_that_holds_the_key_is_not_kept() {
    const KEY: &str = "sk-PLANTED0123456789abcdef";
    let server = BatchServer::start(|_, _| End::Answered);
    server.world.lock().unwrap().suffix = format!("_{KEY}_");
    let case = Case::new(MODELS[0], &server, &[]);
    let mut command = case.sandbox.command(&case.arguments());
    let ended = Ended(command.env("OPENAI_API_KEY", KEY).output().unwrap()).exits(2);
    assert!(ended.err().contains("a name that holds the key") && !ended.err().contains(KEY), "{}", ended.err());
    assert!(!case.ticket(1).unwrap().to_string().contains(KEY));
}

#[test]
fn a_batch_that_holds_the_money_for_embeddings_is_handed_in() {
    let embedder = HttpServer::start(|asked| ok(&openai(asked)));
    let server = BatchServer::start(|_, _| End::Answered);
    let limited =
        ["--method", "closed-book,dos-rag", "--budget", "60", "--max-output-tokens", "6250", "--max-cost", "0.5"];
    let case = Case::new("openai/tiny", &server, &limited);
    let prices = "['openai/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 20 }\n\
        batch = { input = 0, output = 10 }\n['openai-compatible/embedder']\nsource = 's'\ndate = '2026-01-02'\n\
        price = { input = 100, output = 0 }\n";
    case.sandbox.write("prices.toml", prices);
    assert!(case.ends_with_embedder(&format!("{}/v1", embedder.url)), "the run waits for ever");
    each_once(&server, 36);
}

#[test]
fn money_that_makes_batches_small_is_told_of_once() {
    let server = BatchServer::start(|_, _| End::Answered);
    let limited = ["--method", "closed-book", "--max-output-tokens", "6250", "--max-cost", "0.5"];
    let case = Case::new("openai/tiny", &server, &limited);
    let prices = "['openai/tiny']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 20 }\n\
        batch = { input = 0, output = 10 }\n";
    case.sandbox.write("prices.toml", prices);
    let said = case.sandbox.run(&case.arguments()).exits(0).err();
    assert_eq!(said.matches("--max-cost has money for 8 requests at once").count(), 1, "{said}");
    assert!(server.n_batches() >= 3, "{said}");
    each_once(&server, 18);
}
