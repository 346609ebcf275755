//! The percentile bootstrap: how a statistic varies when items, or whole books, are drawn again with replacement.

use super::clustered::MIN_CLUSTERS;
use super::moments::sum;
use crate::random::SplitMix64;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Resamples drawn where all possible ones are too many.
pub const RESAMPLES: usize = 2000;
/// Most units of which all resamples are taken: their 1,716 different ones are fewer than would be drawn.
const EXHAUSTIVE_UNITS: usize = 7;
/// Most values of which [`exhaustive_means`] lists all resamples, 92,378 different ones.
const EXHAUSTIVE_VALUES: usize = 10;
const SEED: u64 = 0x5EED_C105;

/// A 95% interval of a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// The 2.5th percentile, linear between order statistics.
    pub low: f64,
    /// Upper end: the 97.5th percentile.
    pub high: f64,
    /// Standard deviation of the statistic over the resamples.
    pub standard_error: f64,
    /// Whether books were drawn, not items.
    pub by_cluster: bool,
    /// Whether every possible resample was taken, each as often as it occurs, rather than 2,000 at random.
    pub exhaustive: bool,
}

/// The bootstrap of any statistic of a set of items, such as corpus BLEU.
///
/// `statistic` gets the indices (0..`n_items`, repeats included) of a resample; their order must not matter to it.
/// `clusters` names each item's book, or is empty. With at least five books, books are drawn with all their items,
/// otherwise items. Up to seven units every resample is taken, beyond 2,000 with a fixed seed, so that equal input
/// gives equal output. `None` without items, if `clusters` is neither empty nor one name an item, or if the statistic
/// is not finite on a resample.
pub fn bootstrap_statistic(
    n_items: usize,
    clusters: &[&str],
    mut statistic: impl FnMut(&[usize]) -> f64,
) -> Option<Bootstrap> {
    if n_items == 0 || !(clusters.is_empty() || clusters.len() == n_items) {
        return None;
    }
    let mut books: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (item, book) in clusters.iter().enumerate() {
        books.entry(book).or_default().push(item);
    }
    let by_cluster = books.len() >= MIN_CLUSTERS;
    let units: Vec<Vec<usize>> =
        if by_cluster { books.into_values().collect() } else { (0..n_items).map(|item| vec![item]).collect() };
    let exhaustive = units.len() <= EXHAUSTIVE_UNITS;
    let mut values = Vec::new();
    let mut resample = Vec::new();
    let mut take = |drawn: &mut dyn Iterator<Item = usize>, weight: u64| {
        resample.clear();
        drawn.for_each(|unit| resample.extend_from_slice(&units[unit]));
        values.push((statistic(&resample), weight));
    };
    if exhaustive {
        each_resample(units.len(), &mut |counts, weight| {
            take(&mut counts.iter().enumerate().flat_map(|(unit, &count)| std::iter::repeat_n(unit, count)), weight);
        });
    } else {
        let mut random = SplitMix64(SEED);
        for _ in 0..RESAMPLES {
            take(&mut (0..units.len()).map(|_| random.below(units.len())), 1);
        }
    }
    let resamples = Resamples::new(values)?;
    let at = |p| resamples.percentile(p, Percentile::Linear);
    Some(Bootstrap {
        low: at(0.025),
        high: at(0.975),
        standard_error: resamples.standard_deviation(),
        by_cluster,
        exhaustive,
    })
}

/// The bootstrap of a mean; `None` as [`bootstrap_statistic`].
pub fn bootstrap_mean(values: &[f64], clusters: &[&str]) -> Option<Bootstrap> {
    bootstrap_statistic(values.len(), clusters, |indices| {
        indices.iter().map(|&item| values[item]).sum::<f64>() / indices.len() as f64
    })
}

/// The means of all n^n resamples of n values; `None` for no or more than ten values, or if one is not finite.
pub fn exhaustive_means(values: &[f64]) -> Option<Resamples> {
    if values.is_empty() || values.len() > EXHAUSTIVE_VALUES {
        return None;
    }
    let mut means = Vec::new();
    each_resample(values.len(), &mut |counts, weight| {
        let total: f64 = counts.iter().zip(values).map(|(&count, value)| count as f64 * value).sum();
        means.push((total / values.len() as f64, weight));
    });
    Resamples::new(means)
}

/// The number that a percentile between two values is, in numpy's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Percentile {
    /// The number on the line between the two, numpy's default.
    Linear,
    /// The smallest value with at least that share at or below it.
    InvertedCdf,
}

/// The `p` quantile, `p` in 0..=1, of values in any order; `None` without values, if one is not a number, or for
/// another `p`.
pub fn percentile(values: &[f64], p: f64, method: Percentile) -> Option<f64> {
    let numbers = !values.iter().any(|value| value.is_nan());
    if values.is_empty() || !numbers || !(0.0..=1.0).contains(&p) {
        return None;
    }
    Some(Resamples::sorted(values.iter().map(|&value| (value, 1)).collect()).percentile(p, method))
}

/// The values of a statistic over resamples.
#[derive(Debug, Clone, PartialEq)]
pub struct Resamples {
    /// Ascending, each with the number of resamples that give it.
    values: Vec<(f64, u64)>,
    total: u64,
}

