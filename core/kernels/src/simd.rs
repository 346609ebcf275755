//! Vectors of an instruction set: what a kernel asks of it.

/// Vectors of one instruction set, for kernels that are written once for all of them.
///
/// Every function is `unsafe` with the same contract: the processor has the instruction set, and a pointer is good for
/// as many elements as the function reads or writes ([`Simd::LANES`] unless it says otherwise), at any alignment.
/// Kernels and implementations are `#[inline(always)]`, so that each ends up whole inside the one function per
/// instruction set that carries `#[target_feature]` (`table.rs`).
pub(super) trait Simd: Copy {
    /// A vector of `LANES` f32.
    type Floats: Copy;
    /// A vector of `LANES` i32, or of as many steps of an integer product: pairs of i16, or four 8-bit integers.
    type Ints: Copy;
    /// Numbers in a vector.
    const LANES: usize;
    /// Rows of a tile of the matrix product, at most 14: with two vectors a row, sums, weights and one activation fill
    /// the registers.
    const ROWS: usize;
    /// Steps that a turn of a tile's inner loop takes.
    const STEPS: usize = 4;
    /// Steps that a turn of the inner loop takes for a tile of integers.
    const INTEGER_STEPS: usize = Self::STEPS;

    /// Asks for the cache line at `at`, which may be any address; nothing where there is no such instruction.
    #[inline(always)]
    unsafe fn prefetch(_at: *const u8) {}
    /// Loads `LANES` numbers from memory.
    unsafe fn load(at: *const f32) -> Self::Floats;
    /// Stores `LANES` numbers to memory.
    unsafe fn store(at: *mut f32, x: Self::Floats);
    /// Returns a vector with the same number in every lane.
    unsafe fn splat(x: f32) -> Self::Floats;
    /// Returns a + b.
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// Returns a - b.
    unsafe fn sub(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// Returns the product a b.
    unsafe fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// Returns a / b.
    unsafe fn div(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// The smaller of each pair.
    unsafe fn min(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// The larger of each pair.
    unsafe fn max(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// a b + c, rounded once where the instruction set can and twice where it cannot.
    unsafe fn mul_add(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// The sum of the lanes, always in the same order.
    unsafe fn sum(x: Self::Floats) -> f32;
    /// The largest lane.
    unsafe fn largest(x: Self::Floats) -> f32;
    /// The nearest integers, ties to even, for numbers within +-2^22.
    unsafe fn round(x: Self::Floats) -> Self::Ints;
    /// Integers as floats.
    unsafe fn to_floats(x: Self::Ints) -> Self::Floats;
    /// x 2^n, where neither x nor the result is subnormal or infinite; `n` are integers plus [`ROUNDER`].
    unsafe fn times_power_of_two(x: Self::Floats, n: Self::Floats) -> Self::Floats;

    /// Returns a vector with all lanes 0.
    unsafe fn zeros() -> Self::Ints;
    /// Loads `LANES` steps of 32 bits.
    unsafe fn load_steps(at: *const u8) -> Self::Ints;
    /// Stores `LANES` steps of 32 bits to memory.
    unsafe fn store_steps(at: *mut u8, x: Self::Ints);
    /// The lanes of `low`, integers within i16, as the first of pairs of i16, those of `high` as the second.
    unsafe fn pairs(low: Self::Ints, high: Self::Ints) -> Self::Ints;
    /// The step of 32 bits at `at` in every lane.
    unsafe fn splat_step(at: *const u8) -> Self::Ints;
    /// sum + a.0 b.0 + a.1 b.1 in each lane, in 32 bits, of pairs of i16.
    unsafe fn add_dot_i16(sum: Self::Ints, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    /// sum + a.0 b.0 + ... + a.3 b.3 in each lane, in 32 bits, of four u8 in `a` and four i8 in `b`.
    unsafe fn add_dot_u8_i8(sum: Self::Ints, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    /// Stores `LANES` integers within i16 to memory as i16.
    unsafe fn store_i16(at: *mut i16, x: Self::Ints);
    /// Stores `LANES` integers within u8 to memory as u8.
    unsafe fn store_u8(at: *mut u8, x: Self::Ints);
}

/// Vectors side by side in a panel of weights, and so in a tile.
pub(super) const VECTORS: usize = 2;

/// Returns |x|.
///
/// # Safety
/// That of [`Simd`].
#[inline(always)]
pub(super) unsafe fn abs<S: Simd>(x: S::Floats) -> S::Floats {
    S::max(x, S::sub(S::splat(0.0), x))
}

/// Stores the first `n` lanes to memory; any `n`.
///
/// # Safety
/// That of [`Simd`], with `at` good for `min(n, LANES)` numbers.
#[inline(always)]
pub(super) unsafe fn store_first<S: Simd>(at: *mut f32, x: S::Floats, n: usize) {
    if n >= S::LANES {
        S::store(at, x);
    } else {
        let mut lanes = [0.0_f32; MAX_LANES];
        S::store(lanes.as_mut_ptr(), x);
        std::ptr::copy_nonoverlapping(lanes.as_ptr(), at, n);
    }
}

/// Loads `n` numbers from memory, 0 in the other lanes; any `n`.
///
/// # Safety
/// That of [`Simd`], with `at` good for `min(n, LANES)` numbers.
#[inline(always)]
pub(super) unsafe fn load_first<S: Simd>(at: *const f32, n: usize) -> S::Floats {
    if n >= S::LANES {
        S::load(at)
    } else {
        let mut lanes = [0.0_f32; MAX_LANES];
        std::ptr::copy_nonoverlapping(at, lanes.as_mut_ptr(), n);
        S::load(lanes.as_ptr())
    }
}

/// The widest [`Simd::LANES`].
pub(super) const MAX_LANES: usize = 16;

/// Number that, added to another one, leaves the nearest integer in the last bits.
pub(super) const ROUNDER: f32 = 12_582_912.0;
