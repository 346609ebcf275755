//! Standard errors of a mean whose items come in clusters: questions about one book are not independent.

use super::distribution::{normal_quantile, normal_two_sided};
use super::moments::sum;
use std::collections::BTreeMap;

/// One item's score, with the book it belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation<'a> {
    /// Score of the item, in 0..=1.
    pub value: f64,
    /// Questions about one book are not independent: they form a cluster.
    pub cluster: &'a str,
}

/// Fewest books whose spread is taken for the spread between books.
pub const MIN_CLUSTERS: usize = 5;
/// A standard error below this is rounding, not spread: scores are of the order of 1.
const ROUNDING: f64 = 1e-12;

/// A mean with its standard errors.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusteredMean {
    /// The mean over items: a cluster weighs as much as it has items.
    pub mean: f64,
    /// Number of items.
    pub n: usize,
    /// Number of different clusters.
    pub clusters: usize,
    /// Standard error as if items were independent, n - 1 in the divisor; `None` of one item.
    pub standard_error_iid: Option<f64>,
    /// sqrt(sum over clusters of (sum of its items' deviations from the mean)^2) / n (methods 8).
    pub standard_error: f64,
    /// Clustered standard error times sqrt(G / (G - 1)) for G clusters; `None` of one cluster, whose deviations always
    /// sum to 0.
    pub standard_error_small_sample: Option<f64>,
}

/// The mean of the observations with clustered standard errors; `None` of none, or if a value is not finite.
///
/// Observations that name no cluster are together one cluster: nothing says that they are independent.
pub fn clustered_mean(observations: &[Observation<'_>]) -> Option<ClusteredMean> {
    let values: Vec<f64> = observations.iter().map(|o| o.value).collect();
    let mean = super::mean(&values)?;
    let n = values.len();
    let mut residuals: BTreeMap<&str, f64> = BTreeMap::new();
    for o in observations {
        *residuals.entry(o.cluster).or_default() += o.value - mean;
    }
    let g = residuals.len();
    let squares: Vec<f64> = residuals.values().map(|r| r * r).collect();
    let standard_error = libm::sqrt(sum(&squares)) / n as f64;
    let iid = super::standard_deviation(&values, super::Divisor::NMinusOne).map(|sd| sd / libm::sqrt(n as f64));
    Some(ClusteredMean {
        mean,
        n,
        clusters: g,
        standard_error_iid: iid,
        standard_error,
        standard_error_small_sample: (g > 1).then(|| standard_error * libm::sqrt(g as f64 / (g as f64 - 1.0))),
    })
}

impl ClusteredMean {
    /// The small-sample standard error where it can be trusted: at least [`MIN_CLUSTERS`] clusters that differ.
    pub(super) fn trusted_error(&self) -> Option<f64> {
        self.standard_error_small_sample.filter(|&error| self.clusters >= MIN_CLUSTERS && error > ROUNDING)
    }
}

/// A mean held against 0 by its clustered standard error and the normal distribution (methods 8), as large-sample
/// theory has it. For few clusters [`compare`](super::paired::compare) uses Student's t instead.
#[derive(Debug, Clone, PartialEq)]
pub struct ZTest {
    /// Test statistic: mean over standard error.
    pub z: f64,
    /// Two-sided p-value.
    pub p_value: f64,
    /// Lower end of the 95% interval of the mean.
    pub low: f64,
    /// Upper end of the 95% interval of the mean.
    pub high: f64,
}

/// The z test of a clustered mean, without the small-sample factor; `None` if there is no spread to measure.
pub fn clustered_z_test(mean: &ClusteredMean) -> Option<ZTest> {
    if mean.standard_error <= ROUNDING {
        return None;
    }
    let z = mean.mean / mean.standard_error;
    let half = normal_quantile(0.975) * mean.standard_error;
    Some(ZTest { z, p_value: normal_two_sided(z), low: mean.mean - half, high: mean.mean + half })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed<'a>(values: &[f64], clusters: &[&'a str]) -> Vec<Observation<'a>> {
        values.iter().zip(clusters).map(|(&value, &cluster)| Observation { value, cluster }).collect()
    }

    #[test]
    fn clusters_of_one_are_independent_items() {
        let mean = clustered_mean(&observed(&[0.0, 1.0, 1.0, 0.5], &["a", "b", "c", "d"])).unwrap();
        let (small, iid) = (mean.standard_error_small_sample.unwrap(), mean.standard_error_iid.unwrap());
        assert!((small - iid).abs() < 1e-15);
        assert_eq!(mean.trusted_error(), None, "four clusters are too few");
    }

    #[test]
    fn one_cluster_has_no_spread_between_clusters() {
        let mean = clustered_mean(&observed(&[0.0, 1.0], &["", ""])).unwrap();
        assert_eq!((mean.standard_error, mean.standard_error_small_sample, mean.clusters), (0.0, None, 1));
        assert_eq!(clustered_z_test(&mean), None);
    }

    #[test]
    fn what_is_not_a_number_has_no_mean() {
        assert_eq!(clustered_mean(&[]), None);
        assert_eq!(clustered_mean(&observed(&[1.0, f64::NAN], &["a", "b"])), None);
    }
}
