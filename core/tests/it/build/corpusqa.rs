//! CorpusQA: from documents or a table to questions with gold answers.

use super::{Memory, funnel, survives_any_death, with_setting};
use crate::support::{ScriptedHost, book};
use closeread_books::Book;
use closeread_build::corpusqa::{
    CellValue, Column, Corpus, CorpusQa, Crew, Database, Entity, Record, Row, Schema, Selected, Sources, SqlError,
    SqlValue, Template, ValueType, records,
};
use closeread_build::{BuildError, Building, Built, corpusqa};
use closeread_eval::Item;
use closeread_eval::answer::Parsed;
use closeread_eval::answer::corpusqa::{Reading as AnswerReading, agrees};
use closeread_llm::{Call, HostError};
use rusqlite::Connection;
use rusqlite::types::{Value as Sql, ValueRef};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// A second SQLite beside the command line's, with nothing of its limits.
pub(crate) struct Plain;

impl Database for Plain {
    fn select(&self, _id: &str, columns: &[Column], rows: &[&Row], sql: &str) -> Result<Selected, SqlError> {
        let run = || -> rusqlite::Result<Selected> {
            let connection = Connection::open_in_memory()?;
            let kind = |column: &Column| if column.is_number() { "REAL" } else { "TEXT" };
            let declared: Vec<String> = columns.iter().map(|c| format!("\"{}\" {}", c.key, kind(c))).collect();
            connection.execute(&format!("CREATE TABLE corpus ({})", declared.join(", ")), [])?;
            let insert = format!("INSERT INTO corpus VALUES ({})", vec!["?"; columns.len()].join(", "));
            for row in rows {
                let cells = row.cells.iter().map(|cell| match cell {
                    CellValue::Number { value } => Sql::Real(*value),
                    CellValue::Missing => Sql::Null,
                    other => Sql::Text(other.to_string()),
                });
                connection.execute(&insert, rusqlite::params_from_iter(cells))?;
            }
            let mut statement = connection.prepare(sql)?;
            let names = statement.column_names().into_iter().map(str::to_owned).collect::<Vec<_>>();
            let n = names.len();
            let value = |row: &rusqlite::Row<'_>, at: usize| {
                Ok(match row.get_ref(at)? {
                    ValueRef::Null => SqlValue::Null,
                    ValueRef::Integer(n) => SqlValue::Integer(n),
                    ValueRef::Real(n) => SqlValue::Real(n),
                    ValueRef::Text(text) | ValueRef::Blob(text) => {
                        SqlValue::Text(String::from_utf8_lossy(text).into_owned())
                    }
                })
            };
            let rows = statement.query_map([], |row| (0..n).map(|at| value(row, at)).collect())?;
            Ok(Selected { columns: names, rows: rows.collect::<rusqlite::Result<_>>()? })
        };
        run().map_err(|error| SqlError::Invalid(error.to_string()))
    }
}

const HOMES: [(&str, &str); 6] = [
    ("a", "Name: Ana Homes\nRegion: west\nIncome: 1,200 EUR thousand\nBeds: 12\nOpened: May 1990"),
    ("b", "Name: Bo House\nRegion: west\nIncome: 2.5 EUR million\nBeds: 40\nOpened: 1991-03"),
    ("c", "Name: Cleo Court\nRegion: east\nIncome: 900,000 EUR\nBeds: 31\nOpened: 7 July 2001"),
    ("d", "Name: Dov Inn\nRegion: east\nIncome: 3 EUR million\nBeds: 22\nOpened: 2010-11"),
    ("e", "Name: Edda Hall\nRegion: east\nIncome: 450 EUR thousand\nBeds: disputed\nOpened: 2012-01"),
    ("f", "Name: ana homes\nRegion: west\nIncome: 1.3 EUR million\nBeds: 12\nOpened: 1990-05"),
];

pub(crate) fn homes() -> Vec<Arc<Book>> {
    HOMES.iter().map(|(id, text)| book(id, &format!("Report {id}"), text)).collect()
}

pub(crate) fn schema() -> Schema {
    let columns = vec![
        Column::new("Name", ValueType::Name, ""),
        Column::new("Region", ValueType::Category, ""),
        Column::new("Income", ValueType::Money, "EUR thousand"),
        Column::new("Beds", ValueType::Count, ""),
        Column::new("Opened", ValueType::YearMonth, ""),
    ];
    Schema { entity: Entity { one: "home".to_owned(), many: "homes".to_owned() }, columns }
}

pub(crate) fn parameters() -> CorpusQa {
    CorpusQa {
        least_tokens: 5,
        least_density: 1.0,
        least_table_rows: 0,
        queries: 3,
        lengths: vec!["all".parse().unwrap()],
        per_set: 6,
        domain: "homes_en".to_owned(),
        ..CorpusQa::default()
    }
}

