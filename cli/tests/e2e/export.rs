//! `closeread export`, as the tools read it that it is for.

use crate::fault_server::{FaultServer, response};
use crate::provider::Server;
use crate::support::{Ended, Sandbox, readers, run_tales, tales};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

pub(crate) fn a_run() -> Sandbox {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "closed-book,dos-rag", "--budget", "15,30"]);
    sandbox
}

/// A run `m` of a model that OpenAI could serve, twice an item: of each tale it answers, or fails to, in another way.
fn a_run_of_a_model() -> Sandbox {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let server = Server::replying(|_, body| {
        let messages = body["messages"].to_string();
        let usage =
            json!({"prompt_tokens": 200, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 50}});
        let (text, finish) = match ["Ana", "Ben", "Cleo", "Dov", "Edda"].iter().position(|who| {
            messages.contains(&format!("had {who} found?")) || messages.contains(&format!("did {who} hide"))
        }) {
            Some(0) if messages.contains("CONTEXTS ===") => ("<answer>\nA\n</answer>", "stop"),
            Some(0) if messages.contains("<query>") => ("<query>\nthe fair\n</query>", "stop"),
            Some(1) => ("", "content_filter"),
            Some(2) => {
                let error = json!({"message": "maximum context length is 9 tokens", "code": "context_length_exceeded"});
                return ("400 Bad Request", json!({"error": error}).to_string());
            }
            Some(3) => ("Let me see", "length"),
            Some(4) => return ("404 Not Found", json!({"error": {"message": "no such model"}}).to_string()),
            _ => ("I would rather not say.", "stop"),
        };
        let choices = json!([{"message": {"content": text}, "finish_reason": finish}]);
        ("200 OK", json!({"model": "gpt-4.1-mini-2025", "choices": choices, "usage": usage}).to_string())
    });
    let args =
        ["run", "--benchmark", "tales", "--method", "closed-book,agentic-rag", "--retriever", "bm25", "--out", "m"];
    let model = ["--model", "openai/gpt-4.1-mini", "--base-url", &server.url, "--repeats", "2"];
    let mut command = sandbox.command(&[&args[..], &model, &["--passage-tokens", "12"]].concat());
    let ended = Ended(command.env("OPENAI_API_KEY", "k").output().unwrap());
    assert!(matches!(ended.0.status.code(), Some(0 | 1)), "{}", ended.err());
    sandbox
}

/// The means of a report by cell and metric.
pub(crate) fn means(sandbox: &Sandbox, run: &str) -> BTreeMap<String, (f64, u64)> {
    let report = sandbox.run(&["report", run, "--json"]).json();
    let mut means = BTreeMap::new();
    for cell in report["runs"][0]["cells"].as_array().unwrap() {
        let budget = cell["budget"].as_u64().map_or_else(String::new, |budget| format!(" at {budget}"));
        for (metric, estimate) in cell["metrics"].as_object().unwrap() {
            let name = format!("{}{budget} {metric}", cell["method"].as_str().unwrap());
            means.insert(name, (estimate["value"].as_f64().unwrap(), estimate["n"].as_u64().unwrap()));
        }
    }
    means
}

/// Runs an export, which succeeds.
pub(crate) fn export(sandbox: &Sandbox, args: &[&str]) -> Ended {
    sandbox.run(&[&["export"], args].concat()).exits(0)
}

#[test]
fn an_export_is_the_same_each_time_and_keeps_what_others_put_there() {
    let sandbox = a_run();
    let files = |folder: &str| -> BTreeMap<String, Vec<u8>> {
        let entries = std::fs::read_dir(sandbox.path(folder)).unwrap();
        entries
            .map(|e| e.unwrap())
            .map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap()))
            .collect()
    };
    for format in ["trec", "inspect"] {
        export(&sandbox, &[format, "r", "--out", format]);
        let first = files(format);
        export(&sandbox, &[format, "r", "--out", format]);
        assert_eq!(first.keys().collect::<Vec<_>>(), files(format).keys().collect::<Vec<_>>());
        if format == "trec" {
            assert_eq!(first, files(format));
        }
    }
    sandbox.write("full/mine.txt", "mine");
    sandbox.run(&["export", "trec", "r", "--out", "full"]).refuses(&["`mine.txt`", "no part of an export"]);
    sandbox.run(&["export", "trec", "tales", "--out", "x"]).refuses(&["manifest.json", "expected a run folder"]);
    sandbox
        .run(&["export", "otlp", "r", "--endpoint", "http://127.0.0.1:1", "--header", "key"])
        .refuses(&["NAME=VALUE"]);
}

