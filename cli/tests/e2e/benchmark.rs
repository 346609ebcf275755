//! The papers' benchmarks by name: how their files are read and how each is run where the options say nothing.

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::path::Path;

fn manifest(sandbox: &Sandbox, run: &str) -> Value {
    let text = std::fs::read_to_string(sandbox.path(&format!("{run}/manifest.json"))).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["configuration"].take()
}

/// Ids of the tables that `closeread report` prints.
fn tables(sandbox: &Sandbox, run: &str) -> Vec<String> {
    let report = sandbox.run(&["report", run, "--json"]).exits(0).json();
    report["tables"].as_array().unwrap().iter().map(|table| table["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn novelqa_is_run_as_its_paper_does_and_options_win() {
    let sandbox = Sandbox::new();
    sandbox.write("n/bookmeta.json", r#"{"B00": {"title": "The Mill"}}"#);
    sandbox.write("n/Books/B00.txt", "Ana came to the mill at dusk. ".repeat(200) + "Bo had left it open.");
    let question = json!({"Question": "When did Ana come?", "Aspect": "times", "Complexity": "mh", "Gold": "A",
        "Options": {"A": "at dusk", "B": "at noon"}});
    sandbox.write("n/Data/B00.json", json!({"Q1": question, "Q2": question}).to_string());
    let args = ["run", "--benchmark", "novelqa", "--data", "n", "--context-window", "900", "--max-output-tokens", "16"];

    let ended = sandbox.run(&[&args[..], &["--out", "paper"]].concat()).exits(0);
    assert!(ended.err().contains("as in NovelQA, sections 4.1 and 4.2"), "{}", ended.err());
    assert!(ended.err().contains("count as wrong here, as the paper says nothing of them"), "{}", ended.err());
    assert!(ended.err().contains("the paper judges with GPT-4"), "{}", ended.err());
    let said = manifest(&sandbox, "paper");
    assert_eq!(said["protocol"]["benchmark"], "novelqa");
    assert_eq!(said["methods"]["full-document"]["overflow"], "truncate-end");
    assert_eq!(said["documents"][0]["title"], "The Mill");
    let methods: Vec<&Value> = said["cells"].as_array().unwrap().iter().map(|cell| &cell["method"]).collect();
    assert_eq!(methods, ["closed-book", "full-document"]);
    assert!(tables(&sandbox, "paper").iter().any(|id| id.starts_with("novelqa")));
    // The leaderboard calls a novel by its title, and so does the check of a submission.
    sandbox.run(&["export", "novelqa", "paper", "--at", "closed-book", "--fill", "A", "--out", "s.zip"]).exits(0);
    let checked = sandbox.run(&["score", "--format", "novelqa", "--gold", "n", "s.zip"]).exits(0).out();
    assert!(checked.contains("2 items: 2 answered"), "{checked}");

    sandbox
        .run(&[&args[..], &["--out", "own", "--on-overflow", "fail", "--method", "full-document"]].concat())
        .exits(0);
    let report = std::fs::read_to_string(sandbox.path("own/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["cells"][0]["ledger"]["overflow"], 2, "{report}");
}

#[test]
fn questions_without_gold_answers_are_asked_and_submitted_in_either_setting_of_novelqa() {
    let sandbox = Sandbox::new();
    sandbox.write("n/Books/Cafe\u{301}.txt", "Ana came to the mill at dusk. Bo had left it open.");
    let question = json!({"Question": "When did Ana come?", "Options": {"A": "at dusk", "B": "at noon"}});
    sandbox.write("n/Data/Caf\u{e9}.json", json!({"Q1": question, "Q2": question}).to_string());
    let submitted = |task: &str| {
        let run = ["run", "--benchmark", "novelqa", "--data", "n", "--method", "closed-book", "--task", task];
        sandbox.run(&[&run[..], &["--out", task]].concat()).exits(0);
        sandbox.run(&["export", "novelqa", task, "--out", "s.zip", "--fill", "A"]).exits(0);
        let mut archive = zip::ZipArchive::new(std::fs::File::open(sandbox.path("s.zip")).unwrap()).unwrap();
        let files = (0..archive.len()).map(|at| {
            let file = archive.by_index(at).unwrap();
            let name = file.name().unwrap().into_owned();
            let answers: Value = serde_json::from_reader(file).unwrap();
            (name, answers["Caf\u{e9}"].as_array().unwrap().len())
        });
        files.collect::<Vec<_>>()
    };
    let (options, words) = (("res_mc/res_mc.json".to_owned(), 2), ("res_gen/res_gen.json".to_owned(), 2));
    assert_eq!(submitted("choice"), std::slice::from_ref(&options));
    assert_eq!(submitted("generative"), std::slice::from_ref(&words));
    assert_eq!(submitted("both"), [options, words]);
}

#[test]
fn a_data_set_in_parquet_is_refused_with_the_command_that_converts_it() {
    let sandbox = Sandbox::new();
    sandbox.write("n/test.parquet", "PAR1 PAR1");
    let args = ["run", "--benchmark", "novelqa", "--data", "n", "--method", "closed-book", "--out", "r"];
    sandbox.run(&args).refuses(&["test.parquet: Parquet is not read", "'n/test.parquet' 'n/test.jsonl'"]);
}

#[test]
fn a_packed_data_set_is_named_as_one() {
    let sandbox = Sandbox::new();
    sandbox.write("n/NovelQA.zip", "PK\u{3}\u{4}");
    sandbox.write("dev.jsonl.gz", b"\x1f\x8b\x08\xff");
    for (data, named) in [("n", "NovelQA.zip"), ("n/NovelQA.zip", "NovelQA.zip"), ("dev.jsonl.gz", "dev.jsonl.gz")] {
        let args = ["run", "--benchmark", "novelqa", "--data", data, "--method", "closed-book", "--out", "r"];
        sandbox.run(&args).refuses(&[&format!("{named}: packed files are not read: unpack it")]);
    }
}

#[test]
#[cfg(unix)]
fn a_file_name_stays_a_name_in_the_command_that_converts_it() {
    let sandbox = Sandbox::new();
    sandbox.write("n/a'$(b).parquet", "PAR1 PAR1");
    let args = ["run", "--benchmark", "novelqa", "--data", "n", "--method", "closed-book", "--out", "r"];
    sandbox.run(&args).refuses(&[r"'n/a'\''$(b).parquet' 'n/a'\''$(b).jsonl'"]);
}

#[test]
fn a_folder_is_read_though_names_are_composed_otherwise_and_files_are_utf_16() {
    let sandbox = Sandbox::new();
    let (apart, together) = ("cafe\u{301}", "caf\u{e9}");
    sandbox.write(&format!("b/texts/{apart}.txt"), "Ana came to the mill at dusk.");
    let wide = |row: Value| format!("\u{feff}{row}\r\n").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    sandbox.write("b/documents.jsonl", wide(json!({"id": apart, "path": format!("texts\\{together}.txt")})));
    let item = json!({"id": "q", "documents": [together], "question": "When did Ana come?", "answers": ["at dusk"],
        "evidence": [{"document": together, "quote": "at dusk"}]});
    sandbox.write("b/items.jsonl", wide(item));
    let args = ["run", "--benchmark", "b", "--method", "full-document", "--out", "r", "--json"];
    let report = sandbox.run(&args).exits(0).json();
    assert_eq!(report["cells"][0]["ledger"]["answered"], 1, "{report}");
    assert_eq!(report["problems"], json!([]), "{report}");
    let list = json!([{"id": "d", "text": "Ana."}]).to_string();
    sandbox.write("b/documents.jsonl", list);
    sandbox.run(&args).refuses(&["b/documents.jsonl:1: it is a JSON list", "jq -c '.[]'"]);
}

#[test]
fn a_prompt_file_of_corpusqa_is_read_and_bad_rows_are_named() {
    let sandbox = Sandbox::new();
    let prompt = "# Document 1:\nThe mill has 3 rooms.\n\n# Document 2:\nThe barn has 5 rooms.\n\n# Question:\nWhich?";
    let row = json!({"id": "real_estate_en_1", "question": "Which has more rooms?", "answer": "the barn",
        "prompt": [{"role": "user", "content": prompt}]});
    sandbox.write("c/real_estate_en_set1.jsonl", format!("{row}\n{{\"id\": \"real_estate_en_2\"}}\n"));
    let args = ["run", "--benchmark", "corpusqa", "--data", "c", "--method", "full-document", "--out", "r", "--json"];
    let ended = sandbox.run(&args).exits(1);
    assert!(ended.err().contains("real_estate_en_set1.jsonl:2 (real_estate_en_2): no `question`"), "{}", ended.err());
    assert_eq!(ended.json()["cells"][0]["ledger"]["trials"], 1);
    let said = manifest(&sandbox, "r");
    assert_eq!((said["documents"].as_array().unwrap().len(), &said["keep_wraps"]), (2, &json!(true)));
    assert_eq!(said["protocol"]["failures"], "failures_left_out");
}

#[test]
fn a_folder_of_our_own_format_serves_for_a_paper() {
    let sandbox = Sandbox::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample/corpus").display().to_string();
    let args = ["run", "--benchmark", "corpusqa", "--data", &corpus, "--method", "full-document", "--limit", "3"];
    sandbox.run(&[&args[..], &["--out", "c"]].concat()).exits(0);
    assert_eq!(manifest(&sandbox, "c")["benchmark"], "corpusqa");
    assert!(tables(&sandbox, "c").contains(&"corpusqa-table-3".to_owned()));

    let line = json!({"id": "mill", "language": "en", "text": "Bo left the mill."});
    sandbox.write("s/documents.jsonl", format!("{line}\n"));
    let item = |id: &str, task: &str, kind: &str| {
        json!({"id": id, "documents": ["mill"], "question": "Who left?", "task": task, "answers": ["Bo"],
            "labels": {"question_type": kind}})
    };
    let items = [item("a", "generative", "Character"), item("b", "summary", "Character"), item("c", "generative", "x")];
    sandbox.write("s/items.jsonl", items.map(|item| format!("{item}\n")).concat());
    let args = ["run", "--benchmark", "sagascale", "--data", "s", "--method", "full-document", "--out", "s-run"];
    let ended = sandbox.run(&args).exits(1);
    assert!(ended.err().contains("sagascale (b): the task is summary"), "{}", ended.err());
    assert!(ended.err().contains("1 of 2 items stand in no row"), "{}", ended.err());
    assert!(tables(&sandbox, "s-run").iter().any(|id| id.starts_with("sagascale")));
}

#[test]
fn a_benchmark_without_its_files_says_what_it_wants() {
    let sandbox = Sandbox::new();
    for (name, wants) in
        [("hamlet", "key_facts"), ("corpusqa", "financial_en_set1.jsonl"), ("sagascale", "items.jsonl")]
    {
        sandbox.run(&["run", "--benchmark", name, "--method", "closed-book"]).refuses(&["--data", wants]);
    }
}

#[test]
fn files_that_a_benchmark_does_not_read_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("tales/documents.jsonl", "{\"id\": \"mill\", \"text\": \"Ana came.\"}\n");
    sandbox.write(
        "tales/items.jsonl",
        "{\"id\": \"q\", \"documents\": [\"mill\"], \"question\": \"Who?\", \"answers\": [\"Ana\"]}\n",
    );
    let run = ["run", "--method", "closed-book", "--data", "tales"];
    sandbox.run(&run).refuses(&["`sample` reads no --data", "such as --benchmark tales"]);
    sandbox.run(&[&run[..], &["--benchmark", "tales"]].concat()).refuses(&["`tales` reads no --data"]);
}

#[test]
fn a_folder_called_as_the_sample_is_told_from_it() {
    let sandbox = Sandbox::new();
    sandbox.write("sample/documents.jsonl", r#"{"id": "mill", "text": "Ana came to the mill at dusk."}"#);
    sandbox.write(
        "sample/items.jsonl",
        r#"{"id": "own", "documents": ["mill"], "question": "When?", "answers": ["at dusk"]}"#,
    );
    let run = ["run", "--method", "closed-book", "--limit", "1", "--benchmark"];
    let ships = sandbox.run(&[&run[..], &["sample", "--out", "ships"]].concat()).exits(0);
    assert!(ships.err().contains("the folder `sample`, which differs, is read as ./sample"), "{}", ships.err());
    let own = sandbox.run(&[&run[..], &["./sample", "--out", "own"]].concat()).exits(0);
    assert!(!own.err().contains("warning"), "{}", own.err());
    assert_eq!(manifest(&sandbox, "own")["benchmark"], "sample");
    assert!(std::fs::read_to_string(sandbox.path("own/records.jsonl")).unwrap().contains(r#""item":"own""#));
}
