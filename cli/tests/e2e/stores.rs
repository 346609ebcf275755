//! Runs in object stores: moto's server speaks S3's protocol, azurite Azure's.

use crate::crashes::{start, wait_until};
use crate::fault_server::{Act, FaultServer, cases, response};
use crate::http::HttpServer;
use crate::moto::{Store, stores, until};
use crate::provider::answer;
use crate::support::{Ended, Sandbox, tales, timeless};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn succeeded(ended: Ended) -> Option<Ended> {
    ended.0.status.success().then_some(ended)
}

/// Counts how often each item stands in records.
fn counted(records: &str) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for line in records.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        *counted.entry(record["item"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counted
}

/// Answers each question after a while.
fn slow() -> FaultServer {
    FaultServer::start(|_, _, _| {
        Act::After(Duration::from_millis(150), Box::new(response("200 OK", "", &answer("[[1]]"))))
    })
}

fn run_of<'a>(url: &'a str, out: &'a str) -> Vec<&'a str> {
    let fixed = ["run", "--benchmark", "cases", "--method", "closed-book", "--json", "--concurrency", "4"];
    [&fixed[..], &["--model", "openai-compatible/tiny", "--base-url", url, "--no-cache", "--out", out]].concat()
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("q{n}")).collect()
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_a_run_in_a_store_is_that_of_a_folder() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    tales(&sandbox);
    let run = ["run", "--benchmark", "tales", "--method", "dos-rag", "--budget", "30", "--retriever", "bm25", "--json"];
    let here = store.run(&sandbox, "a", &[&run[..], &["--out", "r"]].concat()).exits(0).json();
    let there = store.run(&sandbox, "a", &[&run[..], &["--out", "s3://evals/runs/r"]].concat()).exits(0);
    assert_eq!(timeless(&there.json()), timeless(&here));
    // What lies there is a run folder: each file under its name, and nothing of the keys.
    let file = |name: &str| std::fs::read_to_string(sandbox.path("r").join(name)).unwrap();
    assert_eq!(store.object("runs/r/items.jsonl"), file("items.jsonl"));
    assert_eq!(store.object("runs/r/records.jsonl").lines().count(), file("records.jsonl").lines().count());
    for name in store.names().iter().filter(|name| name.contains(".json")) {
        assert!(!store.object(name).contains("geheim"), "{name}");
    }
    // Another machine reads it, alone and beside others.
    let tables = |args: &[&str]| store.run(&sandbox, "b", args).exits(0).json()["tables"].clone();
    assert_eq!(tables(&["report", "s3://evals/runs/r", "--json"])[0]["rows"].as_array().unwrap().len(), 1);
    tables(&["report", "s3://evals/runs/r=there", "r=here", "--json"]);
    store.run(&sandbox, "b", &["verify", "s3://evals/runs/r"]).exits(0);
    // A second run there repeats nothing.
    let before = store.object("runs/r/records.jsonl");
    store.run(&sandbox, "b", &[&run[..], &["--out", "s3://evals/runs/r"]].concat()).exits(0);
    assert_eq!(store.object("runs/r/records.jsonl"), before);
    // Another configuration is refused as in a folder; --fresh begins anew there.
    let other = [&run[..], &["--budget", "60", "--out", "s3://evals/runs/r"]].concat();
    store.run(&sandbox, "c", &other).refuses(&["another configuration", "--fresh"]);
    store.run(&sandbox, "c", &[&other[..], &["--fresh"]].concat()).exits(0);
    assert_ne!(store.object("runs/r/records.jsonl"), before);
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_a_run_goes_on_on_another_machine_when_the_first_is_lost() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    let names = names(120);
    cases(&sandbox, &names);
    let server = slow();
    let args = run_of(&server.url, "s3://evals/runs/lost");
    let mut first = start(store.command(&sandbox, "a", &args));
    let there = || store.names().iter().filter(|name| name.contains("/segments/")).count();
    wait_until(&mut first, "two segments", || there() >= 3);
    first.kill().unwrap();
    first.wait().unwrap();
    let sent = counted(&records_of(&store.object("runs/lost/segments/00000002.jsonl")));
    assert!(!sent.is_empty());
    // For a while the first may be alive: another machine waits.
    store
        .run(&sandbox, "b", &args)
        .refuses(&["another closeread writes s3://evals/runs/lost", "give the same command again in"]);
    let ended = until("the first is taken for lost", || succeeded(store.run(&sandbox, "b", &args)));
    assert_eq!(ended.json()["complete"], true);
    each_once(&store.object("runs/lost/records.jsonl"), 120);
    let asked = server.asked();
    assert!(sent.keys().all(|name| asked[name] == 1), "what was sent is not asked again");
    // The first comes back with what it had not sent: nothing is asked, nothing stands twice.
    store.run(&sandbox, "a", &args).exits(0);
    assert_eq!(server.asked(), asked);
    each_once(&store.object("runs/lost/records.jsonl"), 120);
}

