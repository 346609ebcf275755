//! Object stores that answer what they should not, with a fault for each, and several machines at one store.

use crate::embeddings::{self, openai};
use crate::fault_server::{Act, FaultServer, cases, response, run_cases};
use crate::http::{Asked, HttpServer, ok};
use crate::provider::answer as said;
use crate::store_server::{Objects, Store, answer, content, is_listing, listing, object};
use crate::support::{Ended, Sandbox, tales};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const RUN: [&str; 7] = ["run", "--benchmark", "tales", "--method", "closed-book", "--out", "s3://evals/r"];

/// The objects of a run of the tales.
fn finished(sandbox: &Sandbox) -> Objects {
    tales(sandbox);
    let objects = Objects::default();
    Store::start(&objects, |_| None).run(sandbox, "first", &RUN).exits(0);
    objects
}

#[test]
fn finding_01_what_a_gateway_answers_is_not_put_in_the_place_of_records() {
    let sandbox = Sandbox::new();
    let objects = finished(&sandbox);
    let whole = objects.lock().unwrap()["r/records.jsonl"].clone();
    let half = whole[..whole.len() / 2].to_owned();
    let long = format!("{whole}{}", " ".repeat(64 << 20));
    for (n, instead) in ["<html>sign in</html>".to_owned(), String::new(), half, long].into_iter().enumerate() {
        let store = Store::start(&objects, move |asked| {
            (asked.method == "GET" && object(asked) == Some("r/records.jsonl")).then(|| content(&instead))
        });
        let refused = store.run(&sandbox, &n.to_string(), &RUN);
        refused.refuses(&["s3://evals/r/records.jsonl is not as long as the store's listing says"]);
        assert_eq!(store.objects.lock().unwrap()["r/records.jsonl"], whole);
    }
    Store::start(&objects, |_| None).run(&sandbox, "last", &RUN).exits(0);
    objects.lock().unwrap().insert("r/records.jsonl".to_owned(), format!("{whole}<html>\n"));
    let store = Store::start(&objects, |_| None);
    store.run(&sandbox, "last", &RUN).refuses(&["records.jsonl:19: expected a line of JSON", "remove the line"]);
}

#[test]
fn finding_01_a_store_that_overwrites_what_it_should_not_is_refused() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    tales(&sandbox);
    let own = objects.clone();
    let store = Store::start(&objects, move |asked| {
        let headers = Vec::new();
        (asked.method == "PUT").then(|| answer(&mut own.lock().unwrap(), &Asked { headers, ..asked.clone() }))
    });
    store.run(&sandbox, "a", &RUN).refuses(&["overwrites what it is asked not to (If-None-Match)"]);
}

#[test]
fn the_mark_of_an_empty_folder_is_no_file() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    tales(&sandbox);
    for name in ["documents.jsonl", "items.jsonl"] {
        let content = std::fs::read_to_string(sandbox.path("tales").join(name)).unwrap();
        objects.lock().unwrap().insert(format!("tales/{name}"), content);
    }
    objects.lock().unwrap().extend(["tales/", "tales/pictures/"].map(|mark| (mark.to_owned(), String::new())));
    let run = ["run", "--benchmark", "s3://evals/tales", "--method", "closed-book", "--out", "r"];
    let store = Store::start(&objects, |_| None);
    for _ in 0..2 {
        store.run(&sandbox, "a", &run).exits(0);
    }
}

#[test]
fn finding_09_a_listing_without_end_has_one() {
    let sandbox = Sandbox::new();
    let objects = finished(&sandbox);
    let there = objects.lock().unwrap().clone();
    let endless = Store::start(&objects, move |asked| is_listing(asked).then(|| listing(&there, Some("again"))));
    let empty = Store::start(&objects, |asked| is_listing(asked).then(|| listing(&BTreeMap::new(), Some("again"))));
    for store in [endless, empty] {
        for args in [&["report", "s3://evals/r"][..], &["merge", "s3://evals/r*", "--out", "m"], &RUN] {
            store.run(&sandbox, "b", args).refuses(&["the listing does not end"]);
        }
    }
    let huge = "<ListBucketResult>".to_owned() + &" ".repeat(257 << 20);
    let store = Store::start(&objects, move |asked| is_listing(asked).then(|| ("200 OK", Vec::new(), huge.clone())));
    store.run(&sandbox, "b", &["report", "s3://evals/r"]).refuses(&["length limit exceeded"]);
}

