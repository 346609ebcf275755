//! Peak speed of the processor: nothing but multiply-adds, to hold a kernel's speed against.

use super::simd::Simd;

/// Independent sums: more than a multiply-add takes cycles, times the two that start in one; with two operands they fit
/// sixteen registers.
pub(super) const CHAINS: usize = 12;

/// `n_turns` multiply-adds in each lane of each chain; their sum.
///
/// # Safety
/// That of [`Simd`].
#[inline(always)]
pub(super) unsafe fn multiply_adds<S: Simd>(n_turns: u64) -> f32 {
    let (factor, term) = (S::splat(std::hint::black_box(0.999)), S::splat(std::hint::black_box(0.001)));
    let mut chains = [term; CHAINS];
    for _ in 0..n_turns {
        for chain in 0..CHAINS {
            chains[chain] = S::mul_add(chains[chain], factor, term);
        }
    }
    let mut sum = S::splat(0.0);
    for chain in 0..CHAINS {
        sum = S::add(sum, chains[chain]);
    }
    S::sum(sum)
}
