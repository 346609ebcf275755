//! x86-64 with AVX2 and FMA (Haswell, Zen and later).

use super::simd::Simd;
use std::arch::x86_64::*;

/// Eight numbers at a time; pairs of i16 by `vpmaddwd`.
#[derive(Clone, Copy)]
pub(super) struct Avx2;

/// The sum of the lanes, halves folded onto each other.
///
/// # Safety
/// The processor has AVX.
#[inline(always)]
pub(super) unsafe fn sum(x: __m256) -> f32 {
    let quarter = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
    let eighth = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
    _mm_cvtss_f32(_mm_add_ss(eighth, _mm_movehdup_ps(eighth)))
}

impl Simd for Avx2 {
    type Floats = __m256;
    type Ints = __m256i;
    const LANES: usize = 8;
    const ROWS: usize = 6;
    // LLVM 21 would add the products of several steps to each other first, for which a tile has not the registers.
    const INTEGER_STEPS: usize = 1;

    #[inline(always)]
    unsafe fn prefetch(at: *const u8) {
        _mm_prefetch::<_MM_HINT_T1>(at.cast());
    }
    #[inline(always)]
    unsafe fn load(at: *const f32) -> __m256 {
        _mm256_loadu_ps(at)
    }
    #[inline(always)]
    unsafe fn store(at: *mut f32, x: __m256) {
        _mm256_storeu_ps(at, x);
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> __m256 {
        _mm256_set1_ps(x)
    }
    #[inline(always)]
    unsafe fn add(a: __m256, b: __m256) -> __m256 {
        _mm256_add_ps(a, b)
    }
    #[inline(always)]
    unsafe fn sub(a: __m256, b: __m256) -> __m256 {
        _mm256_sub_ps(a, b)
    }
    #[inline(always)]
    unsafe fn mul(a: __m256, b: __m256) -> __m256 {
        _mm256_mul_ps(a, b)
    }
    #[inline(always)]
    unsafe fn div(a: __m256, b: __m256) -> __m256 {
        _mm256_div_ps(a, b)
    }
    #[inline(always)]
    unsafe fn min(a: __m256, b: __m256) -> __m256 {
        _mm256_min_ps(a, b)
    }
    #[inline(always)]
    unsafe fn max(a: __m256, b: __m256) -> __m256 {
        _mm256_max_ps(a, b)
    }
    #[inline(always)]
    unsafe fn mul_add(a: __m256, b: __m256, c: __m256) -> __m256 {
        _mm256_fmadd_ps(a, b, c)
    }
    #[inline(always)]
    unsafe fn sum(x: __m256) -> f32 {
        sum(x)
    }
    #[inline(always)]
    unsafe fn largest(x: __m256) -> f32 {
        let quarter = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let eighth = _mm_max_ps(quarter, _mm_movehl_ps(quarter, quarter));
        _mm_cvtss_f32(_mm_max_ss(eighth, _mm_movehdup_ps(eighth)))
    }
    #[inline(always)]
    unsafe fn round(x: __m256) -> __m256i {
        _mm256_cvtps_epi32(x)
    }
    #[inline(always)]
    unsafe fn to_floats(x: __m256i) -> __m256 {
        _mm256_cvtepi32_ps(x)
    }
    #[inline(always)]
    unsafe fn times_power_of_two(x: __m256, n: __m256) -> __m256 {
        let n = _mm256_slli_epi32::<23>(_mm256_castps_si256(n));
        _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), n))
    }
    #[inline(always)]
    unsafe fn zeros() -> __m256i {
        _mm256_setzero_si256()
    }
    #[inline(always)]
    unsafe fn load_steps(at: *const u8) -> __m256i {
        _mm256_loadu_si256(at.cast())
    }
    #[inline(always)]
    unsafe fn store_steps(at: *mut u8, x: __m256i) {
        _mm256_storeu_si256(at.cast(), x);
    }
    #[inline(always)]
    unsafe fn pairs(low: __m256i, high: __m256i) -> __m256i {
        _mm256_blend_epi16::<0b1010_1010>(low, _mm256_slli_epi32::<16>(high))
    }
    #[inline(always)]
    unsafe fn splat_step(at: *const u8) -> __m256i {
        _mm256_set1_epi32(at.cast::<i32>().read_unaligned())
    }
    #[inline(always)]
    unsafe fn add_dot_i16(sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
    }
    #[inline(always)]
    unsafe fn add_dot_u8_i8(sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // `vpmaddubsw` would do in one, but saturates; even and odd bytes by themselves do not.
        let even = _mm256_madd_epi16(
            _mm256_and_si256(a, _mm256_set1_epi16(0xff)),
            _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(b)),
        );
        let odd = _mm256_madd_epi16(_mm256_srli_epi16::<8>(a), _mm256_srai_epi16::<8>(b));
        _mm256_add_epi32(sum, _mm256_add_epi32(even, odd))
    }
    #[inline(always)]
    unsafe fn store_i16(at: *mut i16, x: __m256i) {
        // Packing works on each half by itself: the two quarters wanted end up first and third.
        let packed = _mm256_permute4x64_epi64::<0b10_00>(_mm256_packs_epi32(x, x));
        _mm_storeu_si128(at.cast(), _mm256_castsi256_si128(packed));
    }
    #[inline(always)]
    unsafe fn store_u8(at: *mut u8, x: __m256i) {
        let pairs = _mm256_permute4x64_epi64::<0b10_00>(_mm256_packs_epi32(x, x));
        let pairs = _mm256_castsi256_si128(pairs);
        _mm_storel_epi64(at.cast(), _mm_packus_epi16(pairs, pairs));
    }
}
