//! Sums, means and standard deviations.

/// The sum, pairwise: blocks of up to 128 numbers in eight running sums, longer lists in halves.
///
/// The error grows with the logarithm of the length. It is numpy's order of summation, which correlations of nearly
/// 1 need: there the last bit of the coefficient decides the p-value.
pub(super) fn sum(values: &[f64]) -> f64 {
    let n = values.len();
    if n < 8 {
        return values.iter().fold(0.0, |sum, value| sum + value);
    }
    if n <= 128 {
        let blocks = values.chunks_exact(8);
        let rest = blocks.remainder();
        let mut r = [0.0; 8];
        for block in blocks {
            for (running, value) in r.iter_mut().zip(block) {
                *running += value;
            }
        }
        let total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        return rest.iter().fold(total, |sum, value| sum + value);
    }
    let half = n / 2 - (n / 2) % 8;
    sum(&values[..half]) + sum(&values[half..])
}

/// The mean; `None` of nothing, or if a value is not finite.
pub fn mean(values: &[f64]) -> Option<f64> {
    let defined = !values.is_empty() && values.iter().all(|value| value.is_finite());
    defined.then(|| sum(values) / values.len() as f64)
}

/// The divisor of the squared deviations from the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divisor {
    /// n - 1: of a sample, to speak of the population.
    NMinusOne,
    /// n: of the values themselves.
    N,
}

/// The standard deviation; `None` where the divisor is 0, or if a value is not finite.
pub fn standard_deviation(values: &[f64], divisor: Divisor) -> Option<f64> {
    let mean = mean(values)?;
    let divisor = match divisor {
        Divisor::N => values.len(),
        Divisor::NMinusOne => values.len() - 1,
    };
    let squares: Vec<f64> = values.iter().map(|value| (value - mean) * (value - mean)).collect();
    (divisor > 0).then(|| libm::sqrt(sum(&squares) / divisor as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_no_spread_to_measure() {
        assert_eq!(standard_deviation(&[7.0], Divisor::NMinusOne), None);
        assert_eq!(standard_deviation(&[7.0], Divisor::N), Some(0.0));
        assert_eq!(standard_deviation(&[1.0, 3.0], Divisor::NMinusOne), Some(libm::sqrt(2.0)));
        assert_eq!((mean(&[]), mean(&[1.0, f64::NAN]), mean(&[f64::INFINITY])), (None, None, None));
    }

    #[test]
    fn long_sums_keep_their_digits() {
        for n in [1, 7, 8, 9, 127, 128, 129, 1000, 100_000] {
            let total = sum(&vec![0.1; n]);
            assert!((total - 0.1 * n as f64).abs() < 1e-14 * n as f64, "{n}: {total}");
        }
    }
}