#[test]
fn rankings_name_pieces_of_evidence() {
    let sandbox = a_run();
    export(&sandbox, &["trec", "r", "--out", "trec"]);
    let read = |name: &str| std::fs::read_to_string(sandbox.path("trec").join(name)).unwrap();
    let qrels = read("qrels");
    assert_eq!(qrels.lines().count(), 12, "a piece for each of the choices: {qrels}");
    let run = read("r_dos-rag-30.run");
    let first = run.lines().next().unwrap().split(' ').collect::<Vec<_>>();
    assert_eq!((first.len(), first[1], first[3], first[4]), (6, "Q0", "1", "1000000"), "{run}");
    let wanted = qrels.lines().next().unwrap().split(' ').nth(2).unwrap();
    assert!(run.contains(&format!(" {wanted} ")), "the piece is found: {run}");
}

#[test]
fn a_table_is_markdown() {
    let sandbox = a_run();
    let out = export(&sandbox, &["markdown", "r"]).out();
    assert!(out.starts_with("# r\n\n### Scores in percent with 95% intervals\n\n| method | budget |"), "{out}");
    assert!(out.contains("| dos-rag | 30 | 18 |"), "{out}");
}

#[test]
#[ignore = "needs the readers of exports"]
fn needs_readers_inspect_opens_our_logs() {
    let sandbox = a_run();
    export(&sandbox, &["inspect", "r", "--out", "logs"]);
    let seen = readers(&sandbox, &["inspect", "logs"]);
    let logs = seen["logs"].as_array().unwrap();
    assert_eq!(logs.len(), 3);
    let told = means(&sandbox, "r");
    for log in logs {
        assert_eq!((&log["status"], &log["model"]), (&json!("success"), &json!("builtin/extractive")));
        let budget = log["args"]["budget"].as_u64().map_or_else(String::new, |budget| format!(" at {budget}"));
        let cell = format!("{}{budget}", log["args"]["method"].as_str().unwrap());
        let values = log["values"].as_object().unwrap();
        assert_eq!(values.len(), 18);
        for (metric, value) in log["scores"].as_object().unwrap() {
            let (mean, n) = told[&format!("{cell} {metric}")];
            assert_eq!(value.as_f64().unwrap(), mean, "{cell} {metric}");
            let scored: Vec<f64> = values.values().filter_map(|scores| scores[metric].as_f64()).collect();
            assert_eq!(scored.len() as u64, n, "{cell} {metric}");
            assert!((scored.iter().sum::<f64>() / n as f64 - mean).abs() < 1e-12, "{cell} {metric}");
        }
        let is_retrieving = cell.starts_with("dos-rag");
        assert_eq!(log["events"], if is_retrieving { json!(["info", "model"]) } else { json!(["model"]) });
    }
    // A question and an answer a sample; a call each, and passages for two thirds.
    assert_eq!(seen["frames"], json!({"evals": 3, "samples": 54, "messages": 108, "events": 90}));
    for column in ["metadata_document", "metadata_asked", "score_accuracy", "total_time", "epoch"] {
        assert!(seen["columns"].as_array().unwrap().contains(&json!(column)), "{column} in {}", seen["columns"]);
    }
    assert_eq!(readers(&sandbox, &["bundle", "logs", "viewer"]).as_array().unwrap().len(), 3);
}

