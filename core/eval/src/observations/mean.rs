//! The three means, each with its 95% interval.
//!
//! A pooled share and a mean of means are no means over items, but each is, to first order, the mean of one number an
//! item: its value plus what the item moves it by (the linearised statistic of survey sampling). The interval is that of
//! [`estimate`] over these numbers, so all three cluster by the same books.

use super::aggregation::{Aggregation, Weighting};
use super::observation::bleu;
use super::{Applies, Counted, MetricName, Observation, Observations, Score, Scored};
use closeread_metrics::bleu::BleuStatistics;
use closeread_metrics::stats::{self, Estimate, IntervalMethod, bootstrap_statistic, estimate};
use std::collections::BTreeMap;

/// The basis of a mean.
#[derive(Debug, Clone, PartialEq)]
pub enum Basis {
    /// The mean is over items, pairs or books.
    Units,
    /// The mean is over denominators added up.
    Pooled {
        /// Sum of the denominators.
        of: u64,
        /// Observations that count as 0 and have no denominator of their own.
        zeros_without_of: usize,
    },
    /// Means of a label's values.
    Groups {
        /// Each value of the label with its mean.
        groups: BTreeMap<String, GroupMean>,
        /// Units without the label, which are left out.
        unlabelled: usize,
    },
}

/// The mean of a label's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupMean {
    /// Mean over the units that have the value.
    pub mean: f64,
    /// Number of units.
    pub n: usize,
}

/// An observation that counts.
pub(super) struct Seen<'a> {
    pub(super) row: &'a Observation,
    pub(super) counted: Counted<'a>,
}

/// A mean and what it is made of.
pub(super) struct Mean {
    pub(super) estimate: Option<Estimate>,
    pub(super) basis: Basis,
}

pub(super) fn mean_of(table: &Observations, by: &Aggregation, units: &[Scored<'_>], seen: &[Seen<'_>]) -> Mean {
    match &by.weighting {
        Weighting::Item => {
            let of_units = units.iter().map(|unit| (unit.value, unit.item.cluster())).collect();
            Mean { estimate: clustered(None, of_units), basis: Basis::Units }
        }
        Weighting::MeanOver(label) => mean_over(label, units),
        Weighting::Pooled => pooled(table, &by.metric, seen),
    }
}

/// The interval of a mean of `numbers`, each with its cluster, around `value` where it is known more exactly.
fn clustered(value: Option<f64>, numbers: Vec<(f64, String)>) -> Option<Estimate> {
    let observations: Vec<stats::Observation<'_>> =
        numbers.iter().map(|(value, cluster)| stats::Observation { value: *value, cluster }).collect();
    let made = estimate(&observations)?;
    Some(Estimate { value: value.unwrap_or(made.value), ..made })
}

fn mean_over(label: &str, units: &[Scored<'_>]) -> Mean {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for unit in units {
        if let Some(value) = unit.item.label(label) {
            values.entry(value).or_default().push(unit.value);
        }
    }
    let of_value = |values: Vec<f64>| GroupMean { mean: stats::mean(&values).unwrap_or(0.0), n: values.len() };
    let groups: BTreeMap<&str, GroupMean> = values.into_iter().map(|(name, values)| (name, of_value(values))).collect();
    let n: usize = groups.values().map(|group| group.n).sum();
    let value = groups.values().map(|group| group.mean).sum::<f64>() / groups.len() as f64;
    let moved = |unit: &Scored<'_>| {
        let group = groups.get(unit.item.label(label)?)?;
        let weight = n as f64 / (groups.len() * group.n) as f64;
        Some((unit.value * weight + (value - weight * group.mean), unit.item.cluster()))
    };
    Mean {
        estimate: clustered(Some(value), units.iter().filter_map(moved).collect()),
        basis: Basis::Groups {
            unlabelled: units.len() - n,
            groups: groups.into_iter().map(|(name, group)| (name.to_owned(), group)).collect(),
        },
    }
}

