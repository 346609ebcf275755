//! Coefficients of correlation over the rows of a table.

use closeread_metrics::stats::correlation::{kendall, pearson, spearman as stats_spearman};

/// Average ranks from 1: ties share the mean of their places.
fn average(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let ties = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
    values.iter().map(|&value| below(value) + (ties(value) + 1.0) / 2.0).collect()
}

/// Spearman's rho, ties sharing their mean rank; `None` as [`correlation`].
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    correlation(&average(x), &average(y))
}

/// Pearson's, Spearman's and Kendall's coefficient, each with its two-sided p-value.
pub fn with_p_values(x: &[f64], y: &[f64]) -> [Option<(f64, Option<f64>)>; 3] {
    [pearson(x, y), stats_spearman(x, y), kendall(x, y)]
        .map(|found| found.map(|correlation| (correlation.coefficient, correlation.p_value)))
}

/// Pearson's coefficient; `None` where either has no spread or they differ in length.
pub fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean_rank() {
        assert_eq!(average(&[2.0, 1.0, 2.0, 3.0]), [2.5, 1.0, 2.5, 4.0]);
    }

    #[test]
    fn a_constant_correlates_with_nothing() {
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), Some(1.0));
    }
}
