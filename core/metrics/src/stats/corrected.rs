//! A share that an imperfect judge reports, corrected for the judge's measured errors (Rogan and Gladen 1978), with the
//! interval of Lang and Reiczigel (2014), which also knows how few units the errors were measured on.

use super::distribution::normal_quantile;
use serde::Serialize;

/// The errors of a judge on units whose truth is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct JudgeErrors {
    /// Units that are positive, and of them those that the judge called so.
    pub positive: Found,
    /// Units that are negative, and of them those that the judge called so.
    pub negative: Found,
}

/// A count of hits out of a number of units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Number of hits.
    pub hit: usize,
    /// Number of all units.
    pub of: usize,
}

/// A corrected share, in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Corrected {
    /// Corrected estimate of the share.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The reason why nothing can be corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCorrection {
    /// One of the judge's errors was measured on nothing.
    #[error("people called no unit right, or none wrong, so one of the judge's errors is not known")]
    OneClass,
    /// The judge's verdicts say nothing.
    #[error("the judge is no better than chance against people")]
    Chance,
    /// Nothing was judged.
    #[error("nothing was judged")]
    Empty,
}

impl Found {
    /// The share; `None` of nothing.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.hit.min(self.of) as f64 / self.of as f64)
    }

    /// Units and share with one success and one failure more.
    fn shrunk(self) -> (f64, f64) {
        let n = self.of as f64 + 2.0;
        (n, (self.hit.min(self.of) as f64 + 1.0) / n)
    }
}

impl JudgeErrors {
    /// Counts pairs of what is true and what the judge said.
    pub fn of(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut made = Self::default();
        for (truth, said) in pairs {
            let side = if truth { &mut made.positive } else { &mut made.negative };
            side.of += 1;
            side.hit += usize::from(said == truth);
        }
        made
    }

    /// The share of positives behind `raw`, the units that the judge called positive among those that it judged.
    ///
    /// # Errors
    /// [`NoCorrection`].
    pub fn correct(&self, raw: Found, level: f64) -> Result<Corrected, NoCorrection> {
        let (Some(sensitivity), Some(specificity)) = (self.positive.share(), self.negative.share()) else {
            return Err(NoCorrection::OneClass);
        };
        let p = raw.share().ok_or(NoCorrection::Empty)?;
        if sensitivity + specificity <= 1.0 {
            return Err(NoCorrection::Chance);
        }
        let value = (p + specificity - 1.0) / (sensitivity + specificity - 1.0);
        let z = normal_quantile(0.5 + level / 2.0);
        let n = raw.of as f64 + z * z;
        let p = (raw.hit.min(raw.of) as f64 + z * z / 2.0) / n;
        let ((n_positive, sensitivity), (n_negative, specificity)) = (self.positive.shrunk(), self.negative.shrunk());
        let youden = sensitivity + specificity - 1.0;
        if youden <= 0.0 {
            return Err(NoCorrection::Chance);
        }
        let centre = (p + specificity - 1.0) / youden;
        let (positive, negative) =
            (sensitivity * (1.0 - sensitivity) / n_positive, specificity * (1.0 - specificity) / n_negative);
        let shift = 2.0 * z * z * (centre * positive - (1.0 - centre) * negative);
        let square = |x: f64| x * x;
        let variance = p * (1.0 - p) / n + square(1.0 - centre) * negative + square(centre) * positive;
        let half = z * libm::sqrt(variance) / youden;
        let within = |x: f64| x.clamp(0.0, 1.0);
        Ok(Corrected { value: within(value), low: within(centre + shift - half), high: within(centre + shift + half) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn errors(positive: (usize, usize), negative: (usize, usize)) -> JudgeErrors {
        let found = |(hit, of)| Found { hit, of };
        JudgeErrors { positive: found(positive), negative: found(negative) }
    }

    #[test]
    fn the_share_behind_a_lenient_judge_is_lower() {
        // Of 100 right answers it sees 90, of 100 wrong ones it lets 20 pass: 0.55 = 0.5 x 0.9 + 0.5 x 0.2.
        let made = errors((90, 100), (80, 100)).correct(Found { hit: 550, of: 1_000 }, 0.95).unwrap();
        assert!((made.value - 0.5).abs() < 1e-12 && made.low < 0.5 && made.high > 0.5, "{made:?}");
        let few = errors((9, 10), (8, 10)).correct(Found { hit: 550, of: 1_000 }, 0.95).unwrap();
        assert!(few.high - few.low > 2.0 * (made.high - made.low), "few labels, wide interval: {few:?}");
    }

    #[test]
    fn what_cannot_be_corrected_is_said() {
        let raw = Found { hit: 5, of: 10 };
        assert_eq!(errors((3, 3), (0, 0)).correct(raw, 0.95), Err(NoCorrection::OneClass));
        assert_eq!(errors((1, 2), (1, 2)).correct(raw, 0.95), Err(NoCorrection::Chance));
        assert_eq!(errors((9, 9), (9, 9)).correct(Found::default(), 0.95), Err(NoCorrection::Empty));
    }

    proptest! {
        #[test]
        fn a_perfect_judge_is_left_as_it_is_and_all_lies_in_the_unit_interval(hit in 0usize..=60, n in 1usize..200, m in 1usize..200) {
            let raw = Found { hit, of: 60 };
            let made = errors((n, n), (m, m)).correct(raw, 0.95);
            prop_assume!(made.is_ok());
            let made = made.unwrap();
            prop_assert!((made.value - hit as f64 / 60.0).abs() < 1e-12);
            prop_assert!(0.0 <= made.low && made.low <= made.high && made.high <= 1.0);
        }
    }
}
