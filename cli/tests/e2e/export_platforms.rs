//! `closeread export` for platforms that score, and the memory that exports take.

use crate::export::{a_run, export, means};
use crate::fault_server::{FaultServer, cases, response};
use crate::provider::{Server, answer};
use crate::support::{Sandbox, rewrite_lines, run_tales, run_without_a_part};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::process::Command;

#[test]
fn models_whose_names_differ_in_a_sign_have_records_of_their_own() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &["q0".to_owned()]);
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let models = "openai-compatible/x:y,openai-compatible/x-y";
    let run = ["run", "--benchmark", "cases", "--method", "closed-book", "--model", models, "--out", "r"];
    sandbox.run(&[&run[..], &["--base-url", &server.url]].concat()).exits(0);
    let who = ["--organization", "us", "--relationship", "third_party", "--out", "eee"];
    export(&sandbox, &[&["every-eval-ever", "r"], &who[..]].concat());
    let list = std::fs::read(sandbox.path("eee/export-files.json")).unwrap();
    let names: Vec<String> = serde_json::from_slice(&list).unwrap();
    let ids = names.iter().filter(|name| name.ends_with(".json")).map(|name| {
        let record = std::fs::read(sandbox.path("eee").join(name)).unwrap();
        serde_json::from_slice::<Value>(&record).unwrap()["evaluation_id"].as_str().unwrap().to_owned()
    });
    assert_eq!(ids.collect::<std::collections::BTreeSet<_>>().len(), 2, "{names:?}");
}

#[test]
fn a_web_page_is_no_receiver_of_spans() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "--method", "closed-book", "--limit", "2", "--out", "r"]).exits(0);
    let server = FaultServer::start(|_, _, _| response("200 OK", "", "\n<!DOCTYPE html><title>Our wiki</title>"));
    let sent = sandbox.run(&["export", "otlp", "r", "--endpoint", &server.url]);
    sent.refuses(&["answered 200 OK with a web page", "another address by --endpoint"]);
}

#[test]
fn finding_05_what_is_published_of_an_unfinished_run_says_so() {
    let sandbox = run_without_a_part();
    let records = std::fs::read_to_string(sandbox.path("m/records.jsonl")).unwrap();
    sandbox.write("m/records.jsonl", records.lines().take(9).map(|line| format!("{line}\n")).collect::<String>());
    sandbox.run(&["export", "hf", "m", "--out", "hf", "--dataset", "org/tales"]).exits(1);
    let hub = sandbox.path("hf/builtin-extractive/.eval_results/tales-builtin-extractive.yaml");
    let hub = std::fs::read_to_string(hub).unwrap();
    let lacks = "INCOMPLETE: the folder holds 12 of 18 items of the run";
    assert!(hub.contains("; INCOMPLETE: 3 trials have no record and count as wrong") && hub.contains(lacks), "{hub}");

    run_tales(&sandbox, "w", &["--method", "closed-book", "--shard", "1/3"]);
    let told = sandbox.run(&["report", "w"]).exits(0).out();
    assert!(told.contains("part 1 of 3 of a run: the other parts have further items"), "{told}");
    export(&sandbox, &["hf", "w", "--out", "hf-w", "--dataset", "org/tales"]);
    let hub = sandbox.path("hf-w/builtin-extractive/.eval_results/tales-builtin-extractive.yaml");
    assert!(std::fs::read_to_string(hub).unwrap().contains("; part 1 of 3 of a run"));
    sandbox.run(&["merge", "w", "--out", "n"]).exits(1);
    sandbox.run(&["export", "inspect", "n", "--out", "logs"]).exits(1);
    let back = sandbox.run(&["report", "logs"]).out();
    assert!(back.contains("(incomplete)"), "{back}");
    let who = ["--organization", "us", "--relationship", "third_party", "--out", "eee"];
    sandbox.run(&[&["export", "every-eval-ever", "n"], &who[..]].concat()).exits(1);
    let list = std::fs::read(sandbox.path("eee/export-files.json")).unwrap();
    let names: Vec<String> = serde_json::from_slice(&list).unwrap();
    let name = names.iter().find(|name| name.ends_with(".json")).unwrap();
    let record = std::fs::read_to_string(sandbox.path("eee").join(name)).unwrap();
    assert!(record.contains("\"gaps\": \"INCOMPLETE: the folder holds 6 of 18 items of the run\""), "{record}");
}

