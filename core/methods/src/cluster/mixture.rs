//! Gaussian mixtures with full covariances, fitted as scikit-learn fits them, and the number of components by BIC.

use super::kmeans::kmeans;
use super::linear::inverse_cholesky;
use super::points::Points;
use crate::work::{Job, Workers};
use closeread_metrics::random::SplitMix64;
use std::sync::Arc;

/// Number that is added to the variances, so that a component of equal points has a density (scikit-learn's
/// `reg_covar`).
const REGULARIZATION: f64 = 1e-6;
/// Gain of the mean log-likelihood below which fitting ends (scikit-learn's `tol`).
const TOLERANCE: f64 = 1e-3;
/// Most rounds of expectation and maximisation (scikit-learn's `max_iter`).
const MAX_ROUNDS: usize = 100;
/// Responsibility below which it counts as none: it would change a sum by less than its rounding.
const NEGLIGIBLE: f64 = 1e-18;
/// A component whose logarithm of density lies so far below the likeliest's has none of the point: e^-45 < 1e-19.
const FAR_BELOW: f64 = 45.0;

/// A weighted sum of Gaussian densities.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianMixture {
    dimension: usize,
    components: Vec<Component>,
}

#[derive(Debug, Clone, PartialEq)]
struct Component {
    weight: f64,
    mean: Vec<f64>,
    /// Inverse of the covariance's lower Cholesky factor, row after row.
    whitening: Vec<f64>,
    /// Logarithm of weight and normalising factor.
    log_factor: f64,
}

impl Component {
    fn new(weight: f64, mean: Vec<f64>, covariance: &[f64]) -> Option<Self> {
        let d = mean.len();
        let whitening = inverse_cholesky(covariance, d)?;
        let log_root: f64 = (0..d).map(|c| libm::log(whitening[c * d + c])).sum();
        let log_factor = libm::log(weight) + log_root - 0.5 * d as f64 * libm::log(2.0 * std::f64::consts::PI);
        Some(Self { weight, mean, whitening, log_factor })
    }

    /// Logarithm of weight times density; minus infinity as soon as it is known to be less than `least`.
    fn log_density(&self, point: &[f64], least: f64, centred: &mut [f64]) -> f64 {
        let d = self.mean.len();
        let farthest = 2.0 * (self.log_factor - least);
        let mut distance = 0.0;
        for r in 0..d {
            centred[r] = point[r] - self.mean[r];
            let row = &self.whitening[r * d..][..=r];
            let y: f64 = row.iter().zip(&centred[..=r]).map(|(w, c)| w * c).sum();
            distance += y * y;
            if distance > farthest {
                return f64::NEG_INFINITY;
            }
        }
        self.log_factor - 0.5 * distance
    }
}

impl GaussianMixture {
    /// A mixture of given weights, means (one a row) and covariances (each d x d, row after row); `None` unless there is
    /// one of each for every component and each covariance is positive definite.
    pub fn new(weights: &[f64], means: &Points, covariances: &[Vec<f64>]) -> Option<Self> {
        let d = means.dimension();
        let whole = weights.len() == means.len() && weights.len() == covariances.len();
        if !whole || weights.is_empty() || covariances.iter().any(|covariance| covariance.len() != d * d) {
            return None;
        }
        let parts = weights.iter().zip(means.rows()).zip(covariances);
        let components = parts.map(|((&weight, mean), covariance)| Component::new(weight, mean.to_vec(), covariance));
        Some(Self { dimension: d, components: components.collect::<Option<_>>()? })
    }

    /// Fits `k` components: k-means gives the first responsibilities, then expectation and maximisation by turns.
    ///
    /// `None` if there are fewer points than components, or they lie so far apart that no covariance can be factored.
    pub fn fit(points: &Points, k: usize, seed: u64) -> Option<Self> {
        if k == 0 || points.len() < k {
            return None;
        }
        let labels = kmeans(points, k, &mut SplitMix64(seed));
        let mut responsibilities = vec![0.0; points.len() * k];
        for (idx, label) in labels.into_iter().enumerate() {
            responsibilities[idx * k + label] = 1.0;
        }
        let mut mixture = Self::maximised(points, &responsibilities, k)?;
        let mut before = f64::NEG_INFINITY;
        for _ in 0..MAX_ROUNDS {
            let likelihood = mixture.expect(points, &mut responsibilities);
            mixture = Self::maximised(points, &responsibilities, k)?;
            if (likelihood - before).abs() < TOLERANCE {
                break;
            }
            before = likelihood;
        }
        Some(mixture)
    }

