//! `closeread build corpusqa`: a collection becomes a table, the table questions, and every gold answer is confirmed by a
//! computation that knows nothing of the pipeline.

use crate::build_model::said;
use crate::corpus_truth::{Plain, json_file, lines};
use crate::provider::{Server, answer};
use crate::support::{Sandbox, funnel};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample/corpus");

/// The table of the sample corpus, by the titles of its manifest.
fn sample() -> Plain {
    let manifest = json_file(&Path::new(SAMPLE).join("manifest.json"));
    let text = std::fs::read_to_string(Path::new(SAMPLE).join("table.csv")).unwrap();
    let rows: Vec<Vec<String>> =
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let columns = manifest["columns"].as_array().unwrap().iter().enumerate();
    let columns = columns.map(|(at, column)| {
        (column["title"].as_str().unwrap().to_owned(), rows.iter().map(|row| row[at].clone()).collect())
    });
    let names = rows.iter().map(|row| row[0].clone()).collect();
    Plain { names, columns: columns.collect(), one: "cooperative".to_owned(), many: "cooperatives".to_owned() }
}

/// The arguments of a build from the sample corpus and its table; its folder is among `more`.
pub(crate) fn from_sample<'a>(table: &'a str, schema: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let build = ["build", "corpusqa", "--documents", SAMPLE, "--table", table, "--schema", schema];
    let sets = [
        "--entity",
        "cooperative,cooperatives",
        "--least-tokens",
        "900",
        "--lengths",
        "8K,all",
        "--coverage",
        "80",
        "--domain",
        "housing_en",
    ];
    [&build[..], &sets, more].concat()
}

#[test]
fn a_ready_table_of_the_sample_becomes_a_benchmark_that_runs_at_once() {
    let sandbox = Sandbox::new();
    let (table, schema) = (format!("{SAMPLE}/table.csv"), format!("{SAMPLE}/manifest.json"));
    let build = from_sample(&table, &schema, &["--out", "c", "--questions", "40", "--json"]);
    let report = sandbox.run(&build).exits(0).json();
    let kept = funnel(&report);
    assert_eq!(kept[..4], ["documents 12 -> 12", "rows 12 -> 12", "table 12 -> 12", "sets 2 -> 2"]);
    let items = lines(&sandbox, "c/items.jsonl");
    assert!(items.len() > 50 && report["items"] == items.len(), "{} items", items.len());
    sample().confirms(&items, &json_file(&sandbox.path("c/sets.json")));
    for (label, values) in [
        ("length_set", &["8K", "all"][..]),
        ("difficulty", &["easy", "medium", "hard"]),
        ("answer_type", &["list", "string", "number", "percentage", "date"]),
    ] {
        for value in values {
            assert!(items.iter().any(|item| item["labels"][label] == *value), "no item is {label} {value}");
        }
    }
    for name in ["table.sqlite", "table.csv", "schema.json", "conflicts.jsonl", "report.json", "check/check.html"] {
        assert!(sandbox.path("c").join(name).is_file(), "{name}");
    }
    #[cfg(feature = "parquet")]
    assert_eq!(std::fs::read(sandbox.path("c/table.parquet")).unwrap()[..4], *b"PAR1");
    #[cfg(not(feature = "parquet"))]
    assert!(!sandbox.path("c/table.parquet").exists());

    let again = sandbox.run(&["build", "corpusqa", "--out", "c", "--check-sql", "--json"]).exits(0).json();
    assert_eq!((&again["same"], &again["differ"]), (&json!(items.len()), &json!([])));
    let run = [
        "run",
        "--benchmark",
        "c",
        "--method",
        "corpus-rag",
        "--retriever",
        "bm25",
        "--budget",
        "1100",
        "--limit",
        "3",
    ];
    sandbox.run(&[&run[..], &["--out", "plain"]].concat()).exits(0);
    let run = [
        "run",
        "--benchmark",
        "corpusqa",
        "--data",
        "c",
        "--judge-model",
        "builtin/rule",
        "--limit",
        "4",
        "--out",
        "r",
        "--json",
    ];
    let ran =
        sandbox.run(&[&run[..], &["--method", "full-document", "--context-window", "30000"]].concat()).exits(0).json();
    assert_eq!(ran["cells"][0]["ledger"]["trials"], 4, "{ran}");

    let mut changed = items;
    changed[3]["answers"] = json!(["4711"]);
    let text: String = changed.iter().map(|item| format!("{item}\n")).collect();
    sandbox.write("c/items.jsonl", text);
    let differs = sandbox.run(&["build", "corpusqa", "--out", "c", "--check-sql"]).exits(1).out();
    assert!(differs.contains(changed[3]["id"].as_str().unwrap()) && differs.contains("4711"), "{differs}");
}

