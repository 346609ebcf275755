//! Coefficients of correlation, and ranks with ties in the three ways that SagaScale's rank correlation may mean.

use crate::stats::correlation::{kendall, pearson, spearman as stats_spearman};

/// Average ranks from 1: ties share the mean of their places.
pub(super) fn average(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let ties = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
    values.iter().map(|&value| below(value) + (ties(value) + 1.0) / 2.0).collect()
}

/// Ranks from 1 in which ties get the first of their places.
pub(super) fn minimum(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| 1.0 + values.iter().filter(|other| *other < value).count() as f64).collect()
}

/// Ranks from 1 in which the earlier of two ties comes first.
pub(super) fn ordinal(values: &[f64]) -> Vec<f64> {
    let before = |idx: usize| {
        let earlier = |(other, value): (usize, &f64)| *value < values[idx] || (*value == values[idx] && other < idx);
        values.iter().enumerate().filter(|&pair| earlier(pair)).count() as f64
    };
    (0..values.len()).map(|idx| 1.0 + before(idx)).collect()
}

/// Spearman's rho, ties sharing their mean rank; `None` as [`correlation`].
pub(super) fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    correlation(&average(x), &average(y))
}

/// Pearson's, Spearman's and Kendall's coefficient, each with its two-sided p-value.
pub(super) fn with_p_values(x: &[f64], y: &[f64]) -> [Option<(f64, Option<f64>)>; 3] {
    [pearson(x, y), stats_spearman(x, y), kendall(x, y)]
        .map(|found| found.map(|correlation| (correlation.coefficient, correlation.p_value)))
}

/// Pearson's coefficient; `None` where either has no spread or they differ in length.
pub(super) fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.is_empty() {
        return None;
    }
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let products = |a: &[f64], mean_a: f64, b: &[f64], mean_b: f64| {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>()
    };
    let spread = products(x, mean_x, x, mean_x) * products(y, mean_y, y, mean_y);
    (spread > 0.0).then(|| products(x, mean_x, y, mean_y) / libm::sqrt(spread))
}

/// Kendall's tau-b; `None` where either has no spread.
pub(super) fn tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mut agreement, mut pairs_x, mut pairs_y) = (0.0, 0.0, 0.0);
    for i in 0..x.len().min(y.len()) {
        for j in 0..i {
            let (dx, dy) = (sign(x[i] - x[j]), sign(y[i] - y[j]));
            agreement += dx * dy;
            pairs_x += dx * dx;
            pairs_y += dy * dy;
        }
    }
    (pairs_x > 0.0 && pairs_y > 0.0).then(|| agreement / libm::sqrt(pairs_x * pairs_y))
}

/// -1, 0 or 1.
fn sign(x: f64) -> f64 {
    f64::from(x > 0.0) - f64::from(x < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_in_three_ways() {
        let values = [2.0, 1.0, 2.0, 3.0];
        assert_eq!(average(&values), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(minimum(&values), [2.0, 1.0, 2.0, 4.0]);
        assert_eq!(ordinal(&values), [2.0, 1.0, 3.0, 4.0]);
    }

    #[test]
    fn a_constant_correlates_with_nothing() {
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(tau_b(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), Some(1.0));
        assert_eq!(tau_b(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
    }
}
