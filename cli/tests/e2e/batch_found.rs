//! Batches that an earlier process handed in and did not name.

use crate::batch::{Case, MODELS, each_once};
use crate::batch_server::{BatchServer, End};
use serde_json::{Value, json};

#[test]
fn finding_07_a_batch_with_a_foreign_result_that_a_kill_left_unnamed_is_not_paid_twice() {
    let server = BatchServer::start(|_, _| End::Answered);
    server.world.lock().unwrap().foreign = true;
    server.hold(true);
    let limited = ["--method", "dos-rag", "--budget", "60", "--max-output-tokens", "10", "--max-cost", "9"];
    let case = Case::new(MODELS[1], &server, &limited);
    case.is_killed_when(|| case.ticket(1).is_some_and(|ticket| ticket["stage"] == "submitted"));
    let mut ticket = case.ticket(1).unwrap();
    (ticket["stage"], ticket["batch"]) = (json!("prepared"), Value::Null);
    case.sandbox.write("r/batches/0001.json", ticket.to_string());
    let spent = || case.sandbox.run(&["status", "r", "--json"]).json()[0]["dollars"].as_f64().unwrap();
    assert!(spent() > 0.0, "what is at the provider counts");
    server.hold(false);
    let report = case.finishes(0);
    each_once(&server, 18);
    let usage = report["usage"][0]["dollars"].as_f64().unwrap();
    assert!((spent() - usage).abs() < 1e-9, "and once: {} and {usage}", spent());
}

#[test]
fn a_batch_of_the_same_size_of_somebody_else_is_left_alone() {
    let server = BatchServer::start(|_, _| End::Answered);
    server.hold(true);
    let case = Case::new(MODELS[1], &server, &[]);
    case.is_killed_when(|| case.ticket(1).is_some_and(|ticket| ticket["stage"] == "submitted"));
    let mut ticket = case.ticket(1).unwrap();
    (ticket["stage"], ticket["batch"]) = (json!("prepared"), Value::Null);
    case.sandbox.write("r/batches/0001.json", ticket.to_string());
    // As if ours had never arrived, and another's had meanwhile.
    for (n, entry) in server.world.lock().unwrap().batches[0].0.iter_mut().enumerate() {
        entry["custom_id"] = json!(format!("another-{n}"));
    }
    server.hold(false);
    let report = case.finishes(0);
    assert_eq!(report["cells"][0]["ledger"]["answered"], 18);
    assert_eq!(server.world.lock().unwrap().batches.len(), 2, "ours is handed in");
}

#[test]
fn an_extension_that_would_forget_batches_changes_nothing() {
    let server = BatchServer::start(|_, _| End::Answered);
    let case = Case::new(MODELS[0], &server, &[]);
    server.hold(true);
    case.is_killed_when(|| case.ticket(1).is_some_and(|ticket| ticket["stage"] == "submitted"));
    let manifest = || std::fs::read_to_string(case.sandbox.path("r/manifest.json")).unwrap();
    let before = manifest();
    let without = case.arguments().into_iter().filter(|a| !matches!(*a, "--batch" | "--batch-poll" | "0.2"));
    let extended: Vec<&str> = without.chain(["--extend", "--repeats", "2"]).collect();
    case.sandbox.run(&extended).refuses(&["waits for 1 batches", "--batch"]);
    assert_eq!(manifest(), before);
    server.hold(false);
    case.finishes(0);
    assert_eq!(server.n_batches(), 1);
}

#[test]
fn finding_07_a_merge_says_which_part_waits_for_a_batch() {
    let server = BatchServer::start(|_, _| End::Answered);
    let case = Case::new(MODELS[0], &server, &[]);
    server.hold(true);
    case.is_killed_when(|| case.ticket(1).is_some_and(|ticket| ticket["stage"] == "submitted"));
    let told = case.sandbox.run(&["merge", "r", "--out", "m"]).exits(1).err();
    assert!(told.contains("r waits for batches at the provider (1)"), "{told}");
}
