//! Seeded randomness, the same on every platform.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): 64-bit integer arithmetic only, one word of state.
///
/// Good enough to resample and to shuffle with, and so short that no version of a crate can change what a seed
/// means.
#[derive(Debug, Clone)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n - 1`, the bias below `n / 2^64`; `n` is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        debug_assert!(n > 0, "nothing lies below 0");
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Returns a random number in 0..1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from the standard normal distribution, by Box and Muller's transform.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }

    /// Puts `items` in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first words of seed 0 and of seed 1234567 as the reference C code (prng.di.unimi.it/splitmix64.c) prints them.
    #[test]
    fn the_published_sequence() {
        let mut zero = SplitMix64(0);
        assert_eq!([zero.bits(), zero.bits()], [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
        let mut other = SplitMix64(1_234_567);
        assert_eq!([other.bits(), other.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn every_number_of_a_range_comes_up() {
        let mut random = SplitMix64(7);
        let mut seen = [0; 7];
        for _ in 0..700 {
            seen[random.below(7)] += 1;
        }
        assert!(seen.iter().all(|&n| n > 60), "{seen:?}");
    }
    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let mut random = SplitMix64(1);
        let drawn: Vec<f64> = (0..10_000).map(|_| random.normal()).collect();
        let mean = drawn.iter().sum::<f64>() / 10_000.0;
        let variance = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 10_000.0;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean}, {variance}");
    }
}