#[test]
fn finding_11_a_listing_that_lacks_what_is_there_ends_the_command() {
    let sandbox = Sandbox::new();
    let objects = finished(&sandbox);
    let page = "<html>sign in</html>";
    let store = Store::start(&objects, |asked| is_listing(asked).then(|| ("200 OK", Vec::new(), page.to_owned())));
    store.run(&sandbox, "b", &RUN).refuses(&["lists no segments/00000001.jsonl, and has it"]);
}

#[test]
fn finding_10_no_word_of_a_writer_keeps_others_off_for_ever() {
    let sandbox = Sandbox::new();
    let objects = finished(&sandbox);
    let written: Value = serde_json::from_str(&objects.lock().unwrap()["r/writer.json"]).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let with = |every: u64, heard: u64| {
        let mut writer = written.clone();
        (writer["ended"], writer["place"]) = (json!(false), json!("elsewhere"));
        (writer["every"], writer["heard"]) = (json!(every), json!(heard));
        objects.lock().unwrap().insert("r/writer.json".to_owned(), writer.to_string());
    };
    let store = Store::start(&objects, |_| None);
    with(u64::MAX, now - 6 * 3600 - 1);
    store.run(&sandbox, "b", &RUN).exits(0);
    with(10, now + 100_000);
    store.run(&sandbox, "b", &RUN).exits(0);
    with(10, now);
    store.run(&sandbox, "b", &RUN).refuses(&["another closeread writes s3://evals/r"]);
    let manifest = objects.lock().unwrap().remove("r/manifest.json").unwrap();
    let begun = store.run(&sandbox, "c", &["status", "s3://evals/r", "--json"]).exits(1).json();
    assert_eq!(begun[0]["state"], "running", "its manifest is not sent yet");
    objects.lock().unwrap().insert("r/manifest.json".to_owned(), manifest);
    let last = format!("r/segments/{}.jsonl", u64::MAX);
    with(10, 0);
    objects.lock().unwrap().insert(last, "{}\n".to_owned());
    store.run(&sandbox, "b", &RUN).exits(0);
}

#[test]
fn a_run_that_has_just_begun_elsewhere_is_called_by_its_address() {
    let sandbox = Sandbox::new();
    let objects = finished(&sandbox);
    objects.lock().unwrap().retain(|name, _| name == "r/writer.json");
    let store = Store::start(&objects, |_| None);
    let report = ["report", "s3://evals/r"];
    store.run(&sandbox, "b", &report).refuses(&["s3://evals/r holds no file yet"]);
    let mut writer: Value = serde_json::from_str(&objects.lock().unwrap()["r/writer.json"]).unwrap();
    writer["ended"] = json!(false);
    writer["heard"] = json!(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs());
    objects.lock().unwrap().insert("r/writer.json".to_owned(), writer.to_string());
    store.run(&sandbox, "b", &report).refuses(&["s3://evals/r holds no file yet: a machine has begun to write there"]);
}

#[test]
fn a_part_of_which_no_file_was_sent_stops_neither_merge_nor_leaderboard() {
    let sandbox = Sandbox::new();
    let objects = finished(&sandbox);
    let writer = objects.lock().unwrap()["r/writer.json"].clone();
    objects.lock().unwrap().insert("r2/writer.json".to_owned(), writer);
    let store = Store::start(&objects, |_| None);
    let merged = store.run(&sandbox, "b", &["merge", "s3://evals/r", "s3://evals/r2", "--out", "m"]);
    assert!(merged.err().contains("whose parts have not begun"), "{}", merged.err());
    assert!(sandbox.path("m/records.jsonl").is_file());
    let board =
        store.run(&sandbox, "b", &["leaderboard", "site", "--runs", "s3://evals/r", "s3://evals/r2"]).exits(1).err();
    assert!(board.contains("submissions: 1 read, 1 left out"), "{board}");
}

