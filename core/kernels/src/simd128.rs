//! WebAssembly with simd128 (every browser since 2023).

use super::simd::Simd;
use std::arch::wasm32::*;

/// Four numbers at a time; pairs of i16 by `i32x4.dot_i16x8_s`. No fused multiply-add: it is not part of simd128.
#[derive(Clone, Copy)]
pub(super) struct Simd128;

impl Simd for Simd128 {
    type Floats = v128;
    type Ints = v128;
    const LANES: usize = 4;
    const ROWS: usize = 4;
    // The compiler orders what stands in one turn by rows: the weights of four steps and the sums would not fit sixteen
    // registers.
    const STEPS: usize = 1;

    #[inline(always)]
    unsafe fn load(at: *const f32) -> v128 {
        v128_load(at.cast())
    }
    #[inline(always)]
    unsafe fn store(at: *mut f32, x: v128) {
        v128_store(at.cast(), x);
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> v128 {
        f32x4_splat(x)
    }
    #[inline(always)]
    unsafe fn add(a: v128, b: v128) -> v128 {
        f32x4_add(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: v128, b: v128) -> v128 {
        f32x4_sub(a, b)
    }
    #[inline(always)]
    unsafe fn mul(a: v128, b: v128) -> v128 {
        f32x4_mul(a, b)
    }
    #[inline(always)]
    unsafe fn div(a: v128, b: v128) -> v128 {
        f32x4_div(a, b)
    }
    #[inline(always)]
    unsafe fn min(a: v128, b: v128) -> v128 {
        // The pseudo-minimum is one instruction on x86, which the minimum that passes NaN on is not.
        f32x4_pmin(b, a)
    }
    #[inline(always)]
    unsafe fn max(a: v128, b: v128) -> v128 {
        f32x4_pmax(b, a)
    }
    #[inline(always)]
    unsafe fn mul_add(a: v128, b: v128, c: v128) -> v128 {
        f32x4_add(f32x4_mul(a, b), c)
    }
    #[inline(always)]
    unsafe fn sum(x: v128) -> f32 {
        let pairs = f32x4_add(x, i64x2_shuffle::<1, 0>(x, x));
        f32x4_extract_lane::<0>(pairs) + f32x4_extract_lane::<1>(pairs)
    }
    #[inline(always)]
    unsafe fn largest(x: v128) -> f32 {
        let pairs = f32x4_pmax(x, i64x2_shuffle::<1, 0>(x, x));
        let (a, b) = (f32x4_extract_lane::<0>(pairs), f32x4_extract_lane::<1>(pairs));
        if b > a { b } else { a }
    }
    #[inline(always)]
    unsafe fn round(x: v128) -> v128 {
        i32x4_trunc_sat_f32x4(f32x4_nearest(x))
    }
    #[inline(always)]
    unsafe fn to_floats(x: v128) -> v128 {
        f32x4_convert_i32x4(x)
    }
    #[inline(always)]
    unsafe fn times_power_of_two(x: v128, n: v128) -> v128 {
        i32x4_add(x, i32x4_shl(n, 23))
    }
    #[inline(always)]
    unsafe fn zeros() -> v128 {
        i32x4_splat(0)
    }
    #[inline(always)]
    unsafe fn load_steps(at: *const u8) -> v128 {
        v128_load(at.cast())
    }
    #[inline(always)]
    unsafe fn store_steps(at: *mut u8, x: v128) {
        v128_store(at.cast(), x);
    }
    #[inline(always)]
    unsafe fn pairs(low: v128, high: v128) -> v128 {
        v128_or(v128_and(low, i32x4_splat(0xffff)), i32x4_shl(high, 16))
    }
    #[inline(always)]
    unsafe fn splat_step(at: *const u8) -> v128 {
        v128_load32_splat(at.cast())
    }
    #[inline(always)]
    unsafe fn add_dot_i16(sum: v128, a: v128, b: v128) -> v128 {
        i32x4_add(sum, i32x4_dot_i16x8(a, b))
    }
    #[inline(always)]
    unsafe fn add_dot_u8_i8(sum: v128, a: v128, b: v128) -> v128 {
        let even = i32x4_dot_i16x8(v128_and(a, u16x8_splat(0xff)), i16x8_shr(i16x8_shl(b, 8), 8));
        let odd = i32x4_dot_i16x8(u16x8_shr(a, 8), i16x8_shr(b, 8));
        i32x4_add(sum, i32x4_add(even, odd))
    }
    #[inline(always)]
    unsafe fn store_i16(at: *mut i16, x: v128) {
        v128_store64_lane::<0>(i16x8_narrow_i32x4(x, x), at.cast());
    }
    #[inline(always)]
    unsafe fn store_u8(at: *mut u8, x: v128) {
        let pairs = i16x8_narrow_i32x4(x, x);
        v128_store32_lane::<0>(u8x16_narrow_i16x8(pairs, pairs), at.cast());
    }
}