fn said(call: &Call) -> &str {
    &call.messages[0].content
}

/// Returns what a model reads out of a document: every line is a field. What is disputed is another value in every
/// query.
fn extracted(prompt: &str) -> String {
    let order = || prompt.lines().filter(|line| line.starts_with("- ")).zip(1..).map(|(line, n)| n * line.len()).sum();
    let fields = prompt
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(key, _)| HOMES[0].1.contains(&format!("{key}:")));
    let stated = fields.map(|(key, value)| {
        let (value, unit) =
            value.split_once(" EUR").map_or((value, String::new()), |(v, unit)| (v, format!("EUR{unit}")));
        // Each query asks in another order.
        let value = if value == "disputed" { usize::to_string(&order()) } else { value.to_owned() };
        (key.to_lowercase(), json!({"value": value, "unit": unit, "quote": format!("{key}: {value}")}))
    });
    Value::Object(stated.collect()).to_string()
}

/// A model that does all that it is asked for; `sql` by the question in the template's words.
pub(crate) fn able(call: &Call, sql: &HashMap<String, String>) -> Result<String, HostError> {
    let said = said(call);
    Ok(match call.prompt.as_str() {
        "corpusqa-extract" => extracted(said),
        "corpusqa-paraphrase" => {
            let question = said.lines().nth(2).unwrap();
            json!({"question": format!("Tell me: {question}")}).to_string()
        }
        "corpusqa-sql" => {
            let question = said.lines().find_map(|line| line.strip_prefix("Question: Tell me: ")).unwrap();
            json!({"sql": sql[question]}).to_string()
        }
        other => panic!("{other} is asked for"),
    })
}

fn build(
    host: &ScriptedHost<'_>,
    store: &Memory,
    given: Option<&Schema>,
    parameters: &CorpusQa,
) -> Result<Corpus, BuildError> {
    let (books, templates) = (homes(), Template::built_in());
    let crew = Crew { writer: Some(host), extractors: vec![("m", host)] };
    let given = Sources { books: &books, schema: given, templates: &templates };
    with_setting(async |settings| {
        corpusqa::corpusqa(&crew, settings, Building::new(store, 3, None), &Plain, given, parameters).await
    })
}

pub(crate) fn lines() -> Vec<Record> {
    let rows = [
        ["Ana Homes", "west", "1,300", "12", "1990-05"],
        ["Bo House", "west", "2,500", "40", "1991-03"],
        ["Cleo Court", "east", "900", "31", "2001-07"],
        ["Dov Inn", "east", "3,000", "22", "2010-11"],
    ];
    let documents = [vec!["a", "f"], vec!["b"], vec!["c"], vec!["d"]];
    let record = |(at, (cells, documents)): (usize, (&[&str; 5], &Vec<&str>))| Record {
        line: at + 2,
        cells: cells.map(str::to_owned).to_vec(),
        documents: documents.iter().map(|id| (*id).to_owned()).collect(),
    };
    rows.iter().zip(&documents).enumerate().map(record).collect()
}

fn table(
    store: &Memory,
    lines: Vec<Record>,
    parameters: &CorpusQa,
    host: Option<&ScriptedHost<'_>>,
) -> Result<Corpus, BuildError> {
    let (books, templates) = (homes(), Template::built_in());
    with_setting(async |settings| {
        let building = Building::new(store, 3, None);
        let given = (&books[..], &schema(), &templates[..]);
        corpusqa::from_table(host, settings, building, &Plain, given, &records(lines), parameters).await
    })
}

/// The SQL of the templates by question, as a build without a model gives them.
fn templates_sql(parameters: &CorpusQa) -> HashMap<String, String> {
    let corpus = table(&Memory::default(), lines(), parameters, None).unwrap();
    corpus.built.items.iter().map(|item| (item.question.clone(), text(item, "sql").to_owned())).collect()
}

pub(crate) fn text<'i>(item: &'i Item, name: &str) -> &'i str {
    item.other[name].as_str().unwrap()
}