#[test]
fn a_published_score_says_how_many_answers_have_no_verdict() {
    let sandbox = a_run();
    sandbox.run(&["judge", "r", "--judge-model", "builtin/rule"]);
    let judged = std::fs::read_to_string(sandbox.path("r/judgements.jsonl")).unwrap();
    let kept = judged.lines().filter(|line| line.contains("\"t0-3\"")).map(|line| format!("{line}\n"));
    sandbox.write("r/judgements.jsonl", kept.collect::<String>());
    export(&sandbox, &["hf", "r", "--out", "hf", "--dataset", "org/tales"]);
    let hub = sandbox.path("hf/builtin-extractive/.eval_results/tales-builtin-extractive.yaml");
    let hub = std::fs::read_to_string(hub).unwrap();
    assert!(hub.contains("1 of 18 items, 5 without a verdict, judged_accuracy in percent"), "{hub}");
    let who = ["--organization", "us", "--relationship", "third_party", "--out", "eee"];
    export(&sandbox, &[&["every-eval-ever", "r"], &who[..]].concat());
    let list = std::fs::read(sandbox.path("eee/export-files.json")).unwrap();
    let names: Vec<String> = serde_json::from_slice(&list).unwrap();
    let name = names.iter().find(|name| name.ends_with(".json")).unwrap();
    let record = std::fs::read_to_string(sandbox.path("eee").join(name)).unwrap();
    assert!(record.contains("\"trials_without_verdict\": \"5\""), "{record}");
}

#[test]
fn judges_are_named_beside_the_scores_that_they_gave() {
    let sandbox = a_run();
    let server = Server::replying(|_, _| ("200 OK", answer("\\boxed{CORRECT}")));
    let panel = ["--judge-model", "openai-compatible/a,openai-compatible/b", "--panel", "unanimity"];
    sandbox.run(&[&["judge", "r", "--no-cache", "--base-url", &server.url], &panel[..]].concat()).exits(0);
    let who = ["--organization", "us", "--relationship", "third_party", "--out", "eee"];
    export(&sandbox, &[&["every-eval-ever", "r"], &who[..]].concat());
    let list = std::fs::read(sandbox.path("eee/export-files.json")).unwrap();
    let names: Vec<String> = serde_json::from_slice(&list).unwrap();
    let name = names.iter().find(|name| name.ends_with(".json")).unwrap();
    let record: Value = serde_json::from_slice(&std::fs::read(sandbox.path("eee").join(name)).unwrap()).unwrap();
    let judges = |metric: &str| {
        let mut results =
            record["evaluation_results"].as_array().unwrap().iter().map(|result| &result["metric_config"]);
        &results.find(|config| config["metric_name"] == metric).unwrap()["llm_scoring"]
    };
    assert_eq!(judges("judged_accuracy")["judges"].as_array().unwrap().len(), 2);
    assert_eq!(judges("judged_accuracy").get("aggregation_method"), None, "unanimity is no majority");
    assert_eq!((judges("f1"), judges("accuracy_strict")), (&Value::Null, &Value::Null));

    export(&sandbox, &["inspect", "r", "--out", "logs"]);
    let mut files = std::fs::read_dir(sandbox.path("logs")).unwrap().map(|entry| entry.unwrap().path());
    let log = files.find(|path| path.extension().is_some_and(|extension| extension == "eval")).unwrap();
    let mut log = zip::ZipArchive::new(std::fs::File::open(log).unwrap()).unwrap();
    let header: Value = serde_json::from_reader(log.by_name("header.json").unwrap()).unwrap();
    for score in header["results"]["scores"].as_array().unwrap() {
        let is_judged = score["name"] == "judged_accuracy";
        assert_eq!(score["params"]["grader_model"]["model"].is_string(), is_judged, "{score}");
        let panel = json!(["openai-compatible/a", "openai-compatible/b"]);
        assert_eq!(score["params"]["grader_models"] == panel, is_judged, "{score}");
    }
}

