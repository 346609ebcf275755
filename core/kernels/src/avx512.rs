//! x86-64 with AVX-512 F, BW, DQ, VL and VNNI (Ice Lake, Zen 4 and later).

use super::simd::Simd;
use std::arch::x86_64::*;

/// Sixteen numbers at a time; pairs of i16 by `vpdpwssd`, four 8-bit integers by `vpdpbusd`.
#[derive(Clone, Copy)]
pub(super) struct Avx512;

/// sum + the dot products of pairs, by the one instruction for it.
///
/// As an intrinsic (`_mm512_dpwssd_epi32`) LLVM 21 takes it apart into a multiplication and an addition wherever it
/// believes that this shortens a chain, which halves the speed of a tile.
///
/// # Safety
/// The processor has AVX-512 F and VNNI.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn vpdpwssd(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    std::arch::asm!(
        "vpdpwssd {sum}, {a}, {b}",
        sum = inout(zmm_reg) sum,
        a = in(zmm_reg) a,
        b = in(zmm_reg) b,
        options(pure, nomem, nostack, preserves_flags)
    );
    sum
}

/// sum + the dot products of four u8 with four i8; as an instruction for the same reason.
///
/// # Safety
/// The processor has AVX-512 F and VNNI.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn vpdpbusd(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    std::arch::asm!(
        "vpdpbusd {sum}, {a}, {b}",
        sum = inout(zmm_reg) sum,
        a = in(zmm_reg) a,
        b = in(zmm_reg) b,
        options(pure, nomem, nostack, preserves_flags)
    );
    sum
}

impl Simd for Avx512 {
    type Floats = __m512;
    type Ints = __m512i;
    const LANES: usize = 16;
    const ROWS: usize = 14;

    #[inline(always)]
    unsafe fn prefetch(at: *const u8) {
        _mm_prefetch::<_MM_HINT_T1>(at.cast());
    }
    #[inline(always)]
    unsafe fn load(at: *const f32) -> __m512 {
        _mm512_loadu_ps(at)
    }
    #[inline(always)]
    unsafe fn store(at: *mut f32, x: __m512) {
        _mm512_storeu_ps(at, x);
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> __m512 {
        _mm512_set1_ps(x)
    }
    #[inline(always)]
    unsafe fn add(a: __m512, b: __m512) -> __m512 {
        _mm512_add_ps(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: __m512, b: __m512) -> __m512 {
        _mm512_sub_ps(a, b)
    }
    #[inline(always)]
    unsafe fn mul(a: __m512, b: __m512) -> __m512 {
        _mm512_mul_ps(a, b)
    }
    #[inline(always)]
    unsafe fn div(a: __m512, b: __m512) -> __m512 {
        _mm512_div_ps(a, b)
    }
    #[inline(always)]
    unsafe fn min(a: __m512, b: __m512) -> __m512 {
        _mm512_min_ps(a, b)
    }
    #[inline(always)]
    unsafe fn max(a: __m512, b: __m512) -> __m512 {
        _mm512_max_ps(a, b)
    }
    #[inline(always)]
    unsafe fn mul_add(a: __m512, b: __m512, c: __m512) -> __m512 {
        _mm512_fmadd_ps(a, b, c)
    }
    #[inline(always)]
    unsafe fn sum(x: __m512) -> f32 {
        let half = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps::<1>(x));
        super::avx2::sum(half)
    }
    #[inline(always)]
    unsafe fn largest(x: __m512) -> f32 {
        _mm512_reduce_max_ps(x)
    }
    #[inline(always)]
    unsafe fn round(x: __m512) -> __m512i {
        _mm512_cvtps_epi32(x)
    }
    #[inline(always)]
    unsafe fn to_floats(x: __m512i) -> __m512 {
        _mm512_cvtepi32_ps(x)
    }
    #[inline(always)]
    unsafe fn times_power_of_two(x: __m512, n: __m512) -> __m512 {
        let n = _mm512_slli_epi32::<23>(_mm512_castps_si512(n));
        _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), n))
    }
    #[inline(always)]
    unsafe fn zeros() -> __m512i {
        _mm512_setzero_si512()
    }
    #[inline(always)]
    unsafe fn load_steps(at: *const u8) -> __m512i {
        _mm512_loadu_si512(at.cast())
    }
    #[inline(always)]
    unsafe fn store_steps(at: *mut u8, x: __m512i) {
        _mm512_storeu_si512(at.cast(), x);
    }
    #[inline(always)]
    unsafe fn pairs(low: __m512i, high: __m512i) -> __m512i {
        _mm512_mask_blend_epi16(0xaaaa_aaaa, low, _mm512_slli_epi32::<16>(high))
    }
    #[inline(always)]
    unsafe fn splat_step(at: *const u8) -> __m512i {
        _mm512_set1_epi32(at.cast::<i32>().read_unaligned())
    }
    #[inline(always)]
    unsafe fn add_dot_i16(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        vpdpwssd(sum, a, b)
    }
    #[inline(always)]
    unsafe fn add_dot_u8_i8(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        vpdpbusd(sum, a, b)
    }
    #[inline(always)]
    unsafe fn store_i16(at: *mut i16, x: __m512i) {
        _mm256_storeu_si256(at.cast(), _mm512_cvtepi32_epi16(x));
    }
    #[inline(always)]
    unsafe fn store_u8(at: *mut u8, x: __m512i) {
        _mm_storeu_si128(at.cast(), _mm512_cvtepi32_epi8(x));
    }
}
