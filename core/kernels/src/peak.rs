//! What the processor could do: nothing but multiply-adds, to hold a kernel's speed against.

use super::Kernels;
use super::simd::Simd;

/// Independent sums: more than a multiply-add takes cycles, times the two that start in one; with two operands they fit
/// sixteen registers.
const CHAINS: usize = 12;

impl Kernels {
    /// Computes about `n` multiply-adds of f32 in registers and returns how many they were. What they come to is of no
    /// use to anybody; the time they take is.
    pub fn multiply_adds(self, n: u64) -> u64 {
        let a_turn = (CHAINS * self.table.lanes) as u64;
        let n_turns = n.div_ceil(a_turn);
        // SAFETY: the table is one that this processor can run, and nothing else is asked for.
        std::hint::black_box(unsafe { (self.table.multiply_adds)(n_turns) });
        n_turns * a_turn
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