/// The records in a segment.
fn records_of(segment: &str) -> String {
    let line = |line: &str| serde_json::from_str::<Value>(line).unwrap().get("line").map(|line| format!("{line}\n"));
    segment.lines().filter_map(line).collect()
}

/// Checks that each of `n` items stands once in these records.
#[track_caller]
fn each_once(records: &str, n: usize) {
    let counted = counted(records);
    assert!(counted.len() == n && counted.values().all(|&n| n == 1), "{counted:?}");
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_a_writer_that_was_replaced_stops() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    cases(&sandbox, &names(200));
    let server = slow();
    let args = run_of(&server.url, "s3://evals/runs/two");
    let mut first = start(store.command(&sandbox, "a", &args));
    wait_until(&mut first, "a segment", || store.names().contains("runs/two/segments/00000002.jsonl"));
    // Stopped, not ended: to the others it is lost.
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &first.id().to_string()]).status().unwrap().success());
    };
    signal("-STOP");
    until("the first is taken for lost", || succeeded(store.run(&sandbox, "b", &args)));
    let records = store.object("runs/two/records.jsonl");
    signal("-CONT");
    let ended = Ended(first.wait_with_output().unwrap());
    assert_eq!(ended.0.status.code(), Some(2), "{}", ended.err());
    assert!(ended.err().contains("another closeread writes s3://evals/runs/two now"), "{}", ended.err());
    assert_eq!(store.object("runs/two/records.jsonl"), records, "it has written nothing more");
    each_once(&records, 200);
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_of_machines_that_begin_at_once_one_writes_and_asks() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    cases(&sandbox, &names(60));
    let server = slow();
    let args = run_of(&server.url, "s3://evals/runs/race");
    let started = ["a", "b", "c"].map(|machine| start(store.command(&sandbox, machine, &args)));
    let ended = started.map(|run| Ended(run.wait_with_output().unwrap()));
    let codes = ended.each_ref().map(|ended| ended.0.status.code());
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    for refused in ended.iter().filter(|ended| ended.0.status.code() != Some(0)) {
        assert!(refused.err().contains("another closeread writes s3://evals/runs/race, on"), "{}", refused.err());
    }
    assert_eq!(server.n_requests(), 60);
    each_once(&store.object("runs/race/records.jsonl"), 60);
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_parts_are_joined_where_they_lie() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    tales(&sandbox);
    let run = ["run", "--benchmark", "tales", "--method", "dos-rag", "--budget", "30", "--retriever", "bm25", "--json"];
    let whole = store.run(&sandbox, "a", &[&run[..], &["--out", "whole"]].concat()).exits(0).json();
    for part in 1..=3 {
        let (shard, out) = (format!("{part}/3"), format!("s3://evals/parts/part-{part}"));
        store.run(&sandbox, &format!("m{part}"), &[&run[..], &["--shard", &shard, "--out", &out]].concat()).exits(0);
    }
    store.run(&sandbox, "a", &["merge", "s3://evals/parts/part-*", "--out", "joined"]).exits(0);
    let joined = store.run(&sandbox, "a", &[&run[..], &["--out", "joined"]].concat()).exits(0).json();
    assert_eq!(timeless(&joined), timeless(&whole));
    let merge = ["merge", "s3://evals/parts/part-*", "--out", "s3://evals/parts/joined"];
    let merged = store.run(&sandbox, "b", &merge).exits(0);
    assert!(merged.out().starts_with("s3://evals/parts/joined: items 18 of 18"), "{}", merged.out());
    assert!(merged.err().contains("closeread report s3://evals/parts/joined prints"), "{}", merged.err());
    let items = |text: &str| counted(text).len();
    assert_eq!(items(&store.object("parts/joined/records.jsonl")), 18);
    let status = store.run(&sandbox, "b", &["status", "s3://evals/parts/part-2", "--json"]).exits(0).json();
    assert_eq!((&status[0]["state"], &status[0]["of"]), (&json!("finished"), &json!(3)));
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_status_shows_all_parts_in_a_store() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    tales(&sandbox);
    let server = FaultServer::start(|_, _, _| {
        Act::After(Duration::from_secs(2), Box::new(response("200 OK", "", &answer("[[1]]"))))
    });
    let status = || store.run(&sandbox, "watcher", &["status", "s3://evals/spread", "--json"]);
    status().refuses(&["there is nothing at s3://evals/spread"]);
    let fixed = ["run", "--benchmark", "tales", "--method", "closed-book", "--concurrency", "1", "--no-cache"];
    let part = ["--shard", "3/3", "--out", "s3://evals/spread/parts/2"];
    let model = ["--model", "openai-compatible/tiny", "--base-url", &server.url];
    let mut writer = start(store.command(&sandbox, "m", &[&fixed[..], &model, &part].concat()));
    let seen = until("the part shows what it has done", || {
        let parts: Value = serde_json::from_slice(&status().0.stdout).ok()?;
        (parts[2]["trials"].as_u64()? > 0).then_some(parts)
    });
    writer.kill().unwrap();
    writer.wait().unwrap();
    let states: Vec<_> = seen.as_array().unwrap().iter().map(|part| (&part["part"], &part["state"])).collect();
    let (waiting, running) = (&json!("waiting"), &json!("running"));
    assert_eq!(states, [(&json!("0"), waiting), (&json!("1"), waiting), (&json!("2"), running)]);
    assert!(seen[2]["seconds_left"].is_u64(), "{seen}");
}