#[test]
fn documents_become_a_table_and_the_table_questions() {
    let sql = templates_sql(&parameters());
    let host = ScriptedHost::scripted(|call, _| able(call, &sql));
    let store = Memory::default();
    let corpus = build(&host, &store, Some(&schema()), &parameters()).unwrap();
    assert_eq!(
        funnel(&corpus.built)[..8],
        [
            "documents 6 -> 6",
            "fields 1 -> 1",
            "votes 0 -> 0",
            "columns 5 -> 5",
            "extraction 18 -> 18",
            "consensus 6 -> 5, no majority 1",
            "table 4 -> 4",
            "sets 1 -> 1",
        ]
    );
    let detail = store.lines("consensus")[4]["detail"].as_str().unwrap().to_owned();
    assert_eq!(detail, "beds (at most 1 of 3 agree)");
    let rows: Vec<String> = corpus
        .rows
        .iter()
        .map(|row| row.cells.iter().map(CellValue::to_string).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        rows,
        [
            "Ana Homes west 1300 12 1990-05",
            "Bo House west 2500 40 1991-03",
            "Cleo Court east 900 31 2001-07",
            "Dov Inn east 3000 22 2010-11"
        ]
    );
    let conflict = &corpus.rows[0].conflicts[0];
    assert_eq!((conflict.column.as_str(), conflict.kept.documents[0].as_str()), ("income", "f"), "the later document");
    assert_eq!(
        (conflict.others[0].value.to_string(), conflict.others[0].documents[0].as_str()),
        ("1200".to_owned(), "a")
    );

    let items = &corpus.built.items;
    assert_eq!(items.len(), 6);
    let by_table = table(&Memory::default(), lines(), &parameters(), None).unwrap().built.items;
    for (item, other) in items.iter().zip(&by_table) {
        assert_eq!((&item.answers, &item.documents.len()), (&other.answers, &5), "from documents as from the table");
        assert!(item.question.starts_with("Tell me: ") && item.id.starts_with("homes_en_all-"), "{item:?}");
        assert_eq!(agrees(&item.answers[0], &item.answers[0], AnswerReading::Strict), Parsed::Answer(true));
    }
}

#[test]
fn a_build_from_documents_survives_any_death() {
    let small = CorpusQa { per_set: 3, queries: 2, ..parameters() };
    let sql = templates_sql(&small);
    let script = move |call: &Call| able(call, &sql);
    survives_any_death(&script, &|host, store| {
        Ok::<Built, BuildError>(build(host, store, Some(&schema()), &small)?.built)
    });
}

#[test]
fn fields_are_proposed_and_voted_on() {
    let proposal = json!({"entity": {"one": "home", "many": "homes"}, "fields": [
        {"title": "Region", "type": "category"}, {"title": "Income", "type": "money", "unit": "EUR thousand"},
        {"title": "Beds", "type": "count"}, {"title": "Goats", "type": "count", "meaning": "goats kept"}]});
    let host = ScriptedHost::scripted(|call, _| {
        Ok(match call.prompt.as_str() {
            "corpusqa-fields" => proposal.to_string(),
            "corpusqa-field-votes" => {
                json!({"name": true, "region": "yes", "income": true, "beds": true, "goats": false}).to_string()
            }
            "corpusqa-extract" => extracted(said(call)),
            _ => "no".to_owned(),
        })
    });
    let corpus = build(&host, &Memory::default(), None, &parameters()).unwrap();
    let shown = funnel(&corpus.built);
    assert_eq!(shown[1..4], ["fields 1 -> 1", "votes 3 -> 3", "columns 5 -> 4, no majority 1"]);
    assert_eq!((corpus.rows.len(), corpus.schema.columns.len(), corpus.schema.entity.many.as_str()), (4, 4, "homes"));
    assert!(shown[9].starts_with("paraphrases 6 -> 0, unreadable 6"), "{shown:?}");
}

#[test]
fn where_no_field_is_proposed_nobody_votes() {
    let host = ScriptedHost::scripted(|_, _| Ok("no".to_owned()));
    let corpus = build(&host, &Memory::default(), None, &parameters()).unwrap();
    assert_eq!(funnel(&corpus.built)[1..4], ["fields 1 -> 0, unreadable 1", "votes 0 -> 0", "columns 0 -> 0"]);
    assert_eq!(host.asked(), 2, "asked once more, and no voter");
}

#[test]
fn malformed_responses_are_asked_for_again_and_then_cost_a_vote() {
    let sql = templates_sql(&parameters());
    let host = ScriptedHost::scripted(|call, _| match call.prompt.as_str() {
        // Of the three queries on a document, the one whose fields begin with the name never gets a response in form.
        "corpusqa-extract" if said(call).contains("out of it.\n\n- name") => Ok("{\"name\": ".to_owned()),
        _ => able(call, &sql),
    });
    let store = Memory::default();
    let corpus = build(&host, &store, Some(&schema()), &parameters()).unwrap();
    let shown = funnel(&corpus.built);
    assert_eq!(shown[4], "extraction 18 -> 12, unreadable 6");
    assert_eq!(shown[5], "consensus 6 -> 5, no majority 1", "two of three still are a clear majority");
    let line = &store.lines("extraction")[0];
    assert_eq!((line["reason"].as_str(), line["calls"].as_array().unwrap().len()), (Some("unreadable"), 2));
    let votes = &store.lines("consensus")[0]["value"]["fields"][2]["votes"];
    assert_eq!(votes[0]["problem"], "the response left it out");
}

