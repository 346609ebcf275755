//! Intervals for a share of successes, as statsmodels' `proportion_confint`.
//!
//! Each takes the successes among `n` trials, at most `n` (more count as `n`), and a level in 0..1, and gives the ends
//! of the two-sided interval, in 0..=1. Without trials nothing is known: all of 0..=1.

use super::distribution::{beta_quantile, beta_upper_quantile, normal_quantile};

/// Wilson's score interval, without continuity correction.
pub fn wilson(successes: usize, n: usize, level: f64) -> (f64, f64) {
    let Some((p, n)) = share(successes, n) else { return (0.0, 1.0) };
    wilson_of_mean(p, n, level)
}

/// Wilson's interval about the mean `p` of `n` > 0 scores in 0..=1.
///
/// No such scores vary more than those that are all 0 or 1, so it is too wide for others rather than too narrow.
pub(super) fn wilson_of_mean(p: f64, n: f64, level: f64) -> (f64, f64) {
    let z = critical(level);
    let scale = 1.0 + z * z / n;
    let centre = (p + z * z / (2.0 * n)) / scale;
    let half = z * libm::sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n)) / scale;
    // At the ends the exact bounds are 0 and 1, which rounding misses by a hair.
    (if p == 0.0 { 0.0 } else { (centre - half).max(0.0) }, if p == 1.0 { 1.0 } else { (centre + half).min(1.0) })
}

/// Clopper and Pearson's interval, which inverts two one-sided binomial tests: never too narrow, mostly too wide.
pub fn clopper_pearson(successes: usize, n: usize, level: f64) -> (f64, f64) {
    let Some((p, n)) = share(successes, n) else { return (0.0, 1.0) };
    let (successes, tail) = ((successes as f64).min(n), (1.0 - level) / 2.0);
    let low = if p == 0.0 { 0.0 } else { beta_quantile(tail, successes, n - successes + 1.0) };
    let high = if p == 1.0 { 1.0 } else { beta_upper_quantile(tail, successes + 1.0, n - successes) };
    (low, high)
}

/// The normal approximation p +- z sqrt(p (1 - p) / n), cut at 0 and 1. Of width 0 where all trials agree: shown for
/// comparison with papers that print it.
pub fn normal(successes: usize, n: usize, level: f64) -> (f64, f64) {
    let Some((p, n)) = share(successes, n) else { return (0.0, 1.0) };
    wald(p, n, critical(level))
}

/// Agresti and Coull's interval: the normal approximation after adding z^2 trials, half of them successes.
pub fn agresti_coull(successes: usize, n: usize, level: f64) -> (f64, f64) {
    let Some((_, n)) = share(successes, n) else { return (0.0, 1.0) };
    let z = critical(level);
    let n_added = n + z * z;
    wald(((successes as f64).min(n) + z * z / 2.0) / n_added, n_added, z)
}

/// Jeffreys' interval: equal tails of the posterior under a beta prior with a = b = 1/2.
///
/// The plain quantiles, as statsmodels has them: not set to 0 or 1 where all trials agree.
pub fn jeffreys(successes: usize, n: usize, level: f64) -> (f64, f64) {
    let Some((_, n)) = share(successes, n) else { return (0.0, 1.0) };
    let successes = (successes as f64).min(n);
    let (a, b, tail) = (successes + 0.5, n - successes + 0.5, (1.0 - level) / 2.0);
    (beta_quantile(tail, a, b), beta_upper_quantile(tail, a, b))
}

/// The share of successes and the number of trials; `None` without trials.
fn share(successes: usize, n: usize) -> Option<(f64, f64)> {
    (n > 0).then(|| (successes.min(n) as f64 / n as f64, n as f64))
}

/// The z that a standard normal deviate stays within, at a level.
fn critical(level: f64) -> f64 {
    normal_quantile(0.5 + level / 2.0)
}

fn wald(p: f64, n: f64, z: f64) -> (f64, f64) {
    let half = z * libm::sqrt(p * (1.0 - p) / n);
    ((p - half).max(0.0), (p + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Interval = fn(usize, usize, f64) -> (f64, f64);
    const ALL: [Interval; 5] = [wilson, clopper_pearson, normal, agresti_coull, jeffreys];

    #[test]
    fn wilson_by_the_textbook() {
        let (low, high) = wilson(8, 10, 0.95);
        assert!((low - 0.490_162_471_536_648_8).abs() < 1e-12, "{low}");
        assert!((high - 0.943_317_848_545_625_2).abs() < 1e-12, "{high}");
    }

    #[test]
    fn clopper_pearson_has_a_closed_form_where_all_agree() {
        let (low, high) = clopper_pearson(0, 10, 0.95);
        assert_eq!(low, 0.0);
        assert!((high - (1.0 - libm::pow(0.025, 0.1))).abs() < 1e-14, "{high}");
        let (mirrored, end) = clopper_pearson(10, 10, 0.95);
        assert!((mirrored - (1.0 - high)).abs() < 1e-14 && end == 1.0, "{mirrored}");
    }

    #[test]
    fn no_trials_tell_nothing() {
        for interval in ALL {
            assert_eq!(interval(0, 0, 0.95), (0.0, 1.0));
        }
    }

    proptest! {
        #[test]
        fn intervals_mirror_and_hold_the_share(n in 1usize..400, share in 0.0..=1.0f64, level in 0.5..0.999f64) {
            let successes = (share * n as f64) as usize;
            let p = successes as f64 / n as f64;
            for (place, interval) in ALL.into_iter().enumerate() {
                let (low, high) = interval(successes, n, level);
                let (mirrored_high, mirrored_low) = interval(n - successes, n, level);
                prop_assert!(0.0 <= low && low <= high && high <= 1.0);
                prop_assert!((low - (1.0 - mirrored_low)).abs() < 1e-12 && (high - (1.0 - mirrored_high)).abs() < 1e-12);
                let inside = low <= p + 1e-12 && p <= high + 1e-12;
                prop_assert!(inside || (place == 4 && (p == 0.0 || p == 1.0)));
            }
        }
    }
}