#[test]
fn finding_15_a_stores_keys_go_to_no_server_that_it_points_to() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let other = HttpServer::start(|_| ("200 OK", Vec::new(), String::new()));
    let there = format!("{}/evals", other.url);
    let answer = move |_: &Asked| Some(("307 Temporary Redirect", vec![("location", there.clone())], String::new()));
    let store = Store::start(&Objects::default(), answer);
    store.run(&sandbox, "a", &RUN).refuses(&["cannot list s3://evals/r"]);
    assert!(other.asked("GET", "/").is_empty());
}

#[test]
fn a_run_that_was_lost_before_its_manifest_was_sent_is_begun_anew() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    tales(&sandbox);
    let store = Store::start(&objects, |asked| {
        let is_manifest = asked.method == "PUT" && object(asked) == Some("r/manifest.json");
        is_manifest.then(|| ("403 Forbidden", Vec::new(), String::new()))
    });
    let lost = store.run(&sandbox, "a", &RUN).exits(2);
    assert!(lost.err().contains("not all was sent to s3://evals/r"), "{}", lost.err());
    let written: Value = serde_json::from_str(&objects.lock().unwrap()["r/writer.json"]).unwrap();
    let long_ago = json!({"every": 1, "heard": 0, "ended": false});
    let mut writer = written.as_object().unwrap().clone();
    writer.extend(long_ago.as_object().unwrap().clone());
    objects.lock().unwrap().insert("r/writer.json".to_owned(), Value::Object(writer).to_string());
    let other = Store::start(&objects, |_| None).run(&sandbox, "b", &RUN).exits(0);
    assert!(!other.err().contains("no manifest.json"), "{}", other.err());
    assert!(objects.lock().unwrap().contains_key("r/manifest.json"));
}

const BAD_KEY: &str = "<Error><Code>InvalidAccessKeyId</Code><Message>No such key.</Message></Error>";

/// A run of forty questions that takes some seconds, on a machine with these keys in a file; and its server.
fn long_run(sandbox: &Sandbox, store: &Store) -> (Ended, FaultServer) {
    cases(sandbox, &(0..40).map(|n| format!("q{n}")).collect::<Vec<_>>());
    let server = FaultServer::start(|_, _, _| {
        Act::After(Duration::from_millis(400), Box::new(response("200 OK", "", &said("[[1]]"))))
    });
    let mut args = run_cases("openai-compatible/tiny", &server.url, &["--concurrency", "4", "--no-cache"]);
    let out = args.iter().position(|argument| *argument == "r").unwrap();
    args[out] = "s3://evals/r";
    let mut command = store.command(sandbox, "a", &args);
    command.env("AWS_SHARED_CREDENTIALS_FILE", sandbox.path("keys")).env("AWS_SESSION_TOKEN", "");
    if sandbox.path("keys").exists() {
        command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    }
    (Ended(command.output().unwrap()), server)
}

/// Checks that the store has a record for each of the forty questions, and that each was asked once.
#[track_caller]
fn has_all(objects: &Objects, server: &FaultServer) {
    let records = objects.lock().unwrap()["r/records.jsonl"].clone();
    let item = |line: &str| serde_json::from_str::<Value>(line).unwrap()["item"].to_string();
    let items: BTreeSet<String> = records.lines().map(item).collect();
    assert_eq!((items.len(), records.lines().count(), server.n_requests()), (40, 40, 40));
}

fn keys(path: &Path, key: &str) {
    std::fs::write(path, format!("[default]\naws_access_key_id = {key}\naws_secret_access_key = x\n")).unwrap();
}

#[test]
fn keys_that_are_renewed_in_their_file_are_taken_within_a_run() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    let file = sandbox.path("keys");
    keys(&file, "old");
    let mut expired = false;
    let store = Store::start(&objects, move |asked| {
        let is_old = asked.header("authorization").is_some_and(|header| header.contains("Credential=old/"));
        assert!(asked.header("x-amz-security-token").is_none(), "an empty token is none");
        if asked.method == "PUT" && object(asked) == Some("r/segments/00000002.jsonl") && !expired {
            expired = true;
            keys(&file, "new");
        }
        (is_old && expired).then(|| ("403 Forbidden", Vec::new(), BAD_KEY.to_owned()))
    });
    let (ended, server) = long_run(&sandbox, &store);
    let ended = ended.exits(0);
    for words in ["what is new is not sent for now", "InvalidAccessKeyId", "what is new is sent again"] {
        assert!(ended.err().contains(words), "{words}: {}", ended.err());
    }
    has_all(&objects, &server);
}

