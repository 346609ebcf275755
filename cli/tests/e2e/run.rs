//! `closeread run`, as a user meets it.

use crate::support::{Ended, Sandbox, tales, timeless};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

const STORY: &str = "Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took \
                     the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.";

/// First and last byte of each passage of a context.
type Spans = Vec<(u64, u64)>;

/// A benchmark of one story and two questions.
fn small_benchmark(sandbox: &Sandbox) {
    sandbox.write("bench/story.txt", STORY);
    sandbox.write(
        "bench/documents.jsonl",
        "{\"id\":\"story\",\"title\":\"The Key\",\"language\":\"en\",\"path\":\"story.txt\"}\n",
    );
    sandbox.write(
        "bench/items.jsonl",
        concat!(
            r#"{"id":"a","documents":["story"],"question":"Where did Ana hide the key?","task":"generative","answers":["under the third stair"],"evidence":[{"quote":"Ana hid the key under the third stair."}]}"#,
            "\n",
            r#"{"id":"b","documents":["story"],"question":"What did Ben carry?","task":"choice","options":["a lantern","a rope","an oar","a key"],"correct":0}"#,
            "\n"
        ),
    );
}

#[test]
fn the_sample_runs_without_arguments_and_a_second_run_repeats_nothing() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(&["run"]).exits(0);
    let table = first.out();
    for method in ["closed-book", "full-document", "vanilla-rag", "dos-rag"] {
        assert!(table.contains(method), "{table}");
    }
    assert!(table.contains("accuracy") && table.contains("evidence recall"), "{table}");
    let folder = std::fs::read_dir(sandbox.path("runs")).unwrap().next().unwrap().unwrap().path();
    let records = std::fs::read(folder.join("records.jsonl")).unwrap();

    let again = sandbox.run(&["run"]).exits(0);
    assert_eq!(again.out(), table);
    assert_eq!(std::fs::read(folder.join("records.jsonl")).unwrap(), records, "no trial is repeated");
    let report: Value = serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap();
    assert_eq!(sandbox.run(&["run", "--json"]).exits(0).json()["cells"], report["cells"]);
    assert_eq!(std::fs::read_dir(folder.join("texts")).unwrap().count(), 2, "each book lies there once");
}

#[test]
fn vanilla_and_dos_retrieve_the_same_passages_of_the_sample_at_every_budget() {
    let sandbox = Sandbox::new();
    sandbox.run(&["run", "--method", "vanilla-rag,dos-rag", "--limit", "30", "--out", "r"]).exits(0);
    let text = std::fs::read_to_string(sandbox.path("r/records.jsonl")).unwrap();
    let mut sets: BTreeMap<(String, u64), Vec<Spans>> = BTreeMap::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let passages = record["context"]["passages"].as_array().unwrap();
        let mut spans: Spans =
            passages.iter().map(|p| (p["start"].as_u64().unwrap(), p["end"].as_u64().unwrap())).collect();
        if record["method"] == "dos-rag" {
            assert!(spans.is_sorted(), "DOS order is document order");
        }
        spans.sort_unstable();
        let key = (record["item"].as_str().unwrap().to_owned(), record["budget"].as_u64().unwrap());
        sets.entry(key).or_default().push(spans);
    }
    assert_eq!(sets.len(), 30 * 4);
    for (key, both) in sets {
        assert_eq!(both.len(), 2, "{key:?}");
        assert_eq!(both[0], both[1], "{key:?}");
    }
}

