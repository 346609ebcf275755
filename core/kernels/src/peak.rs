//! What the processor could do: nothing but multiply-adds, to hold a kernel's speed against.

use super::Kernels;
use super::simd::Simd;

/// Independent sums: more than a multiply-add takes cycles, times the two that start in one; with two operands they fit
/// sixteen registers.
pub(super) const CHAINS: usize = 12;

impl Kernels {
    /// Computes `n` multiply-adds of f32 in registers, rounded up to a turn of all chains, and returns the mean of what
    /// they come to: 1 - 0.999 ^ (turns + 1). It is the time they take that is of use.
    pub fn multiply_adds(self, n: u64) -> f32 {
        let n_lanes = CHAINS * self.table.lanes;
        // SAFETY: the table is one that this processor can run, and nothing else is asked for.
        let sum = unsafe { (self.table.multiply_adds)(n.div_ceil(n_lanes as u64)) };
        sum / n_lanes as f32
    }
}

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
