//! `closeread build corpusqa`: a collection becomes a table, the table questions, and every gold answer is confirmed by a
//! computation that knows nothing of the pipeline.

use crate::provider::{Server, answer};
use crate::support::{Sandbox, shared_data};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample/corpus");

/// A table as texts, by title.
struct Plain {
    names: Vec<String>,
    /// Cells by title, bare: digits and points for numbers, `YYYY-MM` for dates.
    columns: BTreeMap<String, Vec<String>>,
    one: String,
    many: String,
}

/// What the pieces of a pattern between `{}` are in a text; `None` if the text is not of the pattern.
fn matched<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let pieces: Vec<&str> = pattern.split("{}").collect();
    let mut rest = text.strip_prefix(pieces[0])?;
    let mut found = Vec::new();
    for (at, piece) in pieces.iter().enumerate().skip(1) {
        let end = if at + 1 == pieces.len() { rest.strip_suffix(piece)?.len() } else { rest.find(piece)? };
        found.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    Some(found)
}

impl Plain {
    fn cells(&self, title: &str) -> &[String] {
        let of = |known: &&String| title == known.as_str() || title.starts_with(&format!("{known} ("));
        &self.columns[self.columns.keys().find(of).unwrap_or_else(|| panic!("no column {title}"))]
    }

    fn numbers(&self, title: &str) -> Vec<f64> {
        self.cells(title).iter().map(|cell| cell.parse().unwrap_or_else(|_| panic!("{title}: {cell}"))).collect()
    }

    fn names_where(&self, keeps: impl Fn(usize) -> bool) -> Vec<String> {
        (0..self.names.len()).filter(|&at| keeps(at)).map(|at| self.names[at].clone()).collect()
    }

    fn ranked(&self, values: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        order
    }

