//! Kills of every build (`kill -9`) in each of its stages, and stops behind each of them: the data are those of a build
//! that nothing happened to.

use crate::build_corpusqa::{from_homes, from_sample, reader};
use crate::build_model::{SAMPLE, built, said};
use crate::build_sagascale::loan;
use crate::provider::{Server, answer};
use crate::support::{Sandbox, tales};
use closeread_build::{corpusqa, hamlet, options, sagascale};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names of the files that every build leaves.
const DATA: [&str; 5] = ["items.jsonl", "documents.jsonl", "report.json", "check/questions.jsonl", "check/check.html"];

/// A model that takes its time, so that there is a stage to be killed in.
fn slow(response: fn(&str) -> String) -> Server {
    Server::replying(move |_, request| {
        std::thread::sleep(Duration::from_millis(10));
        ("200 OK", answer(&response(said(request))))
    })
}

fn with<'a>(build: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [build, more].concat()
}

/// Starts the build and kills it as soon as a line of the stage is on the disk.
fn kill_in(sandbox: &Sandbox, build: &[&str], stage: &Path) {
    let mut child = sandbox.command(build).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let part = stage.with_extension("jsonl.part");
    while !part.exists() && !stage.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // It may have ended by itself: a stage that asks nobody takes no time.
    let _ = child.kill();
    child.wait().unwrap();
}

/// The law: killed in every stage, or stopped behind every stage, a build leaves the files of one that nothing happened to.
fn survives(sandbox: &Sandbox, build: &[&str], stages: &[&str], more: &[&str]) {
    let files = || DATA.iter().chain(more);
    sandbox.run(&with(build, &["--out", "whole"])).exits(0);
    for (at, stage) in stages.iter().enumerate() {
        let file = sandbox.path("killed").join(format!("stages/{}-{stage}.jsonl", at + 1));
        kill_in(sandbox, &with(build, &["--out", "killed"]), &file);
        let told = sandbox.run(&with(build, &["--out", "stopped", "--until", stage])).exits(0);
        let is_last = at + 1 == stages.len();
        assert!(is_last || told.err().contains(&format!("stopped after stage `{stage}`")), "{}", told.err());
    }
    for out in ["killed", "stopped"] {
        sandbox.run(&with(build, &["--out", out])).exits(0);
        for name in files() {
            let read = |of: &str| std::fs::read_to_string(sandbox.path(of).join(name)).unwrap();
            assert_eq!(read(out), read("whole"), "{name} of the build that was {out}");
        }
    }
}

#[test]
fn finding_07_a_build_spends_no_more_than_its_limit_however_often_it_is_begun() {
    let server = slow(built);
    let sandbox = Sandbox::with_own_cache();
    let prices =
        "['openai-compatible/builder']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 10_000 }\n";
    sandbox.write("prices.toml", prices);
    let story = format!("{SAMPLE}/shedu-bu.txt");
    let build = ["build", "hamlet", "--books", &story, "--no-cache", "--concurrency", "2", "--out", "b"];
    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url, "--max-output-tokens", "10"];
    let build = [&build[..], &model, &["--model-info", "prices.toml"]].concat();
    let limited = with(&build, &["--max-cost", "1"]);
    kill_in(&sandbox, &limited, &sandbox.path("b/stages/2-trees.jsonl"));
    for _ in 0..2 {
        let told = sandbox.run(&limited).exits(1).err();
        assert!(told.contains("again with a higher --max-cost to resume"), "{told}");
    }
    let n_asked = server.requests.lock().unwrap().len();
    // The server bills seven tokens a response.
    assert!((5..=14).contains(&n_asked), "{n_asked} requests at $0.07 are not within $1");
    // As a kill leaves a call: what it can have cost is no money that was spent.
    let mut charges = std::fs::read_to_string(sandbox.path("b/.spending.jsonl")).unwrap();
    charges.push_str("{\"call\":999999,\"most\":700.0}\n");
    sandbox.write("b/.spending.jsonl", charges);
    let told = sandbox.run(&with(&build, &["--max-cost", "1000"])).exits(0).err();
    assert!(told.contains(" with earlier commands, and up to $70"), "{told}");
    assert!(told.contains(" for calls whose end is not known"), "{told}");
    sandbox.run(&with(&limited, &["--fresh"])).exits(1);
    assert!(server.requests.lock().unwrap().len() > n_asked + 5, "--fresh counts anew");
}