    /// Does the maximisation step.
    fn maximised(points: &Points, responsibilities: &[f64], k: usize) -> Option<Self> {
        let d = points.dimension();
        let mut sizes = vec![10.0 * f64::EPSILON; k];
        let mut means = vec![0.0; k * d];
        for (point, shares) in points.rows().zip(responsibilities.chunks_exact(k)) {
            for (component, &share) in shares.iter().enumerate().filter(|(_, share)| **share > NEGLIGIBLE) {
                sizes[component] += share;
                means[component * d..][..d].iter_mut().zip(point).for_each(|(mean, x)| *mean += share * x);
            }
        }
        for (mean, size) in means.chunks_exact_mut(d).zip(&sizes) {
            mean.iter_mut().for_each(|x| *x /= size);
        }
        let mut covariances = vec![0.0; k * d * d];
        let mut centred = vec![0.0; d];
        for (point, shares) in points.rows().zip(responsibilities.chunks_exact(k)) {
            for (component, &share) in shares.iter().enumerate().filter(|(_, share)| **share > NEGLIGIBLE) {
                for ((c, x), mean) in centred.iter_mut().zip(point).zip(&means[component * d..]) {
                    *c = x - mean;
                }
                let covariance = &mut covariances[component * d * d..][..d * d];
                for r in 0..d {
                    let scaled = share * centred[r];
                    // The upper triangle follows from the lower.
                    covariance[r * d..][..=r].iter_mut().zip(&centred).for_each(|(sum, c)| *sum += scaled * c);
                }
            }
        }
        let total: f64 = sizes.iter().sum();
        let components = sizes.iter().zip(means.chunks_exact(d)).zip(covariances.chunks_exact_mut(d * d));
        let components = components.map(|((&size, mean), covariance)| {
            covariance.iter_mut().for_each(|sum| *sum /= size);
            (0..d).for_each(|r| covariance[r * d + r] += REGULARIZATION);
            Component::new(size / total, mean.to_vec(), covariance)
        });
        Some(Self { dimension: d, components: components.collect::<Option<_>>()? })
    }

    /// The expectation step: fills in each point's responsibilities, gives the mean log-likelihood.
    fn expect(&self, points: &Points, responsibilities: &mut [f64]) -> f64 {
        let k = self.components.len();
        let mut centred = vec![0.0; self.dimension];
        let mut sum = 0.0;
        for (point, shares) in points.rows().zip(responsibilities.chunks_exact_mut(k)) {
            sum += self.share_out(point, shares, &mut centred);
        }
        sum / points.len() as f64
    }

    /// Computes one point's responsibilities, and the logarithm of its density.
    fn share_out(&self, point: &[f64], shares: &mut [f64], centred: &mut [f64]) -> f64 {
        // The component that was likeliest before most often is again, and then few others need all their coordinates.
        let first = likeliest(shares);
        let mut most = self.components[first].log_density(point, f64::NEG_INFINITY, centred);
        shares[first] = most;
        for (idx, component) in self.components.iter().enumerate().filter(|(idx, _)| *idx != first) {
            shares[idx] = component.log_density(point, most - FAR_BELOW, centred);
            most = most.max(shares[idx]);
        }
        let mut sum = 0.0;
        for share in shares.iter_mut() {
            *share = if *share < most - FAR_BELOW { 0.0 } else { libm::exp(*share - most) };
            sum += *share;
        }
        shares.iter_mut().for_each(|share| *share /= sum);
        most + libm::log(sum)
    }

    /// Weight of each component; their sum is 1.
    pub fn weights(&self) -> impl Iterator<Item = f64> {
        self.components.iter().map(|component| component.weight)
    }

    /// Free parameters: k d for the means, k d (d + 1) / 2 for the covariances, k - 1 for the weights.
    pub fn n_parameters(&self) -> usize {
        let (k, d) = (self.components.len(), self.dimension);
        k * d + k * d * (d + 1) / 2 + k - 1
    }

    /// Mean over the points of the logarithm of their density.
    pub fn mean_log_likelihood(&self, points: &Points) -> f64 {
        self.expect(points, &mut vec![0.0; points.len() * self.components.len()])
    }

    /// Bayesian information criterion: -2 log-likelihood + p ln n; less is better.
    pub fn bic(&self, points: &Points) -> f64 {
        let n = points.len() as f64;
        -2.0 * self.mean_log_likelihood(points) * n + self.n_parameters() as f64 * libm::log(n)
    }

