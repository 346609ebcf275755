//! Scorecards of submissions made by hand.

use super::*;
use crate::scoring::prediction::read;
use closeread_eval::InputFile;
use closeread_table::render::text;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

const GOLD: &str = r#"{"id":"a","documents":["x"],"question":"Who?","task":"generative","answers":["Ana Lee","Ana"],"evidence":[{"quote":"Ana came."}],"labels":{"kind":"who"}}
{"id":"b","documents":["x"],"question":"Which?","task":"choice","options":["one","two"],"correct":1,"labels":{"pair":"1"}}
{"id":"c","documents":["x"],"question":"Which?","task":"choice","options":["one","two"],"correct":0,"labels":{"pair":"1"}}
{"id":"d","documents":["y"],"question":"谁？","task":"generative","answers":["老残"],"labels":{"kind":"who"}}
{"id":"e","documents":["y"],"question":"What?","task":"generative"}
{"id":"f","documents":["y"],"question":"Tell.","task":"summary","answers":["the cat sat on the mat"]}
"#;

fn card(predictions: &str, options: &Options) -> Scorecard {
    let file = |name: &str, text: &str| InputFile { name: name.into(), bytes: text.into() };
    let submission = read(&file("items.jsonl", GOLD), &file("p.jsonl", predictions)).unwrap();
    let evaluator = Evaluator::new(&options.metrics, options.chinese, None).unwrap();
    score(&submission, &evaluator, options).unwrap()
}

fn check(predictions: &str, options: &Options, expected: Expect) {
    let card = card(predictions, options);
    assert_eq!(card.ledger.counts.planned(), card.n);
    let mut shown: Vec<String> = card.tables().iter().map(text::table).collect();
    let item = |item: &ScoredItem| format!("{} {} {:?}\n", item.id, item.outcome, item.scores);
    shown.push(card.items.iter().map(item).collect());
    shown.extend(card.notes.iter().map(|note| format!("note: {note}\n")));
    expected.assert_eq(&shown.join("\n"));
}

const ALL: &str = r#"{"item":"a","answer":"Ana","evidence":["Then Ana came."]}
{"item":"b","choice":1}
{"item":"c","answer":"one"}
{"item":"d","answer":"老殘"}
{"item":"e","answer":"who knows"}
{"item":"f","answer":"the cat"}
"#;

