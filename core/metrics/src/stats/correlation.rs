//! Pearson, Spearman and Kendall correlations with two-sided p-values, as scipy 1.14 computes them.
//!
//! All three are `None` for lists of different or no length, a single point, a value that is not a number, or a list
//! that is constant: there is no coefficient then. Infinite values have ranks but no mean: only Pearson refuses them.

use super::distribution::{normal_two_sided, student_two_sided};
use super::moments::sum;
use super::special::incomplete_beta;
use serde::{Deserialize, Serialize};

/// Most points without ties for which Kendall's p-value is exact, as in scipy.
const KENDALL_EXACT_POINTS: usize = 33;
/// Number from which on n! is beyond the range of a number, and scipy calls the rarest orders impossible.
const FACTORIAL_OVERFLOW: usize = 171;

/// A coefficient of correlation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// The coefficient, in -1..=1.
    pub coefficient: f64,
    /// Chance of a coefficient at least as far from 0 without any relation; `None` where two points leave no degree
    /// of freedom (Spearman).
    pub p_value: Option<f64>,
    /// Number of points.
    pub n: usize,
}

/// Pearson's r; its p-value is exact for normal data: r is then beta distributed on -1..=1 with a = b = n / 2 - 1.
///
/// Two points give 1 or -1 with a p-value of 1.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<Correlation> {
    let n = usable(x, y)?;
    if x.iter().chain(y).any(|value| value.is_infinite()) {
        return None;
    }
    if n == 2 {
        let coefficient = if (x[0] < x[1]) == (y[0] < y[1]) { 1.0 } else { -1.0 };
        return Some(Correlation { coefficient, p_value: Some(1.0), n });
    }
    // The order of the operations is scipy's: near 1 the p-value hangs on the last bit.
    let (x, norm_x) = centred(x);
    let (y, norm_y) = centred(y);
    let products: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x / norm_x * y / norm_y).collect();
    let r = sum(&products);
    if r.is_nan() {
        // Differences beyond the range of a number.
        return None;
    }
    let r = r.clamp(-1.0, 1.0);
    let shape = n as f64 / 2.0 - 1.0;
    // scipy shifts r to 0..=1 and so drops its last bit; near 1 the p-value is whatever is left.
    let place = (1.0 + r.abs()) / 2.0;
    let p = 2.0 * incomplete_beta(shape, shape, 1.0 - place, place);
    Some(Correlation { coefficient: r, p_value: Some(p.min(1.0)), n })
}

/// The deviations from the mean and their norm.
fn centred(values: &[f64]) -> (Vec<f64>, f64) {
    let mean = sum(values) / values.len() as f64;
    let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let largest = deviations.iter().fold(0.0f64, |largest, d| largest.max(d.abs()));
    let squares: Vec<f64> = deviations.iter().map(|d| (d / largest) * (d / largest)).collect();
    let norm = largest * libm::sqrt(sum(&squares));
    (deviations, norm)
}

/// Spearman's rho over average ranks; its p-value is by Student's t with n - 2 degrees of freedom.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<Correlation> {
    let n = usable(x, y)?;
    let (x, y) = (average_ranks(x), average_ranks(y));
    let middle = (n as f64 + 1.0) / 2.0;
    // These sums are whole quarters, so exact; what follows is numpy's corrcoef, operation by operation.
    let scale = 1.0 / (n as f64 - 1.0);
    let covariance =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>() * scale;
    let (sd_x, sd_y) = (libm::sqrt(covariance(&x, &x)), libm::sqrt(covariance(&y, &y)));
    let rho = (covariance(&y, &x) / sd_y / sd_x).clamp(-1.0, 1.0);
    let df = n as f64 - 2.0;
    let t = rho * libm::sqrt((df / ((rho + 1.0) * (1.0 - rho))).max(0.0));
    let p_value = (n > 2).then(|| student_two_sided(t, df));
    Some(Correlation { coefficient: rho, p_value, n })
}

/// Kendall's tau-b. The p-value is exact without ties if there are at most 33 points, or at most one discordant or at
/// most one concordant pair; otherwise it is that of [`kendall_asymptotic_p`].
pub fn kendall(x: &[f64], y: &[f64]) -> Option<Correlation> {
    let n = usable(x, y)?;
    let pairs = KendallPairs::count(x, y);
    let exact = pairs.without_ties() && (n <= KENDALL_EXACT_POINTS || pairs.discordant.min(pairs.concordant()) <= 1);
    let p_value = if exact { pairs.exact_p() } else { pairs.asymptotic_p() };
    let root = |ties: u64| libm::sqrt((pairs.total - ties) as f64);
    let tau = pairs.surplus() / root(pairs.x.pairs) / root(pairs.y.pairs);
    Some(Correlation { coefficient: tau.clamp(-1.0, 1.0), p_value, n })
}

/// The p-value of Kendall's tau by the normal distribution, ties corrected for; `None` as [`kendall`], and for two
/// points.
pub fn kendall_asymptotic_p(x: &[f64], y: &[f64]) -> Option<f64> {
    usable(x, y)?;
    KendallPairs::count(x, y).asymptotic_p()
}

