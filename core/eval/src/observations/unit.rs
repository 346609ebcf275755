//! Units: items, pairs of claims, or books, which a mean is taken over.

use super::aggregation::Unit;
use super::{CellId, ItemFacts, ItemId, Observations};
use std::collections::BTreeMap;

/// Label that the claims of a pair share, within their documents (NoCha).
pub const PAIR: &str = "pair";

/// The score of one item, pair or book of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored<'a> {
    /// The cell.
    pub cell: CellId,
    /// The item; of a pair or book the first that counts.
    pub item: &'a ItemFacts,
    /// Score of the unit.
    pub value: f64,
}

/// The number that one observation counts for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) cell: CellId,
    pub(super) item: ItemId,
    pub(super) repeat: u32,
    pub(super) value: f64,
}

impl Unit {
    /// Names what an item belongs to; `None` if it belongs to no pair.
    pub(super) fn key(self, item: &ItemFacts) -> Option<String> {
        match self {
            Self::Item => Some(item.id.clone()),
            Self::Pair => item.label(PAIR).map(|pair| format!("{}\n\n{pair}", item.cluster())),
            Self::Book => Some(item.cluster()),
        }
    }

    /// The fewest items that make one.
    pub(super) const fn at_least(self) -> usize {
        match self {
            Self::Item | Self::Book => 1,
            Self::Pair => 2,
        }
    }
}

/// The scores of all units: an item's is the mean over its repeats; a pair's the lowest of its items', of which there
/// are two or more; a book's the mean over its items. `points` come item by item.
pub(super) fn scored<'a>(table: &'a Observations, unit: Unit, points: &[Point]) -> Vec<Scored<'a>> {
    let of_item = |points: &[Point]| {
        let value = points.iter().map(|point| point.value).sum::<f64>() / points.len() as f64;
        Scored { cell: points[0].cell, item: table.item(points[0].item), value }
    };
    let items = points.chunk_by(|a, b| (a.cell, a.item) == (b.cell, b.item)).map(of_item);
    if unit == Unit::Item {
        return items.collect();
    }
    let mut members: BTreeMap<(CellId, String), Vec<Scored<'a>>> = BTreeMap::new();
    for item in items {
        if let Some(key) = unit.key(item.item) {
            members.entry((item.cell, key)).or_default().push(item);
        }
    }
    let whole = |items: Vec<Scored<'a>>| {
        let values = || items.iter().map(|item| item.value);
        let value = match unit {
            Unit::Pair => values().fold(f64::INFINITY, f64::min),
            Unit::Item | Unit::Book => values().sum::<f64>() / items.len() as f64,
        };
        Scored { value, ..items[0].clone() }
    };
    members.into_values().filter(|items| items.len() >= unit.at_least()).map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, done, item};
    use super::super::{Aggregation, FailurePolicy, Rows};
    use super::*;

    #[test]
    fn a_pair_is_as_right_as_its_worst_claim_and_a_book_as_its_mean() {
        let claim = |id: &str, book: &str, pair: &str| ItemFacts {
            documents: vec![book.to_owned()],
            labels: BTreeMap::from([(PAIR.to_owned(), pair.to_owned())]),
            ..item(id)
        };
        let items = [claim("a", "x", "1"), claim("b", "x", "1"), claim("c", "x", "2"), claim("d", "y", "1")];
        let rows = [("a", 1.0), ("b", 0.5), ("c", 0.0)].map(|(id, score)| done("m", id, 0, Some(score)));
        let table = Observations::new("bench", vec![cell("m")], &items, 1, rows.into_iter());
        let scores = |unit, policy| -> Vec<(String, f64)> {
            let by = Aggregation { unit, policy, ..Aggregation::new("f1") };
            table.scores(&Rows::all(), &by).into_iter().map(|one| (one.item.id.clone(), one.value)).collect()
        };
        let (wrong, out) = (FailurePolicy::Wrong, FailurePolicy::LeftOut);
        assert_eq!(scores(Unit::Pair, wrong), [("a".to_owned(), 0.5)]);
        assert_eq!(scores(Unit::Book, wrong), [("a".to_owned(), 0.5), ("d".to_owned(), 0.0)]);
        assert_eq!(scores(Unit::Book, out), [("a".to_owned(), 0.5)]);
    }
}