    /// Returns for each point the posterior of every component.
    pub fn responsibilities(&self, points: &Points) -> Vec<Vec<f64>> {
        let k = self.components.len();
        let mut all = vec![0.0; points.len() * k];
        self.expect(points, &mut all);
        all.chunks_exact(k).map(<[f64]>::to_vec).collect()
    }

    /// Returns for each point the components whose posterior is above `threshold`, ascending; where none is, the
    /// likeliest.
    ///
    /// RAPTOR's code leaves such a point out of the tree; here every point is a member of something.
    pub fn memberships(&self, points: &Points, threshold: f64) -> Vec<Vec<usize>> {
        let of = |posteriors: Vec<f64>| {
            let above: Vec<usize> = (0..posteriors.len()).filter(|&c| posteriors[c] > threshold).collect();
            if above.is_empty() { vec![likeliest(&posteriors)] } else { above }
        };
        self.responsibilities(points).into_iter().map(of).collect()
    }
}

fn likeliest(posteriors: &[f64]) -> usize {
    (0..posteriors.len()).fold(0, |best, c| if posteriors[c] > posteriors[best] { c } else { best })
}

/// The number of components, from 1 up to min(`most`, n) - 1, whose fit has the least BIC; the smallest of equals.
///
/// RAPTOR's `get_optimal_clusters`. With few points the minimum can lie at many components of a point or two.
pub(crate) async fn fewest_by_bic(workers: &impl Workers, points: &Arc<Points>, most: usize, seed: u64) -> usize {
    let job = |k: usize| {
        let points = Arc::clone(points);
        Box::new(move || GaussianMixture::fit(&points, k, seed).map_or(f64::INFINITY, |mixture| mixture.bic(&points)))
            as Job<f64>
    };
    // Those that take longest go first, so that no thread is left alone with one of them.
    let bics = workers.all((1..most.min(points.len())).rev().map(job).collect()).await;
    let mut best = (f64::INFINITY, 1);
    for (k, bic) in (1..).zip(bics.into_iter().rev()) {
        if bic < best.0 {
            best = (bic, k);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Inline;
    use futures_util::FutureExt;
    use proptest::prelude::*;

    /// Three groups of twenty points on a line.
    fn groups() -> Points {
        let mut random = SplitMix64(7);
        let at = |group: usize, random: &mut SplitMix64| 50.0 * group as f64 + random.normal();
        Points::new(1, (0..60).map(|i| at(i % 3, &mut random)).collect())
    }

    #[test]
    fn a_fit_finds_the_groups_and_bic_their_number() {
        let points = Arc::new(groups());
        assert_eq!(fewest_by_bic(&Inline, &points, 8, 224).now_or_never(), Some(3));
        let mixture = GaussianMixture::fit(&points, 3, 0).unwrap();
        assert!(mixture.weights().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-9));
        let memberships = mixture.memberships(&points, 0.1);
        assert!((0..60).all(|i| memberships[i].len() == 1 && memberships[i] == memberships[i % 3]));
    }

    #[test]
    fn equal_points_have_a_mixture_and_too_few_have_none() {
        let equal = Points::new(2, vec![1.0; 12]);
        assert!(GaussianMixture::fit(&equal, 3, 0).unwrap().mean_log_likelihood(&equal).is_finite());
        assert_eq!(GaussianMixture::fit(&equal, 7, 0), None);
        let two = Arc::new(Points::new(2, vec![1.0; 2]));
        assert_eq!(fewest_by_bic(&Inline, &two, 50, 0).now_or_never(), Some(1));
    }

    proptest! {
        #[test]
        fn posteriors_add_up_to_one_and_a_round_never_makes_the_points_less_likely(
            values in prop::collection::vec(-9.0..9.0f64, 2 * 30), k in 1usize..6, seed: u64,
        ) {
            let points = Points::new(2, values);
            let mixture = GaussianMixture::fit(&points, k, seed).unwrap();
            let mut responsibilities = vec![0.0; 30 * k];
            let before = mixture.expect(&points, &mut responsibilities);
            for shares in responsibilities.chunks_exact(k) {
                prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
            let after = GaussianMixture::maximised(&points, &responsibilities, k).unwrap();
            // The regularisation of the covariances costs a little.
            prop_assert!(after.mean_log_likelihood(&points) >= before - 1e-3);
            prop_assert!(mixture.memberships(&points, 0.9).iter().all(|member| !member.is_empty()));
        }
    }
}
