//! How the requests of a batch end, and what becomes of them.

use crate::batch::{BatchServer, Case, End, MODELS};
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
