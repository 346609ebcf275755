//! Laws that hold of every table.

use super::testing::{cell, done, item};
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A table of two cells on few items in few books, with everything that can happen to a trial.
fn tables() -> impl Strategy<Value = Observations> {
    let facts = (0..4u8, 0..3u8, 0..4u32, any::<bool>());
    let row = (0..Ending::ALL.len() + 3, 0..6u32, 0..5u32);
    let shape = (prop::collection::vec(facts, 0..9), 1..4u32, prop::collection::vec(row, 54));
    shape.prop_map(|(facts, repeats, rows)| {
        let items: Vec<ItemFacts> = facts.into_iter().enumerate().map(|(n, facts)| facts_of(n, facts)).collect();
        let mut trials = Vec::new();
        for (method, item, repeat) in planned(&items, repeats) {
            let (ending, score, of) = rows[trials.len()];
            trials.push(trial(done(method, item, repeat, None), ending, score, of));
        }
        Observations::new("bench", vec![cell("a"), cell("b")], &items, repeats, trials.into_iter().flatten())
    })
}

fn facts_of(n: usize, (book, domain, of, has_recall): (u8, u8, u32, bool)) -> ItemFacts {
    let labels = BTreeMap::from([("domain".to_owned(), domain.to_string()), ("pair".to_owned(), (n / 2).to_string())]);
    ItemFacts {
        documents: if book == 0 { vec![] } else { vec![format!("b{book}")] },
        labels: labels.into_iter().filter(|(_, value)| value != "0").collect(),
        metrics: BTreeMap::from([("recall".into(), if has_recall { Applies::OutOf(of) } else { Applies::Not })]),
        ..item(&format!("q{n}"))
    }
}

fn planned(items: &[ItemFacts], repeats: u32) -> impl Iterator<Item = (&'static str, &str, u32)> {
    let each =
        move |method| items.iter().flat_map(move |item| (0..repeats).map(move |n| (method, item.id.as_str(), n)));
    ["a", "b"].into_iter().flat_map(each)
}

/// The trial, ended so; `None` where it has no row.
fn trial(mut row: Done, ending: usize, score: u32, of: u32) -> Option<Done> {
    row.outcome = *Ending::ALL.get(ending).unwrap_or(&Ending::Answered);
    let given = match score {
        5 => Score::Unjudged,
        score => Score::Value(f64::from(score) / 4.0),
    };
    row.scores.insert("f1".into(), given);
    row.scores.insert("recall".into(), Score::Ratio { hit: score.min(of), of });
    (row.outcome != Ending::Missing).then_some(row)
}

fn aggregations() -> impl Strategy<Value = Aggregation> {
    let metric = prop::sample::select(vec!["f1", "recall", "none"]);
    let policy = prop::sample::select(FailurePolicy::ALL.to_vec());
    let unit = prop::sample::select(vec![Unit::Item, Unit::Pair, Unit::Book]);
    let over = Weighting::MeanOver("domain".to_owned());
    let weighting = prop::sample::select(vec![Weighting::Item, Weighting::Pooled, over]);
    let treatment = || prop::sample::select(vec![Treatment::Zero, Treatment::Out]);
    let not_found = prop::sample::select(vec![NotFoundAs::Zero, NotFoundAs::AsText]);
    let counting = (not_found, treatment(), treatment(), treatment());
    (metric, policy, unit, weighting, counting).prop_map(|(metric, policy, unit, weighting, counting)| {
        let (not_found, unparsed, unjudged, empty) = counting;
        let counting = Counting { not_found, unparsed, unjudged, empty };
        Aggregation { metric: metric.into(), policy, counting, unit, weighting }
    })
}

fn value(made: &Aggregate) -> Option<f64> {
    made.estimate.as_ref().map(|estimate| estimate.value)
}