fn pooled(table: &Observations, metric: &MetricName, seen: &[Seen<'_>]) -> Mean {
    let is_bleu = |seen: &Seen<'_>| matches!(seen.counted, Counted::Score(Score::Bleu(_)));
    if seen.iter().any(is_bleu) {
        return corpus_bleu(table, metric, seen);
    }
    let mut zeros_without_of = 0;
    let mut shares: Vec<(f64, u64, String)> = Vec::new();
    for rows in of_items(seen) {
        let item = table.item(rows[0].row.item);
        let (mut hits, mut of) = (0.0, 0);
        for seen in rows {
            let (more_hits, more) = match (seen.counted, item.applies(metric)) {
                (Counted::Score(Score::Ratio { hit, of }), _) => (f64::from(*hit), u64::from(*of)),
                (Counted::Score(score), _) => (score.value(metric).unwrap_or(0.0), 1),
                (_, Applies::OutOf(of)) => (0.0, u64::from(of)),
                (_, Applies::Once) => (0.0, 1),
                (_, Applies::OutOfAnswer | Applies::Not) => {
                    zeros_without_of += 1;
                    (0.0, 0)
                }
            };
            hits += more_hits;
            of += more;
        }
        if of > 0 {
            shares.push((hits, of, item.cluster()));
        }
    }
    let of: u64 = shares.iter().map(|(_, of, _)| of).sum();
    let (n, total) = (shares.len() as f64, of as f64);
    let value = shares.iter().map(|(hits, ..)| hits).sum::<f64>() / total;
    let moved = |(hits, of, cluster)| ((hits * n - value * (of as f64 * n - total)) / total, cluster);
    let estimate = clustered(Some(value), shares.into_iter().map(moved).collect());
    Mean { estimate, basis: Basis::Pooled { of, zeros_without_of } }
}

/// BLEU of all answers together, with the percentiles of its bootstrap. A zero adds the tokens of its reference. A single
/// item has no spread to measure, so its interval is all there is.
fn corpus_bleu(table: &Observations, metric: &MetricName, seen: &[Seen<'_>]) -> Mean {
    let mut zeros_without_of = 0;
    let mut counts: Vec<(BleuStatistics, String)> = Vec::new();
    for rows in of_items(seen) {
        let item = table.item(rows[0].row.item);
        let mut sum = BleuStatistics::default();
        for seen in rows {
            match (seen.counted, item.applies(metric)) {
                (Counted::Score(Score::Bleu(counts)), _) => sum += *counts,
                (_, Applies::OutOf(of)) => sum.reference_length += u64::from(of),
                _ => zeros_without_of += 1,
            }
        }
        if sum.reference_length > 0 {
            counts.push((sum, item.cluster()));
        }
    }
    let all: BleuStatistics = counts.iter().map(|(counts, _)| counts).sum();
    let value = bleu(&all, metric);
    let clusters: Vec<&str> = counts.iter().map(|(_, cluster)| cluster.as_str()).collect();
    let drawn = bootstrap_statistic(counts.len(), &clusters, |places| {
        bleu(&places.iter().map(|place| &counts[*place].0).sum(), metric)
    });
    let estimate = drawn.map(|drawn| {
        let interval =
            if drawn.by_cluster { IntervalMethod::BootstrapByBook } else { IntervalMethod::BootstrapOverItems };
        // The percentiles of a skewed statistic can miss the value itself, which must not stand outside its interval.
        let (low, high) = if counts.len() == 1 { (0.0, 1.0) } else { (drawn.low.min(value), drawn.high.max(value)) };
        Estimate { value, low, high, n: counts.len(), interval }
    });
    Mean { estimate, basis: Basis::Pooled { of: all.reference_length, zeros_without_of } }
}

/// The observations item by item.
fn of_items<'s, 'a>(seen: &'s [Seen<'a>]) -> impl Iterator<Item = &'s [Seen<'a>]> {
    seen.chunk_by(|a, b| (a.row.cell, a.row.item) == (b.row.cell, b.row.item))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, done, item};
    use super::super::{Done, Ending, ItemFacts, Rows};
    use super::*;
    use closeread_metrics::Words;

    #[test]
    fn a_pooled_share_of_five_books_has_an_interval_by_book() {
        let books = ["v", "w", "x", "y", "z"];
        let items = books.map(|id| ItemFacts { documents: vec![id.to_owned()], ..item(id) });
        let rows = books.into_iter().zip([(1, 2), (3, 4), (0, 1), (9, 10), (2, 8)]).map(|(id, (hit, of))| Done {
            scores: BTreeMap::from([("recall".into(), Score::Ratio { hit, of })]),
            ..done("m", id, 0, None)
        });
        let table = Observations::new("bench", vec![cell("m")], &items, 1, rows);
        let by = |weighting| Aggregation { weighting, ..Aggregation::new("recall") };
        let made = table.aggregate(&Rows::all(), &by(Weighting::Pooled));
        let share = made.estimate.unwrap();
        assert_eq!((share.value, share.n, share.interval), (0.6, 5, IntervalMethod::ClusteredByBook));
        assert!(0.0 < share.low && share.low < 0.6 && 0.6 < share.high && share.high <= 1.0, "{share:?}");
        assert_eq!(made.basis, Basis::Pooled { of: 25, zeros_without_of: 0 });
    }

    #[test]
    fn a_zero_adds_its_reference_to_corpus_bleu() {
        let metric = MetricName::from("bleu_1");
        let counts = BleuStatistics::new("the mill burned", &["the mill burned"], Words::Reference);
        let whole = |id: &str| Done {
            scores: BTreeMap::from([(metric.clone(), Score::Bleu(counts))]),
            ..done("m", id, 0, None)
        };
        let applies = BTreeMap::from([(metric.clone(), Applies::OutOf(3))]);
        let items = ["a", "b"].map(|id| ItemFacts { metrics: applies.clone(), ..item(id) });
        let made = |rows: Vec<Done>| {
            let table = Observations::new("bench", vec![cell("m")], &items, 1, rows.into_iter());
            let by = Aggregation { weighting: Weighting::Pooled, ..Aggregation::new(metric.clone()) };
            table.aggregate(&Rows::all(), &by)
        };
        assert_eq!(made(vec![whole("a"), whole("b")]).estimate.unwrap().value, 1.0);
        let half = made(vec![whole("a"), Done { outcome: Ending::Failed, ..whole("b") }]);
        assert_eq!(half.estimate.unwrap().value, libm::exp(-1.0));
        assert_eq!(half.basis, Basis::Pooled { of: 6, zeros_without_of: 0 });
    }
}
