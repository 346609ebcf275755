//! Tests of what the shared vectors do not show: names, signs and notes. The numbers are held by `cargo xtask
//! conformance`.

use super::*;
use crate::testing::{Case, case, table};
use closeread_eval::observations::Applies;
use closeread_table::{Mark, Value};

fn trial(item: usize, method: &str, right: bool) -> Case {
    Case { method: method.to_owned(), ..case(&format!("q{item}")).scored("accuracy", f64::from(right)) }
}

fn find(tables: &[Table], id: &str) -> Table {
    tables.iter().find(|table| table.id == id).unwrap_or_else(|| panic!("no {id}")).clone()
}

#[test]
fn over_long_books_are_wrong_in_one_table_and_absent_from_the_other() {
    let mut cases: Vec<Case> = (0..4).map(|i| trial(i, "full-document", true)).collect();
    cases[0].ending = Ending::Overflow;
    cases[0].scores.clear();
    cases.extend((0..4).map(|i| trial(i, "naive-rag", i == 0)));
    let tables = tables(&table(&cases));
    let all = find(&tables, "sagascale-table-3");
    assert_eq!(all.columns, ["Model", "Max Len", "NR", "AR", "LC"]);
    let best = |value: f64, n: usize, sign: &str| Value::Printed {
        value,
        decimals: 1,
        sd: None,
        n,
        mark: Some(Mark::Best),
        sign: sign.to_owned(),
        aside: String::new(),
    };
    assert_eq!(all.rows[0][2..], [best(25.0, 4, ""), Value::missing("not run"), best(75.0, 4, "§")]);
    assert!(all.notes.iter().any(|note| note.starts_with('§')));
    let within = find(&tables, "sagascale-table-5");
    assert_eq!(within.rows[0][4], best(100.0, 3, ""));
    assert_eq!(within.rows[0][2], Value::printed(0.0, 1, 3));
    assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
}

#[test]
fn without_judges_every_table_names_the_metric() {
    let tables = tables(&table(&[trial(0, "naive-rag", true)]));
    assert_eq!(
        find(&tables, "sagascale-table-3").notes.last().unwrap(),
        "scored by accuracy: there is no judge's verdict"
    );
}

#[test]
fn points_of_few_trials_are_left_out() {
    let searched = |i: usize| Case { searches: Some(if i < 10 { 1 } else { 2 }), ..trial(i, "agentic-rag", true) };
    let cases: Vec<Case> = (0..19).map(searched).collect();
    let table = find(&tables(&table(&cases)), "sagascale-figure-4");
    assert_eq!(table.rows[0][2..4], [Value::printed(100.0, 1, 10), Value::missing("fewer than 10 trials")]);
}

#[test]
fn a_model_that_nobody_judged_has_no_number_beside_a_judged_one() {
    let asked = |model: &str, item: &str| Case {
        model: model.to_owned(),
        method: "naive-rag".to_owned(),
        ..case(item).scored("f1", 1.0)
    };
    let mut cases: Vec<Case> =
        ["p/x", "p/y"].into_iter().flat_map(|model| ["q0", "q1"].map(|item| asked(model, item))).collect();
    cases[0].scores.insert(JUDGED_ACCURACY.to_owned(), 1.0);
    cases[1].scores.insert(JUDGED_ACCURACY.to_owned(), f64::NAN);
    (cases[3].ending, cases[3].scores) = (Ending::Failed, BTreeMap::new());
    let tables = tables(&table(&cases));
    for id in ["sagascale-table-3", "sagascale-table-7"] {
        assert_eq!(find(&tables, id).rows[1][2], Value::missing("no answer has a score"), "{id}");
    }
    let waiting = "judged accuracy: 1 without a verdict, in no mean";
    assert_eq!(find(&tables, "sagascale-table-3").notes.last().unwrap(), waiting);
}

#[test]
fn items_that_the_metric_does_not_apply_to_are_counted() {
    let mut trials = table(&[trial(0, "naive-rag", true), trial(1, "naive-rag", true)]);
    trials.describe(|item| {
        if item.id == "q1" {
            item.metrics.insert("accuracy".into(), Applies::Not);
        }
    });
    let note = "accuracy applies to 1 of 2 items; the others are in no mean";
    assert_eq!(find(&tables(&trials), "sagascale-table-3").notes.last().unwrap(), note);
}
