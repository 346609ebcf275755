//! What runs in object stores have spent, when they go on on another machine.

use crate::crashes::{start, wait_until};
use crate::fault_server::{Act, FaultServer, response};
use crate::limits::{in_cents, six};
use crate::moto::{Store, until};
use crate::provider::answer;
use crate::support::{Ended, Sandbox};
use serde_json::{Value, json};

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_what_a_lost_machine_spent_counts_on_another() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    six(&sandbox);
    let server = FaultServer::start(|name, n, _| match (name, n) {
        ("q0" | "q1", 0) => Act::Hang,
        _ => response("200 OK", "", &answer("[[1]]")),
    });
    let of = |machine: &str, dollars: &str| {
        let mut given = in_cents(&server.url, dollars, &["--concurrency", "2", "--no-cache"]);
        let out = given.iter().position(|argument| *argument == "--out").unwrap();
        given[out + 1] = "s3://evals/spread/parts/0";
        store.command(&sandbox, machine, &given)
    };
    let mut first = start(of("a", "0.02"));
    wait_until(&mut first, "two calls in flight", || server.n_requests() == 2);
    let charges = "spread/parts/0/.spending.jsonl";
    let sent = || store.names().contains(charges) && store.object(charges).matches("most").count() == 2;
    wait_until(&mut first, "what they can cost is sent", sent);
    first.kill().unwrap();
    first.wait().unwrap();
    let status = |place: &str| {
        let told = store.run(&sandbox, "watcher", &["status", place, "--json"]);
        Some(serde_json::from_slice::<Value>(&told.0.stdout).ok()?[0].clone())
    };
    let stopped = || status("s3://evals/spread").filter(|part| part["state"] == "stopped");
    let stopped = until("the first is taken for lost", stopped);
    assert_eq!((&stopped["dollars"], &stopped["dollars_open"]), (&json!(0.02), &json!(0.02)));
    // It had no trial yet, and keeps nobody from joining the others.
    let joined = store.run(&sandbox, "watcher", &["merge", "s3://evals/spread/parts/*", "--out", "early"]).exits(1);
    assert!(joined.err().contains("6 of 6 trials have no record"), "{}", joined.err());
    // Another machine knows that there is no money left, and the first one does when it comes back.
    for machine in ["b", "a"] {
        let ended = Ended(of(machine, "0.02").output().unwrap()).exits(1);
        assert!(ended.err().contains("--max-cost: $0.0200 of it are spent"), "{machine}: {}", ended.err());
        assert_eq!(server.n_requests(), 2, "{machine}");
    }
    Ended(of("b", "1").output().unwrap()).exits(0);
    store.run(&sandbox, "c", &["merge", "s3://evals/spread/parts/0", "--out", "s3://evals/spread/whole"]).exits(0);
    let whole = until("the store answers", || status("s3://evals/spread/whole"));
    let dollars = |name: &str| whole[name].as_f64().unwrap();
    assert!((dollars("dollars") - 0.062).abs() < 1e-9 && (dollars("dollars_open") - 0.02).abs() < 1e-9, "{whole}");
}