#[test]
fn a_competition_scores_as_its_platform_starts_it() {
    let sandbox = a_run();
    // A real scorer is the program itself, which is large in a test's build.
    sandbox.write("scorer", format!("#!/bin/sh\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_closeread")));
    let args = ["--title", "Tales", "--start", "2026-12-01", "--scorer", "scorer", "--out", "bundle.zip"];
    let told = sandbox.run(&[&["export", "codabench", "tales"], &args[..]].concat()).exits(0).err();
    let mut bundle = zip::ZipArchive::new(std::fs::File::open(sandbox.path("bundle.zip")).unwrap()).unwrap();
    assert!(told.contains(&format!("bundle.zip: {} files, ", bundle.len())), "{told}");
    let unpack = |archive: &mut zip::ZipArchive<std::fs::File>, name: &str| {
        let mut bytes = Vec::new();
        archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    let yaml = String::from_utf8(unpack(&mut bundle, "competition.yaml")).unwrap();
    for words in ["version: 2", "image: logo.png", "accepts_only_result_submissions: true", "key: accuracy"] {
        assert!(yaml.contains(words), "{words} in {yaml}");
    }
    assert!(yaml.find("key: accuracy") < yaml.find("key: f1"), "the main metric ranks first: {yaml}");
    for name in ["scoring_program", "reference_data", "public_data", "starting_kit"] {
        let bytes = unpack(&mut bundle, &format!("{name}.zip"));
        let mut inner = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        inner.extract(sandbox.path(name)).unwrap();
    }
    let public = std::fs::read_to_string(sandbox.path("public_data/items.jsonl")).unwrap();
    assert!(!public.contains("correct") && !public.contains("answers") && !public.contains("evidence"), "{public}");
    let metadata = std::fs::read_to_string(sandbox.path("scoring_program/metadata.yaml")).unwrap();
    let command = metadata.trim().strip_prefix("command: ").unwrap();
    // The platform puts the program into /app/program, gold and submission into /app/input.
    let score = |predictions: Option<&str>| {
        let app = sandbox.path("app");
        let _ = std::fs::remove_dir_all(&app);
        std::fs::create_dir_all(app.join("input/res")).unwrap();
        std::fs::create_dir_all(app.join("input/ref")).unwrap();
        std::fs::copy(sandbox.path("reference_data/items.jsonl"), app.join("input/ref/items.jsonl")).unwrap();
        if let Some(predictions) = predictions {
            std::fs::write(app.join("input/res/predictions.jsonl"), predictions).unwrap();
        }
        let command = command.replace("/app/program/", "./scoring_program/").replace("/app/", "./app/");
        let words: Vec<&str> = command.split(' ').collect();
        let ended = Command::new(words[0]).args(&words[1..]).current_dir(sandbox.dir.path()).output().unwrap();
        let scores = std::fs::read(app.join("output/scores.json")).ok();
        (ended, scores.map(|bytes| serde_json::from_slice::<Value>(&bytes).unwrap()))
    };
    let gold = std::fs::read_to_string(sandbox.path("tales/items.jsonl")).unwrap();
    let right: String = gold
        .lines()
        .map(|line| {
            let item: Value = serde_json::from_str(line).unwrap();
            let row = match item["correct"].as_u64() {
                Some(correct) => json!({"item": item["id"], "choice": correct}),
                None => json!({"item": item["id"], "answer": item["answers"][0]}),
            };
            format!("{row}\n")
        })
        .collect();
    let (ended, scores) = score(Some(&right));
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(scores.unwrap(), json!({"accuracy": 1.0, "f1": 1.0, "exact_match": 1.0}));
    let page = std::fs::read_to_string(sandbox.path("app/output/detailed_results.html")).unwrap();
    assert!(page.contains("<table"), "{page}");
    let half: String = right.lines().take(9).map(|line| format!("{line}\n")).collect::<String>() + "no json\n";
    let (ended, scores) = score(Some(&half));
    assert!(ended.status.success(), "what is missing counts as wrong");
    assert_eq!(scores.unwrap()["accuracy"], json!(0.5));
    let page = std::fs::read_to_string(sandbox.path("app/output/detailed_results.html")).unwrap();
    assert!(page.contains("Rows left out: 1"), "{page}");
    for (bad, words) in [
        (None, "no predictions.jsonl"),
        (Some(""), "no row of the submission"),
        (Some("{}\n{}"), "no row of the submission"),
    ] {
        let (ended, scores) = score(bad);
        assert!(!ended.status.success() && scores.is_none());
        assert!(String::from_utf8_lossy(&ended.stderr).contains(words), "{}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn a_competition_scores_items_by_their_tasks_and_keeps_the_canary() {
    let sandbox = Sandbox::new();
    let item = |id: &str, answer: &str| json!({"id": id, "documents": ["d"], "question": "Who?", "answers": [answer], "canary": "GUID 1"});
    sandbox.write("mixed/items.jsonl", format!("{}\n{}\n", item("en", "Ana Lee"), item("zh", "孔乙己")));
    sandbox.write("scorer", "");
    let inner = |archive: &str, file: &str, more: &[&str]| {
        let args = ["codabench", "mixed", "--title", "T", "--start", "2026-12-01", "--scorer", "scorer"];
        export(&sandbox, &[&args[..], &["--out", "b.zip"], more].concat());
        let mut bundle = zip::ZipArchive::new(std::fs::File::open(sandbox.path("b.zip")).unwrap()).unwrap();
        let mut bytes = Vec::new();
        bundle.by_name(archive).unwrap().read_to_end(&mut bytes).unwrap();
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let mut text = String::new();
        archive.by_name(file).unwrap().read_to_string(&mut text).unwrap();
        text
    };
    let command = inner("scoring_program.zip", "metadata.yaml", &[]);
    assert!(!command.contains("--metric"), "F1 is not for Chinese: {command}");
    let command = inner("scoring_program.zip", "metadata.yaml", &["--metric", "f1"]);
    assert!(command.ends_with(" --metric f1\n"), "{command}");
    let public = inner("public_data.zip", "items.jsonl", &[]);
    assert_eq!(public.matches("GUID 1").count(), 2, "{public}");
}

#[test]
fn an_export_has_the_temperature_of_a_method_that_sets_its_own() {
    let sandbox = Sandbox::new();
    let methods = ["--method", "memory-agent,dos-rag", "--retriever", "bm25", "--budget", "300"];
    let run = ["run", "--out", "r", "--limit", "1", "--param", "memory-agent.temperature=0.7"];
    sandbox.run(&[&run[..], &methods].concat()).exits(0);
    let who = ["--organization", "us", "--relationship", "third_party", "--out", "eee"];
    sandbox.run(&[&["export", "every-eval-ever", "r"], &who[..]].concat()).exits(0);
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(sandbox.path("eee/data/sample/builtin/extractive")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for result in file["evaluation_results"].as_array().into_iter().flatten() {
            let of = &result["generation_config"];
            found.insert(of["additional_details"]["method"].to_string(), of["generation_args"]["temperature"].clone());
        }
    }
    let expected = [("\"dos-rag\"", json!(0.0)), ("\"memory-agent\"", json!(0.7))];
    assert_eq!(found, BTreeMap::from(expected.map(|(method, t)| (method.to_owned(), t))));
}

#[test]
fn a_run_is_a_submission_to_novelqa() {
    let sandbox = a_run();
    let args = ["export", "novelqa", "r", "--out", "s.zip"];
    sandbox.run(&args).refuses(&["several such cells", "dos-rag@15"]);
    sandbox.run(&[&args[..], &["--at", "dos-rag@30", "--fill", "A"]].concat()).exits(0);
    let mut archive = zip::ZipArchive::new(std::fs::File::open(sandbox.path("s.zip")).unwrap()).unwrap();
    let mut text = String::new();
    archive.by_name("res_mc/res_mc.json").unwrap().read_to_string(&mut text).unwrap();
    let answers: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answers.as_object().unwrap().len(), 6, "a list a tale");
}

#[test]
fn a_run_on_questions_alone_is_scored_by_whoever_keeps_the_gold_answers() {
    let sandbox = a_run();
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).unwrap();
    let gold = read("tales/items.jsonl");
    sandbox.write("gold/items.jsonl", &gold);
    sandbox.write("public/items.jsonl", &gold);
    sandbox.write("public/documents.jsonl", read("tales/documents.jsonl"));
    rewrite_lines(&sandbox, "public/items.jsonl", |item| {
        item.as_object_mut().unwrap().retain(|name, _| !["answers", "correct", "evidence"].contains(&&**name));
    });
    let how = ["--retriever", "bm25", "--passage-tokens", "12", "--method", "closed-book,dos-rag", "--budget", "15,30"];
    let run = ["run", "--benchmark", "public", "--repeats", "2", "--out", "q"];
    sandbox.run(&[&run[..], &how].concat()).exits(0);

    let args = ["export", "predictions", "q", "--out", "p.jsonl"];
    sandbox.run(&args).refuses(&["several such cells", "closed-book, dos-rag@15, dos-rag@30"]);
    sandbox
        .run(&["export", "predictions", "q", "--at", "dos-rag@30", "--out", "q/items.jsonl"])
        .refuses(&["part of the run"]);
    let written = sandbox.run(&[&args[..], &["--at", "dos-rag@30"]].concat()).exits(0).err();
    assert!(written.contains("p.jsonl: 18 predictions of dos-rag@30, the first of 2 repeats"), "{written}");
    sandbox.run(&["export", "predictions", "r", "--at", "dos-rag@30", "--out", "all.jsonl"]).exits(0);
    let all = read("all.jsonl");
    assert_eq!((all.lines().count(), &all), (18, &read("p.jsonl")));

    let score = |predictions: &str, gold: &str| {
        sandbox.run(&["score", "--gold", gold, "--predictions", predictions, "--json"]).exits(0).json()
    };
    let told = means(&sandbox, "r");
    for (metric, of) in [("accuracy", score("all.jsonl", "tales")), ("f1", score("p.jsonl", "gold"))] {
        let (value, n) = told[&format!("dos-rag at 30 {metric}")];
        assert_eq!((&of["metrics"][metric]["value"], &of["metrics"][metric]["n"]), (&json!(value), &json!(n)), "{of}");
    }

    sandbox.write("mine/predictions.jsonl", read("p.jsonl"));
    let site = sandbox.run(&["leaderboard", "site", "--runs", "q", "mine", "--gold", "gold"]).exits(1).err();
    let way = "without its gold answer: hand in its predictions instead (`closeread export predictions RUN --out";
    assert!(site.contains(way) && site.contains("submissions: 1 read, 1 left out"), "{site}");
    let text = read("q/records.jsonl");
    sandbox.write("q/records.jsonl", text.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>());
    sandbox.run(&[&args[..], &["--at", "dos-rag@30"]].concat()).exits(1);
}