#[test]
fn a_segment_whose_reply_was_lost_is_not_taken_for_another_machines() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    let (own, mut lost) = (objects.clone(), false);
    let store = Store::start(&objects, move |asked| {
        let is_it = asked.method == "PUT" && object(asked) == Some("r/segments/00000002.jsonl") && !lost;
        lost |= is_it;
        is_it.then(|| {
            answer(&mut own.lock().unwrap(), asked);
            ("400 Bad Request", Vec::new(), String::new())
        })
    });
    let (ended, server) = long_run(&sandbox, &store);
    ended.exits(0);
    has_all(&objects, &server);
}

#[test]
fn a_machine_that_cannot_send_all_at_the_end_keeps_no_other_off() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    tales(&sandbox);
    let store = Store::start(&objects, |asked| {
        let is_records = asked.method == "PUT" && object(asked) == Some("r/records.jsonl");
        is_records.then(|| ("403 Forbidden", Vec::new(), BAD_KEY.to_owned()))
    });
    let ended = store.run(&sandbox, "a", &RUN).exits(2);
    assert!(ended.err().contains("not all was sent to s3://evals/r"), "{}", ended.err());
    Store::start(&objects, |_| None).run(&sandbox, "b", &RUN).exits(0);
}

#[test]
fn each_request_for_embeddings_is_counted_on_the_next_machine_too() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    tales(&sandbox);
    let embedder = HttpServer::start(|asked| ok(&openai(asked)));
    let store = Store::start(&objects, |_| None);
    let base = format!("{}/v1", embedder.url);
    let args = embeddings::run("openai-compatible/tiny", &base, &["--out", "s3://evals/r"]);
    let mut requests = 0;
    for machine in ["embeds-a", "embeds-b"] {
        store.run(&sandbox, machine, &args).exits(0);
        let lines = objects.lock().unwrap()["r/embeddings.jsonl"].clone();
        requests = embedder.asked("POST", "/v1/embeddings").len();
        assert_eq!(lines.lines().count(), requests, "{machine}: {lines}");
    }
    assert!(requests > 6, "each book has a request as large as the others: {requests}");
}

#[test]
fn verdicts_that_an_extension_replaced_do_not_come_back_from_another_machine() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    tales(&sandbox);
    let store = Store::start(&objects, |_| None);
    let run = [&RUN[..], &["--judge-model", "builtin/rule"]].concat();
    store.run(&sandbox, "a", &run).exits(0);
    let judged = || objects.lock().unwrap()["r/judgements.jsonl"].lines().count();
    let n_judged = judged();
    let items = std::fs::read_to_string(sandbox.path("tales/items.jsonl")).unwrap();
    sandbox.write("tales/items.jsonl", items.replace("under the third stair", "in the attic"));
    store.run(&sandbox, "b", &[&run[..], &["--extend"]].concat()).exits(0);
    store.run(&sandbox, "a", &run).exits(0);
    let gone = objects.lock().unwrap()["r/superseded.jsonl"].clone();
    let there = objects.lock().unwrap()["r/judgements.jsonl"].clone();
    let gone: BTreeSet<&str> = gone.lines().collect();
    assert!(!gone.is_empty());
    assert!(there.lines().all(|line| !gone.contains(line)) && judged() == n_judged, "{there}");
}

#[test]
fn records_of_a_run_that_was_begun_anew_do_not_come_back_from_another_machine() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    tales(&sandbox);
    let store = Store::start(&objects, |_| None);
    store.run(&sandbox, "a", &RUN).exits(0);
    let six = [&RUN[..], &["--limit", "6"]].concat();
    store.run(&sandbox, "b", &[&six[..], &["--fresh"]].concat()).exits(0);
    store.run(&sandbox, "a", &six).exits(0);
    assert_eq!(objects.lock().unwrap()["r/records.jsonl"].lines().count(), 6);
}

