//! Random numbers that are the same on every platform.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): 64-bit integer arithmetic only, one word of state.
///
/// Good enough to invent reports with, and so short that no version of a crate can change what a seed means.
#[derive(Debug, Clone)]
pub(super) struct Rng(u64);

impl Rng {
    /// The generator of one purpose (`stream`) under one seed; streams do not overlap in practice.
    pub(super) fn stream(seed: u64, stream: u64) -> Self {
        let mut rng = Self(seed);
        let mixed = rng.next() ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let mut rng = Self(mixed);
        rng.next();
        rng
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n - 1`; `n` is at least 1. The bias is below `n / 2^64`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0, "nothing lies below 0");
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
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

    /// Puts `items` in random order (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first words of seed 0 and of seed 1234567 as the reference C code prints them.
    #[test]
    fn words_are_those_of_the_reference() {
        let mut zero = Rng(0);
        assert_eq!([zero.next(), zero.next()], [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
        let mut other = Rng(1_234_567);
        assert_eq!([other.next(), other.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

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
