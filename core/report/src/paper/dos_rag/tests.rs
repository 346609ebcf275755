use super::*;
use crate::testing::{Case, case, table, table_of};

#[test]
fn a_metric_of_any_name_begins_a_title() {
    assert_eq!(leading(&MetricName::from("accuracy")), "Accuracy");
    assert_eq!(leading(&MetricName::from("正确率")), "正确率");
    assert_eq!(leading(&MetricName::from("")), "");
}

#[test]
fn budgets_stand_in_order_with_the_deviation_over_repeats() {
    let trial = |budget, repeat, score: f64| Case {
        method: "dos-rag".to_owned(),
        budget: Some(budget),
        repeat,
        ..case("a").scored("f1", score)
    };
    let trials = [trial(4_000, 0, 1.0), trial(4_000, 1, 1.0), trial(500, 0, 0.25), trial(500, 1, 0.75)];
    let made = tables(&table(&trials)).remove(0);
    assert_eq!(made.columns, ["Method", "500", "4,000"]);
    assert_eq!(made.rows[0][1].shown(), "50.0 ± 35.4");
    assert_eq!(made.rows[0][2].shown(), "**100.0 ± 0.0**");
    assert!(tables(&table(&[case("a").scored("f1", 1.0)])).is_empty());
}

#[test]
fn the_metrics_of_table_5_stand_under_one_head() {
    let trial = Case {
        method: "dos-rag".to_owned(),
        budget: Some(1_500),
        ..case("a").scored("f1_v2", 0.5).scored("f1", 0.4).scored("meteor", 0.25)
    };
    let made = tables(&table_of("narrativeqa", &[trial])).remove(0);
    assert_eq!(made.columns, ["Method", "Budget", "Avg. Tokens", "F1", "METEOR"]);
    let heads: Vec<_> = made.groups.iter().map(|group| (group.head.as_str(), group.first, group.n)).collect();
    assert_eq!(heads, [("Tokens", 1, 2), ("Metric", 3, 2)]);
    assert_eq!(made.rows[0][3].shown(), "**50.0**");
}

#[test]
fn each_reader_of_the_paper_has_its_own_tables() {
    let source = |model: &str| {
        let trial = Case {
            method: "dos-rag".to_owned(),
            model: model.to_owned(),
            budget: Some(500),
            ..case("a").scored("accuracy", 1.0)
        };
        tables(&table_of("quality", &[trial])).into_iter().map(|table| table.source).collect::<Vec<_>>()
    };
    let of = |table: &str, figure: &str| [table, figure, table, figure].map(|n| format!("Stronger Baselines, {n}"));
    assert_eq!(source("openai/gpt-4o-mini-2024-07-18"), of("Table 3", "Figure 6"));
    assert_eq!(source("openai/gpt-4o"), of("Table 4", "Figure 3"));
    assert_eq!(source("openai/gpt-4o-audio-preview"), of("Tables 3 and 4", "Figures 3 and 6"));
}

#[test]
fn tokens_are_printed_in_thousands() {
    assert_eq!([950.4, 4_810.0, 86_412.0].map(in_thousands), ["950", "4.8K", "86K"]);
}

#[test]
fn a_method_without_a_budget_has_one_cell_over_all_with_its_tokens() {
    let trial =
        |method: &str, budget, score: f64| Case { method: method.to_owned(), budget, ..case("a").scored("f1", score) };
    let trials =
        [trial("dos-rag", Some(500), 1.0), trial("dos-rag", Some(4_000), 0.5), trial("read-agent", None, 0.25)];
    let made = tables(&table(&trials)).remove(0);
    assert_eq!((made.rows[0][0].shown(), made.rows[1][0].shown()), ("DOS RAG".to_owned(), "ReadAgent".to_owned()));
    assert_eq!(made.rows[1][1].shown(), "25.0 (Avg. Tokens: no prompt was made)");
    assert_eq!(made.rows[1][2], Value::Spanned);
    assert_eq!((made.groups[0].first, made.groups[0].n), (1, 2));
}

#[test]
fn answers_without_a_verdict_are_counted_below_the_tables() {
    let trial = |item: &str, verdict: f64| Case {
        method: "dos-rag".to_owned(),
        budget: Some(500),
        ..case(item).scored("judged_accuracy", verdict)
    };
    let note = |trials: &[Case]| {
        let made = tables(&table(trials));
        assert_eq!(made.len(), 4);
        let own = |note: &&String| note.contains("without a verdict");
        made.into_iter().map(|table| table.notes.iter().find(own).cloned()).collect::<Vec<_>>()
    };
    let said = Some("judged accuracy: 1 without a verdict, in no mean".to_owned());
    assert_eq!(note(&[trial("a", 1.0), trial("b", f64::NAN)]), vec![said; 4]);
    assert_eq!(note(&[trial("a", 1.0), trial("b", 0.0)]), vec![None; 4]);
}
