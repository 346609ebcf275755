//! Chance, as the reports are invented by it.

use crate::random::SplitMix64;

/// Seeded choices.
#[derive(Debug, Clone)]
pub(super) struct Rng(SplitMix64);

impl Rng {
    /// The generator of one purpose (`stream`) under one seed; streams do not overlap in practice.
    pub(super) fn stream(seed: u64, stream: u64) -> Self {
        let mixed = SplitMix64(seed).bits() ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let mut random = SplitMix64(mixed);
        random.bits();
        Self(random)
    }

    /// A number from 0 to `n - 1`; `n` is at least 1.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0.below(n as usize) as u64
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True `percent` times out of a hundred.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of `options`, which must not be empty.
    pub(super) fn pick<'a, T: ?Sized>(&mut self, options: &[&'a T]) -> &'a T {
        options[self.index(options.len())]
    }

    /// A position in a list of `n`.
    pub(super) fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    /// Puts `items` in random order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        self.0.shuffle(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_range_comes_up() {
        let mut rng = Rng::stream(7, 1);
        let mut seen = [0; 6];
        for _ in 0..600 {
            seen[rng.between(0, 5) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 60), "{seen:?}");
    }
}
