//! Two runs on the same items: the difference, how sure it is, and what it would take to be surer.

use super::clustered::{ClusteredMean, MIN_CLUSTERS, clustered_mean};
use super::distribution::{binomial_cdf, chi_squared_upper, normal_quantile, student_quantile, student_two_sided};
use super::power::{SampleSize, needed};
use super::{Divisor, IntervalMethod, Observation, bootstrap_mean, mean, permutation, standard_deviation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One item's scores under two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'a> {
    /// Score under run A, in 0..=1.
    pub a: f64,
    /// Score under run B, in 0..=1.
    pub b: f64,
    /// The item's book; empty if it names none.
    pub cluster: &'a str,
}

/// Run B against run A on the same items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Comparison {
    /// Number of items.
    pub n: usize,
    /// Different books; items that name none are together one.
    pub clusters: usize,
    /// Mean score of run A.
    pub mean_a: f64,
    /// Mean score of run B.
    pub mean_b: f64,
    /// Difference of the means, `mean_b` - `mean_a`.
    pub difference: f64,
    /// Lower end of the 95% interval of the difference.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Method of the interval: clustered by book, or, marked by another name, over items.
    pub interval: IntervalMethod,
    /// Standard error of the difference: clustered by book with the small-sample factor where the interval is, else
    /// over items. `None` of one item.
    pub standard_error: Option<f64>,
    /// Two-sided p-value of `test`.
    pub p_value: f64,
    /// The test that applies to these scores.
    pub test: TestName,
    /// McNemar's test, where all scores are 0 or 1.
    pub mcnemar: Option<McNemar>,
    /// Two-sided p-value of the paired permutation test, signs flipped for whole books where there are at least five.
    pub permutation_p: f64,
    /// 95% percentile bootstrap of the difference, whole books drawn where there are at least five.
    pub bootstrap: Ends,
    /// Items and books needed to find a difference of this size; `None` if there is none or all items differ alike.
    pub needed: Option<SampleSize>,
}

/// The ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Ends {
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// A test of whether two runs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TestName {
    /// Student's t on the difference over its clustered standard error, G - 1 degrees of freedom: five books or more.
    ClusteredT,
    /// McNemar's exact test over items: scores of 0 or 1, fewer than five books.
    McnemarExact,
    /// The paired permutation test over items: other scores, fewer than five books.
    Permutation,
}

/// Items that only one of two runs got right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct McNemar {
    /// Number of items that are right under A alone.
    pub only_a: u64,
    /// Number of items that are right under B alone.
    pub only_b: u64,
    /// Exact two-sided p-value.
    pub p: f64,
}

/// A p-value below this, with an interval that does not hold zero, counts as a difference.
pub const ALPHA: f64 = 0.05;

/// One of the two runs that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first run.
    A,
    /// The second run.
    B,
}

impl Comparison {
    /// The run that is ahead: by more than chance explains, by test and interval, and over as many items as are needed to
    /// find a difference of this size. `None` where that cannot be told.
    pub fn ahead(&self) -> Option<Side> {
        let is_enough = self.needed.as_ref().is_none_or(|needed| self.n as u64 >= needed.items);
        match (self.p_value < ALPHA && is_enough, self.low > 0.0, self.high < 0.0) {
            (true, true, _) => Some(Side::B),
            (true, _, true) => Some(Side::A),
            _ => None,
        }
    }
}

