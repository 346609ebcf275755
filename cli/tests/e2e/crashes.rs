//! Runs that end in the middle, by whatever: nothing finished is lost or asked twice, nothing failed counts as answered.

use crate::fault_server::{Act, FaultServer, broken_off, cases, records, response, run_cases};
use crate::provider::answer;
use crate::support::{Sandbox, timeless};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MODEL: &str = "openai-compatible/tiny";
/// Longest that anything here may take.
const PATIENCE: Duration = Duration::from_secs(300);

fn names(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("q{n}")).collect()
}

/// Waits until `there` says so, while the run goes on.
pub(crate) fn wait_until(child: &mut Child, what: &str, there: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !there() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before {what}");
        assert!(Instant::now() < until, "no {what} in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Lets every twentieth question meet a fault at first, of seven kinds; each has an answer of its own.
fn one_in_twenty(name: &str, n: usize) -> Act {
    let number: usize = name[1..].parse().unwrap();
    let good = answer(&format!("[[{}]]", number % 3 + 1));
    if !number.is_multiple_of(20) || n > 0 {
        return response("200 OK", "", &good);
    }
    match number / 20 % 7 {
        0 => response("500 Internal Server Error", "retry-after-ms: 5\r\n", "oops"),
        1 => response("429 Too Many Requests", "retry-after-ms: 5\r\n", "{}"),
        2 => Act::Reset,
        3 => broken_off(&good),
        4 => response("502 Bad Gateway", "", "<html>Bad Gateway</html>"),
        5 => response("200 OK", "", r#"{"error":{"message":"upstream","code":502}}"#),
        _ => response("200 OK", "", &good[..good.len() / 2]),
    }
}

/// The parts of a report that do not depend on when things happened.
fn told(sandbox: &Sandbox) -> (Value, Value) {
    let report: Value = serde_json::from_slice(&std::fs::read(sandbox.path("r/report.json")).unwrap()).unwrap();
    let mut usage = report["usage"].clone();
    for line in usage.as_array_mut().unwrap() {
        line.as_object_mut().unwrap().retain(|name, _| !name.contains("seconds"));
    }
    (timeless(&report), usage)
}

/// Counts how often each item stands in the records.
fn counted(sandbox: &Sandbox) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for line in std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        *counted.entry(record["item"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counted
}

#[test]
fn two_thousand_items_with_faults_killed_five_times_are_as_if_nothing_had_happened() {
    const N: usize = 2_000;
    let names = names(N);
    let undisturbed = Sandbox::with_own_cache();
    cases(&undisturbed, &names);
    let calm = FaultServer::start(|name, _, _| one_in_twenty(name, 1));
    undisturbed.run(&run_cases(MODEL, &calm.url, &[])).exits(0);
    assert_eq!(calm.n_requests(), N);

    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names);
    let server = FaultServer::start(|name, n, _| one_in_twenty(name, n));
    let arguments = run_cases(MODEL, &server.url, &[]);
    let n_lines = || std::fs::read(sandbox.path("r/records.jsonl")).map_or(0, |b| b.split(|&b| b == b'\n').count() - 1);
    for kill in 1..=5 {
        let mut run = start(sandbox.command(&arguments));
        wait_until(&mut run, "300 more records", || n_lines() >= 300 * kill);
        run.kill().unwrap();
        run.wait().unwrap();
        let (finished, asked) = (records(&sandbox), server.asked());
        assert!(finished.len() < N, "it was killed in the middle");
        if kill == 5 {
            let ended = sandbox.run(&arguments).exits(0);
            assert_eq!(ended.json()["complete"], true);
            let again: Vec<&String> = finished.keys().filter(|name| server.asked()[*name] > asked[*name]).collect();
            assert!(again.is_empty(), "{} that were finished were asked again, {again:?}", again.len());
        }
    }
    let counted = counted(&sandbox);
    assert_eq!((counted.len(), counted.values().max()), (N, Some(&1)), "every item is there once");
    assert!(!sandbox.path("r/journal").exists(), "no response is left over");
    assert_eq!(told(&sandbox), told(&undisturbed));
    assert!(server.n_requests() >= N + N / 20, "the faults were met: {}", server.n_requests());
    sandbox.run(&["verify", "r"]).exits(0);
}

#[test]
fn a_record_that_a_kill_cut_anywhere_is_made_again_and_no_other() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(4));
    let server = FaultServer::start(|_, _, _| response("200 OK", "", &answer("[[1]]")));
    let arguments = run_cases(MODEL, &server.url, &["--no-cache"]);
    sandbox.run(&arguments).exits(0);
    let path = sandbox.path("r/records.jsonl");
    for n in 0..6 {
        let whole = std::fs::read(&path).unwrap();
        let last = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
        let at = last + n * (whole.len() - 1 - last) / 5;
        std::fs::write(&path, &whole[..at]).unwrap();
        let report = sandbox.run(&arguments).exits(0).json();
        // The last one lacks its line feed alone: it is whole, and paid.
        let n_requests = 5 + n.min(4);
        assert_eq!((&report["complete"], server.n_requests()), (&Value::Bool(true), n_requests), "cut at {at}");
        assert_eq!(counted(&sandbox).values().sum::<usize>(), 4);
    }
}

/// A run of forty questions, each answered after a moment, four at once.
fn slow(sandbox: &Sandbox) -> FaultServer {
    cases(sandbox, &names(40));
    let wait = Duration::from_millis(150);
    FaultServer::start(move |_, _, _| Act::After(wait, Box::new(response("200 OK", "", &answer("[[1]]")))))
}

fn tell(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
#[cfg(unix)]
fn ctrl_c_finishes_what_is_in_flight_and_says_how_to_go_on() {
    for signal in ["-INT", "-TERM"] {
        let sandbox = Sandbox::with_own_cache();
        let server = slow(&sandbox);
        let arguments = run_cases(MODEL, &server.url, &["--concurrency", "4"]);
        let mut run = start(sandbox.command(&arguments));
        wait_until(&mut run, "six requests", || server.n_requests() >= 6);
        tell(&run, signal);
        let ended = run.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains("no request begins any more, those under way have 10 s"), "{said}");
        assert!(said.contains("stopped; give the same command again to resume"), "{said}");
        let n_asked = server.n_requests();
        assert!(n_asked < 40, "it stopped in the middle");
        assert_eq!(records(&sandbox).len(), n_asked, "what was in flight is finished and kept");
        sandbox.run(&arguments).exits(0);
        assert_eq!(server.n_requests(), 40, "nothing is asked twice");
    }
}

#[test]
#[cfg(unix)]
fn a_second_ctrl_c_stops_at_once_and_loses_nothing_finished() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(12));
    let server = FaultServer::start(|name, n, _| match name[1..].parse::<usize>().unwrap() {
        6 | 7 if n == 0 => Act::Hang,
        _ => response("200 OK", "", &answer("[[1]]")),
    });
    let arguments = run_cases(MODEL, &server.url, &["--concurrency", "2"]);
    let mut run = start(sandbox.command(&arguments));
    wait_until(&mut run, "a call that hangs", || records(&sandbox).len() == 6 && server.n_requests() >= 8);
    tell(&run, "-INT");
    std::thread::sleep(Duration::from_millis(300));
    assert!(run.try_wait().unwrap().is_none(), "the first waits for what is under way");
    tell(&run, "-INT");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let finished = records(&sandbox);
    assert_eq!(finished.len(), 6);
    sandbox.run(&arguments).exits(0);
    for (name, n) in server.asked() {
        assert_eq!(n, if finished.contains_key(&name) || n == 1 { 1 } else { 2 }, "{name}");
    }
    assert_eq!(records(&sandbox).len(), 12);
}

