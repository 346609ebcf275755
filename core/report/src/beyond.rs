//! Scores of methods on the items that the closed book missed: what they cannot owe to what the model remembers.

use super::cells::{aggregation, answer_metrics};
use super::plan::{Line, lines};
use super::tables::Naming;
use closeread_eval::observations::{ItemFacts, ItemId, MetricName, Observations};
use closeread_metrics::Metric;
use closeread_metrics::stats::Estimate;
use closeread_table::number::{metric_label, thousands};
use closeread_table::{Table, Value};
use std::collections::{BTreeMap, HashMap};

/// The method that is given no book.
const CLOSED_BOOK: &str = "closed-book";
/// A score below this is a miss; of scores that are 0 or 1, every 0.
const MISSED_BELOW: f64 = 0.5;

/// Number of items that the closed book missed, and the mean over them, by metric.
type OnMissed = BTreeMap<MetricName, (usize, Option<Estimate>)>;

/// One line a cell whose model, in the same configuration, was asked with the book closed as well: its scores on the items of
/// which the closed book scored below a half. `None` if no model was asked so.
pub(crate) fn beyond_closed_book(table: &Observations) -> Option<Table> {
    let lines = lines(table);
    let is_closed = |line: &&Line| line.key.arm.method == CLOSED_BOOK;
    let closed_of = |line: &Line| {
        lines.iter().filter(is_closed).find(|closed| {
            closed.key.configuration == line.key.configuration && closed.key.arm.model == line.key.arm.model
        })
    };
    let rows: Vec<(&Line, OnMissed)> = lines
        .iter()
        .filter(|line| !is_closed(line))
        .filter_map(|line| Some((line, scores(table, line, closed_of(line)?))))
        .collect();
    let mut metrics: Vec<&MetricName> = rows.iter().flat_map(|(_, scores)| scores.keys()).collect();
    metrics.sort();
    metrics.dedup();
    if metrics.is_empty() {
        return None;
    }
    let naming = Naming::of(lines.iter().map(|line| &line.key));
    let mut columns = naming.heads();
    columns.extend(metrics.iter().flat_map(|metric| [metric_label(metric.name()), "n".to_owned()]));
    let mut shown = Table::new("beyond-closed-book", "Scores on the items that the closed book missed", columns);
    for (line, scores) in &rows {
        let mut row = naming.values(&line.key);
        for metric in &metrics {
            let (missed, estimate) =
                scores.get(*metric).map_or((0, None), |(missed, estimate)| (*missed, estimate.as_ref()));
            row.push(Value::score(estimate, "the closed book missed no item of this metric"));
            row.push(Value::count(estimate.map_or(missed, |estimate| estimate.n)));
        }
        shown.rows.push(row);
    }
    for line in lines.iter().filter(is_closed) {
        let missed = metrics.iter().filter_map(|metric| {
            let (missed, of) = missed(table, line, metric);
            (of > 0).then(|| {
                format!(
                    "{} of {} by {}",
                    thousands(missed.len() as u64),
                    thousands(of as u64),
                    metric_label(metric.name())
                )
            })
        });
        let missed: Vec<String> = missed.collect();
        shown.notes.push(format!("{} missed {} (a score below 0.5)", naming.full_name(&line.key), missed.join(", ")));
    }
    shown.explain_marks();
    Some(shown)
}

/// The mean of each metric over the items that the closed book missed by it, and how many these are.
fn scores(table: &Observations, line: &Line, closed: &Line) -> OnMissed {
    let of = |metric: MetricName| {
        let (missed, of) = missed(table, closed, &metric);
        if of == 0 {
            return None;
        }
        let n = missed.len();
        let estimate = table.aggregate(&line.rows().items(missed), &aggregation(&metric)).estimate;
        Some((metric, (n, estimate)))
    };
    // A pair is no item that could be missed.
    let metrics = answer_metrics(table, &closed.rows()).into_iter();
    metrics.filter(|metric| metric.known() != Some(Metric::PairAccuracy)).filter_map(of).collect()
}

/// The items that a line scored below a half, and how many it scored.
fn missed(table: &Observations, line: &Line, metric: &MetricName) -> (Vec<ItemId>, usize) {
    let scored = table.scores(&line.rows(), &aggregation(metric));
    let places: HashMap<*const ItemFacts, ItemId> =
        table.items().map(|(id, item)| (std::ptr::from_ref(item), id)).collect();
    let missed = scored.iter().filter(|unit| unit.value < MISSED_BELOW);
    let missed = missed.map(|unit| places[&std::ptr::from_ref(unit.item)]).collect();
    (missed, scored.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arm;
    use crate::testing::{answered, item, key, record, run};

    #[test]
    fn methods_are_scored_on_what_the_closed_book_missed() {
        let items = ["a", "b", "c", "d"].map(|id| item(id, "book"));
        let plan: Vec<Arm> =
            [("closed-book", None), ("m", Some(500)), ("m", Some(1000))].map(|(m, b)| key(m, b)).to_vec();
        let score = |arm: &Arm, id: &str, score: f64| record(arm, id, answered(), &[("accuracy", score)]);
        let mut records = Vec::new();
        for (id, closed, small, large) in
            [("a", 1.0, 1.0, 0.0), ("b", 0.0, 1.0, 1.0), ("c", 0.0, 0.0, 1.0), ("d", 0.0, 0.0, 1.0)]
        {
            records.extend([score(&plan[0], id, closed), score(&plan[1], id, small), score(&plan[2], id, large)]);
        }
        let table = beyond_closed_book(&run(&plan, &items, &records).observations().unwrap()).unwrap();
        let scores: Vec<(f64, u64)> = table
            .rows
            .iter()
            .map(|row| match row.as_slice() {
                [.., Value::Score { estimate }, Value::Count { count }] => (estimate.value, *count),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(scores, [(1.0 / 3.0, 3), (1.0, 3)]);
        assert!(table.notes[0].contains("missed 3 of 4 by accuracy"), "{:?}", table.notes);
        let without = run(&plan[1..], &items, &records);
        assert!(beyond_closed_book(&without.observations().unwrap()).is_none());
    }
}
