//! 95% intervals for a mean over items.

use super::bootstrap::bootstrap_mean;
use super::clustered::{Observation, clustered_mean};
use super::distribution::student_quantile;
use super::proportion::wilson_of_mean;
use serde::{Deserialize, Serialize};

/// A mean with its 95% interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Estimate {
    /// The mean, in 0..=1.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Items the mean is taken over.
    pub n: usize,
    /// Method by which the interval was made.
    pub interval: IntervalMethod,
}

/// The method by which an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Mean +- t(G - 1) times the clustered standard error, small-sample variant, G books.
    ClusteredByBook,
    /// Wilson's score interval over items: fewer than five books, scores all 0 or 1. Also for scores that are all
    /// equal, which are taken to vary as much as scores of that mean can.
    Wilson,
    /// Percentile bootstrap over items: fewer than five books. Every resample of up to seven items, beyond 2,000 with
    /// a fixed seed.
    BootstrapOverItems,
    /// Percentile bootstrap over books, 2,000 resamples with a fixed seed or every one there is: of a statistic that is
    /// no mean, such as corpus BLEU.
    BootstrapByBook,
    /// Agresti and Min's interval over items, of a difference of paired scores alone: fewer than five books.
    AgrestiMin,
}

/// The mean of the observations with a 95% interval; `None` without observations, or if a value is not finite.
///
/// Clustered by book where at least five books are there to cluster by; else Wilson for scores that are all 0 or 1,
/// else the bootstrap over items. Both fallbacks ignore that questions cluster, so they are marked in `interval`.
/// Observations that name no book count as one book together. Scores that are all equal, or books that all have the
/// same mean, have no spread to measure: a width of zero would claim certainty, so the fallbacks serve there too.
pub fn estimate(observations: &[Observation<'_>]) -> Option<Estimate> {
    let clustered = clustered_mean(observations)?;
    let (n, value) = (clustered.n, clustered.mean);
    let values: Vec<f64> = observations.iter().map(|o| o.value).collect();
    let is_proportion = values.iter().all(|&v| v == 0.0 || v == 1.0);
    let all_equal = values.iter().all(|&v| v == values[0]);
    let (low, high, interval) = if let Some(error) = clustered.trusted_error() {
        let half = student_quantile(0.975, clustered.clusters as f64 - 1.0) * error;
        (value - half, value + half, IntervalMethod::ClusteredByBook)
    } else if is_proportion || all_equal {
        let (low, high) = wilson_of_mean(value.clamp(0.0, 1.0), n as f64, 0.95);
        (low, high, IntervalMethod::Wilson)
    } else {
        let drawn = bootstrap_mean(&values, &[])?;
        (drawn.low, drawn.high, IntervalMethod::BootstrapOverItems)
    };
    Some(Estimate { value, low: low.clamp(0.0, 1.0), high: high.clamp(0.0, 1.0), n, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn observed<'a>(values: &[f64], clusters: &[&'a str]) -> Vec<Observation<'a>> {
        values.iter().zip(clusters.iter().cycle()).map(|(&value, &cluster)| Observation { value, cluster }).collect()
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

    #[test]
    fn equal_scores_are_not_certain() {
        for values in [&[0.5][..], &[0.1; 9], &[1.0; 9]] {
            let equal = estimate(&observed(values, &["a", "b", "c", "d", "e", "f"])).unwrap();
            assert_eq!(equal.interval, IntervalMethod::Wilson);
            assert!(equal.high - equal.low > 0.1, "{equal:?}");
        }
        // Five books with the same mean: they vary within, not between.
        let books = ["a", "b", "c", "d", "e"];
        let within = estimate(&observed(&[0.1, 0.2, 0.3, 0.2, 0.1, 0.3, 0.2, 0.1, 0.2, 0.3], &books)).unwrap();
        assert_eq!(within.interval, IntervalMethod::BootstrapOverItems, "{within:?}");
    }

    #[test]
    fn what_is_not_a_number_is_not_estimated() {
        assert_eq!(estimate(&observed(&[1.0, f64::NAN], &["a"])), None);
        assert_eq!(estimate(&observed(&[f64::INFINITY], &["a"])), None);
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