/// Program that prints the peak memory of a child that ended, in MiB, as the system counts it.
const PEAK: &str = "import resource, subprocess, sys\n\
                    code = subprocess.call(sys.argv[1:])\n\
                    print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)";

#[test]
#[ignore = "needs minutes, and python3"]
fn needs_time_needs_python_a_run_of_100_000_trials_is_exported_in_200_mb() {
    let sandbox = a_run();
    let read = |name: &str| std::fs::read_to_string(sandbox.path("r").join(name)).unwrap();
    let (items, records) = (read("items.jsonl"), read("records.jsonl"));
    let lines = |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    // 54 trials of 18 items, as if of 2,502 items, each asked 14 times.
    let (copies, repeats) = (139, 14);
    let mut text = String::new();
    for copy in 0..copies {
        for mut item in lines(&items) {
            item["id"] = json!(format!("{}-{copy}", item["id"].as_str().unwrap()));
            text += &format!("{item}\n");
        }
    }
    let mut manifest: Value = serde_json::from_str(&read("manifest.json")).unwrap();
    manifest["configuration"]["items"] = json!(18 * copies);
    manifest["configuration"]["repeats"] = json!(repeats);
    manifest["stored_items"] = json!({"n": 18 * copies, "sha256": closeread_text::hash::sha256(text.as_bytes())});
    sandbox.write("r/items.jsonl", text);
    sandbox.write("r/manifest.json", manifest.to_string());
    let mut file = std::io::BufWriter::new(std::fs::File::create(sandbox.path("r/records.jsonl")).unwrap());
    for (copy, repeat) in (0..copies).flat_map(|copy| (0..repeats).map(move |repeat| (copy, repeat))) {
        for mut record in lines(&records) {
            record["item"] = json!(format!("{}-{copy}", record["item"].as_str().unwrap()));
            record["repeat"] = json!(repeat);
            writeln!(file, "{record}").unwrap();
        }
    }
    drop(file);
    let who = ["--organization", "us", "--relationship", "third_party"];
    for (format, more) in [("inspect", &[][..]), ("parquet", &[]), ("trec", &[]), ("every-eval-ever", &who)] {
        let export = sandbox.command(&[]);
        let mut python = Command::new("python3");
        python.envs(export.get_envs().filter_map(|(name, value)| Some((name, value?))));
        python.args(["-c", PEAK]).arg(export.get_program()).args(["export", format, "r", "--out", format]).args(more);
        let ended = python.current_dir(sandbox.dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
        let mut told = said.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(0)), Some(Ok(peak))) = (told.next(), told.next()) else { panic!("{format}: {said}") };
        assert!(peak < 200, "{format} took {peak} MiB");
    }
}

