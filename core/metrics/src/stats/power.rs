//! Power of a comparison: how many items it takes.

use super::clustered::ClusteredMean;
use super::distribution::normal_quantile;
use serde::{Deserialize, Serialize};

/// Level of the two-sided test that is to find the difference.
const LEVEL: f64 = 0.05;
/// Chance that the comparison finds the difference.
const POWER: f64 = 0.8;
/// A difference below this is rounding: no number of items separates the runs.
const ROUNDING: f64 = 1e-12;

/// The sample size that a comparison would need to find a difference of the observed size: 80% power, two-sided test at
/// 5%.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SampleSize {
    /// Items in all, those at hand included.
    pub items: u64,
    /// Books in all, each with as many items as now; `None` where items and not books were the sample.
    pub clusters: Option<u64>,
    /// The smallest difference that the items at hand would find with that power.
    pub detectable: f64,
}

/// The sample needed to find `differences.mean` (of paired scores), its standard error shrinking with the root of
/// the number of books, or of items where there are fewer than five books.
///
/// `None` if there is no difference or no spread. The estimate takes the observed difference and spread for the true
/// ones, so it is no more precise than they are.
pub fn needed(differences: &ClusteredMean) -> Option<SampleSize> {
    let by_cluster = differences.trusted_error();
    let error = by_cluster.or(differences.standard_error_iid).filter(|&error| error > ROUNDING)?;
    let detectable = (normal_quantile(1.0 - LEVEL / 2.0) + normal_quantile(POWER)) * error;
    let difference = differences.mean.abs();
    if difference < ROUNDING {
        return None;
    }
    let times = (detectable / difference) * (detectable / difference);
    let at_least = |count: usize| libm::ceil(count as f64 * times) as u64;
    Some(SampleSize {
        items: at_least(differences.n),
        clusters: by_cluster.map(|_| at_least(differences.clusters)),
        detectable,
    })
}

/// Items that a paired comparison needs to find a difference of two means of 0/1 scores, with 80% power at the 5% level, where
/// the two differ on a share `differing` of the items; `None` if they cannot differ by so much.
///
/// The items are taken for independent: where many are about one book more are needed.
pub fn items_to_find(difference: f64, differing: f64) -> Option<u64> {
    let variance = differing - difference * difference;
    let quantiles = normal_quantile(1.0 - LEVEL / 2.0) + normal_quantile(POWER);
    let is_possible = difference > ROUNDING && difference <= differing && differing <= 1.0;
    is_possible.then(|| libm::ceil(quantiles * quantiles * variance / (difference * difference)).max(1.0) as u64)
}

/// Returns the smallest difference that `items` items find, as [`items_to_find`] takes them; `None` if they are too
/// few even where one system is always better.
pub fn found_by(items: u64, differing: f64) -> Option<f64> {
    let quantiles = normal_quantile(1.0 - LEVEL / 2.0) + normal_quantile(POWER);
    let square = quantiles * quantiles;
    // n d^2 = q^2 (s - d^2), solved for d.
    let difference = libm::sqrt(square * differing / (items as f64 + square));
    (difference <= differing).then_some(difference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_that_items_find_is_the_one_that_needs_them() {
        // (1.95996 + 0.84162)^2 = 7.8489; (0.2 - 0.0004) / 0.0004 = 499; together 3916.6.
        assert_eq!(items_to_find(0.02, 0.2), Some(3917));
        assert_eq!((items_to_find(0.3, 0.2), items_to_find(0.0, 0.2)), (None, None));
        for items in [50, 500, 5000] {
            let needed = items_to_find(found_by(items, 0.3).unwrap(), 0.3).unwrap();
            assert!(needed.abs_diff(items) <= 1, "{items} {needed}");
        }
        // All differ in one direction: 7.8489 * (0.05 - 0.0025) / 0.0025 = 149.1.
        assert_eq!((items_to_find(0.05, 0.05), found_by(149, 0.05)), (Some(150), None));
        assert!(found_by(150, 0.05).is_some_and(|found| found <= 0.05) && found_by(1, 0.1).is_none());
    }
    use crate::stats::{Observation, clustered_mean};

    #[test]
    fn halving_the_difference_takes_four_times_the_items() {
        let need = |shift: f64| {
            let values = (0..40).map(|i| if i % 2 == 0 { 0.5 + shift } else { shift - 0.5 });
            let observations: Vec<_> = values.map(|value| Observation { value, cluster: "" }).collect();
            needed(&clustered_mean(&observations).unwrap()).unwrap()
        };
        let (one, half) = (need(0.2), need(0.1));
        assert!((half.items as f64 / one.items as f64 - 4.0).abs() < 0.1, "{one:?} {half:?}");
        assert_eq!((one.clusters, one.detectable), (None, half.detectable));
        // (1.96 + 0.84)^2 * variance (40 / 39 * 0.25) / 0.2^2 = 50.3.
        assert_eq!(one.items, 51);
    }

    #[test]
    fn without_difference_or_spread_no_number_of_items_will_do() {
        for values in [[0.0; 6], [0.3; 6], [0.5, -0.5, 0.5, -0.5, 0.5, -0.5]] {
            let observations: Vec<_> = values.iter().map(|&value| Observation { value, cluster: "" }).collect();
            assert_eq!(needed(&clustered_mean(&observations).unwrap()), None, "{values:?}");
        }
    }
}