/// Hands on what comes by this connection, and the answers.
fn handed_on(stream: TcpStream, port: u16) {
    let there = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (mut from, mut to) = (stream.try_clone().unwrap(), there.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        to.shutdown(Shutdown::Write)
    });
    let (mut from, mut to) = (there, stream);
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
}

/// Hands on what comes to the store, but for every third connection, which it closes, and the others only after a while.
fn flaky(port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().flatten().enumerate() {
            if n % 3 == 1 {
                let _ = stream.shutdown(Shutdown::Both);
                continue;
            }
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                handed_on(stream, port);
            });
        }
    });
    own
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_a_store_that_fails_now_and_then_has_all_in_the_end() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    cases(&sandbox, &names(60));
    let server = slow();
    let port = flaky(store.port);
    let args = run_of(&server.url, "s3://evals/runs/flaky");
    Ended(store.by(port, &sandbox, "a", &args).output().unwrap()).exits(0);
    each_once(&store.object("runs/flaky/records.jsonl"), 60);
}

#[test]
fn what_can_not_work_is_said_at_once() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let body = "<Error><Code>InvalidAccessKeyId</Code></Error>";
    let refused = HttpServer::start(|_| ("403 Forbidden", Vec::new(), body.to_owned()));
    let address = refused.url.clone();
    let run = |out: &str| {
        let mut command = sandbox.command(&["run", "--benchmark", "tales", "--retriever", "bm25", "--out", out]);
        command.env("CLOSEREAD_CACHE", sandbox.path("cache")).env("AWS_ENDPOINT_URL", &address);
        command.env("AWS_ACCESS_KEY_ID", "k").env("AWS_SECRET_ACCESS_KEY", "geheim").env("AWS_REGION", "us-east-1");
        Ended(command.output().unwrap())
    };
    let ended = run("s3://evals/r");
    ended.refuses(&["cannot list s3://evals/r", "InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"]);
    run("s3://evals").refuses(&["s3://evals: expected BUCKET/PATH"]);
    run("s3://evals/../r").refuses(&["expected BUCKET/PATH"]);
    sandbox.run(&["export", "inspect", "r", "--out", "s3://evals/x"]).refuses(&["writes on this machine"]);
    assert!(!sandbox.path("s3:").exists());
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_judges_verdicts_and_benchmarks_are_there_too() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    tales(&sandbox);
    for name in ["documents.jsonl", "items.jsonl"] {
        let content = std::fs::read_to_string(sandbox.path("tales").join(name)).unwrap();
        store.put(&format!("benchmarks/tales/{name}"), &content);
    }
    let run = ["run", "--benchmark", "s3://evals/benchmarks/tales", "--method", "closed-book", "--retriever", "bm25"];
    store.run(&sandbox, "a", &[&run[..], &["--out", "s3://evals/runs/r"]].concat()).exits(0);
    let judge = ["judge", "s3://evals/runs/r", "--judge-model", "builtin/rule"];
    let ended = store.run(&sandbox, "b", &judge);
    assert!(ended.0.status.success(), "{}", ended.err());
    assert!(store.names().contains("runs/r/judgements.jsonl"), "{:?}", store.names());
    assert!(!store.object("runs/r/judgements.jsonl").is_empty());
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_azure_keeps_a_run_that_goes_on_elsewhere() {
    let sandbox = Sandbox::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut azurite = Command::new(stores().join("node_modules/.bin/azurite-blob"));
    azurite.args(["--silent", "--skipApiVersionCheck", "--inMemoryPersistence", "--blobPort", &port.to_string()]);
    let mut azurite = start(azurite);
    // The account that every azurite has.
    let key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    let endpoint = format!("http://127.0.0.1:{port}/devstoreaccount1");
    let python = |script: &str| {
        let account = format!(
            "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={key};BlobEndpoint={endpoint};"
        );
        let whole = format!(
            "import sys\nfrom azure.storage.blob import BlobServiceClient\nc = BlobServiceClient.from_connection_string(sys.argv[1], retry_total=0)\n{script}"
        );
        Ended(Command::new(stores().join("bin/python")).args(["-c", &whole, &account]).output().unwrap())
    };
    until("azurite is up", || succeeded(python("c.create_container('evals')")));
    cases(&sandbox, &names(120));
    let server = slow();
    let args = run_of(&server.url, "az://evals/runs/lost");
    let command = |machine: &str, args: &[&str]| {
        let mut command = sandbox.command(args);
        command.env("CLOSEREAD_CACHE", sandbox.path(machine)).env("CLOSEREAD_SYNC_SECONDS", "1");
        command.env("AZURE_STORAGE_ACCOUNT_NAME", "devstoreaccount1").env("AZURE_STORAGE_ACCOUNT_KEY", key);
        command.env("AZURE_STORAGE_ENDPOINT", &endpoint);
        command
    };
    let mut first = start(command("a", &args));
    let listing = "print(sum('/segments/' in name for name in c.get_container_client('evals').list_blob_names()))";
    wait_until(&mut first, "two segments", || python(listing).out().trim().parse::<usize>().unwrap() >= 3);
    first.kill().unwrap();
    first.wait().unwrap();
    let object = |name: &str| {
        let read = format!("c.get_blob_client('evals', '{name}').download_blob().readall().decode()");
        python(&format!("print({read}, end='')")).out()
    };
    let sent = counted(&records_of(&object("runs/lost/segments/00000002.jsonl")));
    Ended(command("b", &args).output().unwrap()).refuses(&["another closeread writes az://evals/runs/lost"]);
    until("the first is taken for lost", || succeeded(Ended(command("b", &args).output().unwrap())));
    each_once(&object("runs/lost/records.jsonl"), 120);
    let asked = server.asked();
    assert!(!sent.is_empty() && sent.keys().all(|name| asked[name] == 1), "what was sent is not asked again");
    Ended(command("c", &["report", "az://evals/runs/lost"]).output().unwrap()).exits(0);
    azurite.kill().unwrap();
    azurite.wait().unwrap();
}

