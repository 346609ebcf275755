//! Two choices of rows on the same items.

use super::unit::Scored;
use super::{Aggregation, ItemFacts, Observations, Rows};
use closeread_metrics::stats::paired::{Comparison, Pair, compare};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Two choices of rows, item by item: every planned id is in one of the lists. Of several cells an item's score is the mean
/// over them.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired<'a> {
    /// Items with the same id, the same gold answer, and a score on both sides.
    pub common: Vec<Common<'a>>,
    /// Ids with a score on the first side alone.
    pub only_a: Vec<&'a str>,
    /// Ids with a score on the second side alone.
    pub only_b: Vec<&'a str>,
    /// Ids that are planned on both sides, with different questions or gold answers.
    pub other_gold: Vec<&'a str>,
    /// Ids without a score on either side.
    pub neither: Vec<&'a str>,
}

/// An item with its scores on both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Common<'a> {
    /// The item, as the first side knows it.
    pub item: &'a ItemFacts,
    /// Score of the item on the first side.
    pub a: f64,
    /// Score of the item on the second side.
    pub b: f64,
}

impl Paired<'_> {
    /// The second side against the first, clustered by book; `None` without a common item.
    pub fn comparison(&self) -> Option<Comparison> {
        Common::compare(&self.common)
    }
}

impl Common<'_> {
    /// The second side against the first on these items, clustered by book; `None` without an item.
    pub fn compare(items: &[Self]) -> Option<Comparison> {
        let clusters: Vec<String> = items.iter().map(|both| both.item.cluster()).collect();
        let pairs = items.iter().zip(&clusters);
        compare(&pairs.map(|(Common { a, b, .. }, cluster)| Pair { a: *a, b: *b, cluster }).collect::<Vec<_>>())
    }
}

impl Observations {
    /// Rows `a` of this table beside rows `b` of `other`, which may be this table, too. Items of one id whose gold one side
    /// does not know are taken for the same.
    ///
    /// Common items stand in the order of this table, ids in alphabetical order.
    pub fn paired<'a>(&'a self, a: &Rows, other: &'a Self, b: &Rows, by: &Aggregation) -> Paired<'a> {
        let (of_a, of_b) = (self.sides(a, by), other.sides(b, by));
        let place_of_b: HashMap<&str, &Side<'_>> = of_b.iter().map(|side| (side.key.as_str(), side)).collect();
        let known: HashSet<&str> = of_a.iter().map(|side| side.key.as_str()).collect();
        let mut paired = Paired { common: vec![], only_a: vec![], only_b: vec![], other_gold: vec![], neither: vec![] };
        let both = of_a.iter().map(|side| (Some(side), place_of_b.get(side.key.as_str()).copied()));
        let rest = of_b.iter().filter(|side| !known.contains(side.key.as_str())).map(|side| (None, Some(side)));
        for (a, b) in both.chain(rest) {
            let Some(item) = a.or(b).map(|side| side.item) else { continue };
            if a.zip(b).is_some_and(|(a, b)| !a.may_be(b)) {
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
        let Paired { only_a, only_b, other_gold, neither, .. } = &mut paired;
        [only_a, only_b, other_gold, neither].into_iter().for_each(|ids| ids.sort_unstable());
        paired
    }

    /// Returns every planned unit with its scores, in the order of the table.
    fn sides(&self, rows: &Rows, by: &Aggregation) -> Vec<Side<'_>> {
        let mut sides: Vec<Side<'_>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let planned: BTreeSet<_> = self.rows(rows).map(|row| row.item).collect();
        for item in planned.into_iter().map(|id| self.item(id)) {
            let Some(key) = by.unit.key(item) else { continue };
            let place = *places.entry(key).or_insert_with_key(|key| {
                sides.push(Side { key: key.clone(), item, golds: BTreeMap::new(), scores: vec![] });
                sides.len() - 1
            });
            sides[place].golds.insert(&item.id, item.gold_under(&by.metric));
        }
        for Scored { item, value, .. } in self.scores(rows, by) {
            if let Some(place) = by.unit.key(item).and_then(|key| places.get(&key)) {
                sides[*place].scores.push(value);
            }
        }
        sides.retain(|side| side.golds.len() >= by.unit.at_least());
        sides
    }
}

/// A unit on one side.
struct Side<'a> {
    /// Name of the unit.
    key: String,
    item: &'a ItemFacts,
    /// The gold of each of its items.
    golds: BTreeMap<&'a str, [&'a str; 2]>,
    /// Scores of the unit, one a cell.
    scores: Vec<f64>,
}

impl Side<'_> {
    fn score(&self) -> Option<f64> {
        (!self.scores.is_empty()).then(|| self.scores.iter().sum::<f64>() / self.scores.len() as f64)
    }

    /// True unless the two have other items, or both know the gold of one and it differs.
    fn may_be(&self, other: &Self) -> bool {
        let same = |(here, there): (&&str, &&str)| here.is_empty() || there.is_empty() || here == there;
        let agree =
            |(id, gold): (&&str, &[&str; 2])| other.golds.get(id).is_some_and(|there| gold.iter().zip(there).all(same));
        self.golds.len() == other.golds.len() && self.golds.iter().all(agree)
    }
}
