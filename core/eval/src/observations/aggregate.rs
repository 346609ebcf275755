//! The one aggregator: from rows to a mean with its interval, the rows that it leaves out, and the ledger.

use super::aggregation::{Aggregation, Unit};
use super::mean::{Basis, Mean, Seen, mean_of};
use super::unit::{Point, scored};
use super::{Counted, ItemFacts, ItemId, Ledger, Observation, Observations, Out, Rows, Scored};
use closeread_metrics::stats::{Divisor, Estimate, mean, standard_deviation};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A mean and what it was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// The mean with its interval; `None` where nothing counts.
    pub estimate: Option<Estimate>,
    /// The basis of the mean beside items.
    pub basis: Basis,
    /// Number of observations that count.
    pub counted: usize,
    /// Number of counted observations that count as 0 by the rule.
    pub zeros: usize,
    /// Observations that do not count, by reason; with [`Self::counted`] they are all that was planned.
    pub out: BTreeMap<Out, usize>,
    /// Ledger: how the observations ended.
    pub ledger: Ledger,
    /// With several repeats: the mean of each repeat alone.
    pub repeats: Option<OverRepeats>,
    /// Mean tokens of the prompts, over the trials that made one.
    pub tokens: Option<f64>,
}

/// The mean over units of each repeat, over the repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OverRepeats {
    /// Mean of the repeats' means; `None` where nothing counts.
    pub mean: Option<f64>,
    /// Sample standard deviation of the repeats' means; `None` below two.
    pub sd: Option<f64>,
    /// Repeats that have a mean.
    pub n: usize,
}

/// Aggregates by group.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped<K> {
    /// Each group's aggregate, in order.
    pub groups: Vec<(K, Aggregate)>,
    /// Items that are in no group.
    pub in_none: usize,
}

impl Aggregate {
    /// Returns the number of observations that were planned.
    pub fn planned(&self) -> usize {
        self.ledger.planned()
    }

    /// True if no trial is missing.
    pub fn is_complete(&self) -> bool {
        self.ledger.is_complete()
    }
}

impl Observations {
    /// The mean of these rows.
    pub fn aggregate(&self, rows: &Rows, by: &Aggregation) -> Aggregate {
        self.aggregate_rows(self.rows(rows), by, self.repeats(rows))
    }

    /// The mean of each group of items that `key` gives.
    pub fn grouped<K: Ord>(&self, rows: &Rows, by: &Aggregation, key: impl Fn(&ItemFacts) -> Option<K>) -> Grouped<K> {
        let mut groups: BTreeMap<K, Vec<&Observation>> = BTreeMap::new();
        let (mut in_none, repeats): (BTreeSet<ItemId>, _) = (BTreeSet::new(), self.repeats(rows));
        for row in self.rows(rows) {
            match key(self.item(row.item)) {
                Some(key) => groups.entry(key).or_default().push(row),
                None => drop(in_none.insert(row.item)),
            }
        }
        let aggregate = |rows: Vec<_>| self.aggregate_rows(rows.into_iter(), by, repeats);
        Grouped {
            groups: groups.into_iter().map(|(key, rows)| (key, aggregate(rows))).collect(),
            in_none: in_none.len(),
        }
    }

