//! aarch64, whose NEON is always there.

use super::simd::Simd;
use std::arch::aarch64::*;

/// Four numbers at a time; pairs of i16 by widening multiplication.
#[derive(Clone, Copy)]
pub(super) struct Neon;

impl Simd for Neon {
    type Floats = float32x4_t;
    type Ints = int32x4_t;
    const LANES: usize = 4;
    const ROWS: usize = 12;

    #[inline(always)]
    unsafe fn load(at: *const f32) -> float32x4_t {
        vld1q_f32(at)
    }
    #[inline(always)]
    unsafe fn store(at: *mut f32, x: float32x4_t) {
        vst1q_f32(at, x);
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> float32x4_t {
        vdupq_n_f32(x)
    }
    #[inline(always)]
    unsafe fn add(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        vaddq_f32(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        vsubq_f32(a, b)
    }
    #[inline(always)]
    unsafe fn mul(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        vmulq_f32(a, b)
    }
    #[inline(always)]
    unsafe fn div(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        vdivq_f32(a, b)
    }
    #[inline(always)]
    unsafe fn min(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        vminq_f32(a, b)
    }
    #[inline(always)]
    unsafe fn max(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        vmaxq_f32(a, b)
    }
    #[inline(always)]
    unsafe fn mul_add(a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
        vfmaq_f32(c, a, b)
    }
    #[inline(always)]
    unsafe fn sum(x: float32x4_t) -> f32 {
        vaddvq_f32(x)
    }
    #[inline(always)]
    unsafe fn largest(x: float32x4_t) -> f32 {
        vmaxvq_f32(x)
    }
    #[inline(always)]
    unsafe fn round(x: float32x4_t) -> int32x4_t {
        vcvtnq_s32_f32(x)
    }
    #[inline(always)]
    unsafe fn to_floats(x: int32x4_t) -> float32x4_t {
        vcvtq_f32_s32(x)
    }
    #[inline(always)]
    unsafe fn times_power_of_two(x: float32x4_t, n: float32x4_t) -> float32x4_t {
        let n = vshlq_n_s32::<23>(vreinterpretq_s32_f32(n));
        vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(x), n))
    }
    #[inline(always)]
    unsafe fn zeros() -> int32x4_t {
        vdupq_n_s32(0)
    }
    #[inline(always)]
    unsafe fn load_steps(at: *const u8) -> int32x4_t {
        vreinterpretq_s32_u8(vld1q_u8(at))
    }
    #[inline(always)]
    unsafe fn store_steps(at: *mut u8, x: int32x4_t) {
        vst1q_u8(at, vreinterpretq_u8_s32(x));
    }
    #[inline(always)]
    unsafe fn pairs(low: int32x4_t, high: int32x4_t) -> int32x4_t {
        vsliq_n_s32::<16>(low, high)
    }
    #[inline(always)]
    unsafe fn splat_step(at: *const u8) -> int32x4_t {
        vdupq_n_s32(at.cast::<i32>().read_unaligned())
    }
    #[inline(always)]
    unsafe fn add_dot_i16(sum: int32x4_t, a: int32x4_t, b: int32x4_t) -> int32x4_t {
        let (a, b) = (vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
        let (low, high) = (vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
        vaddq_s32(sum, vpaddq_s32(low, high))
    }
    #[inline(always)]
    unsafe fn add_dot_u8_i8(sum: int32x4_t, a: int32x4_t, b: int32x4_t) -> int32x4_t {
        let (a, b) = (vreinterpretq_u16_s32(a), vreinterpretq_s16_s32(b));
        let even_a = vreinterpretq_s32_u16(vandq_u16(a, vdupq_n_u16(0xff)));
        let odd_a = vreinterpretq_s32_u16(vshrq_n_u16::<8>(a));
        let even_b = vreinterpretq_s32_s16(vshrq_n_s16::<8>(vshlq_n_s16::<8>(b)));
        let odd_b = vreinterpretq_s32_s16(vshrq_n_s16::<8>(b));
        Self::add_dot_i16(Self::add_dot_i16(sum, even_a, even_b), odd_a, odd_b)
    }
    #[inline(always)]
    unsafe fn store_i16(at: *mut i16, x: int32x4_t) {
        vst1_s16(at, vmovn_s32(x));
    }
    #[inline(always)]
    unsafe fn store_u8(at: *mut u8, x: int32x4_t) {
        let pairs = vreinterpretq_u16_s16(vcombine_s16(vmovn_s32(x), vdup_n_s16(0)));
        vst1_lane_u32::<0>(at.cast(), vreinterpret_u32_u8(vmovn_u16(pairs)));
    }
}
