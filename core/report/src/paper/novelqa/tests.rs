//! Tests of what the shared vectors do not show: names, bins, aspects in both spellings. The numbers are held by `cargo
//! xtask conformance`.

use super::items::{position_bin, relative_bin};
use super::*;
use crate::testing::{Case, case, table};
use closeread_table::Value;

fn question(item: usize, complexity: &str, aspect: &str, score: f64) -> Case {
    let question = case(&format!("q{item}")).scored("accuracy", score);
    Case { method: "full-document".to_owned(), ..question.label("complexity", complexity).label("aspect", aspect) }
}

fn find(tables: &[Table], id: &str) -> Table {
    tables.iter().find(|table| table.id == id).unwrap_or_else(|| panic!("no {id}")).clone()
}

#[test]
fn averages_of_the_matrix_are_over_questions() {
    let cases = [
        question(1, "multi-hop", "times", 1.0),
        question(2, "multi-hop", "times", 1.0),
        question(3, "multi-hop", "relat", 0.0),
        question(4, "detail", "relation", 0.0),
    ];
    let tables = tables(&table(&cases));
    let matrix = find(&tables, "novelqa-table-3");
    assert_eq!(matrix.columns[2..], ["chara", "mean", "plot", "relat", "settg", "span", "times", "avg"]);
    assert_eq!(matrix.rows[0][9], Value::printed(100.0 * (2.0 / 3.0), 2, 3));
    assert_eq!(matrix.rows[2][8], Value::missing("no items"), "no detail question on times");
    assert_eq!(matrix.rows[3][5], Value::printed(0.0, 2, 2), "both spellings are one aspect");
    assert_eq!(find(&tables, "novelqa-table-1").rows[4][4], Value::count(2));
    assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
}

#[test]
fn places_fall_into_bins() {
    assert_eq!([0, 19_999, 20_000, 209_999, 210_000].map(position_bin), [0, 0, 1, 7, 8]);
    assert_eq!([0, 99, 100, 999, 1_000].map(|token| relative_bin(token, 1_000)), [0, 0, 1, 9, 9].map(Some));
    assert_eq!((relative_bin(0, 0), evidence_distance(&[5]), evidence_distance(&[9, 2, 5])), (None, None, Some(7)));
}

#[test]
fn evidence_is_counted_by_bin_with_what_has_no_place() {
    let placed = Case { evidence_tokens: vec![5, 20_000], ..question(1, "detail", "plot", 1.0) };
    let made = find(&tables(&table(&[placed, question(2, "detail", "plot", 1.0)])), "novelqa-table-12");
    assert_eq!(made.rows[0][..4], [Value::text("Count"), Value::count(1), Value::count(1), Value::count(0)]);
    assert_eq!(made.rows[1][..2], [Value::text("Percentage"), Value::printed(50.0, 2, 2)]);
    assert_eq!(made.notes, ["2 pieces of gold evidence; 0 more have no exact match in the book"]);
}

#[test]
fn other_methods_are_lines_of_their_own() {
    let retrieved = Case { method: "dos-rag".to_owned(), budget: Some(1_500), ..question(1, "detail", "plot", 1.0) };
    let made = find(&tables(&table(&[question(1, "detail", "plot", 0.0), retrieved])), "novelqa-table-2");
    assert_eq!(made.rows[1][0], Value::text("p/x, dos-rag at 1,500"));
}

#[test]
fn a_question_asked_in_both_settings_is_one_question() {
    let asked = |item: Case, way: &str| item.label("asked_as", way);
    let open = asked(question(1, "detail", "plot", 1.0), "generative");
    let mut choice = asked(question(1, "detail", "plot", 0.0), "choice");
    choice.item = format!("{}#choice", choice.item);
    let made = find(&tables(&table(&[open, choice, question(2, "detail", "plot", 1.0)])), "novelqa-table-1");
    assert_eq!(made.rows.last().unwrap()[4], Value::count(2));
}

#[test]
fn accuracy_that_no_judge_gave_says_what_it_is() {
    let words =
        Case { scores: std::collections::BTreeMap::new(), ..question(1, "detail", "plot", 0.0) }.scored("f1", 0.5);
    let note = "generative scored by F1: there is no judge's verdict";
    let has_note = |case: Case, id| find(&tables(&table(&[case])), id).notes.iter().any(|known| known == note);
    assert!(has_note(words.clone(), "novelqa-table-2") && !has_note(words, "novelqa-table-1"));
    assert!(!has_note(question(1, "detail", "plot", 1.0).scored("judged accuracy", 1.0), "novelqa-table-2"));
}

#[test]
fn rows_that_no_judge_scored_are_named_beside_judged_ones() {
    let asked = |model: &str, item: usize, judged: Option<f64>| {
        let mut open = Case { model: model.to_owned(), ..question(item, "detail", "plot", 0.0) };
        open.scores = [("f1".to_owned(), 0.5)].into_iter().collect();
        open.scores.extend(judged.map(|verdict| (JUDGED_ACCURACY.to_owned(), verdict)));
        open
    };
    let judged = [asked("p/x", 1, Some(1.0)), asked("p/x", 2, Some(f64::NAN))];
    let other = [asked("p/y", 1, None), asked("p/y", 2, None)];
    let made = find(&tables(&table(&[judged, other].concat())), "novelqa-table-2");
    let notes = [
        "p/y: generative scored by F1: there is no judge's verdict",
        "generative judged accuracy: 1 without a verdict, in no mean",
    ];
    assert_eq!(made.notes[made.notes.len() - 2..], notes);
}
