//! Tests of what the shared vectors do not show: names of lines, pairs without a word on reasoning, every row whole.
//! The numbers are held by `cargo xtask conformance`.

use super::*;
use crate::testing::{Case, case, table};
use closeread_table::Value;
use std::sync::Arc;

fn summary(model: &str, item: usize, covered: f64) -> Case {
    let perspective = if item.is_multiple_of(2) { "analytical" } else { "narrative" };
    let summary = case(&format!("q{item}")).label(PERSPECTIVE, perspective).label(FIFTH, FIFTHS[item % 5]);
    let summary = summary.scored("recall", covered).scored("recall_root", covered).scored("faithfulness", 1.0);
    Case { task: Task::Summary, method: "query-summary".to_owned(), model: model.to_owned(), ..summary }
}

fn find(tables: &[Table], id: &str) -> Table {
    tables.iter().find(|table| table.id == id).unwrap_or_else(|| panic!("no {id}")).clone()
}

#[test]
fn every_row_is_as_long_as_the_heads_and_what_is_not_there_is_left_out() {
    let cases: Vec<Case> = (0..10).map(|item| summary("p/x", item, f64::from(u8::from(item < 4)))).collect();
    let tables = tables(&table(&cases));
    assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
    assert!(tables.iter().all(|table| !table.id.starts_with("hamlet-table-6")), "one model has no pair");
    let gaps = find(&tables, "hamlet-table-4");
    assert_eq!(gaps.columns, ["Level", "p/x Ana.", "p/x Nar.", "Total Ana.", "Total Nar."]);
    assert_eq!(gaps.rows[0][1], Value::printed(1.0, 3, 5));
    assert_eq!(gaps.rows[1][1], Value::missing("fewer than two fifths have facts"));
}

#[test]
fn other_methods_are_lines_of_their_own() {
    let retrieved = Case { method: "dos-rag".to_owned(), budget: Some(1_500), ..summary("p/x", 1, 0.0) };
    let made = find(&tables(&table(&[summary("p/x", 1, 1.0), retrieved])), "hamlet-table-7");
    assert_eq!([&made.rows[0][0], &made.rows[1][0]], [&Value::text("p/x"), &Value::text("p/x, dos-rag at 1,500")]);
}

#[test]
fn where_no_run_says_which_model_reasons_each_is_held_against_those_before_it() {
    let cases: Vec<Case> = (0..3).flat_map(|item| [summary("base", item, 0.0), summary("other", item, 1.0)]).collect();
    let made = find(&tables(&table(&cases)), "hamlet-table-6");
    assert_eq!(made.rows[0][0], Value::text("other - base"));
    assert_eq!(made.rows[0][1], Value::count(3));
    assert_eq!(made.rows[0][2], Value::printed(1.0, 3, 3));
}

#[test]
fn runs_of_other_queries_are_named() {
    let run = |n: usize| table(&(0..n).map(|item| summary("p/x", item, 1.0)).collect::<Vec<_>>());
    let pool = Observations::pooled([(Arc::from("whole"), run(4)), (Arc::from("part"), run(2))]).unwrap();
    let note = "the runs were not asked the same items: 2 of part, 4 of whole".to_owned();
    assert!(tables(&pool).iter().all(|table| table.notes.contains(&note)));
}