/// Compares run B with run A; `None` without pairs, or if a score is not finite.
///
/// With at least five books whose differences vary, interval and test are clustered by book, as those of
/// [`estimate`](super::estimate). Otherwise they are over items, which ignores that questions cluster, and `interval`
/// says so: Agresti and Min's where all scores are 0 or 1 or all items differ alike (a width of 0 would claim
/// certainty), else the bootstrap; McNemar's exact test where all scores are 0 or 1, else the permutation test.
pub fn compare(pairs: &[Pair<'_>]) -> Option<Comparison> {
    let a: Vec<f64> = pairs.iter().map(|pair| pair.a).collect();
    let b: Vec<f64> = pairs.iter().map(|pair| pair.b).collect();
    let (mean_a, mean_b) = (mean(&a)?, mean(&b)?);
    let differences: Vec<f64> = pairs.iter().map(|pair| pair.b - pair.a).collect();
    let observations: Vec<Observation<'_>> =
        pairs.iter().zip(&differences).map(|(pair, &value)| Observation { value, cluster: pair.cluster }).collect();
    let clustered = clustered_mean(&observations)?;
    let books: Vec<&str> = pairs.iter().map(|pair| pair.cluster).collect();
    let drawn = bootstrap_mean(&differences, &books)?;
    let binary = a.iter().chain(&b).all(|&score| score == 0.0 || score == 1.0);
    let mcnemar = binary.then(|| {
        let (only_a, only_b) = (count(&differences, -1.0), count(&differences, 1.0));
        McNemar { only_a, only_b, p: mcnemar_exact(only_a, only_b) }
    });
    let flipped = permutation(&units(&observations, clustered.clusters))?;
    let t = clustered.trusted_error().map(|error| t_test(&clustered, error));
    let (test, p_value) = match (&t, &mcnemar) {
        (Some(t), _) => (TestName::ClusteredT, t.p_value),
        (None, Some(mcnemar)) => (TestName::McnemarExact, mcnemar.p),
        (None, None) => (TestName::Permutation, permutation(&differences)?.two_sided),
    };
    let alike = differences.iter().all(|&d| d == differences[0]);
    let (low, high, interval) = match &t {
        Some(t) => (t.low, t.high, IntervalMethod::ClusteredByBook),
        None if binary || alike => {
            let (low, high) = agresti_min(&differences);
            (low, high, IntervalMethod::AgrestiMin)
        }
        None => {
            let over_items = bootstrap_mean(&differences, &[])?;
            (over_items.low, over_items.high, IntervalMethod::BootstrapOverItems)
        }
    };
    Some(Comparison {
        n: pairs.len(),
        clusters: clustered.clusters,
        mean_a,
        mean_b,
        difference: clustered.mean,
        low: low.clamp(-1.0, 1.0),
        high: high.clamp(-1.0, 1.0),
        interval,
        standard_error: clustered.trusted_error().or(clustered.standard_error_iid),
        p_value,
        test,
        mcnemar,
        permutation_p: flipped.two_sided,
        bootstrap: Ends { low: drawn.low, high: drawn.high },
        needed: needed(&clustered),
    })
}

fn count(differences: &[f64], value: f64) -> u64 {
    differences.iter().filter(|&&d| d == value).count() as u64
}

/// The differences whose signs flip: of books, summed, where there are enough of them, else of items.
fn units(observations: &[Observation<'_>], clusters: usize) -> Vec<f64> {
    if clusters < MIN_CLUSTERS {
        return observations.iter().map(|o| o.value).collect();
    }
    let mut books: BTreeMap<&str, f64> = BTreeMap::new();
    for o in observations {
        *books.entry(o.cluster).or_default() += o.value;
    }
    books.into_values().collect()
}

struct ClusteredT {
    low: f64,
    high: f64,
    p_value: f64,
}

fn t_test(clustered: &ClusteredMean, error: f64) -> ClusteredT {
    let df = clustered.clusters as f64 - 1.0;
    let half = student_quantile(0.975, df) * error;
    let p_value = student_two_sided(clustered.mean / error, df);
    ClusteredT { low: clustered.mean - half, high: clustered.mean + half, p_value }
}

/// Agresti and Min (2005): the normal interval after adding half an item to each of the four outcomes of a pair. It
/// has a width even where no pair differs.
fn agresti_min(differences: &[f64]) -> (f64, f64) {
    let n = differences.len() as f64 + 2.0;
    let mean = differences.iter().sum::<f64>() / n;
    // The added halves of "only A" and "only B" bring 1 in squares and cancel in the sum.
    let mean_square = (differences.iter().map(|d| d * d).sum::<f64>() + 1.0) / n;
    let half = normal_quantile(0.975) * libm::sqrt((mean_square - mean * mean) / n);
    (mean - half, mean + half)
}

/// McNemar's exact test: twice the smaller binomial tail of the discordant pairs, at most 1; 1 if none are.
pub fn mcnemar_exact(only_a: u64, only_b: u64) -> f64 {
    (2.0 * binomial_cdf(only_a.min(only_b), only_a + only_b, 0.5)).min(1.0)
}

/// McNemar's chi-squared test as (statistic, p-value), with or without Edwards' continuity correction; `None` without
/// discordant pairs.
///
/// The correction is statsmodels': (|a - b| - 1)^2, which is 1 and not 0 where both are equal.
pub fn mcnemar_chi_squared(only_a: u64, only_b: u64, corrected: bool) -> Option<(f64, f64)> {
    let discordant = only_a + only_b;
    if discordant == 0 {
        return None;
    }
    let surplus = only_a.abs_diff(only_b) as f64 - if corrected { 1.0 } else { 0.0 };
    let statistic = surplus * surplus / discordant as f64;
    Some((statistic, chi_squared_upper(statistic, 1.0)))
}

/// Student's paired t test of differences as (t, two-sided p-value), items independent; `None` of fewer than two, if
/// all are equal, or if one is not finite.
pub fn paired_t(differences: &[f64]) -> Option<(f64, f64)> {
    let n = differences.len() as f64;
    let deviation = standard_deviation(differences, Divisor::NMinusOne)?;
    let alike = differences.iter().all(|&d| d == differences[0]);
    if alike || deviation == 0.0 {
        return None;
    }
    let t = mean(differences)? / (deviation / libm::sqrt(n));
    Some((t, student_two_sided(t, n - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs<'a>(a: &[f64], b: &[f64], books: &[&'a str]) -> Vec<Pair<'a>> {
        let scores = a.iter().zip(b).zip(books.iter().cycle());
        scores.map(|((&a, &b), &cluster)| Pair { a, b, cluster }).collect()
    }

    const FIVE: [&str; 5] = ["a", "b", "c", "d", "e"];

    #[test]
    fn five_books_cluster_and_four_do_not() {
        let (a, b) = ([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        let five = compare(&pairs(&a, &b, &FIVE)).unwrap();
        assert_eq!((five.interval, five.test), (IntervalMethod::ClusteredByBook, TestName::ClusteredT));
        assert!(five.needed.unwrap().clusters.is_some());
        let four = compare(&pairs(&a, &b, &FIVE[..4])).unwrap();
        assert_eq!((four.interval, four.test), (IntervalMethod::AgrestiMin, TestName::McnemarExact));
        let mcnemar = four.mcnemar.unwrap();
        assert_eq!((mcnemar.only_a, mcnemar.only_b), (1, 3));
        assert!((mcnemar.p - 0.625).abs() < 1e-14);
        assert_eq!(four.needed.unwrap().clusters, None);
        let halves = compare(&pairs(&[0.5, 0.25, 1.0], &[0.75, 0.5, 0.0], &[""])).unwrap();
        assert_eq!((halves.interval, halves.test), (IntervalMethod::BootstrapOverItems, TestName::Permutation));
        assert_eq!((halves.clusters, halves.mcnemar), (1, None));
    }

    #[test]
    fn a_run_compared_with_itself_is_not_certain() {
        for (score, books) in [(1.0, &FIVE[..]), (0.3, &FIVE[..]), (0.3, &FIVE[..1])] {
            let same = compare(&pairs(&[score; 20], &[score; 20], books)).unwrap();
            assert_eq!((same.difference, same.p_value, same.permutation_p), (0.0, 1.0, 1.0));
            assert!(same.low < 0.0 && same.high > 0.0 && same.needed.is_none(), "{same:?}");
        }
    }

    #[test]
    fn one_item_and_none() {
        assert_eq!(compare(&[]), None);
        assert_eq!(compare(&pairs(&[f64::NAN], &[1.0], &["a"])), None);
        assert_eq!(compare(&pairs(&[1.0], &[f64::INFINITY], &["a"])), None);
        let one = compare(&pairs(&[0.0], &[1.0], &["a"])).unwrap();
        assert_eq!((one.n, one.p_value, one.standard_error, one.needed), (1, 1.0, None, None));
        assert!(one.low < 0.0, "{one:?}");
    }

    #[test]
    fn tests_without_differences() {
        assert_eq!(mcnemar_exact(0, 0), 1.0);
        assert_eq!(mcnemar_chi_squared(0, 0, true), None);
        assert_eq!(paired_t(&[1.0]), None);
        assert_eq!(paired_t(&[0.1, 0.1, 0.1]), None);
        assert!((mcnemar_exact(0, 5) - 0.0625).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn exchanging_the_runs_exchanges_the_signs(
            scores in prop::collection::vec((0u8..5, 0u8..5), 1..25), books in 1usize..6,
        ) {
            let a: Vec<f64> = scores.iter().map(|s| f64::from(s.0) / 4.0).collect();
            let b: Vec<f64> = scores.iter().map(|s| f64::from(s.1) / 4.0).collect();
            let forth = compare(&pairs(&a, &b, &FIVE[..books.min(5)])).unwrap();
            let back = compare(&pairs(&b, &a, &FIVE[..books.min(5)])).unwrap();
            prop_assert!((forth.difference + back.difference).abs() < 1e-12);
            prop_assert!((forth.p_value - back.p_value).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&forth.p_value) && (0.0..=1.0).contains(&forth.permutation_p));
            prop_assert!(forth.low <= forth.high && -1.0 <= forth.low && forth.high <= 1.0);
            let json = serde_json::to_string(&forth).unwrap();
            prop_assert!(!json.contains("NaN"), "{}", json);
            let read: Comparison = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(read.test, forth.test);
        }
    }
}