#[test]
fn a_killed_run_goes_on_where_it_stopped_and_ends_with_the_same_numbers() {
    let sandbox = Sandbox::new();
    let args = ["run", "--retriever", "bm25", "--limit", "20", "--json"];
    let undisturbed = timeless(&sandbox.run(&[&args[..], &["--out", "whole"]].concat()).exits(0).json());

    let records = sandbox.path("killed/records.jsonl");
    let lines = || std::fs::read_to_string(&records).map_or(0, |text| text.lines().count());
    let mut kills = 0;
    for _ in 0..3 {
        let mut child = sandbox
            .command(&[&args[..], &["--out", "killed"]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let before = lines();
        while lines() < before + 50 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        kills += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(kills > 0, "at least one kill came before the end");
    let resumed = sandbox.run(&[&args[..], &["--out", "killed"]].concat()).exits(0).json();
    assert_eq!(timeless(&resumed), undisturbed);

    let text = std::fs::read_to_string(&records).unwrap();
    let key = |line: &str| {
        let r: Value = serde_json::from_str(line).unwrap();
        json!([r["item"], r["method"], r["budget"]]).to_string()
    };
    let mut keys: Vec<String> = text.lines().map(key).collect();
    let n = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), n, "no finished trial is repeated");
}

#[test]
fn a_second_run_into_the_same_folder_is_refused() {
    let sandbox = Sandbox::new();
    small_benchmark(&sandbox);
    sandbox.run(&["run", "--benchmark", "bench", "--retriever", "bm25", "--out", "r"]).exits(0);
    let lock = std::fs::OpenOptions::new().write(true).open(sandbox.path("r/.lock")).unwrap();
    lock.lock().unwrap();
    sandbox
        .run(&["run", "--benchmark", "bench", "--retriever", "bm25", "--out", "r"])
        .refuses(&["another closeread is running"]);
}

#[test]
fn a_folder_with_another_configuration_is_refused_with_what_differs() {
    let sandbox = Sandbox::new();
    small_benchmark(&sandbox);
    let base = ["run", "--benchmark", "bench", "--retriever", "bm25", "--out", "r"];
    sandbox.run(&base).exits(0);
    sandbox.run(&[&base[..], &["--budget", "700"]].concat()).refuses(&["another configuration", "cells:", "--fresh"]);
    sandbox.run(&[&base[..], &["--budget", "700", "--fresh"]].concat()).exits(0);
}

#[test]
fn only_what_may_be_extended_is_told_to_extend() {
    let sandbox = Sandbox::new();
    small_benchmark(&sandbox);
    let base = ["run", "--benchmark", "bench", "--retriever", "bm25", "--method", "closed-book", "--out", "r"];
    sandbox.run(&base).exits(0);
    for (other, is_advised) in
        [(["--context-window", "4000"], false), (["--limit", "1"], false), (["--repeats", "2"], true)]
    {
        let other = [&base[..], &other].concat();
        let refused = sandbox.run(&other).exits(2).err();
        assert!(refused.contains("another configuration"), "{refused}");
        assert_eq!(refused.contains("--extend"), is_advised, "{refused}");
        sandbox.run(&[&other[..], &["--extend"]].concat()).exits(if is_advised { 0 } else { 2 });
    }
}

#[test]
fn json_gives_every_cell_its_ledger_and_intervals() {
    let sandbox = Sandbox::new();
    small_benchmark(&sandbox);
    let report = sandbox
        .run(&[
            "run",
            "--benchmark",
            "bench",
            "--method",
            "closed-book,dos-rag",
            "--budget",
            "40,20",
            "--passage-tokens",
            "20",
            "--json",
        ])
        .exits(0)
        .json();
    assert_eq!(report["benchmark"], "bench");
    let cells = report["cells"].as_array().unwrap();
    let names: Vec<Value> = cells.iter().map(|c| json!([c["method"], c["budget"]])).collect();
    assert_eq!(json!(names), json!([["closed-book", null], ["dos-rag", 20], ["dos-rag", 40]]));
    for cell in cells {
        let ledger = cell["ledger"].as_object().unwrap();
        let parts: u64 = ledger.iter().filter(|(name, _)| *name != "trials").map(|(_, n)| n.as_u64().unwrap()).sum();
        assert_eq!((ledger["trials"].as_u64(), parts), (Some(2), 2));
        for estimate in cell["metrics"].as_object().unwrap().values() {
            let number = |name: &str| estimate[name].as_f64().unwrap();
            assert!(number("low") <= number("value") && number("value") <= number("high"), "{estimate}");
        }
    }
    assert_eq!(cells[2]["metrics"]["evidence_recall"]["value"], 1.0);
    assert!(cells[0]["metrics"].get("evidence_recall").is_none(), "a closed book retrieves nothing");
}

#[test]
fn bad_rows_are_named_and_the_rest_is_run() {
    let sandbox = Sandbox::new();
    small_benchmark(&sandbox);
    let items = sandbox.path("bench/items.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&items).unwrap();
    file.write_all(
        b"{\"id\":\"c\",\"documents\":[\"nowhere\"],\"question\":\"?\",\"task\":\"generative\"}\nnot json\n",
    )
    .unwrap();
    let ended: Ended =
        sandbox.run(&["run", "--benchmark", "bench", "--retriever", "bm25", "--budget", "50", "--json"]).exits(1);
    assert!(ended.err().contains("items.jsonl:3") && ended.err().contains("`nowhere`"), "{}", ended.err());
    assert!(ended.err().contains("items.jsonl:4"), "{}", ended.err());
    assert_eq!(ended.json()["cells"][0]["n"], 2);
}

#[test]
fn what_cannot_be_run_is_refused_with_what_is_expected() {
    let sandbox = Sandbox::new();
    small_benchmark(&sandbox);
    sandbox.run(&["run", "--benchmark", "nochaa"]).refuses(&["`nochaa`", "fairytaleqa", "documents.jsonl"]);
    sandbox.run(&["run", "--benchmark", "nocha"]).refuses(&["--data"]);
    sandbox.run(&["run", "--method", "dos"]).refuses(&["unknown method `dos`", "dos-rag"]);
    sandbox.run(&["run", "--model", "gpt-4"]).refuses(&["unknown model `gpt-4`", "openai/MODEL"]);
    sandbox.run(&["run", "--embedder", "bert"]).refuses(&["`bert`", "closeread model list"]);
    sandbox.run(&["run", "--tokenizer", "gpt2"]).refuses(&["unknown tokenizer `gpt2`", "cl100k"]);
    sandbox.run(&["run", "--benchmark", "bench", "--items", "a,zz"]).refuses(&["no item `zz`"]);
    sandbox.run(&["run", "--budget", "0"]).refuses(&["'0' for '--budget <LIST>'", "expected a number from 1"]);
}

#[test]
fn an_overflow_is_an_outcome_and_truncation_answers() {
    let sandbox = Sandbox::new();
    small_benchmark(&sandbox);
    let base = ["run", "--benchmark", "bench", "--method", "full-document", "--json", "--max-output-tokens", "16"];
    let ended = sandbox.run(&[&base[..], &["--context-window", "150"]].concat()).exits(0);
    let words = "prompts did not fit the context window, which --context-window sets; --on-overflow truncate-end";
    assert!(ended.err().contains(words), "{}", ended.err());
    let fails = ended.json();
    assert!(fails["cells"][0]["ledger"]["overflow"].as_u64().unwrap() > 0, "{fails}");
    let cut = sandbox
        .run(&[&base[..], &["--context-window", "195", "--on-overflow", "truncate-end"]].concat())
        .exits(0)
        .json();
    assert_eq!(cut["cells"][0]["ledger"]["overflow"], 0, "{cut}");
    let told = sandbox.run(&["run", "--benchmark", "bench", "--method", "query-summary"]).exits(0).err();
    assert!(told.contains("query-summary was asked nothing: query-summary answers items of task summary"), "{told}");
}

#[test]
fn a_part_names_its_own_books_and_one_hash_for_all() {
    let sandbox = Sandbox::new();
    let (mut documents, mut items) = (String::new(), String::new());
    for n in 1..=4 {
        documents += &format!("{}\n", serde_json::json!({"id": format!("b{n}"), "text": format!("Ana has {n} keys.")}));
        let item = serde_json::json!({"id": n.to_string(), "documents": [format!("b{n}")], "question": "How many keys?",
            "task": "generative", "answers": [n.to_string()]});
        items += &format!("{item}\n");
    }
    sandbox.write("keys/documents.jsonl", documents);
    sandbox.write("keys/items.jsonl", items);
    let run = |more: &[&str]| {
        sandbox.run(&[&["run", "--benchmark", "keys", "--method", "closed-book"][..], more].concat()).exits(0)
    };
    run(&["--out", "whole"]);
    run(&["--out", "1", "--shard", "1/2"]);
    run(&["--out", "2", "--shard", "2/2"]);
    let manifest = |run: &str| crate::corpus_truth::json_file(&sandbox.path(run).join("manifest.json"));
    let books = |run: &str| {
        let list = manifest(run)["configuration"]["documents"].as_array().unwrap().clone();
        list.iter().map(|book| book["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((books("1"), books("2")), (vec!["b1".into(), "b3".into()], vec!["b2".into(), "b4".into()]));
    assert_eq!(manifest("2")["places"]["documents"], serde_json::json!([1, 3]));
    assert_eq!(manifest("1")["configuration"]["documents_hash"], manifest("2")["configuration"]["documents_hash"]);
    run(&["--out", "1", "--shard", "1/2"]);
    sandbox.run(&["merge", "2", "1", "--out", "merged"]).exits(0);
    assert_eq!(manifest("merged"), manifest("whole"));
}

#[test]
fn parts_of_a_run_merge_into_the_whole() {
    let sandbox = Sandbox::new();
    let run = |more: &[&str]| {
        let fixed = ["run", "--method", "closed-book,dos-rag", "--retriever", "bm25", "--budget", "500", "--json"];
        sandbox.run(&[&fixed[..], more].concat()).exits(0)
    };
    let whole = run(&["--out", "whole"]).json();
    for part in ["1", "2", "3"] {
        run(&["--out", part, "--shard", &format!("{part}/3")]);
    }
    // As a trial leaves it that was asked again: its last line counts.
    let records = std::fs::read_to_string(sandbox.path("1/records.jsonl")).unwrap();
    let mut old: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    (old["outcome"], old["answer"]) = (serde_json::json!("answered"), serde_json::json!("what it said before"));
    sandbox.write("1/records.jsonl", format!("{old}\n{records}"));
    let configuration =
        |run: &str| crate::corpus_truth::json_file(&sandbox.path(run).join("manifest.json"))["configuration"].clone();
    let gap = sandbox.run(&["merge", "1", "3", "--out", "gap", "--json"]).exits(1).json();
    assert_eq!(gap["missing_parts"], serde_json::json!(["2/3"]));
    let merged = sandbox.run(&["merge", "1", "2", "3", "2", "--out", "merged", "--json"]).exits(0).json();
    assert_eq!(merged["items"], merged["items_expected"]);
    assert_eq!(merged["differing"], serde_json::json!([]));
    assert!(merged["duplicates"].as_u64().unwrap() > 0);
    assert_eq!(configuration("merged"), configuration("whole"));
    let again = run(&["--out", "merged"]).json();
    let numbers = |report: &Value| -> Vec<Value> {
        report["cells"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| serde_json::json!([cell["ledger"], cell["metrics"]]))
            .collect()
    };
    assert_eq!(numbers(&again), numbers(&whole));
    let filled = run(&["--out", "gap"]).json();
    assert_eq!((numbers(&filled), configuration("gap")), (numbers(&whole), configuration("whole")));

    for part in ["1", "2"] {
        let name = format!("one-{part}");
        let one = ["run", "--method", "closed-book", "--limit", "1", "--out", &name, "--shard", &format!("{part}/2")];
        let said = sandbox.run(&one).exits(0).err();
        assert_eq!(said.contains("part 2 of 2 has no items: there are fewer than parts"), part == "2", "{said}");
    }
    let said = sandbox.run(&["merge", "one-1", "one-2", "--out", "the one"]).exits(0).err();
    assert!(said.contains("closeread report 'the one' prints its tables"), "{said}");

    // All questions on a book are one call: its parts would each pay for the book.
    let together = ["--param", "closed-book.style=novelqa", "--param", "closed-book.together=true", "--shard"];
    for command in [&["run", "--out", "t"][..], &["estimate"]] {
        let split = [command, &["--method", "closed-book"], &together, &["1/3"]].concat();
        sandbox.run(&split).refuses(&["closed-book asks all questions on a book in one call", "there are 2"]);
    }
    sandbox.run(&[&["estimate", "--method", "closed-book"], &together[..], &["1/2"]].concat()).exits(0);

    let other = sandbox.run(&["merge", "1", "whole", "--out", "x"]).exits(0);
    drop(other);
    run(&["--out", "seeded", "--seed", "3"]);
    let refused = sandbox.run(&["merge", "1", "seeded", "--out", "y"]).exits(2);
    assert!(refused.err().contains("differ in seed"), "{}", refused.err());
}

#[test]
fn parts_are_taken_from_slurm_and_kubernetes_with_what_was_prepared() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let options = ["--benchmark", "tales", "--method", "read-agent,closed-book", "--passage-tokens", "12"];
    let run = |out: &str, shard: &[&str], variables: &[(&str, &str)]| {
        let args = [&["run", "--json", "--out", out], &options[..], shard].concat();
        let ended = Ended(sandbox.command(&args).envs(variables.iter().copied()).output().unwrap());
        ended.exits(0).json()
    };
    let whole = run("whole", &[], &[]);
    for id in ["3", "4", "5"] {
        let least_and_most =
            [("SLURM_ARRAY_TASK_MIN", "3"), ("SLURM_ARRAY_TASK_MAX", "5"), ("SLURM_ARRAY_TASK_STEP", "1")];
        let array = [&[("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_COUNT", "3")][..], &least_and_most].concat();
        run(&format!("slurm-{id}"), &["--shard", "auto"], &array);
    }
    for index in ["0", "1"] {
        run(&format!("job-{index}"), &["--shard", "auto/2"], &[("JOB_COMPLETION_INDEX", index)]);
    }
    for (merged, parts) in [("a", &["slurm-3", "slurm-4", "slurm-5"][..]), ("b", &["job-0", "job-1"])] {
        sandbox.run(&[&["merge"], parts, &["--out", merged]].concat()).exits(0);
        let again = run(merged, &[], &[]);
        assert_eq!(timeless(&again), timeless(&whole), "{merged}");
        sandbox.run(&["verify", merged]).exits(0);
    }
}