    /// Returns the score of each unit of these rows; a unit of which nothing counts is left out.
    pub fn scores(&self, rows: &Rows, by: &Aggregation) -> Vec<Scored<'_>> {
        let seen = self.rows(rows).filter_map(|row| Some((row, self.counted(row, by).ok()?)));
        let seen: Vec<Seen<'_>> = seen.map(|(row, counted)| Seen { row, counted }).collect();
        scored(self, by.unit, &points(&seen, by))
    }

    /// Returns each of these rows that counts, with the number that it counts for.
    pub fn trials(&self, rows: &Rows, by: &Aggregation) -> Vec<(&Observation, f64)> {
        let number = |row| match self.counted(row, by).ok()? {
            Counted::Score(score) => score.value(&by.metric),
            Counted::Zero | Counted::Out(_) => Some(0.0),
        };
        self.rows(rows).filter_map(|row| Some((row, number(row)?))).collect()
    }

    /// Returns what an observation counts for, or why it does not.
    fn counted<'a>(&'a self, row: &'a Observation, by: &Aggregation) -> Result<Counted<'a>, Out> {
        match by.policy.counted(by.counting, self.item(row.item), row, &by.metric) {
            Counted::Out(out) => Err(out),
            counted => Ok(counted),
        }
    }

    fn aggregate_rows<'a>(
        &'a self,
        rows: impl Iterator<Item = &'a Observation>,
        by: &Aggregation,
        n_repeats: u32,
    ) -> Aggregate {
        let mut out: BTreeMap<Out, usize> = BTreeMap::new();
        let (mut ledger, mut seen) = (Ledger::default(), Vec::new());
        let (mut tokens, mut n_prompts) = (0usize, 0usize);
        for row in rows {
            ledger.count(row.outcome);
            tokens = tokens.saturating_add(row.spent.prompt_tokens);
            n_prompts += usize::from(row.spent.prompt_tokens > 0);
            match self.counted(row, by) {
                Ok(counted) => seen.push(Seen { row, counted }),
                Err(why) => *out.entry(why).or_default() += 1,
            }
        }
        let points = points(&seen, by);
        let units = scored(self, by.unit, &points);
        let Mean { estimate, basis } = mean_of(self, by, &units, &seen);
        Aggregate {
            estimate,
            basis,
            counted: seen.len(),
            zeros: seen.iter().filter(|seen| seen.counted == Counted::Zero).count(),
            out,
            ledger,
            repeats: (n_repeats > 1).then(|| self.over_repeats(n_repeats, by.unit, &points)),
            tokens: (n_prompts > 0).then(|| tokens as f64 / n_prompts as f64),
        }
    }

    fn over_repeats(&self, n_repeats: u32, unit: Unit, points: &[Point]) -> OverRepeats {
        let of_repeat = |repeat| {
            let points: Vec<Point> = points.iter().copied().filter(|point| point.repeat == repeat).collect();
            let values: Vec<f64> = scored(self, unit, &points).iter().map(|unit| unit.value).collect();
            mean(&values)
        };
        let means: Vec<f64> = (0..n_repeats).filter_map(of_repeat).collect();
        let sd = if means.len() > 1 { standard_deviation(&means, Divisor::NMinusOne) } else { None };
        OverRepeats { mean: mean(&means), sd, n: means.len() }
    }
}

fn points(seen: &[Seen<'_>], by: &Aggregation) -> Vec<Point> {
    let point = |Seen { row, counted }: &Seen<'_>| {
        let value = match counted {
            Counted::Score(score) => score.value(&by.metric).unwrap_or(0.0),
            Counted::Zero | Counted::Out(_) => 0.0,
        };
        Point { cell: row.cell, item: row.item, repeat: row.repeat, value }
    };
    seen.iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Weighting;
    use super::super::testing::{cell, done, item};
    use super::*;

    #[test]
    fn tokens_are_those_of_the_prompts_that_were_made() {
        let mut rows = ["a", "b", "c"].map(|id| done("m", id, 0, Some(1.0)));
        (rows[0].spent.prompt_tokens, rows[1].spent.prompt_tokens) = (100, 300);
        let items = ["a", "b", "c"].map(item);
        let table = Observations::new("bench", vec![cell("m")], &items, 1, rows.into_iter());
        let made = table.aggregate(&Rows::all(), &Aggregation::new("f1"));
        assert_eq!((made.tokens, made.repeats, made.counted), (Some(200.0), None, 3));
        let none = Observations::new("bench", vec![cell("m")], &items, 1, std::iter::empty());
        assert_eq!(none.aggregate(&Rows::all(), &Aggregation::new("f1")).tokens, None);
    }

    #[test]
    fn a_weighting_in_a_manifest() {
        let all = [Weighting::Item, Weighting::Pooled, Weighting::MeanOver("domain".to_owned())];
        assert_eq!(serde_json::to_string(&all).unwrap(), r#"["item","pooled",{"mean_over":"domain"}]"#);
    }
}
