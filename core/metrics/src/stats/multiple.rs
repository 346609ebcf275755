//! Corrections of p-values for asking several questions at once, as statsmodels' `multipletests`.
//!
//! Each takes the p-values of one family of tests and gives the adjusted ones in the same order, at most 1. A p-value
//! that is not a number stands for a test that was not made: it stays as it is and does not count.

/// Bonferroni: each p-value times the number of tests. Holds the chance of any false finding.
pub fn bonferroni(p: &[f64]) -> Vec<f64> {
    let tests = by_size(p).len() as f64;
    p.iter().map(|&p| capped(p * tests)).collect()
}

/// Holm's step-down method (1979). Holds the chance of any false finding, and is never weaker than Bonferroni.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = by_size(p);
    let mut adjusted = p.to_vec();
    let mut largest = 0.0f64;
    for (rank, &test) in order.iter().enumerate() {
        largest = largest.max(p[test] * (order.len() - rank) as f64);
        adjusted[test] = capped(largest);
    }
    adjusted
}

/// Benjamini and Hochberg's step-up method (1995). Holds the expected share of false findings among the findings, for
/// tests that are independent or positively dependent.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let order = by_size(p);
    let mut adjusted = p.to_vec();
    let mut smallest = 1.0f64;
    for (rank, &test) in order.iter().enumerate().rev() {
        smallest = smallest.min(p[test] / ((rank + 1) as f64 / order.len() as f64));
        adjusted[test] = capped(smallest);
    }
    adjusted
}

/// The tests that were made, smallest p-value first.
fn by_size(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&test| !p[test].is_nan()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    order
}

/// Caps a p-value at 1; `f64::min` would turn what is not a number into 1.
fn capped(p: f64) -> f64 {
    if p > 1.0 { 1.0 } else { p }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_test_that_was_not_made_does_not_count() {
        for adjust in [bonferroni, holm, benjamini_hochberg] {
            let adjusted = adjust(&[0.01, f64::NAN, 0.04]);
            assert!(adjusted[1].is_nan());
            assert_eq!([adjusted[0], adjusted[2]], adjust(&[0.01, 0.04])[..]);
            assert_eq!(adjust(&[]), [0.0; 0]);
            assert_eq!(adjust(&[0.3]), [0.3]);
        }
    }

    proptest! {
        #[test]
        fn each_method_is_no_weaker_than_the_one_before(p in prop::collection::vec(0.0..=1.0f64, 1..30)) {
            let (b, h, fdr) = (bonferroni(&p), holm(&p), benjamini_hochberg(&p));
            for i in 0..p.len() {
                prop_assert!(b[i] >= h[i] - 1e-15 && h[i] >= fdr[i] - 1e-15 && fdr[i] >= p[i] - 1e-15);
                prop_assert!(b[i] <= 1.0);
            }
        }
    }
}