#[test]
fn a_store_that_is_busy_at_first_is_asked_until_it_is_not() {
    let (sandbox, mut left) = (Sandbox::new(), 5);
    tales(&sandbox);
    let store = Store::start(&Objects::default(), move |_| {
        left -= i32::from(left > 0);
        (left > 0).then(|| ("503 Slow Down", Vec::new(), "<Error><Code>SlowDown</Code></Error>".to_owned()))
    });
    let ended = store.run(&sandbox, "a", &RUN).exits(0);
    assert!(ended.err().contains("the store is busy (503"), "{}", ended.err());
}

#[test]
fn a_store_on_this_machine_is_asked_past_the_proxy() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let proxy = HttpServer::start(|_| ("407 Proxy Authentication Required", Vec::new(), String::new()));
    let store = Store::start(&Objects::default(), |_| None);
    let mut command = store.command(&sandbox, "a", &RUN);
    command.env("http_proxy", &proxy.url).env("all_proxy", &proxy.url).env_remove("no_proxy");
    Ended(command.output().unwrap()).exits(0);
    assert!(store.objects.lock().unwrap().contains_key("r/manifest.json"));
}

#[test]
fn a_run_whose_name_has_an_equals_sign_is_read() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let store = Store::start(&Objects::default(), |_| None);
    let run = [&RUN[..6], &["s3://evals/size=7"]].concat();
    store.run(&sandbox, "a", &run).exits(0);
    // This store keeps text alone: what is packed comes back damaged.
    let title =
        |address: &str| store.run(&sandbox, "b", &["report", address, "--json"]).exits(1).json()["title"].clone();
    assert_eq!(title("s3://evals/size=7"), "size=7");
    assert_eq!(title("s3://evals/size=7=small"), "small");
    store.run(&sandbox, "b", &["report", "s3://evals/size"]).refuses(&["nothing at s3://evals/size"]);
}

#[test]
fn what_the_stores_own_tools_put_there_is_found_under_its_name_and_marks_of_folders_are_no_files() {
    let (sandbox, objects) = (Sandbox::new(), Objects::default());
    tales(&sandbox);
    for name in ["documents.jsonl", "items.jsonl"] {
        let text = std::fs::read_to_string(sandbox.path("tales").join(name)).unwrap();
        objects.lock().unwrap().insert(format!("bücher#1/{name}"), text);
    }
    for mark in ["bücher#1/", "bücher#1/texts/"] {
        objects.lock().unwrap().insert(mark.to_owned(), String::new());
    }
    objects.lock().unwrap().insert("bücher#1/texts/zürich.txt".to_owned(), "Rain.".to_owned());
    let store = Store::start(&objects, |_| None);
    let run = ["run", "--benchmark", "s3://evals/bücher#1", "--method", "closed-book", "--out", "s3://evals/ü"];
    store.run(&sandbox, "a", &run).exits(0);
    let names: Vec<String> = objects.lock().unwrap().keys().cloned().collect();
    assert!(names.iter().any(|name| name == "ü/manifest.json"), "{names:?}");
}

#[test]
fn answers_of_a_store_say_what_to_do_and_so_does_the_address_of_none() {
    let sandbox = Sandbox::new();
    for (code, words) in [
        ("ExpiredToken", "renew it, and give the same command again"),
        ("RequestTimeTooSkewed", "the clock of this machine is wrong"),
        ("AccessDenied", "list, read, write and delete"),
    ] {
        let body = format!("<Error><Code>{code}</Code><Message>No.</Message></Error>");
        let store = Store::start(&Objects::default(), move |_| Some(("400 Bad Request", Vec::new(), body.clone())));
        store.run(&sandbox, "a", &["report", "s3://evals/r"]).refuses(&[code, words]);
    }
    let store = Store::start(&Objects::default(), |_| None);
    let mut command = store.command(&sandbox, "a", &["report", "s3://evals/r"]);
    let ended = Ended(command.env("AWS_ENDPOINT_URL", "localhost:9000").output().unwrap());
    ended.refuses(&["AWS_ENDPOINT_URL is localhost:9000: expected http://HOST:PORT or https://HOST"]);
}
