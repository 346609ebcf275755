//! `closeread people`: studies drawn from a benchmark and from a run, and what people saved read back as labels and as a run.

use crate::support::{Sandbox, rewrite_lines, tales};
use serde_json::{Value, json};

fn lines(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Saves a person's file: an answer to each unit, as `said` has it.
fn saved(sandbox: &Sandbox, study: &str, who: &str, said: impl Fn(&Value) -> Value) -> String {
    let made: Value =
        serde_json::from_slice(&std::fs::read(sandbox.path(&format!("{study}/study.json"))).unwrap()).unwrap();
    let keys = lines(sandbox, &format!("{study}/keys.jsonl"));
    let answers: serde_json::Map<String, Value> =
        keys.iter().map(|key| (key["unit"].as_str().unwrap().to_owned(), said(key))).collect();
    let name = format!("{who}.json");
    sandbox.write(&name, json!({"study": made["id"], "rater": who, "answers": answers}).to_string());
    name
}

fn table<'a>(found: &'a Value, id: &str) -> &'a Value {
    let found = found["tables"].as_array().unwrap().iter().find(|table| table["id"] == id);
    found.unwrap_or_else(|| panic!("no table {id}"))
}

#[test]
fn what_people_answer_by_the_clock_is_a_run_that_is_judged_and_reported() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let draw = ["--draw", "6", "--by", "asked", "--seed", "4", "--minutes", "90"];
    sandbox.run(&[&["people", "answer", "--benchmark", "tales", "--out", "s"][..], &draw].concat()).exits(0);
    let page = std::fs::read_to_string(sandbox.path("s/page.html")).unwrap();
    assert!(!page.contains("\"correct\":") && !page.contains("/*STUDY*/") && page.contains("\"minutes\":90"), "{page}");
    let keys = lines(&sandbox, "s/keys.jsonl");
    assert_eq!(keys.len(), 6);
    let items = lines(&sandbox, "s/run/items.jsonl");
    let item = |key: &Value| items.iter().find(|item| item["id"] == key["item"]).unwrap();
    let ann = saved(&sandbox, "s", "ann", |key| match item(key)["task"].as_str() {
        Some("choice") => json!({"state": "answered", "label": item(key)["correct"].to_string(), "seconds": 120.0}),
        _ => json!({"state": "answered", "text": item(key)["answers"][0], "seconds": 60.0}),
    });
    let bo = saved(&sandbox, "s", "bo", |_| json!({"state": "gave_up", "seconds": 30.0}));
    let own = std::fs::read_to_string(sandbox.path("s/keys.jsonl")).unwrap();
    let doubled = format!("{own}{}", own.lines().next().unwrap());
    sandbox.write("s/keys.jsonl", doubled + "\n");
    sandbox.run(&["people", "read", "s", &ann]).refuses(&["s/keys.jsonl: `u0001` is there twice"]);
    assert!(!sandbox.path("s/choices.csv").exists(), "nothing is written of a damaged study");
    sandbox.write("s/keys.jsonl", own);
    let found = sandbox.run(&["people", "read", "s", &ann, &bo, "--json"]).exits(0).json();
    let row = &table(&found, "people")["rows"][0];
    assert_eq!((&row[0], &row[2]["count"]), (&json!({"kind": "text", "text": "ann"}), &json!(6)), "{row}");
    let kappa = &table(&found, "against-raters")["rows"][0];
    assert_eq!(kappa[4]["value"], 1.0, "who set the right option agrees with the one who chose: {kappa}");
    sandbox.run(&["judge", "s/run", "--judge-model", "builtin/rule"]).exits(0);
    let report = sandbox.run(&["report", "s/run", "--paper", "corpusqa", "--table", "5", "--json"]).exits(0).json();
    assert!(!report["tables"].as_array().unwrap().is_empty(), "{report}");
    let records = lines(&sandbox, "s/run/records.jsonl");
    assert_eq!(records.iter().filter(|record| record["outcome"] == "unanswered").count(), 6);
    assert!(records.iter().all(|record| record["method"] == "human"));
    sandbox.run(&["people", "read", "s", &ann, &ann]).refuses(&["two files are by `ann`"]);
    sandbox.run(&["people", "answer", "--benchmark", "tales", "--out", "s"]).refuses(&["holds a study already"]);
}