#[test]
fn columns_in_one_unit_are_compared_and_empty_answers_have_a_limit() {
    let sandbox = Sandbox::new();
    let sample = sample();
    let titles = ["income (EUR)", "wages (EUR)", "costs (EUR)", "profit (EUR)"];
    let amount = |row: usize, column: usize| ((row * 37 + column * 53) % 97 + 1) * [9, 3, 2, 4][column];
    let rows = sample.names.iter().enumerate().map(|(row, name)| {
        let cells: Vec<String> = (0..4).map(|column| amount(row, column).to_string()).collect();
        format!("{name},{}\n", cells.join(","))
    });
    sandbox.write("t.csv", format!("name,{}\n{}", titles.join(","), rows.collect::<String>()));
    let build = |out: &str, more: &[&str]| {
        let table = ["build", "corpusqa", "--documents", SAMPLE, "--table", "t.csv", "--lengths", "all", "--out", out];
        let rest = ["--entity", "cooperative,cooperatives", "--least-tokens", "900", "--questions", "120"];
        sandbox.run(&[&table[..], &rest, more].concat()).exits(0);
        lines(&sandbox, &format!("{out}/items.jsonl"))
    };
    let items = build("c", &[]);
    let columns = titles.iter().enumerate().map(|(column, title)| {
        let cells = (0..sample.names.len()).map(|row| amount(row, column).to_string()).collect();
        (title.trim_end_matches(" (EUR)").to_owned(), cells)
    });
    Plain { columns: columns.collect(), ..sample }.confirms(&items, &json_file(&sandbox.path("c/sets.json")));
    for template in ["two-columns", "count-two-columns", "ratio-each", "margin-above", "weighted-ratios"] {
        assert!(items.iter().any(|item| item["template"] == template), "{template}");
    }
    let lists = |items: &[Value]| items.iter().filter(|item| item["answers"][0] == "[]").count();
    assert!(lists(&items) > 0, "an empty list is an answer");
    let limited = build("none", &["--most-empty", "0"]);
    assert!(limited.iter().all(|item| !["[]", "0", "0.00%"].contains(&item["answers"][0].as_str().unwrap())));
    let report: Value = json_file(&sandbox.path("none/report.json"));
    assert!(report["funnel"].to_string().contains("empty answer"), "{}", report["funnel"]);
}

#[test]
fn a_build_from_a_table_stops_goes_on_and_is_the_seeds() {
    let sandbox = Sandbox::new();
    let (table, schema) = (format!("{SAMPLE}/table.csv"), format!("{SAMPLE}/manifest.json"));
    let build =
        |out: &str, more: &[&str]| sandbox.run(&[&from_sample(&table, &schema, more)[..], &["--out", out]].concat());
    build("whole", &[]).exits(0);
    for stage in ["documents", "rows", "table", "sets", "queries", "paraphrases"] {
        let told = build("parts", &["--until", stage]).exits(0);
        assert!(told.err().contains(&format!("stopped after stage `{stage}`")), "{}", told.err());
    }
    build("parts", &[]).exits(0);
    for name in ["items.jsonl", "documents.jsonl", "report.json", "table.csv", "sets.json"] {
        let read = |out: &str| std::fs::read_to_string(sandbox.path(out).join(name)).unwrap();
        assert_eq!(read("parts"), read("whole"), "{name}");
    }
    build("other", &["--seed", "2"]).exits(0);
    assert_ne!(lines(&sandbox, "other/items.jsonl"), lines(&sandbox, "whole/items.jsonl"));
    build("whole", &["--seed", "2"]).refuses(&["seed: 1 there, 2 now", "--from STAGE"]);
    build("whole", &["--seed", "2", "--from", "sets"]).exits(0);
}

const HOMES: [(&str, &str); 4] = [
    ("a", "Name: Ana Homes\nRegion: west\nIncome: 1,200 EUR thousand\nBeds: 12\n"),
    ("b", "Name: Bo House\nRegion: west\nIncome: 2.5 EUR million\nBeds: 40\n"),
    ("c", "Name: Cleo Court\nRegion: east\nIncome: 900,000 EUR\nBeds: 31\n"),
    ("d", "Name: Dov Inn\nRegion: east\nIncome: 3 EUR million\nBeds: 22\n"),
];

