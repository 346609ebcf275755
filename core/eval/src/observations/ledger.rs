//! How trials ended, counted.

use super::Ending;

/// How many trials ended in which way; the parts add up to what was planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ledger([usize; Ending::ALL.len()]);

impl Ledger {
    /// Counts a trial.
    pub fn count(&mut self, ending: Ending) {
        self.0[ending as usize] += 1;
    }

    /// How many ended so.
    pub fn of(&self, ending: Ending) -> usize {
        self.0[ending as usize]
    }

    /// Every ending with its count.
    pub fn parts(&self) -> impl Iterator<Item = (Ending, usize)> {
        Ending::ALL.into_iter().zip(self.0)
    }

    /// All trials.
    pub fn planned(&self) -> usize {
        self.0.iter().sum()
    }

    /// True if nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.of(Ending::Missing) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_has_a_place() {
        let mut ledger = Ledger::default();
        for (place, ending) in Ending::ALL.into_iter().enumerate() {
            assert!(ending as usize == place && ledger.is_complete() == (place <= Ending::Missing as usize));
            ledger.count(ending);
            assert_eq!(ledger.of(ending), 1);
        }
        assert_eq!((ledger.planned(), ledger.parts().count()), (11, 11));
    }
}