#[test]
fn every_item_is_scored_by_its_task() {
    let options = Options { by: vec!["kind".into()], ..Options::default() };
    check(
        ALL,
        &options,
        expect![[r#"
            Scores in percent, 6 items
            metric                  score  95%             n  failures left out  95%             n
            --------------------------------------------------------------------------------------
            accuracy               100.00  [34.2, 100.0]*  2             100.00  [34.2, 100.0]*  2
            pair accuracy          100.00  [20.7, 100.0]*  1             100.00  [20.7, 100.0]*  1
            F1                     100.00  [20.7, 100.0]*  1             100.00  [20.7, 100.0]*  1
            InfiniteBench F1 (zh)   50.00  [5.5, 94.5]*    1              50.00  [5.5, 94.5]*    1
            exact match             50.00  [9.5, 90.5]*    2              50.00  [9.5, 90.5]*    2
            ROUGE-L                 50.00  [5.5, 94.5]*    1              50.00  [5.5, 94.5]*    1
            ROUGE-Lsum              50.00  [5.5, 94.5]*    1              50.00  [5.5, 94.5]*    1
            ROUGE-1                 50.00  [5.5, 94.5]*    1              50.00  [5.5, 94.5]*    1
            ROUGE-2                 33.33  [2.5, 90.6]*    1              33.33  [2.5, 90.6]*    1
            evidence recall        100.00  [20.7, 100.0]*  1             100.00  [20.7, 100.0]*  1
            6 items: 5 answered, 1 no gold
            * 95% interval over items: fewer than five books to cluster by, or scores all alike

            Scores by kind, in percent
            kind  items  answered                    F1  InfiniteBench F1 (zh)        exact match       evidence recall
            -----------------------------------------------------------------------------------------------------------
            who       2         2  100.0 [20.7, 100.0]*      50.0 [5.5, 94.5]*  50.0 [9.5, 90.5]*  100.0 [20.7, 100.0]*
            * 95% interval over items: fewer than five books to cluster by, or scores all alike

            a answered {"evidence_recall": 1.0, "exact_match": 1.0, "f1": 1.0}
            b answered {"accuracy": 1.0, "pair_accuracy": 1.0}
            c answered {"accuracy": 1.0}
            d answered {"exact_match": 0.0, "infinitebench_zh_f1": 0.5}
            e no_gold {}
            f answered {"rouge1": 0.5, "rouge2": 0.33333333333333337, "rougeL": 0.5, "rougeLsum": 0.5}

            note: items.jsonl:5 (e): no `answers`: the question is asked, but its answer cannot be scored

            note: 4 of 6 items have no label `kind` and stand in none of its groups
        "#]],
    );
}

#[test]
fn failures_count_as_wrong_and_are_shown_left_out() {
    let some = "{\"item\":\"a\",\"answer\":null}\n{\"item\":\"b\",\"choice\":1}\n";
    check(
        some,
        &Options::default(),
        expect![[r#"
            Scores in percent, 6 items
            metric                 score  95%           n  failures left out  95%             n
            -----------------------------------------------------------------------------------
            accuracy               50.00  [9.5, 90.5]*  2             100.00  [20.7, 100.0]*  1
            pair accuracy           0.00  [0.0, 79.3]*  1                  -  -               -
            F1                      0.00  [0.0, 79.3]*  1               0.00  [0.0, 79.3]*    1
            InfiniteBench F1 (zh)   0.00  [0.0, 79.3]*  1                  -  -               -
            exact match             0.00  [0.0, 65.8]*  2               0.00  [0.0, 79.3]*    1
            ROUGE-L                 0.00  [0.0, 79.3]*  1                  -  -               -
            ROUGE-Lsum              0.00  [0.0, 79.3]*  1                  -  -               -
            ROUGE-1                 0.00  [0.0, 79.3]*  1                  -  -               -
            ROUGE-2                 0.00  [0.0, 79.3]*  1                  -  -               -
            6 items: 1 answered, 1 unanswered, 4 missing
            INCOMPLETE: 4 of 6 items are missing and count as wrong
            failures left out: what did not fit, was refused, failed or is missing is not in the denominator
            * 95% interval over items: fewer than five books to cluster by, or scores all alike

            a unanswered {"exact_match": 0.0, "f1": 0.0}
            b answered {"accuracy": 1.0, "pair_accuracy": 0.0}
            c missing {"accuracy": 0.0}
            d missing {"exact_match": 0.0, "infinitebench_zh_f1": 0.0}
            e missing {}
            f missing {"rouge1": 0.0, "rouge2": 0.0, "rougeL": 0.0, "rougeLsum": 0.0}

            note: items.jsonl:5 (e): no `answers`: the question is asked, but its answer cannot be scored
        "#]],
    );
}

#[test]
fn metrics_that_are_asked_for_are_scored_wherever_they_apply() {
    let metrics = vec![Metric::Bleu1, Metric::F1, Metric::EvidenceRecall, Metric::Accuracy];
    check(
        ALL,
        &Options { metrics, ..Options::default() },
        expect![[r#"
            Scores in percent, 6 items
            metric            score  95%             n  failures left out  95%             n
            --------------------------------------------------------------------------------
            BLEU-1            27.59  [8.8, 78.3]*    3              27.59  [8.8, 78.3]*    3
            accuracy         100.00  [34.2, 100.0]*  2             100.00  [34.2, 100.0]*  2
            F1                46.67  [8.7, 87.0]*    3              46.67  [8.7, 87.0]*    3
            evidence recall  100.00  [20.7, 100.0]*  1             100.00  [20.7, 100.0]*  1
            6 items: 5 answered, 1 no gold
            * 95% interval over items: fewer than five books to cluster by, or scores all alike

            a answered {"bleu_1": 1.0, "evidence_recall": 1.0, "f1": 1.0}
            b answered {"accuracy": 1.0}
            c answered {"accuracy": 1.0}
            d answered {"bleu_1": 0.0, "f1": 0.0}
            e no_gold {}
            f answered {"bleu_1": 0.1353352832366127, "f1": 0.4}

            note: items.jsonl:5 (e): no `answers`: the question is asked, but its answer cannot be scored

            note: 1 item is Chinese or Japanese, where bleu_1, f1 as published find whole sentences or no words at all: the option `chinese` with `characters` counts characters as words
        "#]],
    );
    let options = Options { metrics: vec![Metric::RougeL], chinese: Words::ChineseCharacters, by: Vec::new() };
    assert_eq!(card(ALL, &options).items[3].scores["rougeL"], 0.5);
}

#[test]
fn an_empty_file_is_every_item_missing() {
    let card = card("", &Options::default());
    assert_eq!((card.n, card.ledger.counts.of(Ending::Missing), card.complete, card.is_clean()), (6, 6, false, false));
    assert_eq!((card.metrics["accuracy"].value, card.metrics["accuracy"].n), (0.0, 2));
    assert!(card.policies[&FailurePolicy::LeftOut].metrics.is_empty());
}

#[test]
fn what_only_the_format_gives_stands_beside_and_failures_count() {
    let mut item = Item::new("a", "x", "?", closeread_eval::Task::Generative);
    item.answers = vec!["Ana".into()];
    let items = ["a", "b", "c"].map(|id| Item { id: id.into(), ..item.clone() }).to_vec();
    let given = |strict| BTreeMap::from([("f1".to_owned(), 1.0), ("strict".to_owned(), strict)]);
    let answered = |strict| Attempt {
        outcome: Outcome::Answered { answer: "Bo".into(), choice: None },
        evidence: Vec::new(),
        given: given(strict),
    };
    let attempts = BTreeMap::from([("a".to_owned(), answered(1.0)), ("b".to_owned(), answered(0.5))]);
    let submission = Submission { items, attempts, metrics: vec![Metric::F1], ..Submission::default() };
    let card = score(&submission, &Evaluator::default(), &Options::default()).unwrap();
    assert_eq!((card.metrics["f1"].value, card.metrics["f1"].n), (2.0 / 3.0, 3));
    assert_eq!((card.metrics["strict"].value, card.main.as_deref()), (0.5, Some("f1")));
    let left_out = &card.policies[&FailurePolicy::LeftOut];
    assert_eq!((left_out.n, left_out.metrics["strict"].value), (2, 0.75));
}

#[test]
fn finding_10_very_many_items_are_scored_in_a_time_that_grows_as_they_do() {
    const N: usize = 50_000;
    let item = |n: usize| json!({"id": format!("i{n}"), "documents": ["x"], "question": "?", "task": "choice", "options": ["a", "b"], "correct": n % 2});
    let lines = |of: &dyn Fn(usize) -> serde_json::Value| (0..N).map(|n| of(n).to_string() + "\n").collect::<String>();
    let file = |name: &str, text: String| InputFile { name: name.into(), bytes: text.into() };
    let predictions = lines(&|n| json!({"item": format!("i{n}"), "choice": 0}));
    let submission = read(&file("items.jsonl", lines(&item)), &file("p.jsonl", predictions)).unwrap();
    // Where every item looked at all others, nextest would end this as too slow.
    let card = score(&submission, &Evaluator::default(), &Options::default()).unwrap();
    assert_eq!((card.n, card.metrics["accuracy"].value), (N, 0.5));
}

#[test]
fn a_label_that_nobody_has_is_refused_with_those_there_are() {
    let file = |text: &str| InputFile { name: "f".into(), bytes: text.into() };
    let submission = read(&file(GOLD), &file("")).unwrap();
    let options = Options { by: vec!["colour".into()], ..Options::default() };
    let error = score(&submission, &Evaluator::default(), &options).unwrap_err().to_string();
    assert_eq!(error, "no item has a label `colour`: expected one of `kind`, `pair`, `task`, `document`");
}

proptest! {
    #[test]
    fn the_ledger_adds_up_and_the_json_reads_back(rows in prop::collection::vec((0_usize..8, 0_usize..7), 0..12)) {
        let forms = [
            r#""answer":"Ana""#, r#""answer":null"#, r#""choice":0"#, r#""choice":1"#, r#""choice":9"#,
            r#""answer":"Not found in context.""#, r#""answer":3"#,
        ];
        let row = |(item, form): &(usize, usize)| {
            format!("{{\"item\":\"{}\",{}}}\n", ["a", "b", "c", "d", "e", "f", "g", ""][*item], forms[*form])
        };
        let predictions: String = rows.iter().map(row).collect();
        let options = Options { metrics: Metric::ALL[..14].to_vec(), by: vec!["task".into()], ..Options::default() };
        let card = card(&predictions, &options);
        prop_assert_eq!(card.ledger.counts.planned(), 6);
        for group in card.by["task"].values() {
            prop_assert_eq!(group.ledger.planned(), group.n);
        }
        for estimate in card.metrics.values() {
            prop_assert!((0.0..=1.0).contains(&estimate.value));
        }
        let back: Scorecard = serde_json::from_str(&card.to_json()).unwrap();
        prop_assert_eq!(back, card);
    }
}