/// Hands on what comes to the store after a while; and the most connections that were open at once.
fn far(port: u16) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = most.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (open, most) = (open.clone(), most.clone());
            std::thread::spawn(move || {
                most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(100));
                handed_on(stream, port);
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    (own, counted)
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_parts_are_fetched_several_at_once() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    tales(&sandbox);
    for part in 0..6 {
        let (shard, out) = (format!("{}/6", part + 1), format!("s3://evals/spread/parts/{part}"));
        let run = ["run", "--benchmark", "tales", "--method", "closed-book", "--shard", &shard, "--out", &out];
        store.run(&sandbox, "a", &run).exits(0);
    }
    for args in [&["status", "s3://evals/spread"][..], &["merge", "s3://evals/spread/parts/*", "--out", "whole"]] {
        let (port, most) = far(store.port);
        Ended(store.by(port, &sandbox, "b", args).output().unwrap()).exits(0);
        let most = most.load(Ordering::SeqCst);
        assert!((4..=16).contains(&most), "{args:?}: {most} at once");
    }
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_a_benchmark_of_many_texts_is_fetched_several_at_once() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    for n in 0..128 {
        store.put(&format!("many/texts/{n}.txt"), "Ana came.");
    }
    let (port, most) = far(store.port);
    let run = ["run", "--benchmark", "s3://evals/many", "--method", "closed-book", "--out", "r"];
    let _ = store.by(port, &sandbox, "b", &run).output().unwrap();
    let most = most.load(Ordering::SeqCst);
    assert!((4..=16).contains(&most), "{most} at once");
}
