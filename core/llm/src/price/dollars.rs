//! Money in US dollars.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An amount in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Dollars(pub f64);

impl fmt::Display for Dollars {
    /// Cents from a dollar, four digits below it; what is not nothing is not shown as nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.0 => write!(f, "$0"),
            tiny if tiny < 0.000_05 => write!(f, "<$0.0001"),
            small if small < 0.999_95 => write!(f, "${small:.4}"),
            rest => {
                let cents = (rest * 100.0).round() as u64;
                write!(f, "${}.{:02}", closeread_text::thousands(cents / 100), cents % 100)
            }
        }
    }
}

impl Add for Dollars {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Dollars {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl AddAssign for Dollars {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Mul<f64> for Dollars {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self(self.0 * times)
    }
}

impl Sum for Dollars {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::Dollars;

    #[test]
    fn amounts_as_they_are_printed() {
        let shown = [0.0, 0.000_01, 0.0123, 0.999_97, 1.0, 1234.567].map(|amount| Dollars(amount).to_string());
        assert_eq!(shown, ["$0", "<$0.0001", "$0.0123", "$1.00", "$1.00", "$1,234.57"]);
    }
}