/// The exact p-value of Kendall's tau; `None` as [`kendall`], and with ties.
///
/// Takes time in proportion to the cube of the number of points where concordant and discordant pairs balance.
pub fn kendall_exact_p(x: &[f64], y: &[f64]) -> Option<f64> {
    usable(x, y)?;
    KendallPairs::count(x, y).exact_p()
}

/// The rank of each value from 1, equal values sharing the mean of their ranks; `None` if one is not a number.
pub fn ranks(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().all(|value| !value.is_nan()).then(|| average_ranks(values))
}

/// The number of points, if a correlation can be defined.
fn usable(x: &[f64], y: &[f64]) -> Option<usize> {
    let varies = |values: &[f64]| values.iter().any(|&value| value != values[0]);
    let numbers = x.iter().chain(y).all(|value| !value.is_nan());
    (x.len() == y.len() && x.len() >= 2 && numbers && varies(x) && varies(y)).then_some(x.len())
}

fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    let order = ascending(values);
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = first as f64 + (tied.len() as f64 + 1.0) / 2.0;
        for &place in tied {
            ranks[place] = rank;
        }
        first += tied.len();
    }
    ranks
}

fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    // Not total_cmp, which keeps 0 and -0 apart.
    order.sort_by(|&a, &b| values[a].partial_cmp(&values[b]).expect("callers refuse what is not a number"));
    order
}

/// The counts that Kendall's tau is made of.
struct KendallPairs {
    n: usize,
    total: u64,
    discordant: u64,
    tied_in_both: u64,
    x: Ties,
    y: Ties,
}

/// Sums over groups of t equal values.
#[derive(Default)]
struct Ties {
    /// t (t - 1) / 2: pairs of equal values.
    pairs: u64,
    /// Sum of t (t - 1) (t - 2).
    triples: f64,
    /// Sum of t (t - 1) (2 t + 5).
    variance: f64,
}

impl Ties {
    fn of<T: PartialEq>(sorted: &[T]) -> Self {
        let mut ties = Self::default();
        for group in sorted.chunk_by(|a, b| a == b) {
            let t = group.len() as f64;
            ties.pairs += pairs_of(group.len());
            ties.triples += t * (t - 1.0) * (t - 2.0);
            ties.variance += t * (t - 1.0) * (2.0 * t + 5.0);
        }
        ties
    }
}