impl Resamples {
    fn new(values: Vec<(f64, u64)>) -> Option<Self> {
        values.iter().all(|(value, _)| value.is_finite()).then(|| Self::sorted(values))
    }

    fn sorted(mut values: Vec<(f64, u64)>) -> Self {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total = values.iter().map(|(_, weight)| weight).sum();
        Self { values, total }
    }

    /// Returns the number of resamples in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the mean of the statistic.
    pub fn mean(&self) -> f64 {
        sum(&self.values.iter().map(|(value, weight)| value * *weight as f64).collect::<Vec<_>>()) / self.total as f64
    }

    /// Standard deviation of the statistic, the number of resamples in the divisor.
    pub fn standard_deviation(&self) -> f64 {
        let mean = self.mean();
        let squares = self.values.iter().map(|(value, weight)| (value - mean) * (value - mean) * *weight as f64);
        libm::sqrt(sum(&squares.collect::<Vec<_>>()) / self.total as f64)
    }

    /// The `p` quantile, `p` in 0..=1.
    pub fn percentile(&self, p: f64, method: Percentile) -> f64 {
        match method {
            Percentile::Linear => {
                let position = p * (self.total - 1) as f64;
                let below = position as u64;
                let (low, high) = (self.at(below), self.at((below + 1).min(self.total - 1)));
                low + (position - below as f64) * (high - low)
            }
            Percentile::InvertedCdf => {
                let position = p * self.total as f64 - 1.0;
                self.at(libm::ceil(position).max(0.0) as u64)
            }
        }
    }

    /// The value at a place, counted from 0, of all resamples in ascending order.
    fn at(&self, place: u64) -> f64 {
        let mut before = 0;
        for &(value, weight) in &self.values {
            before += weight;
            if place < before {
                return value;
            }
        }
        self.values.last().expect("there is at least one resample").0
    }
}

/// Calls `take` with every way to draw `n` of `n` units with replacement, in any order: how often each is drawn, and
/// in how many orders, which is a multinomial coefficient.
fn each_resample(n: usize, take: &mut dyn FnMut(&[usize], u64)) {
    fn fill(counts: &mut [usize], unit: usize, left: usize, orders: u64, take: &mut dyn FnMut(&[usize], u64)) {
        if unit + 1 == counts.len() {
            counts[unit] = left;
            return take(counts, orders);
        }
        // orders * (left choose count), kept whole by multiplying before dividing.
        let mut ways = 1;
        for count in 0..=left {
            counts[unit] = count;
            fill(counts, unit + 1, left - count, orders * ways, take);
            ways = ways * (left - count) as u64 / (count + 1) as u64;
        }
    }
    fill(&mut vec![0; n], 0, n, 1, take);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resample_counts_as_often_as_it_occurs() {
        for n in 1..=8u32 {
            let all = exhaustive_means(&(0..n).map(f64::from).collect::<Vec<_>>()).unwrap();
            assert_eq!(all.total(), u64::from(n).pow(n));
            assert!((all.mean() - f64::from(n - 1) / 2.0).abs() < 1e-12);
        }
        assert_eq!(exhaustive_means(&[]), None);
        assert_eq!(exhaustive_means(&[f64::NAN]), None);
        assert_eq!(exhaustive_means(&[0.0; 11]), None);
    }

    #[test]
    fn books_are_drawn_whole() {
        let books = ["a", "a", "b", "b", "c", "d", "e", "f", "g", "h"];
        let result = bootstrap_statistic(10, &books, |indices| {
            let of_a = |item| indices.iter().filter(|&&i| i == item).count();
            assert_eq!(of_a(0), of_a(1));
            indices.len() as f64
        });
        assert!(result.unwrap().by_cluster && !result.unwrap().exhaustive);
        let few = bootstrap_mean(&[0.1, 0.5, 0.9], &["a", "b", "b"]).unwrap();
        assert!(!few.by_cluster && few.exhaustive);
    }

    #[test]
    fn what_cannot_be_drawn_is_absent() {
        assert_eq!(bootstrap_mean(&[], &[]), None);
        assert_eq!(bootstrap_mean(&[1.0, 2.0], &["a"]), None);
        assert_eq!(bootstrap_mean(&[1.0, f64::NAN], &[]), None);
        assert_eq!(percentile(&[], 0.5, Percentile::Linear), None);
        assert_eq!(percentile(&[f64::NAN], 0.5, Percentile::Linear), None);
        assert_eq!(percentile(&[1.0], 1.5, Percentile::Linear), None);
    }

    #[test]
    fn percentiles_by_either_definition() {
        let values = [3.0, 1.0, 2.0, 4.0];
        assert_eq!(percentile(&values, 0.5, Percentile::Linear), Some(2.5));
        assert_eq!(percentile(&values, 0.5, Percentile::InvertedCdf), Some(2.0));
        assert_eq!(percentile(&values, 0.0, Percentile::InvertedCdf), Some(1.0));
        assert_eq!(percentile(&values, 1.0, Percentile::Linear), Some(4.0));
    }
}
