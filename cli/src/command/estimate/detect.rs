//! Detectable differences: how many items tell a difference, before a run.

use closeread_eval::{Item, Task};
use closeread_metrics::stats::power::{found_by, items_to_find};
use closeread_table::number::{percent, thousands};
use closeread_table::{Table, Value};
use serde::Serialize;

/// Shares of the items on which two systems differ: near neighbours, a better retriever, another model.
const DIFFERING: [f64; 5] = [0.05, 0.1, 0.2, 0.3, 0.5];

/// The items needed to tell a difference where two systems differ on a share of the items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Detect {
    /// Share of the items on which the two differ.
    pub(super) differing: f64,
    /// Items that are needed; `null` where they cannot differ by so much.
    pub(super) items_needed: Option<u64>,
    /// The smallest difference, from 0 to 1, that the benchmark's items tell; `null` where they are too few for any.
    pub(super) told_by_items: Option<f64>,
}

/// Number of the items that one accuracy is over: the choices that have a gold answer, or without such the open questions.
pub(super) fn scored(items: &[Item]) -> usize {
    let choices = items.iter().filter(|item| item.task == Task::Choice && item.correct.is_some()).count();
    let is_open = |item: &&Item| item.task != Task::Choice && (!item.answers.is_empty() || item.key_facts.is_some());
    if choices > 0 { choices } else { items.iter().filter(is_open).count() }
}

/// Returns the items needed to tell a difference of `points` points, and a benchmark of `items` items.
pub(super) fn detect(points: f64, items: usize) -> Vec<Detect> {
    let of = |differing| Detect {
        differing,
        items_needed: items_to_find(points / 100.0, differing),
        told_by_items: found_by(items as u64, differing),
    };
    DIFFERING.into_iter().map(of).collect()
}

pub(super) fn table(points: f64, items: usize, rows: &[Detect]) -> Table {
    let these = format!("points that {} items tell", thousands(items as u64));
    let columns = vec!["the two differ on".to_owned(), "items needed".to_owned(), these];
    let title = format!("Items that tell a difference of {points} points of accuracy");
    let mut table = Table::new("detect", title, columns);
    for Detect { differing, items_needed, told_by_items } in rows {
        table.rows.push(vec![
            Value::text(format!("{}% of the items", percent(*differing))),
            items_needed.map_or_else(|| Value::missing("they differ on too few items"), |count| Value::Count { count }),
            told_by_items.map_or_else(
                || Value::missing("too few items for any difference"),
                |told| Value::Number { value: 100.0 * told, decimals: 1 },
            ),
        ]);
    }
    table.notes = vec![
        "80% power at the 5% level, both asked the same items, scores of 0 or 1".to_owned(),
        "items as if independent: where many are about one book more are needed; `closeread compare` says how many"
            .to_owned(),
    ];
    table
}