#[test]
#[cfg(unix)]
fn finding_08_a_build_that_is_told_to_stop_keeps_what_is_in_flight() {
    let server = Server::replying(move |_, request| {
        std::thread::sleep(Duration::from_millis(200));
        ("200 OK", answer(&built(said(request))))
    });
    let n_asked = || server.requests.lock().unwrap().len();
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/shedu-bu.txt");
    let build = ["build", "hamlet", "--books", &story, "--no-cache", "--concurrency", "4"];
    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url];
    let build = with(&build, &model);
    sandbox.run(&with(&build, &["--out", "whole"])).exits(0);
    let n_calm = n_asked();
    for (n, signal) in ["-INT", "-TERM"].into_iter().enumerate() {
        let stopped = with(&build, &["--out", signal.trim_start_matches('-')]);
        let before = n_calm * (n + 1);
        let child = sandbox.command(&stopped).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while n_asked() < before + 3 {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(1) && told.contains("stopped; what was finished is kept"), "{told}");
        assert!(n_asked() < before + n_calm, "{signal}: it stopped in the middle");
        sandbox.run(&stopped).exits(0);
        assert_eq!(n_asked(), before + n_calm, "{signal}: nothing is asked twice");
    }
}

#[test]
fn hamlet_survives_a_kill_in_every_stage() {
    let server = slow(built);
    let sandbox = Sandbox::with_own_cache();
    let story = format!("{SAMPLE}/shedu-bu.txt");
    let build = ["build", "hamlet", "--books", &story, "--no-cache", "--concurrency", "2"];
    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url];
    survives(&sandbox, &with(&build, &model), &hamlet::STAGES, &[]);
}

#[test]
fn sagascale_survives_a_kill_in_every_stage() {
    let server = slow(built);
    let sandbox = Sandbox::with_own_cache();
    loan(&sandbox);
    let story = format!("{SAMPLE}/the-loan-of-the-bell.txt");
    let build = ["build", "sagascale", "--books", &story, "--retriever", "bm25", "--articles", "articles"];
    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url, "--knower", "openai-compatible/k"];
    let more = ["--search", "web", "--no-cache", "--concurrency", "2"];
    survives(&sandbox, &[&build[..], &model, &more].concat(), &sagascale::STAGES, &[]);
}

#[test]
fn options_survive_a_kill_in_every_stage() {
    let server = slow(built);
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let model = ["--model", "openai-compatible/builder", "--base-url", &server.url, "--no-cache", "--concurrency", "2"];
    let build = with(&["build", "options", "--benchmark", "tales"], &model);
    survives(&sandbox, &build, &options::STAGES, &["check/sheet.json"]);
}

#[test]
fn corpusqa_survives_a_kill_in_every_stage() {
    let server = slow(reader);
    let sandbox = Sandbox::with_own_cache();
    let build = from_homes(&sandbox, &server.url);
    let build: Vec<&str> = build.iter().map(String::as_str).collect();
    let build = with(&build, &["--no-cache", "--concurrency", "2"]);
    let table = ["table.csv", "sets.json", "conflicts.jsonl", "check/cells.csv"];
    survives(&sandbox, &build, &corpusqa::STAGES, &table);
}

#[test]
fn corpusqa_from_a_table_survives_a_kill_in_every_stage() {
    let sandbox = Sandbox::new();
    let (table, schema) = (format!("{SAMPLE}/corpus/table.csv"), format!("{SAMPLE}/corpus/manifest.json"));
    let build = from_sample(&table, &schema, &[]);
    survives(&sandbox, &build, &corpusqa::TABLE_STAGES, &["table.csv", "sets.json", "conflicts.jsonl"]);
}