/// A model that reads every line of a document as a field, leaves questions as they are and writes one statement.
pub(crate) fn reader(said: &str) -> String {
    let stated = |key: &str| {
        let value = said.lines().find_map(|line| line.strip_prefix(&format!("{key}: "))).unwrap();
        let (value, unit) =
            value.split_once(" EUR").map_or((value, String::new()), |(v, unit)| (v, format!("EUR{unit}")));
        json!({"value": value, "unit": unit, "quote": format!("{key}: {value}")})
    };
    if said.contains("Propose at most") {
        let field = |title: &str, kind: &str, unit: &str| json!({"title": title, "type": kind, "unit": unit});
        let fields =
            [field("Region", "category", ""), field("Income", "money", "EUR thousand"), field("Beds", "count", "")];
        return json!({"entity": {"one": "home", "many": "homes"}, "fields": fields}).to_string();
    }
    if said.contains("Say of each of these fields") {
        return json!({"name": true, "region": true, "income": true, "beds": true}).to_string();
    }
    if said.contains("out of it.") {
        return json!({"name": stated("Name"), "region": stated("Region"), "income": stated("Income"), "beds": stated("Beds")}).to_string();
    }
    if let Some(question) = said
        .strip_prefix("Say this question in other words, as somebody would ask it who works with the documents.\n\n")
    {
        return json!({"question": question.lines().next().unwrap()}).to_string();
    }
    assert!(said.contains("Write the SQLite statement"), "{said}");
    let question = said.lines().find_map(|line| line.strip_prefix("Question: ")).unwrap();
    let sql = match question {
        "What do all homes together reach in Income (EUR thousand)?" => "SELECT SUM(\"income\") FROM corpus",
        "What do all homes together reach in Beds?" => "SELECT SUM(\"beds\") FROM corpus",
        other => panic!("{other}"),
    };
    json!({"sql": sql}).to_string()
}

/// The arguments of a build from four documents by two extractors, without its folder.
pub(crate) fn from_homes(sandbox: &Sandbox, url: &str) -> Vec<String> {
    for (name, text) in HOMES {
        sandbox.write(&format!("docs/{name}.md"), text);
    }
    sandbox.write(
        "templates.toml",
        "[[template]]\nid = 'total'\ndifficulty = 'easy'\nanswer = 'number'\nen = 'What do all {entities} together reach in {a}?'\n",
    );
    let rules = "--least-tokens 5 --least-table-rows 0 --lengths all --questions 9 --templates templates.toml";
    let models = "--model openai-compatible/w --extractor openai-compatible/x,openai-compatible/y --base-url";
    let words = format!("build corpusqa --documents docs {rules} {models} {url}");
    words.split(' ').map(str::to_owned).collect()
}

