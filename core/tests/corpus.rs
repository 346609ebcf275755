//! The shipped corpus is the generator's output, and its gold answers are what a database says.
#![allow(clippy::disallowed_methods, reason = "a test reads the shipped files")]

use closeread_core::benchmark::Item;
use closeread_core::build::corpus::{Corpus, CorpusLanguage, CorpusSpec, ValueType};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::fs;
use std::path::Path;

/// What `sample/corpus` was made with: `closeread data corpus --seed 12 --documents 12 --out sample/corpus`.
const SHIPPED: CorpusSpec =
    CorpusSpec { seed: 12, n_documents: 12, language: CorpusLanguage::English, tokens_per_document: 1_200 };

#[test]
fn shipped_corpus_is_the_generators_output() {
    let corpus = Corpus::new(SHIPPED).expect("the spec is in range");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample/corpus");
    let shipped = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let lines = |lines: Vec<String>| lines.into_iter().map(|line| line + "\n").collect::<String>();

    assert_eq!(shipped("table.csv"), lines(corpus.csv_lines().collect()));
    assert_eq!(shipped("table.jsonl"), lines(corpus.json_lines().map(|row| json(&row)).collect()));
    assert_eq!(shipped("items.jsonl"), lines(corpus.items().map(|item| json(&item)).collect()));
    let reports: Vec<_> = corpus.reports().collect();
    assert_eq!(shipped("documents.jsonl"), lines(reports.iter().map(|report| json(&report.document)).collect()));
    for report in reports {
        assert_eq!(shipped(&format!("reports/{}.md", report.document.id)), report.markdown);
    }
}

#[test]
fn gold_answers_are_what_sqlite_finds_in_the_csv() {
    let mut n_checked = 0;
    for language in [CorpusLanguage::English, CorpusLanguage::Chinese] {
        for (seed, n_documents) in [(1, 2), (2, 5), (3, 12), (4, 40), (5, 40), (6, 300)] {
            let spec = CorpusSpec { seed, n_documents, language, tokens_per_document: 1_000 };
            let corpus = Corpus::new(spec).expect("the spec is in range");
            let database = load(&corpus);
            for item in corpus.items() {
                check(&database, &item);
                n_checked += 1;
            }
        }
    }
    assert!(n_checked > 250, "only {n_checked} items were asked");
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("the formats serialise")
}

/// The CSV as a table of SQLite.
fn load(corpus: &Corpus) -> Connection {
    let database = Connection::open_in_memory().expect("memory is at hand");
    let declared: Vec<String> = corpus
        .columns()
        .iter()
        .map(|column| {
            let affinity = match column.value_type {
                ValueType::Count | ValueType::Money => "INTEGER",
                ValueType::Number | ValueType::Percentage => "REAL",
                ValueType::Name | ValueType::Category | ValueType::YearMonth => "TEXT",
            };
            format!("{} {affinity}", column.key)
        })
        .collect();
    database.execute(&format!("CREATE TABLE corpus ({})", declared.join(", ")), []).expect("a valid schema");
    for line in corpus.csv_lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let slots = vec!["?"; cells.len()].join(", ");
        let insert = format!("INSERT INTO corpus VALUES ({slots})");
        database.execute(&insert, rusqlite::params_from_iter(cells)).expect("a row of the schema");
    }
    database
}

fn check(database: &Connection, item: &Item) {
    let sql = item.other["sql"].as_str().expect("SQL is text");
    let mut statement = database.prepare(sql).unwrap_or_else(|error| panic!("{}: {error}: {sql}", item.id));
    let found: Vec<Value> = statement
        .query_map([], |row| row.get(0))
        .and_then(Iterator::collect)
        .unwrap_or_else(|error| panic!("{}: {error}: {sql}", item.id));
    let gold = &item.answers[0];
    let agrees = match (item.labels["answer_type"].as_str(), &found[..]) {
        ("list", found) => {
            let mut found: Vec<String> = found.iter().map(words).collect();
            let mut gold: Vec<String> = serde_json::from_str(gold).expect("a list is JSON");
            if !sql.contains("ORDER BY") {
                found.sort();
                gold.sort();
            }
            found == gold
        }
        ("string" | "date", [found]) => words(found) == *gold,
        ("number" | "percentage", [found]) => {
            let found = match found {
                Value::Integer(n) => *n as f64,
                Value::Real(n) => *n,
                other => panic!("{}: {other:?} is no number", item.id),
            };
            let gold: f64 = gold.trim_end_matches('%').parse().expect("a gold number");
            (found - gold).abs() <= 0.005 + 1e-6
        }
        _ => false,
    };
    assert!(agrees, "{}: {}\n{sql}\ngold {gold}, SQLite {found:?}", item.id, item.question);
}

fn words(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => panic!("{other:?} is no text"),
    }
}