proptest! {
    #[test]
    fn the_ledger_and_what_counts_add_up_to_what_was_planned(table in tables(), by in aggregations()) {
        for (id, _) in table.cells() {
            let made = table.aggregate(&Rows::of(id), &by);
            prop_assert_eq!(made.planned(), table.rows(&Rows::of(id)).count());
            prop_assert_eq!(made.counted + made.out.values().sum::<usize>(), made.planned());
            prop_assert!(made.zeros <= made.counted);
            if let Some(estimate) = &made.estimate {
                let within = estimate.low <= estimate.value + 1e-9 && estimate.value <= estimate.high + 1e-9;
                prop_assert!(within && (0.0..=1.0 + 1e-9).contains(&estimate.value), "{:?}", estimate);
                prop_assert!(estimate.n > 0 && made.counted > 0);
            }
        }
    }

    #[test]
    fn a_run_pooled_alone_is_itself(table in tables(), by in aggregations()) {
        let pool = Observations::pooled([("".into(), table.clone())]);
        prop_assert_eq!(pool.as_ref(), Ok(&table));
        let named = Observations::pooled([("x".into(), table.clone())]).unwrap();
        prop_assert_eq!(named.aggregate(&Rows::all(), &by), table.aggregate(&Rows::all(), &by));
    }

    #[test]
    fn pooling_changes_no_cell(a in tables(), b in tables(), by in aggregations()) {
        // What is known of an item is the first run's: here it decides whether `recall` applies.
        let by = Aggregation { metric: "f1".into(), ..by };
        let pool = Observations::pooled([("a".into(), a.clone()), ("b".into(), b.clone())]).unwrap();
        let alone = a.cells().map(|cell| (&a, cell)).chain(b.cells().map(|cell| (&b, cell)));
        for ((id, cell), (table, (own, known))) in pool.cells().zip(alone) {
            prop_assert_eq!(&cell.key.method, &known.key.method);
            let (there, here) = (pool.aggregate(&Rows::of(id), &by), table.aggregate(&Rows::of(own), &by));
            prop_assert_eq!((there.counted, &there.out, there.ledger), (here.counted, &here.out, here.ledger));
        }
        prop_assert_eq!(pool.items().count(), a.items().count().max(b.items().count()));
    }

    #[test]
    fn failures_never_help(table in tables(), by in aggregations()) {
        // A pair or a book whose first item fails may stand under another label.
        prop_assume!(by.unit == Unit::Item || !matches!(by.weighting, Weighting::MeanOver(_)));
        let under = |policy| table.aggregate(&Rows::all(), &Aggregation { policy, ..by.clone() });
        let (wrong, left_out) = (under(FailurePolicy::Wrong), under(FailurePolicy::LeftOut));
        if let Some(left_out) = value(&left_out) {
            prop_assert!(value(&wrong).is_some_and(|wrong| wrong <= left_out + 1e-12), "{:?} {}", wrong, left_out);
        }
        prop_assert_eq!(wrong.counted, left_out.counted + left_out.out.get(&Out::Failure).copied().unwrap_or(0));
    }

    #[test]
    fn groups_share_out_what_was_planned(table in tables(), by in aggregations()) {
        let grouped = table.grouped(&Rows::all(), &by, |item| item.label("domain").map(str::to_owned));
        let without: Vec<ItemId> = table.items().filter(|(_, item)| item.label("domain").is_none()).map(|(id, _)| id).collect();
        prop_assert_eq!(grouped.in_none, without.len());
        let rest = table.aggregate(&Rows::all().items(without), &by);
        let whole = table.aggregate(&Rows::all(), &by);
        let groups = || grouped.groups.iter().map(|(_, made)| made);
        prop_assert_eq!(groups().map(Aggregate::planned).sum::<usize>() + rest.planned(), whole.planned());
        prop_assert_eq!(groups().map(|made| made.counted).sum::<usize>() + rest.counted, whole.counted);
        for (domain, made) in &grouped.groups {
            prop_assert_eq!(&table.aggregate(&Rows::all().label("domain", domain), &by), made);
        }
    }

    #[test]
    fn one_repeat_of_plain_scores_pools_to_their_mean(table in tables(), by in aggregations()) {
        prop_assume!(table.rows(&Rows::all()).all(|row| row.repeat == 0));
        let of = |weighting| {
            let by = Aggregation { metric: "f1".into(), unit: Unit::Item, weighting, ..by.clone() };
            table.aggregate(&Rows::all(), &by).estimate
        };
        let (items, pooled) = (of(Weighting::Item), of(Weighting::Pooled));
        prop_assert_eq!(items.is_some(), pooled.is_some());
        if let Some((items, pooled)) = items.zip(pooled) {
            let ends = [items.value - pooled.value, items.low - pooled.low, items.high - pooled.high];
            prop_assert!(ends.iter().all(|end| end.abs() < 1e-9) && items.n == pooled.n, "{:?} {:?}", items, pooled);
        }
    }

    #[test]
    fn every_id_is_in_one_part_of_a_pairing(table in tables(), by in aggregations()) {
        let by = Aggregation { unit: Unit::Item, ..by };
        let [a, b] = [0, 1].map(|n| Rows::of(CellId(n)));
        let pair = table.paired(&a, &table, &b, &by);
        let parts = [pair.only_a.len(), pair.only_b.len(), pair.other_gold.len(), pair.neither.len()];
        prop_assert_eq!(pair.common.len() + parts.iter().sum::<usize>(), table.items().count());
        let back = table.paired(&b, &table, &a, &by);
        prop_assert_eq!((&back.only_a, &back.only_b, &back.neither), (&pair.only_b, &pair.only_a, &pair.neither));
        let same = table.paired(&a, &table, &a, &by);
        prop_assert!(same.only_a.is_empty() && same.only_b.is_empty() && same.other_gold.is_empty());
        prop_assert_eq!(same.comparison().map_or(0.0, |comparison| comparison.difference), 0.0);
        prop_assert_eq!(same.common.len(), table.scores(&a, &by).len());
    }
}