    /// The answer to a question of the templates, computed from its words.
    fn answer(&self, question: &str) -> Value {
        let (one, many) = (&self.one, &self.many);
        let is = |pattern: &str| matched(&pattern.replace("<one>", one).replace("<many>", many), question);
        let number = |text: &str| text.replace([',', '%'], "").parse::<f64>().unwrap();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let n = self.names.len();
        let only = |values: &[f64], word: &[String], wanted: &str| -> Vec<f64> {
            values.iter().zip(word).filter(|(_, word)| *word == wanted).map(|(value, _)| *value).collect()
        };
        let groups = |title: &str| {
            let mut words = self.cells(title).to_vec();
            words.sort();
            words.dedup();
            words
        };
        if let Some(s) = is("Which <one> has the highest {}?").filter(|s| !s[0].starts_with("ratio of ")) {
            return json!(self.names[self.ranked(&self.numbers(s[0]))[0]]);
        }
        if let Some(s) = is("Which <one> has the lowest {}?") {
            return json!(self.names[self.ranked(&self.numbers(s[0]))[n - 1]]);
        }
        if let Some(s) = is("What do all <many> together reach in {}?") {
            return json!(self.numbers(s[0]).iter().sum::<f64>());
        }
        if let Some(s) =
            is("What is the mean {} of all <many>?").or_else(|| is("What is the unweighted mean {} of all <many>?"))
        {
            return json!(mean(&self.numbers(s[0])));
        }
        if let Some(s) = is("List all <many> whose {} is {} and whose {} is above {}.") {
            let (words, values) = (self.cells(s[0]), self.numbers(s[2]));
            return json!(self.names_where(|at| words[at] == s[1] && values[at] > number(s[3])));
        }
        if let Some(s) = is("List all <many> whose ratio of {} to {} is above {}, the highest ratio first.") {
            let ratios: Vec<f64> = self.numbers(s[0]).iter().zip(self.numbers(s[1])).map(|(a, b)| a / b).collect();
            let order = self.ranked(&ratios).into_iter().filter(|&at| ratios[at] > number(s[2]));
            return json!(order.map(|at| self.names[at].clone()).collect::<Vec<_>>());
        }
        if let Some(s) = is("List all <many> whose {} is above {}.") {
            let values = self.numbers(s[0]);
            return json!(self.names_where(|at| values[at] > number(s[1])));
        }
        if let Some(s) = is("List the {} <many> with the highest {}, highest first.") {
            let order = self.ranked(&self.numbers(s[1]));
            return json!(
                order.into_iter().take(number(s[0]) as usize).map(|at| self.names[at].clone()).collect::<Vec<_>>()
            );
        }
        if let Some(s) = is("What is the earliest {} among all <many>?") {
            return json!(self.cells(s[0]).iter().min().unwrap());
        }
        if let Some(s) = is("How many <many> have the {} {}?") {
            // A title and a word with nothing between them: the title is the one that is known.
            let both = format!("{} {}", s[0], s[1]);
            let title = self.columns.keys().find(|title| both.starts_with(&format!("{title} "))).unwrap();
            return json!(self.cells(title).iter().filter(|cell| both[title.len() + 1..] == **cell).count());
        }
        if let Some(s) = is("What share of the total {} of all <many> belongs to those whose {} is {}?") {
            let values = self.numbers(s[0]);
            return json!(
                100.0 * only(&values, self.cells(s[1]), s[2]).iter().sum::<f64>() / values.iter().sum::<f64>()
            );
        }
        if let Some(s) = is("Of the <many> whose {} is {}, what share has a {} above {}?") {
            let values = only(&self.numbers(s[2]), self.cells(s[0]), s[1]);
            return json!(
                100.0 * values.iter().filter(|value| **value > number(s[3])).count() as f64 / values.len() as f64
            );
        }
        if let Some(s) = is("How many <many> have both a {} above {} and a {} above {}?") {
            let (a, b) = (self.numbers(s[0]), self.numbers(s[2]));
            return json!((0..n).filter(|&at| a[at] > number(s[1]) && b[at] > number(s[3])).count());
        }
        if let Some(s) = is("Of the <many> whose {} is above {}, what share also has a {} above {}?") {
            let (a, b) = (self.numbers(s[0]), self.numbers(s[2]));
            let inside: Vec<usize> = (0..n).filter(|&at| a[at] > number(s[1])).collect();
            return json!(
                100.0 * inside.iter().filter(|&&at| b[at] > number(s[3])).count() as f64 / inside.len() as f64
            );
        }
        if let Some(s) = is("Grouped by {}, which group of <many> has the highest mean {}?") {
            let values = self.numbers(s[1]);
            let of = |word: &String| mean(&only(&values, self.cells(s[0]), word));
            return json!(groups(s[0]).into_iter().max_by(|a, b| of(a).total_cmp(&of(b))).unwrap());
        }
        let gap = "By how much does the mean {} of the <many> whose {} is {} exceed that of those whose {} is {}? A negative number means that it is lower.";
        if let Some(s) = is(gap) {
            let values = self.numbers(s[0]);
            return json!(mean(&only(&values, self.cells(s[1]), s[2])) - mean(&only(&values, self.cells(s[3]), s[4])));
        }
        if let Some(s) = is("How many <many> have a {} before {} and a {} above {}?") {
            let (dates, values) = (self.cells(s[0]), self.numbers(s[2]));
            return json!((0..n).filter(|&at| dates[at].as_str() < s[1] && values[at] > number(s[3])).count());
        }
        if let Some(s) = is("Which <one> has the highest ratio of {} to {}?") {
            let ratios: Vec<f64> = self.numbers(s[0]).iter().zip(self.numbers(s[1])).map(|(a, b)| a / b).collect();
            return json!(self.names[self.ranked(&ratios)[0]]);
        }
        if let Some(s) = is("What is the mean {} of all <many>, weighted by their {}?") {
            let weights = self.numbers(s[1]);
            let sum: f64 = self.numbers(s[0]).iter().zip(&weights).map(|(rate, weight)| rate * weight).sum();
            return json!(sum / weights.iter().sum::<f64>());
        }
        if let Some(s) = is("How many <many> have a {} above the mean {} of all <many> of the same {}?") {
            let (values, words) = (self.numbers(s[0]), self.cells(s[2]));
            return json!((0..n).filter(|&at| values[at] > mean(&only(&values, words, &words[at]))).count());
        }
        if let Some(s) =
            is("Take the {} whose <many> together have the highest total {}. Which of its <many> has the lowest {}?")
        {
            let (words, totals, values) = (self.cells(s[0]), self.numbers(s[1]), self.numbers(s[2]));
            let total = |word: &String| only(&totals, words, word).iter().sum::<f64>();
            let best = groups(s[0]).into_iter().max_by(|a, b| total(a).total_cmp(&total(b))).unwrap();
            let inside = (0..n).filter(|&at| words[at] == best);
            return json!(self.names[inside.min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap()]);
        }
        if let Some(s) =
            is("What share of the total {} of all <many> do the {} <many> with the highest {} account for?")
        {
            let values = self.numbers(s[0]);
            let top = self.ranked(&values).into_iter().take(number(s[1]) as usize).map(|at| values[at]).sum::<f64>();
            return json!(100.0 * top / values.iter().sum::<f64>());
        }
        if let Some(s) =
            is("How many <many> have a ratio of {} to {} that lies above the ratio of the totals of all <many>?")
        {
            let (a, b) = (self.numbers(s[0]), self.numbers(s[1]));
            let overall = a.iter().sum::<f64>() / b.iter().sum::<f64>();
            return json!((0..n).filter(|&at| a[at] / b[at] > overall).count());
        }
        panic!("no template asks: {question}");
    }