#[test]
fn an_export_has_the_means_of_the_report_where_trials_failed_or_are_missing() {
    let sandbox = a_run();
    let of_cell = |record: &Value, item: &str| record["budget"] == 15 && record["item"] == item;
    rewrite_lines(&sandbox, "r/records.jsonl", |record| {
        if of_cell(record, "t0-1") {
            record["outcome"] = json!("failed");
            record["error"] = json!("busy");
            record["scores"] = json!({"accuracy": 0.0});
        }
        if record["item"].as_str().unwrap().ends_with("-3") {
            record["scores"]["rouge1"] = json!(1.0);
        }
        if of_cell(record, "t1-3") {
            record["item"] = json!("gone");
        }
    });
    let who = ["--organization", "us", "--relationship", "third_party", "--out", "eee"];
    sandbox.run(&[&["export", "every-eval-ever", "r"], &who[..]].concat()).exits(1);
    let mut exported = BTreeMap::new();
    for entry in std::fs::read_dir(sandbox.path("eee/data/tales/builtin/extractive")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            for result in file["evaluation_results"].as_array().unwrap() {
                let told = &result["score_details"];
                let told = (told["score"].clone(), told["uncertainty"]["num_samples"].clone());
                exported.insert(result["evaluation_result_id"].as_str().unwrap().to_owned(), told);
            }
        }
    }
    let mut reported = BTreeMap::new();
    let report = sandbox.run(&["report", "r", "--json"]).json();
    for cell in report["runs"][0]["cells"].as_array().unwrap() {
        for (metric, estimate) in cell["metrics"].as_object().unwrap() {
            let budget = cell["budget"].as_u64().map_or_else(String::new, |budget| format!("@{budget}"));
            let name = format!("{}{budget}#{metric}", cell["method"].as_str().unwrap());
            reported.insert(name, (estimate["value"].clone(), estimate["n"].clone()));
        }
    }
    assert_eq!(exported, reported);
}
