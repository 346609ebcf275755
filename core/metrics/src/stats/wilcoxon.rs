//! Wilcoxon's signed-rank test.

use super::correlation::ranks;
use super::distribution::normal_two_sided;
use super::moments::sum;
use serde::{Deserialize, Serialize};

/// Most differences for which the exact distribution is used, as in scipy.
const EXACT_DIFFERENCES: usize = 50;

/// The result of the signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wilcoxon {
    /// The smaller of the rank sums of positive and of negative differences.
    pub statistic: f64,
    /// Two-sided p-value.
    pub p_value: f64,
    /// Whether the p-value is exact rather than by the normal distribution.
    pub exact: bool,
}

/// The signed-rank test of paired differences, zeros left out; `None` if nothing is left or a value is not finite.
///
/// Exact for at most 50 differences without zeros or ties, otherwise normal with tie correction and without continuity
/// correction. scipy 1.14's `auto` also takes the exact distribution with ties, where it does not hold; the reference
/// vectors do not, nor do we. Ties are of differences as computed: 0.3 - 0.2 and 0.2 - 0.1 are not quite equal.
pub fn wilcoxon(differences: &[f64]) -> Option<Wilcoxon> {
    let kept: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    if kept.is_empty() || !kept.iter().all(|d| d.is_finite()) {
        return None;
    }
    let sizes: Vec<f64> = kept.iter().map(|d| d.abs()).collect();
    let ranks = ranks(&sizes).expect("finite sizes are numbers");
    let positive: f64 = kept.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let n = kept.len() as f64;
    let total = n * (n + 1.0) / 2.0;
    let statistic = positive.min(total - positive);
    let mut sorted = ranks;
    sorted.sort_by(f64::total_cmp);
    let groups = || sorted.chunk_by(|a, b| a == b).map(|group| group.len() as f64);
    let tied = groups().any(|t| t > 1.0);
    let exact = differences.len() <= EXACT_DIFFERENCES && kept.len() == differences.len() && !tied;
    let p_value = if exact {
        exact_p(statistic as usize, kept.len())
    } else {
        let ties: f64 = groups().map(|t| t * t * t - t).sum();
        let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0;
        normal_two_sided((positive - total / 2.0) / libm::sqrt(variance))
    };
    Some(Wilcoxon { statistic, p_value, exact })
}

/// Returns twice the share of the 2^n sets of the ranks 1 to `n` whose sum is at most `statistic`, at most 1.
fn exact_p(statistic: usize, n: usize) -> f64 {
    let mut share = vec![0.0; statistic + 1];
    share[0] = 1.0;
    for rank in 1..=n {
        for total in (0..=statistic).rev() {
            let with = if total >= rank { share[total - rank] } else { 0.0 };
            share[total] = 0.5 * (share[total] + with);
        }
    }
    (2.0 * sum(&share)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_by_counting_sets_of_ranks() {
        // Ranks 1 to 4, all positive but the first: sums 0 and 1 are one set each of 16.
        let found = wilcoxon(&[-1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(found, Wilcoxon { statistic: 1.0, p_value: 0.25, exact: true });
    }

    #[test]
    fn zeros_and_ties_take_the_normal_distribution() {
        assert!(!wilcoxon(&[0.0, 1.0, 2.0]).unwrap().exact);
        assert!(!wilcoxon(&[1.0, -1.0, 2.0]).unwrap().exact);
        assert!(!wilcoxon(&(1..=51).map(f64::from).collect::<Vec<_>>()).unwrap().exact);
    }

    #[test]
    fn without_differences_there_is_no_test() {
        assert_eq!(wilcoxon(&[]), None);
        assert_eq!(wilcoxon(&[0.0, 0.0]), None);
        assert_eq!(wilcoxon(&[f64::NAN, 1.0]), None);
        assert_eq!(wilcoxon(&[f64::INFINITY]), None);
    }
}