#[test]
#[cfg(unix)]
fn finding_08_after_a_signal_waits_end_at_once_and_no_request_begins() {
    for signal in ["-INT", "-TERM"] {
        let sandbox = Sandbox::with_own_cache();
        cases(&sandbox, &names(12));
        let server = FaultServer::start(|name, _, _| match name[1..].parse::<usize>().unwrap() {
            0..4 => response("200 OK", "", &answer("[[1]]")),
            4..8 => response("503 Busy", "retry-after: 600\r\n", ""),
            8..10 => response("500 Internal Server Error", "", ""),
            _ => response("429 Too Many Requests", "retry-after: 900\r\n", ""),
        });
        let arguments = run_cases(MODEL, &server.url, &["--concurrency", "8"]);
        let mut run = start(sandbox.command(&arguments));
        wait_until(&mut run, "a limit that asks for a quarter of an hour", || server.asked().contains_key("q10"));
        tell(&run, signal);
        let told = Instant::now();
        std::thread::sleep(Duration::from_millis(200));
        let n_asked = server.n_requests();
        let ended = run.wait_with_output().unwrap();
        assert!(told.elapsed() < Duration::from_secs(8), "{:?}", told.elapsed());
        assert_eq!(server.n_requests(), n_asked, "no request began after the signal");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(1) && said.contains("give the same command again"), "{said}");
        let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let ledger = &report["cells"][0]["ledger"];
        assert_eq!((&ledger["answered"], &ledger["failed"], &ledger["missing"]), (&4.into(), &0.into(), &8.into()));
    }
}

#[test]
#[cfg(unix)]
fn finding_08_a_request_that_hangs_has_ten_seconds() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &names(2));
    let server = FaultServer::start(|name, _, _| match name {
        "q0" => response("200 OK", "", &answer("[[1]]")),
        _ => Act::Hang,
    });
    let mut run = start(sandbox.command(&run_cases(MODEL, &server.url, &[])));
    wait_until(&mut run, "both requests", || records(&sandbox).len() == 1 && server.n_requests() == 2);
    tell(&run, "-TERM");
    let told = Instant::now();
    let ended = run.wait_with_output().unwrap();
    let waited = told.elapsed().as_secs();
    assert!((9..15).contains(&waited), "{waited} s: {}", String::from_utf8_lossy(&ended.stderr));
    assert!(sandbox.path("r/report.json").is_file() && records(&sandbox).len() == 1);
}
