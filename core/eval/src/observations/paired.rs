//! Two choices of rows on the same items.

use super::unit::Scored;
use super::{Aggregation, ItemFacts, Observations, Rows};
use closeread_metrics::stats::paired::{Comparison, Pair, compare};
use std::collections::{BTreeMap, BTreeSet};

/// Two choices of rows, item by item: every planned id is in one of the lists. Of several cells an item's score is the mean
/// over them.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired<'a> {
    /// Same id, same gold answer, and a score on both sides.
    pub common: Vec<Common<'a>>,
    /// Ids with a score on the first side alone.
    pub only_a: Vec<&'a str>,
    /// Ids with a score on the second side alone.
    pub only_b: Vec<&'a str>,
    /// Planned on both sides, with different questions or gold answers.
    pub other_gold: Vec<&'a str>,
    /// Ids without a score on either side.
    pub neither: Vec<&'a str>,
}

/// An item with its scores on both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Common<'a> {
    /// The item, as the first side knows it.
    pub item: &'a ItemFacts,
    /// Its score on the first side.
    pub a: f64,
    /// Its score on the second side.
    pub b: f64,
}

impl Paired<'_> {
    /// The second side against the first, clustered by book; `None` without a common item.
    pub fn comparison(&self) -> Option<Comparison> {
        let clusters: Vec<String> = self.common.iter().map(|common| common.item.cluster()).collect();
        let pairs = self.common.iter().zip(&clusters);
        compare(&pairs.map(|(Common { a, b, .. }, cluster)| Pair { a: *a, b: *b, cluster }).collect::<Vec<_>>())
    }
}

impl Observations {
    /// Rows `a` of this table beside rows `b` of `other`, which may be this table, too.
    pub fn paired<'a>(&'a self, a: &Rows, other: &'a Self, b: &Rows, by: &Aggregation) -> Paired<'a> {
        let (of_a, of_b) = (self.sides(a, by), other.sides(b, by));
        let mut paired = Paired { common: vec![], only_a: vec![], only_b: vec![], other_gold: vec![], neither: vec![] };
        let keys: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
        for key in keys {
            let (a, b) = (of_a.get(key), of_b.get(key));
            let Some(item) = a.or(b).map(|side| side.item) else { continue };
            if a.zip(b).is_some_and(|(a, b)| a.golds != b.golds) {
                paired.other_gold.push(&item.id);
                continue;
            }
            match (a.and_then(Side::score), b.and_then(Side::score)) {
                (Some(a), Some(b)) => paired.common.push(Common { item, a, b }),
                (Some(_), None) => paired.only_a.push(&item.id),
                (None, Some(_)) => paired.only_b.push(&item.id),
                (None, None) => paired.neither.push(&item.id),
            }
        }
        paired
    }

    /// Every planned unit with its scores, by what names it.
    fn sides(&self, rows: &Rows, by: &Aggregation) -> BTreeMap<String, Side<'_>> {
        let mut sides: BTreeMap<String, Side<'_>> = BTreeMap::new();
        let planned: BTreeSet<_> = self.rows(rows).map(|row| row.item).collect();
        for item in planned.into_iter().map(|id| self.item(id)) {
            if let Some(key) = by.unit.key(item) {
                let side = sides.entry(key).or_insert_with(|| Side { item, golds: BTreeSet::new(), scores: vec![] });
                side.golds.insert((&item.id, &item.gold));
            }
        }
        sides.retain(|_, side| side.golds.len() >= by.unit.at_least());
        for Scored { item, value, .. } in self.scores(rows, by) {
            if let Some(side) = by.unit.key(item).and_then(|key| sides.get_mut(&key)) {
                side.scores.push(value);
            }
        }
        sides
    }
}

/// A unit on one side.
struct Side<'a> {
    item: &'a ItemFacts,
    /// Its items with their gold answers.
    golds: BTreeSet<(&'a str, &'a str)>,
    /// One a cell.
    scores: Vec<f64>,
}

impl Side<'_> {
    fn score(&self) -> Option<f64> {
        (!self.scores.is_empty()).then(|| self.scores.iter().sum::<f64>() / self.scores.len() as f64)
    }
}
