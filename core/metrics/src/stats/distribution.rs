//! Distribution functions and quantiles from `libm` alone, so that every platform agrees.
//!
//! Accurate to about 1e-13 relative in either tail: an upper tail is computed as such, never as 1 minus the lower one.
//! An argument that is not a number gives a result that is not a number; a probability outside 0..=1 does too.

use super::special::{incomplete_beta, incomplete_gamma};
use core::f64::consts::SQRT_2;

/// P(|Z| >= |z|) of the standard normal distribution: a two-sided p-value.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    libm::erfc(z.abs() / SQRT_2)
}

/// Quantile of the standard normal distribution at `p` in 0..=1; the ends are infinite.
pub(super) fn normal_quantile(p: f64) -> f64 {
    symmetric_quantile(p, normal_two_sided)
}

/// P(|T| >= |t|) of Student's t distribution with `df` > 0 degrees of freedom: a two-sided p-value.
pub(super) fn student_two_sided(t: f64, df: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    let square = t * t;
    if square == f64::INFINITY {
        return 0.0;
    }
    incomplete_beta(df / 2.0, 0.5, df / (df + square), square / (df + square))
}

/// Quantile of Student's t distribution with `df` > 0 degrees of freedom at `p` in 0..=1; the ends are infinite.
pub(super) fn student_quantile(p: f64, df: f64) -> f64 {
    symmetric_quantile(p, |t| student_two_sided(t, df))
}

/// P(X > x) of the chi-squared distribution with `df` > 0 degrees of freedom: the p-value of a statistic `x`.
pub(super) fn chi_squared_upper(x: f64, df: f64) -> f64 {
    incomplete_gamma(df / 2.0, x / 2.0).1
}

/// P(X <= x) of the beta distribution with parameters a, b > 0.
fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    incomplete_beta(a, b, x, 1.0 - x)
}

/// P(X > x) of the beta distribution with parameters a, b > 0.
fn beta_upper(x: f64, a: f64, b: f64) -> f64 {
    incomplete_beta(b, a, 1.0 - x, x)
}

/// Quantile of the beta distribution with parameters a, b > 0 at `p` in 0..=1, relative to the end that is nearer.
pub(super) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    // At 1 the last numbers before the end round to it.
    if p == 1.0 { 1.0 } else { first_reaching(1.0, |x| beta_cdf(x, a, b) >= p) }
}

/// The x at which the upper tail of the beta distribution with parameters a, b > 0 is `q` in 0..=1.
pub(super) fn beta_upper_quantile(q: f64, a: f64, b: f64) -> f64 {
    if !(0.0..=1.0).contains(&q) {
        return f64::NAN;
    }
    first_reaching(1.0, |x| beta_upper(x, a, b) <= q)
}

/// P(K <= k) for K successes in `n` trials, each with probability `p` in 0..=1.
pub(super) fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return if p.is_nan() { p } else { 1.0 };
    }
    incomplete_beta((n - k) as f64, (k + 1) as f64, 1.0 - p, p)
}

/// P(K > k) for K successes in `n` trials, each with probability `p` in 0..=1.
pub(super) fn binomial_upper(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return if p.is_nan() { p } else { 0.0 };
    }
    incomplete_beta((k + 1) as f64, (n - k) as f64, p, 1.0 - p)
}

/// The quantile at `p` of a distribution about 0, from P(|X| >= x).
fn symmetric_quantile(p: f64, two_sided: impl Fn(f64) -> f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    // 1 - p is exact from 0.5 on, so that neither tail loses digits.
    let tail = 2.0 * p.min(1.0 - p);
    let size = match tail {
        0.0 => f64::INFINITY,
        1.0 => 0.0,
        tail => first_reaching(f64::MAX, |x| two_sided(x) <= tail),
    };
    if p < 0.5 { -size } else { size }
}

/// The smallest x in 0..=`end` at which `reached` holds, which it does at `end` and from its first x on.
///
/// Numbers >= 0 are ordered as their bits are: 63 halvings find x to its last digit wherever it lies.
fn first_reaching(end: f64, reached: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0, end.to_bits());
    while low < high {
        let middle = low + (high - low) / 2;
        if reached(f64::from_bits(middle)) { high = middle } else { low = middle + 1 }
    }
    f64::from_bits(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(X <= x) of a distribution about 0.
    fn lower(x: f64, two_sided: impl Fn(f64) -> f64) -> f64 {
        let tail = 0.5 * two_sided(x);
        if x >= 0.0 { 1.0 - tail } else { tail }
    }

    fn check(ours: f64, table: f64) {
        assert!((ours - table).abs() <= 1e-12 * table.abs(), "{ours} instead of {table}");
    }

    #[test]
    fn quantiles_of_the_tables() {
        check(normal_quantile(0.975), 1.959963984540054);
        check(normal_quantile(0.5), 0.0);
        check(normal_quantile(0.025), -1.959963984540054);
        check(student_quantile(0.975, 1.0), 12.706204736174694);
        check(student_quantile(0.975, 4.0), 2.7764451051977987);
        check(student_quantile(0.975, 22.0), 2.0738730679040147);
        check(student_quantile(0.025, 100.0), -1.983971518523552);
        check(chi_squared_upper(3.841458820694124, 1.0), 0.05);
        check(chi_squared_upper(18.307038053275146, 10.0), 0.05);
    }

    #[test]
    fn the_ends_of_the_range_are_defined() {
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(1.5).is_nan() && normal_quantile(f64::NAN).is_nan());
        assert_eq!(student_two_sided(f64::INFINITY, 3.0), 0.0);
        assert_eq!(student_two_sided(1e200, 3.0), 0.0);
        assert_eq!((beta_quantile(0.0, 2.0, 3.0), beta_quantile(1.0, 2.0, 3.0)), (0.0, 1.0));
        assert_eq!((binomial_cdf(3, 3, 0.2), binomial_upper(3, 3, 0.2)), (1.0, 0.0));
    }

    #[test]
    fn tails_keep_their_digits() {
        // erfc(10 / sqrt 2), 2 / 2^200 and a Cauchy tail.
        check(normal_two_sided(10.0), 1.523970604832094e-23);
        check(binomial_cdf(0, 200, 0.5), libm::exp2(-200.0));
        check(binomial_upper(199, 200, 0.5), libm::exp2(-200.0));
        check(student_two_sided(1e10, 1.0), 2.0 / core::f64::consts::PI * 1e-10);
        check(lower(normal_quantile(1e-300), normal_two_sided), 1e-300);
    }

    #[test]
    fn quantiles_undo_distribution_functions() {
        for p in [1e-12, 0.001, 0.3, 0.5, 0.9, 0.999] {
            check(lower(normal_quantile(p), normal_two_sided), p);
            for (a, b) in [(0.5, 0.5), (0.5, 10.5), (3.0, 4.0), (900.0, 225.0)] {
                check(beta_cdf(beta_quantile(p, a, b), a, b), p);
                check(beta_upper_quantile(p, a, b) + beta_quantile(p, b, a), 1.0);
                check(lower(student_quantile(p, a), |t| student_two_sided(t, a)), p);
            }
        }
    }
}
