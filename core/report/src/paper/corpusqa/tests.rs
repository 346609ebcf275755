//! Tests of what the shared vectors do not show: domains by id, columns and notes. The numbers are held by `cargo xtask
//! conformance`.

use super::*;
use crate::testing::{Case, case, table, table_of};

#[test]
fn the_two_readings_of_overall_differ() {
    let question = |id: &str, score: f64| Case {
        method: "full-document".to_owned(),
        ..case(id).scored("accuracy", score).label("difficulty", "easy")
    };
    let cases = [
        question("financial_zh_1", 1.0),
        question("education_en_1", 0.0),
        question("education_en_2", 0.0),
        question("other_1", 0.0),
    ];
    let tables = tables(&table(&cases));
    assert_eq!(
        tables[0].columns,
        ["Set", "Model", "Financial-zh", "Education-en", "Overall (mean of domains)", "correct over total"]
    );
    assert_eq!(tables[0].rows[0][4..], [Value::printed(50.0, 2, 2), Value::printed(25.0, 2, 4)]);
    assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
}

#[test]
fn sets_of_the_published_files_have_the_papers_names() {
    assert_eq!([Some("set1"), Some("set9"), Some("1M"), None].map(named), ["Set1 (128K)", "set9", "1M", "-"]);
    assert_eq!([Some("set3"), Some("8K")].map(context), ["4M", "8K"]);
    let question = |method: &str, set: &str| Case {
        method: method.to_owned(),
        ..case(&format!("education_en_{set}")).scored("accuracy", 1.0).label("length_set", set)
    };
    let cases = [question("full-document", "set2"), question("memory-agent", "set4")];
    let made = tables(&table(&cases));
    assert_eq!([made[0].rows[0][0].shown(), made[1].rows[0][0].shown()], ["Set2 (1M)", "Set4 (10M)"]);
}

#[test]
fn a_late_answer_of_a_person_is_a_time_out() {
    let late = |minutes: f64| {
        let trials = table(&[case("a")]);
        let mut row = trials.rows(&Rows::all()).next().unwrap().clone();
        row.spent.seconds = 60.0 * minutes;
        is_time_out(&row)
    };
    assert_eq!([late(90.0), late(90.1)], [false, true]);
}

#[test]
fn few_chunks_cannot_hold_many_documents() {
    let retrieved = |id: &str, chunks: usize| Case {
        method: "corpus-rag".to_owned(),
        n_passages: Some(chunks),
        n_documents: 5,
        ..case(id).scored("accuracy", 0.0)
    };
    let all = |cases: &[Case]| tables(&table(cases));
    let sign = |cases: &[Case]| match &all(cases)[0].rows[0][3] {
        Value::Printed { sign, .. } => sign.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(sign(&[retrieved("education_en_a", 3), retrieved("education_en_b", 5)]), DAGGER);
    assert_eq!(sign(&[retrieved("education_en_a", 5), retrieved("education_en_b", 0)]), "");
}

#[test]
fn words_that_overlap_make_no_bar() {
    let run = |benchmark: &str, metric: &str| {
        let question = case("a").scored(metric, 0.5);
        table_of(benchmark, &[Case { method: "full-document".to_owned(), ..question }])
    };
    let runs =
        [("c", run("corpusqa", "judged accuracy")), ("l", run("longbench-v2", "accuracy")), ("f", run("frames", "f1"))];
    let made = figure_3(&runs).unwrap();
    let half = Value::printed(50.0, 1, 1);
    assert_eq!(made.rows[0][1..], [half.clone(), half, Value::missing("its answers in words were not judged")]);
}

#[test]
fn accuracy_that_no_judge_gave_says_what_it_is() {
    let question = Case { method: "full-document".to_owned(), ..case("education_en_1").scored("f1", 0.5) };
    let notes = &tables(&table(&[question]))[0].notes;
    assert!(notes.iter().any(|note| note == "scored by F1: there is no judge's verdict"), "{notes:?}");
}

#[test]
fn who_was_not_judged_has_no_number_beside_those_who_were() {
    let asked = |model: &str, method: &str, item: &str| Case {
        model: model.to_owned(),
        method: method.to_owned(),
        ..case(item).scored("f1", 1.0)
    };
    let judged = asked("p/x", "full-document", "education_en_1").scored(JUDGED_ACCURACY, 1.0);
    let other = asked("p/y", "full-document", "education_en_1");
    let mut failed = asked("p/y", "full-document", "education_en_2");
    failed.ending = Ending::Failed;
    failed.scores.clear();
    let person = asked("ana", HUMAN, "education_en_1");
    let made = tables(&table(&[judged, other, failed, person]));
    let none = Value::missing(NO_SCORE);
    let of = |id: &str| made.iter().find(|table| table.id == id).unwrap();
    for id in ["corpusqa-table-3", "corpusqa-table-3-wrong"] {
        assert_eq!([&of(id).rows[1][2], &of(id).rows[1][4]], [&none, &none], "{id}");
    }
    assert_eq!(of("corpusqa-table-5").rows[0][2], none);
}