#[test]
#[ignore = "needs the readers of exports"]
fn needs_readers_inspect_sees_searches_epochs_and_every_ending() {
    let sandbox = a_run_of_a_model();
    sandbox.run(&["export", "inspect", "m", "--out", "logs"]);
    let seen = readers(&sandbox, &["inspect", "logs"]);
    let (agent, closed) = (&seen["logs"][0], &seen["logs"][1]);
    assert_eq!((&agent["args"]["method"], &closed["args"]["method"]), (&json!("agentic-rag"), &json!("closed-book")));
    assert_eq!(agent["events"], json!(["info", "model", "tool"]));
    let searches = agent["searches"].as_array().unwrap();
    assert_eq!(searches.len(), 6, "Ana's three questions, twice: {searches:?}");
    assert!(searches.iter().all(|search| *search == json!(["the fair", 3])), "{searches:?}");
    assert_eq!(closed["reasons"], json!(["failed", "invalid_response_format", "no_response", "overflow", "refusal"]));
    assert_eq!(closed["limits"], json!(["context"]));
    assert!(closed["errors"][0].as_str().unwrap().contains("no such model"), "{closed}");
    assert_eq!((closed["values"].as_object().unwrap().len(), &closed["searches"]), (36, &json!([])));
    // Each call that was answered took 203 tokens; 50 of 200 were cached: $0.4 a million, cached $0.1, of a response $1.6.
    let (tokens, dollars) = (closed["tokens"].as_u64().unwrap(), closed["dollars"].as_f64().unwrap());
    let calls = tokens / 203;
    assert!(tokens == calls * 203 && calls > 0, "{tokens}");
    assert!((dollars - calls as f64 * (150.0 * 0.4 + 50.0 * 0.1 + 3.0 * 1.6) / 1e6).abs() < 1e-9, "{dollars}");
}

#[test]
#[ignore = "needs the readers of exports"]
fn needs_readers_every_eval_ever_converts_our_logs_to_the_same_scores() {
    let sandbox = a_run_of_a_model();
    let told = means(&sandbox, "m");
    sandbox.run(&["export", "inspect", "m", "--out", "logs"]);
    let logs = readers(&sandbox, &["inspect", "logs"]);
    for (n, log) in logs["logs"].as_array().unwrap().iter().enumerate() {
        let path = format!("logs/{}", log["name"].as_str().unwrap());
        let converted = readers(&sandbox, &["convert", &path, &format!("converted-{n}")]);
        assert_eq!(converted["code"], 0, "{}", converted["said"].as_str().unwrap());
        let results = converted["results"].as_object().unwrap();
        assert_eq!(results.len(), log["scores"].as_object().unwrap().len(), "{results:?}");
        for (metric, found) in results {
            let (mean, n) = told[&format!("{} {metric}", log["args"]["method"].as_str().unwrap())];
            assert_eq!((found[0].as_f64().unwrap(), found[1].as_u64().unwrap()), (mean, n), "{metric}");
        }
    }
    let who = ["--organization", "us", "--relationship", "third_party", "--out", "eee"];
    sandbox.run(&[&["export", "every-eval-ever", "m"], &who[..]].concat());
    let seen = readers(&sandbox, &["every_eval_ever", "eee"]);
    assert_eq!(seen["code"], 0, "failures are rows, too: {}", seen["said"].as_str().unwrap());
}

#[test]
#[ignore = "needs the readers of exports"]
fn needs_readers_parquet_answers_what_people_ask() {
    let sandbox = a_run();
    export(&sandbox, &["parquet", "r", "--out", "tables"]);
    let tables = readers(&sandbox, &["parquet", "tables"]);
    let rows: Vec<u64> = ["trials", "items"].map(|name| tables[name]["rows"].as_u64().unwrap()).to_vec();
    assert_eq!(rows, [54, 18]);
    assert!(
        tables["passages"]["rows"].as_u64().unwrap() >= 36 && tables["calls"]["rows"].as_u64().unwrap() >= 54,
        "{tables}"
    );
    let ask = |query: &str| readers(&sandbox, &["query", "tables", query]);
    let told = means(&sandbox, "r");
    let averages = ask("select method, budget, avg(score_accuracy) from trials group by all order by all");
    for row in averages["rows"].as_array().unwrap() {
        let budget = row[1].as_u64().map_or_else(String::new, |budget| format!(" at {budget}"));
        let (mean, _) = told[&format!("{}{budget} accuracy", row[0].as_str().unwrap())];
        assert!((row[2].as_f64().unwrap() - mean).abs() < 1e-12, "{row}");
    }
    let docs = include_str!("../../../docs/how-to/sql.md");
    let queries: Vec<&str> = docs.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(queries.len() >= 5, "docs/how-to/sql.md has queries");
    for query in queries {
        let answer = ask(query);
        assert!(!answer["columns"].as_array().unwrap().is_empty(), "{query}");
    }
}