#[test]
fn labels_of_several_raters_are_held_against_the_judge_and_correct_its_scores() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let run = ["run", "--benchmark", "tales", "--retriever", "bm25", "--passage-tokens", "12", "--out", "r"];
    sandbox
        .run(
            &[&run[..], &["--method", "dos-rag,closed-book", "--budget", "30", "--judge-model", "builtin/rule"]]
                .concat(),
        )
        .exits(0);
    sandbox.run(&["people", "rate", "r", "--draw", "5", "--by", "method", "--out", "s"]).exits(0);
    let page = std::fs::read_to_string(sandbox.path("s/page.html")).unwrap();
    assert!(!page.contains("builtin/extractive"), "who answered is not said");
    let keys = lines(&sandbox, "s/keys.jsonl");
    assert!(keys.iter().all(|key| key["trial"]["method"] == "dos-rag"), "a closed book gives no answer to rate");
    let says = |label: &'static str| move |_: &Value| json!({"state": "answered", "label": label, "seconds": 2});
    let files = [
        saved(&sandbox, "s", "ann", says("correct")),
        saved(&sandbox, "s", "=bo", says("correct")),
        saved(&sandbox, "s", "cy", |key| match key["unit"].as_str() {
            Some("u0001") => json!({"state": "gave_up"}),
            _ => json!({"state": "answered", "label": "incorrect"}),
        }),
    ];
    let read = ["people", "read", "s", &files[0], &files[1], &files[2]];
    let found = sandbox.run(&[&read[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(table(&found, "raters")["rows"][0][2]["count"], 3);
    let kept = std::fs::read_to_string(sandbox.path("s/labels.csv")).unwrap();
    assert!(kept.contains(",'=bo,") && !kept.contains(",=bo,"), "a spreadsheet would run the name: {kept}");
    assert_eq!(table(&found, "rater-pairs")["rows"].as_array().unwrap().len(), 3);
    let corrected = table(&found, "corrected");
    assert!(
        corrected["notes"].to_string().contains("of 0 answers")
            || corrected["notes"].to_string().contains("incorrect 0"),
        "{corrected}"
    );
    assert_eq!(corrected["rows"][0][6]["kind"], "missing", "people called none wrong: {corrected}");
    let again = sandbox.run(&["agreement", "r", "s/labels.csv"]).exits(0);
    assert!(again.out().contains("corrected 95%"), "{}", again.out());

    rewrite_lines(&sandbox, "r/records.jsonl", |record| {
        if record["item"] == keys[0]["item"] && record["method"] == "dos-rag" {
            record["answer"] = json!("another, as of a run that was made anew");
        }
    });
    let changed = sandbox.run(&[&read[..], &["--json"]].concat()).exits(1).json();
    let n_units = |found: &Value| table(found, "raters")["rows"][0][3]["count"].clone();
    assert_eq!((n_units(&found), n_units(&changed)), (json!(5), json!(4)));
    assert!(changed["problems"].to_string().contains("`u0001` is left out"), "{}", changed["problems"]);
}

#[test]
fn faults_are_counted_by_kind_and_key_facts_and_sentences_are_two_tasks() {
    let sandbox = Sandbox::new();
    let reader = ["--method", "query-summary", "--model", "builtin/extractive", "--judge-model", "builtin/rule"];
    sandbox.run(&[&["run", "--limit", "200", "--out", "r"], &reader[..]].concat()).exits(0);
    sandbox
        .run(&["people", "rate", "r", "--ask", "key-fact,sentence", "--draw", "40", "--by", "asks", "--out", "s"])
        .exits(0);
    let keys = lines(&sandbox, "s/keys.jsonl");
    assert!(["key-fact", "sentence"].iter().all(|asks| keys.iter().any(|key| key["asks"] == *asks)));
    let ann = saved(
        &sandbox,
        "s",
        "ann",
        |key| json!({"state": "answered", "label": if key["part"] == 1 { "yes" } else { "no" }}),
    );
    let found = sandbox.run(&["people", "read", "s", &ann, "--json"]).exits(0).json();
    let columns = &table(&found, "accuracy-by-task")["columns"];
    assert_eq!(*columns, json!(["method", "reference", "recall", "faithfulness"]), "HAMLET's Table 3");

    tales(&sandbox);
    let run = [
        "run",
        "--benchmark",
        "tales",
        "--retriever",
        "bm25",
        "--passage-tokens",
        "12",
        "--method",
        "closed-book,dos-rag",
    ];
    sandbox.run(&[&run[..], &["--budget", "12", "--out", "q"]].concat()).exits(0);
    let said = sandbox.run(&["people", "rate", "q", "--ask", "fault", "--out", "the f"]).exits(0).err();
    assert!(said.contains("closeread people read 'the f' FILE..."), "{said}");
    sandbox.run(&["people", "rate", "q", "--ask", "fault", "--out", "f"]).exits(0);
    let bo = saved(&sandbox, "f", "bo", |_| json!({"state": "answered", "label": "overlooking"}));
    let found = sandbox.run(&["people", "read", "f", &bo, "--json"]).exits(0).json();
    let n = lines(&sandbox, "f/keys.jsonl").len();
    let faults = table(&found, "faults");
    assert_eq!(
        (faults["source"].as_str(), &faults["rows"][2][2]["count"]),
        (Some("NovelQA, Table 17"), &json!(n)),
        "{faults}"
    );
    sandbox.run(&["people", "read", "s", &bo]).refuses(&["of the study", "name the folder that they belong to"]);
    sandbox
        .run(&["people", "rate", "r", "--ask", "taste", "--out", "x"])
        .refuses(&["expected one of correctness, fault"]);
    sandbox.run(&["people", "rate", "r", "--out", "x"]).refuses(&["nothing to rate in r", "answers to open questions"]);
}