#[test]
fn values_are_extracted_by_several_models_on_a_server() {
    let server = Server::replying(|_, request| ("200 OK", answer(&reader(said(request)))));
    let sandbox = Sandbox::with_own_cache();
    let build = from_homes(&sandbox, &server.url);
    let build: Vec<&str> = build.iter().map(String::as_str).chain(["--out", "c", "--json"]).collect();
    let dry = sandbox.run(&[&build[..], &["--dry-run"]].concat()).exits(0).json();
    let calls: Vec<u64> = dry["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| stage[0]["cost"]["calls"][0]["n"]["low"].as_u64().unwrap())
        .collect();
    assert_eq!(calls[..5], [1, 3, 3, 8, 8], "a row for each extractor: {dry}");

    sandbox.run(&[&build[..], &["--max-cost", "1"]].concat()).refuses(&["--max-cost", "price of openai-compatible/w"]);
    sandbox.write(
        "prices.toml",
        "['openai-compatible/w']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }\n\
        ['openai-compatible/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }\n\
        ['openai-compatible/y']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }\n",
    );
    let poor = sandbox.run(&[&build[..], &["--max-cost", "0", "--model-info", "prices.toml"]].concat()).exits(1);
    assert!(poor.err().contains("--max-cost leaves no money"), "{}", poor.err());
    assert_eq!(server.requests.lock().unwrap().len(), 0);

    let report = sandbox.run(&build).exits(0).json();
    let table = std::fs::read_to_string(sandbox.path("c/table.csv")).unwrap();
    assert_eq!(
        table,
        "name,region,income,beds,documents\nAna Homes,west,1200,12,a\nBo House,west,2500,40,b\nCleo Court,east,900,31,c\nDov Inn,east,3000,22,d\n"
    );
    let mut answers: Vec<String> =
        lines(&sandbox, "c/items.jsonl").iter().map(|item| item["answers"][0].as_str().unwrap().to_owned()).collect();
    answers.sort();
    assert_eq!(answers, ["105", "7600"], "{report}");
    let questions = lines(&sandbox, "c/check/questions.jsonl");
    assert!(questions.iter().any(|question| question["group"] == "extraction, first agreement"), "{questions:?}");
    let asked = server.requests.lock().unwrap().len();
    sandbox.run(&build).exits(0);
    assert_eq!(server.requests.lock().unwrap().len(), asked, "a finished build asks nothing");
    let run = ["run", "--benchmark", "c", "--method", "corpus-rag", "--retriever", "bm25", "--budget", "50", "--json"];
    let ran = sandbox.run(&[&run[..], &["--out", "r"]].concat()).exits(0).json();
    assert_eq!(ran["cells"][0]["ledger"]["trials"], 2, "{ran}");
}

#[test]
fn extracted_values_are_held_against_those_that_a_person_read() {
    let server = Server::replying(|_, request| ("200 OK", answer(&reader(said(request)))));
    let sandbox = Sandbox::with_own_cache();
    let build = from_homes(&sandbox, &server.url);
    let build: Vec<&str> = build.iter().map(String::as_str).chain(["--out", "c", "--domain", "homes_en"]).collect();
    sandbox.run(&[&build[..], &["--check", "7"]].concat()).exits(0);
    let cells = std::fs::read_to_string(sandbox.path("c/check/cells.csv")).unwrap();
    assert_eq!((cells.lines().next(), cells.lines().count()), (Some("document,column,asks for,value,unit"), 8));
    assert!(cells.lines().skip(1).all(|line| line.ends_with(",,")), "what was extracted is not in it: {cells}");

    let checked = |file: &str| sandbox.run(&["build", "corpusqa", "--out", "c", "--hand-checked", file]);
    let all = |printed: &str| -> Vec<String> {
        let line = printed.lines().find(|line| line.starts_with("all ")).unwrap();
        line.split_whitespace().take(4).map(str::to_owned).collect()
    };
    let none = checked("c/check/cells.csv").exits(0);
    assert!(none.err().contains("7 of 7 lines have no value yet"), "{}", none.err());
    sandbox.write(
        "read.csv",
        "document,column,value,unit\na,income,1.2 million,EUR\nb,income,2500,\nc,beds,32,\nd,region,East,\nd,beds,,\n",
    );
    let told = checked("read.csv").exits(0);
    for words in ["homes_en", "75.00   [30.06, 95.44]", "c, beds: extracted 31, by hand 32"] {
        assert!(told.out().contains(words), "{words} is not in:\n{}", told.out());
    }
    assert_eq!(all(&told.out()), ["all", "4", "3", "75.00"]);
    let disputes = std::fs::read_to_string(sandbox.path("c/check/disputes.csv")).unwrap();
    assert_eq!(disputes.lines().next(), Some("document,column,asks for,a,b,right"));
    let extracted = if disputes.lines().nth(1).unwrap().ends_with(",31,32,") { "a" } else { "b" };
    sandbox.write("second.csv", format!("{}{extracted}\n", disputes.trim_end()));
    let decided = ["--hand-checked", "read.csv", "--adjudicated", "second.csv"];
    let decided = sandbox.run(&[&["build", "corpusqa", "--out", "c"][..], &decided].concat()).exits(0);
    assert!(decided.out().contains("after the second round      4      4  100.00"), "{}", decided.out());
    sandbox.write("bad.csv", "document,column,value\nz,income,1\na,income,1200\n");
    let told = checked("bad.csv").exits(1);
    assert!(told.err().contains("bad.csv: line 2: no value was extracted from `z`"), "{}", told.err());
    assert_eq!(all(&told.out())[..3], ["all", "1", "1"], "the rest goes on");
    sandbox.write("other.csv", "a,b\n1,2\n");
    checked("other.csv").refuses(&["--hand-checked other.csv", "document, column and value"]);
    sandbox.run(&["build", "corpusqa", "--out", "d", "--hand-checked", "read.csv"]).refuses(&["expected the folder"]);

    // A person's work is not written over.
    sandbox.write("c/check/cells.csv", "document,column,value\na,income,1200\n");
    sandbox.run(&[&build[..], &["--check", "7"]].concat()).exits(0);
    assert_eq!(all(&checked("c/check/cells.csv").exits(0).out())[..3], ["all", "1", "1"]);
}

#[test]
fn a_model_expands_templates_and_only_those_that_run_are_kept() {
    let proposal = |said: &str| {
        let of = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        let sql = of("SQL: ");
        let good = json!({"en": of("English: ") + " Say it again.", "zh": of("Chinese: ") + "再说一遍。", "sql": sql.replacen(" FROM ", "  FROM ", 1),
            "scope": said.lines().find_map(|line| line.strip_prefix("Rows that enter the answer: "))});
        let other = json!({"en": "Which?", "zh": "哪个？", "sql": "SELECT {w} FROM corpus"});
        let broken = json!({"en": of("English: "), "zh": of("Chinese: "), "sql": sql.replace("SELECT", "SELEKT"),
            "scope": good["scope"]});
        json!({"templates": [good, other, broken]}).to_string()
    };
    let first = |request: &Value| request["messages"][0]["content"].as_str().unwrap().to_owned();
    let server = Server::replying(move |_, request| ("200 OK", answer(&proposal(&first(request)))));
    let sandbox = Sandbox::with_own_cache();
    let model = ["--model", "openai-compatible/m", "--base-url", &server.url];
    let expand = [&["build", "corpusqa", "--expand", "3", "--out", "t", "--json"][..], &model].concat();
    let found = sandbox.run(&expand).exits(0).json();
    let (new, all) = (found["new"].as_array().unwrap().len(), found["templates"].as_u64().unwrap() as usize);
    assert!(new > 20 && all > 2 * new - 1, "one a template that ships, of almost all: {new} of {all}");
    let kept = lines(&sandbox, "t/stages/1-templates.jsonl");
    let refused = kept[0]["value"]["refused"].to_string();
    assert!(refused.contains("slot {w}") && refused.contains("template 3"), "{refused}");
    let (table, schema) = (format!("{SAMPLE}/table.csv"), format!("{SAMPLE}/manifest.json"));
    let build =
        from_sample(&table, &schema, &["--out", "c", "--templates", "t/templates.toml", "--questions", "40", "--json"]);
    sandbox.run(&build).exits(0);
    let items = lines(&sandbox, "c/items.jsonl");
    assert!(items.iter().any(|item| item["question"].as_str().unwrap().ends_with("Say it again.")));
    sandbox.run(&["build", "corpusqa", "--out", "c", "--check-sql"]).exits(0);
}

#[test]
fn what_is_built_is_written_in_the_published_layout_and_read_back() {
    let sandbox = Sandbox::new();
    let (table, schema) = (format!("{SAMPLE}/table.csv"), format!("{SAMPLE}/manifest.json"));
    let build = from_sample(&table, &schema, &["--out", "c", "--questions", "8", "--write", "corpusqa", "--json"]);
    let told = sandbox.run(&build).exits(0);
    assert!(told.err().contains("published/housing_en_8K.jsonl, published/housing_en_all.jsonl"), "{}", told.err());
    let items = lines(&sandbox, "c/items.jsonl");
    let rows = lines(&sandbox, "c/published/housing_en_all.jsonl");
    let item = |row: &Value| items.iter().find(|item| item["id"] == row["id"]).unwrap();
    assert_eq!(rows.len(), 8);
    for row in &rows {
        let said = row["prompt"][0]["content"].as_str().unwrap();
        assert!(
            said.starts_with("# Document 1:\n") && said.contains("# Document 12:\n") && said.contains("# Question:\n")
        );
        assert!(row["canary"].as_str().unwrap().contains("GUID "));
        let gold = row["answer"].as_str().map_or_else(|| row["answer"].to_string(), str::to_owned);
        assert_eq!(gold.replace(' ', ""), item(row)["answers"][0].as_str().unwrap().replace(' ', ""));
    }
    let run = [
        "run",
        "--benchmark",
        "corpusqa",
        "--data",
        "c/published",
        "--method",
        "corpus-rag",
        "--retriever",
        "bm25",
        "--budget",
        "800",
    ];
    let ran = sandbox.run(&[&run[..], &["--out", "r", "--json"]].concat()).exits(0).json();
    assert_eq!(ran["cells"][0]["n"], 16);
    let asked = lines(&sandbox, "r/items.jsonl");
    assert!(
        asked
            .iter()
            .all(|one| one["documents"].as_array().unwrap().len() == item(one)["documents"].as_array().unwrap().len())
    );
}