#[test]
#[ignore = "needs the readers of exports"]
fn needs_readers_every_eval_ever_finds_nothing_to_warn_of() {
    let sandbox = a_run();
    let who = ["--organization", "us", "--relationship", "third_party", "--deployment", "self_deployed"];
    export(&sandbox, &[&["every-eval-ever", "r", "--out", "eee", "--availability", "open_weights"], &who[..]].concat());
    let seen = readers(&sandbox, &["every_eval_ever", "eee"]);
    assert_eq!(seen["code"], 0, "{}", seen["said"].as_str().unwrap());
    assert_eq!(seen["files"].as_array().unwrap().len(), 2, "{seen}");
    let told = means(&sandbox, "r");
    let results = seen["results"].as_object().unwrap();
    assert_eq!(results.len(), told.len());
    for (name, found) in results {
        let (mean, n) = told[name.strip_prefix("tales: ").unwrap()];
        assert_eq!((found[0].as_f64().unwrap(), found[1].as_u64().unwrap()), (mean, n), "{name}");
    }
}

#[test]
#[ignore = "needs the readers of exports"]
fn needs_readers_yaml_of_the_hub_is_yaml() {
    let sandbox = a_run();
    export(&sandbox, &["hf", "r", "--out", "hf", "--dataset", "org/tales", "--url", "https://example.org/\"x\"?a: b"]);
    let entries = readers(&sandbox, &["yaml", "hf/builtin-extractive/.eval_results/tales-builtin-extractive.yaml"]);
    let entries = entries.as_array().unwrap();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[2]["dataset"], json!({"id": "org/tales", "task_id": "dos-rag-30"}));
    assert_eq!(
        (&entries[2]["value"], &entries[2]["source"]["url"]),
        (&json!(100.0), &json!("https://example.org/\"x\"?a: b"))
    );
    let benchmark = readers(&sandbox, &["yaml", "hf/eval.yaml"]);
    assert_eq!(benchmark["tasks"].as_array().unwrap().len(), 3, "{benchmark}");
    sandbox.run(&["export", "hf", "r", "--out", "hf", "--dataset", "tales"]).refuses(&["org/name"]);
}

#[test]
fn finding_07_files_have_names_that_differ_where_case_counts_for_nothing() {
    let sandbox = a_run();
    let names = || {
        let names = std::fs::read_dir(sandbox.path("trec")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap().to_lowercase());
        names.filter(|name| name.ends_with(".run")).collect::<std::collections::BTreeSet<String>>()
    };
    export(&sandbox, &["trec", "r=Tales", "--out", "trec"]);
    let alone = names();
    export(&sandbox, &["trec", "r=Tales", "r=tales", "--out", "trec"]);
    assert!(names().is_superset(&alone), "the first is called as it is alone");
    assert_eq!(names().len(), 2 * alone.len(), "{:?}", names());
}

#[test]
#[ignore = "takes minutes, and needs the readers of exports"]
fn needs_time_needs_readers_mlflow_has_the_spans_once() {
    let sandbox = a_run();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let folder = sandbox.dir.path().to_str().unwrap().to_owned();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/readers/receive_spans.py");
    let python = |what: &str| {
        let mut python = Command::new(crate::support::readers_python());
        python.args([script, &folder, &port, what]).current_dir(sandbox.dir.path()).process_group(0);
        python
    };
    let mut server = python("serve").spawn().unwrap();
    let ready =
        (0..60).any(|_| python("ready").env("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2").output().unwrap().status.success());
    let send = || {
        export(
            &sandbox,
            &["otlp", "r", "--endpoint", &format!("http://127.0.0.1:{port}"), "--header", "x-mlflow-experiment-id=0"],
        )
    };
    let count = || -> Value { serde_json::from_slice(&python("count").output().unwrap().stdout).unwrap() };
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        assert!(ready, "the server is up");
        let said = send().err();
        let first = count();
        send();
        (said, first, count())
    }));
    // It has servers of its own below it.
    let group = format!("-{}", server.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    server.wait().unwrap();
    let (said, first, second) = found.unwrap();
    assert_eq!(first["traces"], 54, "{said}");
    assert!(first["spans"].as_array().unwrap().contains(&json!("chat extractive")), "{first}");
    assert_eq!(first, second, "sent twice, there once");
}

