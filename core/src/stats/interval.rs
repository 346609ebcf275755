//! 95% intervals for a mean over items.

use super::distribution::{normal_quantile, student_quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Fewest books whose spread is taken for the spread between books.
const MIN_CLUSTERS: usize = 5;
/// Resamples of the bootstrap.
const RESAMPLES: usize = 2000;

/// One item's score, with the book it belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation<'a> {
    /// Score, in 0..=1.
    pub value: f64,
    /// Questions about one book are not independent: they form a cluster.
    pub cluster: &'a str,
}

/// A mean with its 95% interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean, in 0..=1.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Items the mean is taken over.
    pub n: usize,
    /// How the interval was made.
    pub interval: IntervalMethod,
}

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Mean +- t(G - 1) times the clustered standard error, small-sample variant, G books.
    ClusteredByBook,
    /// Wilson's score interval over items: fewer than five books, scores all 0 or 1.
    Wilson,
    /// Percentile bootstrap over items, 2,000 resamples, fixed seed: fewer than five books.
    BootstrapOverItems,
}

/// The mean of the observations with a 95% interval; `None` without observations.
///
/// Clustered by book where at least five books are there to cluster by; else Wilson for scores that are all 0 or 1,
/// else the bootstrap over items. Both fallbacks ignore that questions cluster, so they are marked in `interval`.
pub fn estimate(observations: &[Observation<'_>]) -> Option<Estimate> {
    let n = observations.len();
    if n == 0 {
        return None;
    }
    let value = observations.iter().map(|o| o.value).sum::<f64>() / n as f64;
    let mut residuals: BTreeMap<&str, f64> = BTreeMap::new();
    for o in observations {
        *residuals.entry(o.cluster).or_default() += o.value - value;
    }
    let is_proportion = observations.iter().all(|o| o.value == 0.0 || o.value == 1.0);
    let half = clustered_half_width(residuals.values().copied(), n);
    // Scores that are all equal have no spread to measure: a width of zero would claim certainty.
    let (low, high, interval) = if residuals.len() >= MIN_CLUSTERS && half > 0.0 {
        (value - half, value + half, IntervalMethod::ClusteredByBook)
    } else if is_proportion {
        let (low, high) = wilson(observations.iter().filter(|o| o.value == 1.0).count(), n, 0.95);
        (low, high, IntervalMethod::Wilson)
    } else {
        let values: Vec<f64> = observations.iter().map(|o| o.value).collect();
        let (low, high) = bootstrap(&values);
        (low, high, IntervalMethod::BootstrapOverItems)
    };
    Some(Estimate { value, low: low.clamp(0.0, 1.0), high: high.clamp(0.0, 1.0), n, interval })
}

/// Wilson's score interval for `successes` out of `n` > 0 at a level in 0..1, without continuity correction.
pub fn wilson(successes: usize, n: usize, level: f64) -> (f64, f64) {
    let z = normal_quantile(0.5 + level / 2.0);
    let (n, p) = (n as f64, successes as f64 / n as f64);
    let scale = 1.0 + z * z / n;
    let centre = (p + z * z / (2.0 * n)) / scale;
    let half = z * libm::sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n)) / scale;
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

/// 0 for too few clusters, else t(G - 1) sqrt(G / (G - 1) sum of squared cluster residuals) / n.
fn clustered_half_width(residuals: impl ExactSizeIterator<Item = f64>, n: usize) -> f64 {
    let g = residuals.len() as f64;
    if g < MIN_CLUSTERS as f64 {
        return 0.0;
    }
    let sum_of_squares: f64 = residuals.map(|r| r * r).sum();
    student_quantile(0.975, g - 1.0) * libm::sqrt(g / (g - 1.0) * sum_of_squares) / n as f64
}

fn bootstrap(values: &[f64]) -> (f64, f64) {
    let mut random = SplitMix64(0x5EED_C105);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| values.iter().map(|_| values[random.below(values.len())]).sum::<f64>() / values.len() as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    (percentile(&means, 0.025), percentile(&means, 0.975))
}

/// Linear interpolation between the order statistics, as numpy's default.
fn percentile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let below = position as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// Steele, Lea and Flood's generator: the same sequence on every platform.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((u128::from(z) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn observed<'a>(values: &[f64], clusters: &[&'a str]) -> Vec<Observation<'a>> {
        values.iter().zip(clusters.iter().cycle()).map(|(&value, &cluster)| Observation { value, cluster }).collect()
    }

    #[test]
    fn wilson_by_the_textbook() {
        let (low, high) = wilson(8, 10, 0.95);
        assert!((low - 0.490_162_471_536_648_8).abs() < 1e-9, "{low}");
        assert!((high - 0.943_317_848_545_625_2).abs() < 1e-9, "{high}");
    }

    #[test]
    fn five_books_cluster_and_four_do_not() {
        let values = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0];
        let five = estimate(&observed(&values, &["a", "b", "c", "d", "e"])).unwrap();
        assert_eq!(five.interval, IntervalMethod::ClusteredByBook);
        let four = estimate(&observed(&values, &["a", "b", "c", "d"])).unwrap();
        assert_eq!(four.interval, IntervalMethod::Wilson);
        let half = estimate(&observed(&[0.5, 1.0, 0.25], &["a"])).unwrap();
        assert_eq!(half.interval, IntervalMethod::BootstrapOverItems);
        assert_eq!(estimate(&[]), None);
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_mean(values in prop::collection::vec(0.0..=1.0f64, 1..40), g in 1usize..8) {
            let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let estimate = estimate(&observed(&values, &names[..g])).unwrap();
            prop_assert!(0.0 <= estimate.low && estimate.high <= 1.0);
            prop_assert!(estimate.low <= estimate.value + 1e-12 && estimate.value <= estimate.high + 1e-12);
        }
    }
}
