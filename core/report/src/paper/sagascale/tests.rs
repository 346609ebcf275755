//! SagaScale's numbers on trials made by hand.

use super::*;
use crate::testing::{Case, case, table};
use closeread_table::Value;

#[test]
fn inability_is_no_error() {
    let trials = [(Ending::Answered, 1.0), (Ending::Answered, 0.0), (Ending::NotFound, 0.0), (Ending::Unparsed, 0.0)];
    assert_eq!(calibration_errors(&trials), (2.0, 3));
}

#[test]
fn an_edge_belongs_to_the_bin_above() {
    assert_eq!([127_999, 128_000, 384_000, 1_000_000].map(length_bin), [0, 1, 2, 4]);
    assert_eq!(decline(&[(100_000, 1.0), (900_000, 0.0)]), Some(0.5));
    assert_eq!(decline(&[(900_000, 0.0)]), None);
}

#[test]
fn problems_over_models() {
    assert_eq!(polarization(&[0.0, 1.0, 0.5, 0.25]), Some(0.5));
    assert_eq!(solved_by_agentic(&[(false, true), (false, false), (true, true)]), (1, 2));
    assert_eq!(error_rank_correlation(&[1.0, 2.0, 3.0], &[9.0, 5.0, 1.0]), Some(1.0));
}

fn trial(item: usize, method: &str, right: bool) -> Case {
    Case { method: method.to_owned(), ..case(&format!("q{item}")).scored("accuracy", f64::from(right)) }
}

#[test]
fn over_long_books_are_wrong_in_one_table_and_absent_from_the_other() {
    let mut cases: Vec<Case> = (0..4).map(|i| trial(i, "full-document", true)).collect();
    cases[0].ending = Ending::Overflow;
    cases[0].scores.clear();
    cases.extend((0..4).map(|i| trial(i, "naive-rag", i == 0)));
    let tables = tables(&table(&cases));
    let value = |id: &str, row: usize, column: usize| match &tables.iter().find(|table| table.id == id).unwrap().rows
        [row][column]
    {
        Value::Score { estimate } => (estimate.value, estimate.n),
        other => panic!("{other:?}"),
    };
    assert_eq!(value("sagascale-accuracy", 0, 4), (0.75, 4));
    assert_eq!(value("sagascale-accuracy", 0, 5), (1.0, 3));
    assert_eq!(value("sagascale-in-window", 0, 4), (1.0, 3));
    assert_eq!(value("sagascale-in-window", 1, 4), (0.0, 3));
    assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
}

#[test]
fn points_of_few_problems_are_left_out() {
    let searched = |i: usize| Case { searches: Some(if i < 10 { 1 } else { 2 }), ..trial(i, "agentic-rag", true) };
    let cases: Vec<Case> = (0..19).map(searched).collect();
    let table = tables(&table(&cases)).into_iter().find(|table| table.id == "sagascale-searches").unwrap();
    assert!(matches!(&table.rows[0][4], Value::Score { estimate } if estimate.n == 10));
    assert!(matches!(table.rows[0][5], Value::Missing { .. }));
}