fn pairs_of(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

impl KendallPairs {
    fn count(x: &[f64], y: &[f64]) -> Self {
        // Doubled ranks are whole numbers that compare as the values do.
        let doubled =
            |values: &[f64]| -> Vec<u64> { average_ranks(values).iter().map(|rank| (2.0 * rank) as u64).collect() };
        let mut points: Vec<(u64, u64)> = doubled(x).into_iter().zip(doubled(y)).collect();
        points.sort_unstable();
        let sorted_x: Vec<u64> = points.iter().map(|&(x, _)| x).collect();
        let tied_in_both = Ties::of(&points).pairs;
        let mut y: Vec<u64> = points.into_iter().map(|(_, y)| y).collect();
        let discordant = inversions(&mut y);
        let (n, total) = (y.len(), pairs_of(y.len()));
        Self { n, total, discordant, tied_in_both, x: Ties::of(&sorted_x), y: Ties::of(&y) }
    }

    fn without_ties(&self) -> bool {
        self.x.pairs == 0 && self.y.pairs == 0
    }

    /// Concordant pairs, where nothing is tied.
    fn concordant(&self) -> u64 {
        self.total - self.discordant
    }

    /// Returns concordant minus discordant pairs.
    fn surplus(&self) -> f64 {
        let concordant = self.total + self.tied_in_both - self.x.pairs - self.y.pairs - self.discordant;
        concordant as f64 - self.discordant as f64
    }

    fn asymptotic_p(&self) -> Option<f64> {
        let n = self.n as f64;
        if self.n < 3 {
            return None;
        }
        let m = n * (n - 1.0);
        let variance = (m * (2.0 * n + 5.0) - self.x.variance - self.y.variance) / 18.0
            + 2.0 * self.x.pairs as f64 * self.y.pairs as f64 / m
            + self.x.triples * self.y.triples / (9.0 * m * (n - 2.0));
        Some(normal_two_sided(self.surplus() / libm::sqrt(variance)))
    }

    /// The share of all orders with no more inversions than this one, or no fewer if that is the rarer side, twice.
    fn exact_p(&self) -> Option<f64> {
        if !self.without_ties() {
            return None;
        }
        let rarer = usize::try_from(self.discordant.min(self.concordant())).expect("pairs of points fit a length");
        if self.n >= FACTORIAL_OVERFLOW && rarer <= 1 {
            return Some(0.0);
        }
        // share[k]: the share of the orders of j points that have k inversions. The (j + 1)-th point adds 0 to j.
        let mut share = vec![0.0; rarer + 1];
        share[0] = 1.0;
        for j in 2..=self.n {
            let before = share.clone();
            let mut window = 0.0;
            let mut since_renewal = 0;
            for k in 0..=rarer {
                window += before[k];
                if k >= j {
                    window -= before[k - j];
                    since_renewal += 1;
                }
                // A running sum gathers rounding errors by its subtractions; a fresh one has none.
                if since_renewal == 64 || (since_renewal > 0 && window < 1e-3 * before[k - j]) {
                    window = sum(&before[k + 1 - j..=k]);
                    since_renewal = 0;
                }
                share[k] = window / j as f64;
            }
        }
        Some((2.0 * sum(&share)).min(1.0))
    }
}

/// Pairs i < j with values[i] > values[j]; leaves the values sorted.
fn inversions(values: &mut [u64]) -> u64 {
    if values.len() < 2 {
        return 0;
    }
    let middle = values.len() / 2;
    let mut count = inversions(&mut values[..middle]) + inversions(&mut values[middle..]);
    let mut merged = Vec::with_capacity(values.len());
    let (mut left, mut right) = (0, middle);
    while left < middle || right < values.len() {
        if right == values.len() || (left < middle && values[left] <= values[right]) {
            merged.push(values[left]);
            left += 1;
        } else {
            merged.push(values[right]);
            count += (middle - left) as u64;
            right += 1;
        }
    }
    values.copy_from_slice(&merged);
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_has_no_correlation_is_absent() {
        let cases: [(&[f64], &[f64]); 6] = [
            (&[], &[]),
            (&[1.0], &[2.0]),
            (&[1.0, 2.0], &[1.0]),
            (&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]),
            (&[0.0, -0.0], &[1.0, 2.0]),
            (&[1.0, 2.0, f64::NAN], &[1.0, 2.0, 3.0]),
        ];
        for (x, y) in cases {
            assert_eq!((pearson(x, y), spearman(x, y), kendall(x, y)), (None, None, None), "{x:?}");
        }
        assert_eq!(pearson(&[1.0, 2.0, f64::INFINITY], &[1.0, 2.0, 3.0]), None);
        assert!(spearman(&[1.0, 2.0, f64::INFINITY], &[1.0, 2.0, 3.0]).is_some());
    }

    #[test]
    fn two_points_always_correlate() {
        let (x, y) = ([1.0, 2.0], [5.0, 3.0]);
        assert_eq!(pearson(&x, &y), Some(Correlation { coefficient: -1.0, p_value: Some(1.0), n: 2 }));
        assert_eq!(spearman(&x, &y).unwrap().p_value, None);
        assert_eq!(kendall(&x, &y).unwrap().p_value, Some(1.0));
        assert_eq!(kendall_asymptotic_p(&x, &y), None);
    }

    #[test]
    fn exact_p_of_kendall_counts_orders() {
        // Of the 24 orders of four points 1, 3, 5, 6, 5, 3, 1 have 0 to 6 inversions.
        let p = |y: [f64; 4]| kendall_exact_p(&[1.0, 2.0, 3.0, 4.0], &y).unwrap();
        assert_eq!(p([1.0, 2.0, 3.0, 4.0]), 2.0 / 24.0);
        assert!((p([1.0, 2.0, 4.0, 3.0]) - 8.0 / 24.0).abs() < 1e-15);
        assert!((p([2.0, 1.0, 4.0, 3.0]) - 18.0 / 24.0).abs() < 1e-15);
        assert_eq!(p([4.0, 1.0, 2.0, 3.0]), 1.0);
        assert_eq!(kendall_exact_p(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn ranks_of_ties_are_shared() {
        assert_eq!(ranks(&[2.0, 0.0, -0.0, 9.0]).unwrap(), [3.0, 1.5, 1.5, 4.0]);
        assert_eq!(ranks(&[f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn kendall_agrees_with_comparing_every_pair(points in prop::collection::vec((0u8..6, 0u8..6), 2..40)) {
            let x: Vec<f64> = points.iter().map(|p| f64::from(p.0)).collect();
            let y: Vec<f64> = points.iter().map(|p| f64::from(p.1)).collect();
            let mut surplus = 0.0;
            for i in 0..x.len() {
                for j in 0..i {
                    let sign = (x[i] - x[j]) * (y[i] - y[j]);
                    surplus += f64::from(u8::from(sign > 0.0)) - f64::from(u8::from(sign < 0.0));
                }
            }
            prop_assert_eq!(KendallPairs::count(&x, &y).surplus(), surplus);
        }

        #[test]
        fn coefficients_are_symmetric_and_bounded(points in prop::collection::vec((-9.0..9.0f64, -9.0..9.0f64), 3..30)) {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            for measure in [pearson, spearman, kendall] {
                let (a, b) = (measure(&x, &y).unwrap(), measure(&y, &x).unwrap());
                prop_assert!((a.coefficient - b.coefficient).abs() < 1e-12);
                prop_assert!(a.coefficient.abs() <= 1.0 && (0.0..=1.0).contains(&a.p_value.unwrap()));
            }
        }
    }
}