    /// Holds the gold answers of items to the answers computed from their questions, each over the rows of its set.
    fn confirms(&self, items: &[Value], sets: &Value) {
        for item in items {
            let rows: Vec<&str> = sets[item["set"].as_str().unwrap()]["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row.as_str().unwrap())
                .collect();
            let inside: Vec<usize> =
                (0..self.names.len()).filter(|&at| rows.contains(&self.names[at].as_str())).collect();
            let columns = self
                .columns
                .iter()
                .map(|(title, cells)| (title.clone(), inside.iter().map(|&at| cells[at].clone()).collect()));
            let part = Self {
                names: inside.iter().map(|&at| self.names[at].clone()).collect(),
                columns: columns.collect(),
                one: self.one.clone(),
                many: self.many.clone(),
            };
            let (gold, expected) =
                (item["answers"][0].as_str().unwrap(), part.answer(item["question"].as_str().unwrap()));
            let told = format!("{}: gold {gold}, computed {expected}", item["question"]);
            match &expected {
                Value::Number(number) => {
                    let found: f64 = gold.trim_end_matches('%').parse().expect(&told);
                    let number = number.as_f64().unwrap();
                    assert!((found - number).abs() <= 0.005 + 1e-9 * number.abs() + 1e-6, "{told}");
                }
                Value::Array(_) => {
                    let mut found: Vec<String> = serde_json::from_str(gold).expect(&told);
                    let mut names: Vec<String> = serde_json::from_value(expected.clone()).unwrap();
                    if !told.contains("highest") {
                        found.sort();
                        names.sort();
                    }
                    assert_eq!(found, names, "{told}");
                }
                text => assert_eq!(text.as_str().unwrap(), gold, "{told}"),
            }
        }
    }
}

fn lines(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn json_file(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

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
fn from_sample<'a>(table: &'a str, schema: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let build = ["build", "corpusqa", "--documents", SAMPLE, "--table", table, "--schema", schema];
    let sets = [
        "--entity",
        "cooperative,cooperatives",
        "--least-tokens",
        "900",
        "--lengths",
        "8K,all",
        "--fill",
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
    let kept: Vec<String> = report["funnel"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {} -> {}", row["stage"].as_str().unwrap(), row["units"], row["kept"]))
        .collect();
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
    for name in [
        "table.sqlite",
        "table.csv",
        "table.parquet",
        "schema.json",
        "conflicts.jsonl",
        "report.json",
        "check/check.html",
    ] {
        assert!(sandbox.path("c").join(name).is_file(), "{name}");
    }
    assert_eq!(std::fs::read(sandbox.path("c/table.parquet")).unwrap()[..4], *b"PAR1");

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
        "--judge",
        "builtin/rule",
        "--limit",
        "4",
        "--out",
        "r",
        "--json",
    ];
    let ran = sandbox.run(&[&run[..], &["--method", "full-document", "--window", "30000"]].concat()).exits(0).json();
    assert_eq!(ran["cells"][0]["ledger"]["items"], 4, "{ran}");

    let mut changed = items;
    changed[3]["answers"] = json!(["4711"]);
    let text: String = changed.iter().map(|item| format!("{item}\n")).collect();
    sandbox.write("c/items.jsonl", text);
    let differs = sandbox.run(&["build", "corpusqa", "--out", "c", "--check-sql"]).exits(1).out();
    assert!(differs.contains(changed[3]["id"].as_str().unwrap()) && differs.contains("4711"), "{differs}");
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
fn reader(said: &str) -> String {
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

#[test]
fn values_are_extracted_by_several_models_on_a_server() {
    let server = Server::replying(|_, request| {
        (
            "200 OK",
            answer(&reader(request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap())),
        )
    });
    let sandbox = Sandbox::with_own_cache();
    for (name, text) in HOMES {
        sandbox.write(&format!("docs/{name}.md"), text);
    }
    sandbox.write(
        "templates.toml",
        "[[template]]\nid = 'total'\ndifficulty = 'easy'\nanswer = 'number'\nen = 'What do all {entities} together reach in {a}?'\n",
    );
    let rules = [
        "--least-tokens",
        "5",
        "--least-table-rows",
        "0",
        "--lengths",
        "all",
        "--questions",
        "9",
        "--templates",
        "templates.toml",
    ];
    let models = [
        "--model",
        "openai-compatible/w",
        "--extractor",
        "openai-compatible/x,openai-compatible/y",
        "--base-url",
        &server.url,
    ];
    let build = [&["build", "corpusqa", "--documents", "docs", "--out", "c", "--json"][..], &rules, &models].concat();
    let dry = sandbox.run(&[&build[..], &["--dry-run"]].concat()).exits(0).json();
    let calls: Vec<u64> = dry["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| stage[0]["cost"]["calls"][0]["n"]["low"].as_u64().unwrap())
        .collect();
    assert_eq!(calls[..3], [1, 6, 16], "{dry}");

    sandbox.run(&[&build[..], &["--max-cost", "1"]].concat()).refuses(&["--max-cost", "price of openai-compatible/w"]);
    sandbox.write(
        "prices.toml",
        "['openai-compatible/w']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }\n\
        ['openai-compatible/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }\n\
        ['openai-compatible/y']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }\n",
    );
    let poor = sandbox.run(&[&build[..], &["--max-cost", "0", "--models", "prices.toml"]].concat()).exits(1);
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
}

#[test]
fn what_cannot_be_built_is_refused() {
    let sandbox = Sandbox::new();
    let table = format!("{SAMPLE}/table.csv");
    let run = |arguments: &[&str]| sandbox.run(&[&["build", "corpusqa", "--out", "c"][..], arguments].concat());
    run(&[]).refuses(&["--documents is missing"]);
    run(&["--documents", SAMPLE]).refuses(&["--model is missing"]);
    run(&["--documents", SAMPLE, "--model", "openai/x", "--queries", "1"])
        .refuses(&["agrees with nobody", "--extractor"]);
    run(&["--documents", SAMPLE, "--table", "gone.csv"]).refuses(&["cannot use --table gone.csv"]);
    run(&["--documents", SAMPLE, "--table", &table, "--lengths", "1G"]).refuses(&["128K, 1M"]);
    run(&["--documents", SAMPLE, "--table", &table, "--entity", "x"]).refuses(&["company,companies"]);
    sandbox.write("t.csv", "a,b\n1,2,3\n");
    run(&["--documents", SAMPLE, "--table", "t.csv"]).refuses(&["t.csv", "line 2: 3 cells: expected 2"]);
    run(&["--documents", SAMPLE, "--table", &table, "--templates", "t.csv"])
        .refuses(&["--templates t.csv", "[[template]]"]);
    run(&["--check-sql"]).refuses(&["expected the folder of a finished build corpusqa"]);
    let short = run(&["--documents", SAMPLE, "--table", &table]).exits(1);
    assert!(short.err().contains("nothing came out"), "{}", short.err());
}

/// The texts of nested fields, a line each.
fn flat(value: &Value, path: &str, into: &mut String) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let inner = if name == "text" { path.to_owned() } else { format!("{path} {name}").trim().to_owned() };
            flat(value, &inner, into);
        }),
        Value::String(text) => *into += &format!("{path}: {text}\n\n"),
        other => *into += &format!("{path}: {other}\n\n"),
    }
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

/// The digits and points before the first letter of a figure, as the country's page prints it.
fn bare(text: &str) -> String {
    let number: String = text.chars().take_while(|c| !c.is_alphabetic() && !matches!(c, '%' | '(')).collect();
    let number: f64 = number.replace(',', "").trim().parse().unwrap_or_else(|_| panic!("{text}"));
    let millions = if text.contains("million") { 1e6 } else { 1.0 };
    format!("{}", (number * millions * 1e6).round() / 1e6)
}

#[test]
fn country_profiles_become_questions_whose_answers_are_computed_again() {
    let Some(data) = shared_data("country_profiles_become_questions") else { return };
    let sandbox = Sandbox::new();
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let mut table =
        "Country,Area (sq km),Population,Population growth rate (%),Government type,Independence,document\n".to_owned();
    let titles = ["Area", "Population", "Population growth rate", "Government type", "Independence"];
    let (mut names, mut cells): (Vec<String>, Vec<Vec<String>>) = (Vec::new(), vec![Vec::new(); titles.len()]);
    let mut files: Vec<_> =
        std::fs::read_dir(data.join("corpora/factbook-africa")).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for file in files {
        let profile = json_file(&file);
        let text = |path: &str| profile.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let stated = [
            text("/Government/Country name/conventional short form/text"),
            text("/Geography/Area/total /text").or(text("/Geography/Area/total/text")),
            text("/People and Society/Population/total/text"),
            text("/People and Society/Population growth rate/text"),
            text("/Government/Government type/text"),
            text("/Government/Independence/text"),
        ];
        let [Some(name), Some(area), Some(population), Some(growth), Some(government), Some(independence)] = stated
        else {
            continue;
        };
        // Only pages that give one day: `5 July 1962 (from France)`.
        let words: Vec<&str> = independence.split(' ').collect();
        let month = words.get(1).and_then(|word| MONTHS.iter().position(|month| month == word));
        let (Some(month), Some(Ok(year))) = (month, words.get(2).map(|word| word.parse::<u16>())) else { continue };
        if independence.matches("19").count() != 1 || independence.contains([';', '<']) || name == "none" {
            continue;
        }
        let id = file.file_stem().unwrap().to_string_lossy().into_owned();
        let mut page = format!("# {name}\n\n");
        flat(&profile, "", &mut page);
        sandbox.write(&format!("countries/{id}.md"), page);
        let row = [&name, &area, &population, &growth, &government, &independence, &id];
        table += &format!("{}\n", row.map(|cell| quoted(cell)).join(","));
        names.push(name);
        let computed = [bare(&area), bare(&population), bare(&growth), government, format!("{year}-{:02}", month + 1)];
        for (column, cell) in cells.iter_mut().zip(computed) {
            column.push(cell);
        }
    }
    assert!(names.len() > 25, "{} profiles have all fields", names.len());
    sandbox.write("countries.csv", table);
    let build =
        ["build", "corpusqa", "--documents", "countries", "--table", "countries.csv", "--entity", "country,countries"];
    let sets = [
        "--least-tokens",
        "3000",
        "--least-table-rows",
        "0",
        "--lengths",
        "128K,all",
        "--fill",
        "80",
        "--questions",
        "60",
    ];
    let report = sandbox.run(&[&build[..], &sets, &["--out", "f", "--json"]].concat()).exits(0).json();
    assert_eq!(report["funnel"][1]["kept"], names.len(), "{}", report["funnel"]);
    let items = lines(&sandbox, "f/items.jsonl");
    assert!(items.len() > 60, "{} items", items.len());
    let columns = titles.iter().map(|title| (*title).to_owned()).zip(cells).collect();
    let plain = Plain { names, columns, one: "country".to_owned(), many: "countries".to_owned() };
    plain.confirms(&items, &json_file(&sandbox.path("f/sets.json")));
    sandbox.run(&["build", "corpusqa", "--out", "f", "--check-sql"]).exits(0);
    let run = [
        "run",
        "--benchmark",
        "f",
        "--method",
        "corpus-rag",
        "--retriever",
        "bm25",
        "--budget",
        "2000",
        "--limit",
        "2",
        "--out",
        "r",
    ];
    sandbox.run(&run).exits(0);
}

#[test]
fn filings_become_questions_by_a_rule_without_a_model() {
    let Some(data) = shared_data("filings_become_questions") else { return };
    let sandbox = Sandbox::new();
    let mut table = "Filing,Employees,State,Year end\n".to_owned();
    let (mut names, mut cells): (Vec<String>, [Vec<String>; 3]) = (Vec::new(), Default::default());
    let mut files: Vec<_> =
        std::fs::read_dir(data.join("corpora/sec-10k/items")).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for file in files {
        let filing = json_file(&file);
        let mut page = String::new();
        flat(&filing, "", &mut page);
        // The rule: `employed approximately 166,000 people`.
        let said = page.split("employed ").skip(1).find_map(|rest| {
            let rest = rest.strip_prefix("approximately ").unwrap_or(rest);
            let (number, rest) = rest.split_once(' ')?;
            let counts = number.replace(',', "").parse::<u32>().is_ok()
                && (rest.starts_with("people") || rest.starts_with("persons"));
            counts.then(|| number.to_owned())
        });
        let field = |name: &str| filing[name].as_str().unwrap_or_default().to_owned();
        let (company, end, state) = (field("company"), field("period_of_report"), field("state_of_inc"));
        let Some(said) = said else { continue };
        let name = format!("{} {}", company.split_whitespace().take(2).collect::<Vec<_>>().join(" "), &end[..4]);
        sandbox.write(&format!("filings/{name}.md"), page);
        table += &format!("{},{},{state},{end}\n", quoted(&name), quoted(&said));
        names.push(name);
        for (column, cell) in cells.iter_mut().zip([said.replace(',', ""), state, end[..7].to_owned()]) {
            column.push(cell);
        }
    }
    assert!(names.len() >= 8, "{names:?}");
    sandbox.write("filings.csv", table);
    let build = ["build", "corpusqa", "--documents", "filings", "--table", "filings.csv", "--entity", "filing,filings"];
    let sets = [
        "--least-density",
        "1",
        "--least-table-rows",
        "0",
        "--lengths",
        "all",
        "--questions",
        "30",
        "--domain",
        "financial_en",
    ];
    sandbox.run(&[&build[..], &sets, &["--out", "f", "--json"]].concat()).exits(0);
    let items = lines(&sandbox, "f/items.jsonl");
    assert!(items.len() > 8, "{} items", items.len());
    let columns = ["Employees", "State", "Year end"].map(str::to_owned).into_iter().zip(cells).collect();
    let plain = Plain { names, columns, one: "filing".to_owned(), many: "filings".to_owned() };
    plain.confirms(&items, &json_file(&sandbox.path("f/sets.json")));
}
