//! The paired permutation test: if two runs are alike, each paired difference might as well have the other sign.

use super::distribution::{binomial_cdf, binomial_upper};
use crate::random::SplitMix64;
use serde::{Deserialize, Serialize};

/// Most differences other than 0 of which all sign flips are counted: two halves of 2^15 sums each.
const EXACT_DIFFERENCES: usize = 30;
/// Sign flips drawn beyond that.
const RESAMPLES: usize = 10_000;
const SEED: u64 = 0x5EED_F11B;
/// Sums this close, relative to the sum of all sizes, are the same sum differently rounded.
const ROUNDING: f64 = 1e-12;

/// The result of the permutation test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Permutation {
    /// Two-sided p-value: twice the smaller of the two tails, at most 1 (methods 8).
    pub two_sided: f64,
    /// Share of sign flips whose sum is at least the observed one.
    pub greater: f64,
    /// Share of sign flips whose sum is at most the observed one.
    pub less: f64,
    /// Whether all 2^n flips were counted, rather than 10,000 drawn.
    pub exact: bool,
}

/// The sign flips of paired differences; `None` without differences, or if one is not finite.
///
/// Exact for differences that are all of one size (any number of them: the flips are binomial) and for up to 30 that
/// are not 0. Beyond, 10,000 flips are drawn with a fixed seed, and the observed one counts among them, so that no
/// p-value is 0: 1 / 10,001 is the least.
pub fn permutation(differences: &[f64]) -> Option<Permutation> {
    if differences.is_empty() || !differences.iter().all(|d| d.is_finite()) {
        return None;
    }
    // Flipping a 0 doubles every sum alike.
    let kept: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    let observed: f64 = kept.iter().sum();
    let slack = ROUNDING * kept.iter().map(|d| d.abs()).sum::<f64>();
    let one_size = kept.iter().all(|d| d.abs() == kept[0].abs());
    let exact = one_size || kept.len() <= EXACT_DIFFERENCES;
    let (less, greater) = if one_size {
        one_size_tails(&kept)
    } else if exact {
        all_tails(&kept, observed, slack)
    } else {
        drawn_tails(&kept, observed, slack)
    };
    Some(Permutation { two_sided: (2.0 * less.min(greater)).min(1.0), greater, less, exact })
}

fn one_size_tails(differences: &[f64]) -> (f64, f64) {
    let n = differences.len() as u64;
    let positive = differences.iter().filter(|&&d| d > 0.0).count() as u64;
    let greater = if positive == 0 { 1.0 } else { binomial_upper(positive - 1, n, 0.5) };
    (binomial_cdf(positive, n, 0.5), greater)
}

/// Meets in the middle: for each sum of the one half, the sums of the other that stay on the observed side.
fn all_tails(differences: &[f64], observed: f64, slack: f64) -> (f64, f64) {
    let (left, right) = differences.split_at(differences.len() / 2);
    let (left, right) = (signed_sums(left), signed_sums(right));
    let (mut less, mut greater) = (0u64, 0u64);
    // As the left sum grows, fewer right sums stay below.
    let (mut below, mut under) = (right.len(), right.len());
    for sum in &left {
        while below > 0 && sum + right[below - 1] > observed + slack {
            below -= 1;
        }
        while under > 0 && sum + right[under - 1] >= observed - slack {
            under -= 1;
        }
        less += below as u64;
        greater += (right.len() - under) as u64;
    }
    let all = (left.len() * right.len()) as f64;
    (less as f64 / all, greater as f64 / all)
}

/// The sums under all sign flips, ascending.
fn signed_sums(differences: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for d in differences {
        sums = sums.iter().flat_map(|sum| [sum + d, sum - d]).collect();
    }
    sums.sort_by(f64::total_cmp);
    sums
}

fn drawn_tails(differences: &[f64], observed: f64, slack: f64) -> (f64, f64) {
    let mut random = SplitMix64(SEED);
    let (mut less, mut greater) = (1, 1);
    for _ in 0..RESAMPLES {
        let mut sum = 0.0;
        for block in differences.chunks(64) {
            let signs = random.bits();
            for (bit, d) in block.iter().enumerate() {
                sum += if signs >> bit & 1 == 1 { *d } else { -*d };
            }
        }
        less += usize::from(sum <= observed + slack);
        greater += usize::from(sum >= observed - slack);
    }
    let all = (RESAMPLES + 1) as f64;
    (less as f64 / all, greater as f64 / all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_flipped_is_absent() {
        assert_eq!(permutation(&[]), None);
        assert_eq!(permutation(&[f64::NAN, 1.0]), None);
        let equal = permutation(&[0.0; 9]).unwrap();
        assert_eq!((equal.two_sided, equal.greater, equal.exact), (1.0, 1.0, true));
    }

    #[test]
    fn many_differences_are_drawn_and_agree_with_counting() {
        let differences: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 13) - 4.5).collect();
        let counted = permutation(&differences).unwrap();
        let slack = 1e-9;
        let (_, greater) = drawn_tails(&differences, differences.iter().sum(), slack);
        assert!(counted.exact && (counted.greater - greater).abs() < 0.02, "{counted:?} {greater}");
        let long: Vec<f64> = differences.iter().chain(&differences).copied().collect();
        assert!(!permutation(&long).unwrap().exact);
    }

    proptest! {
        #[test]
        fn halves_give_what_all_flips_give(tenths in prop::collection::vec(-9i32..10, 1..9)) {
            let differences: Vec<f64> = tenths.iter().map(|&d| f64::from(d) / 10.0).collect();
            let observed: i32 = tenths.iter().sum();
            let at_least = (0..1u32 << tenths.len()).filter(|flips| {
                let sum: i32 = tenths.iter().enumerate().map(|(i, d)| if flips >> i & 1 == 1 { -d } else { *d }).sum();
                sum >= observed
            });
            let expected = at_least.count() as f64 / f64::from(1u32 << tenths.len());
            prop_assert!((permutation(&differences).unwrap().greater - expected).abs() < 1e-12);
        }
    }
}