#[test]
fn spans_are_posted_as_protobuf_and_a_refusal_is_said() {
    let sandbox = a_run();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let mut heard = Vec::new();
        for status in ["200 OK", "403 Forbidden"] {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut bytes, mut buffer) = (Vec::new(), [0; 65536]);
            loop {
                let n = stream.read(&mut buffer).unwrap();
                bytes.extend(&buffer[..n]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
                let length = head
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
                let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
                if bytes.len() >= at + length.unwrap() {
                    break;
                }
            }
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno").unwrap();
            heard.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        heard
    });
    let send = || {
        let args = ["export", "otlp", "r", "--endpoint", &address];
        let mut command = sandbox.command(&args);
        command.env("OTEL_EXPORTER_OTLP_HEADERS", "wandb-api-key=geheim");
        Ended(command.output().unwrap())
    };
    // A cell has fewer spans than a request takes, so that three cells are three requests: the second is refused.
    send().refuses(&["403 Forbidden", "no"]);
    let heard = server.join().unwrap();
    assert!(heard[0].starts_with("POST /v1/traces HTTP/1.1"), "{}", &heard[0][..80]);
    assert!(heard[0].to_lowercase().contains("content-type: application/x-protobuf") && heard[0].contains("geheim"));
    assert!(heard[0].contains("gen_ai.operation.name") && heard[0].contains("closeread.score.accuracy"));
}

#[test]
fn spans_that_a_receiver_did_not_take_are_told() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "--method", "closed-book", "--limit", "2", "--out", "r"]).exits(0);
    // partial_success { rejected_spans: 1, error_message: "quota" }
    let server = FaultServer::start(|_, _, _| response("200 OK", "", "\n\u{9}\u{8}\u{1}\u{12}\u{5}quota"));
    let ended = sandbox.run(&["export", "otlp", "r", "--endpoint", &server.url]).exits(1);
    assert!(ended.err().contains("did not take 1 of "), "{}", ended.err());
    assert!(ended.err().contains("spans: quota"), "{}", ended.err());
}

#[test]
fn runs_that_cannot_stand_in_one_table_are_not_exported_into_one() {
    let sandbox = Sandbox::new();
    for name in ["one", "two"] {
        sandbox.write(&format!("{name}/documents.jsonl"), format!("{{\"id\": \"d\", \"text\": \"Text {name}.\"}}\n"));
        let item = json!({"id": "q", "documents": ["d"], "question": format!("Of {name}?"), "answers": ["x"],
            "evidence": [{"quote": format!("Text {name}.")}]});
        sandbox.write(&format!("{name}/items.jsonl"), format!("{item}\n"));
        let run = ["run", "--benchmark", name, "--method", "dos-rag", "--budget", "500", "--retriever", "bm25"];
        sandbox.run(&[&run[..], &["--out", &format!("of-{name}")]].concat()).exits(0);
    }
    for format in ["parquet", "trec"] {
        let refused = sandbox.run(&["export", format, "of-one", "of-two", "--out", "tables"]);
        refused.refuses(&["one run is of the benchmark `one`, another of `two`"]);
        assert!(!sandbox.path("tables").exists());
    }
    let items = std::fs::read_to_string(sandbox.path("one/items.jsonl")).unwrap();
    sandbox.write("one/items.jsonl", items.replace("Of one?", "Of another?"));
    let run = ["run", "--benchmark", "one", "--method", "dos-rag", "--budget", "500", "--retriever", "bm25"];
    sandbox.run(&[&run[..], &["--out", "edited"]].concat()).exits(0);
    for format in ["parquet", "trec"] {
        let refused = sandbox.run(&["export", format, "of-one", "edited", "--out", "tables"]);
        refused.refuses(&["item `q` has another question or gold answer in edited"]);
    }
    let twice = sandbox.run(&["export", "parquet", "of-one=A", "of-one=A", "--out", "tables"]);
    twice.refuses(&["two runs hold the same cell, A: ", "RUN=NAME"]);
}