#[test]
fn an_sql_error_is_told_to_the_model_once_and_recorded() {
    let sql = templates_sql(&parameters());
    let host = ScriptedHost::scripted(|call, _| match call.prompt.as_str() {
        "corpusqa-sql" if call.messages.len() == 1 => Ok(json!({"sql": "SELECT nobody FROM corpus"}).to_string()),
        _ => able(call, &sql),
    });
    let store = Memory::default();
    let corpus = table(&store, lines(), &parameters(), Some(&host)).unwrap();
    assert_eq!(corpus.built.items.len(), 6);
    for line in store.lines("sql") {
        let failed = &line["value"]["failed"][0];
        assert_eq!(failed["sql"], "SELECT nobody FROM corpus");
        assert!(failed["error"].as_str().unwrap().contains("no such column: nobody"), "{failed}");
        assert_eq!(line["calls"].as_array().unwrap().len(), 2);
    }
    assert!(
        host.transcript().contains("Your response cannot be used: the database refuses it: no such column: nobody")
    );
}

#[test]
fn sql_that_answers_another_question_is_dropped() {
    let host = ScriptedHost::scripted(|call, _| match call.prompt.as_str() {
        "corpusqa-sql" => Ok(json!({"sql": "SELECT 4711"}).to_string()),
        _ => able(call, &HashMap::new()),
    });
    let store = Memory::default();
    let corpus = table(&store, lines(), &parameters(), Some(&host)).unwrap();
    assert_eq!(corpus.built.items, []);
    let reasons: Vec<Value> = store.lines("sql").iter().map(|line| line["reason"].clone()).collect();
    assert!(
        reasons.contains(&json!("disagrees")) && reasons.iter().all(|r| r == "disagrees" || r == "no answer"),
        "{reasons:?}"
    );
}

#[test]
fn a_paraphrase_that_loses_a_number_or_a_name_is_dropped() {
    let host = ScriptedHost::scripted(|_, _| Ok(json!({"question": "Well?"}).to_string()));
    let store = Memory::default();
    table(&store, lines(), &parameters(), Some(&host)).unwrap();
    let told = store.lines("paraphrases").into_iter().filter(|line| line["state"] == "dropped");
    let details: Vec<String> = told.map(|line| line["detail"].as_str().unwrap_or_default().to_owned()).collect();
    assert!(
        !details.is_empty() && details.iter().all(|detail| detail.starts_with("the question must still say `")),
        "{details:?}"
    );
}

#[test]
fn lines_of_a_table_that_cannot_be_used_are_dropped_with_the_reason() {
    let mut bad = lines();
    bad[1].cells[3] = "many".to_owned();
    bad[2].documents = vec!["gone".to_owned()];
    bad[3].cells[2] = String::new();
    let store = Memory::default();
    let corpus = table(&store, bad.clone(), &parameters(), None).unwrap();
    assert_eq!(funnel(&corpus.built)[1], "rows 4 -> 1, no document 1, unreadable 2");
    let details: Vec<String> =
        store.lines("rows").iter().filter_map(|line| Some(line["detail"].as_str()?.to_owned())).collect();
    assert_eq!(
        details,
        [
            "line 3: `many` is no number: expected a number for Beds",
            "line 4: no document that was kept is called `gone`: an id is a file's name without its ending",
            "line 5: income is empty"
        ]
    );
    assert_eq!(corpus.built.items, [], "one row is no set");
    let kept = table(&Memory::default(), bad, &CorpusQa { allow_missing: true, ..parameters() }, None).unwrap();
    assert_eq!(kept.rows.len(), 2);
    assert!(
        kept.built.items.iter().all(|item| !item.question.contains("Income")),
        "a column with a hole is not asked about"
    );
}

#[test]
fn what_is_drawn_is_the_seeds_and_dispersion_is_kept() {
    let of = |parameters: &CorpusQa| table(&Memory::default(), lines(), parameters, None).unwrap().built;
    let first = of(&parameters());
    assert_eq!(first, of(&parameters()));
    assert_ne!(first.items, of(&CorpusQa { seed: 2, ..parameters() }).items);
    let spread = of(&CorpusQa { dispersion: 100, per_set: 12, ..parameters() });
    assert!(!spread.items.is_empty() && spread.items.iter().all(|item| item.other["dispersion"] == 1.0));
    assert!(funnel(&spread)[4].contains("concentrated"), "{:?}", funnel(&spread));
}
