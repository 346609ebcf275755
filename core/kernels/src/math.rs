//! exp and the activations, on vectors.

use super::simd::{ROUNDER, Simd, VECTORS, abs};
use crate::activation::Activation;

/// Least exponent; a smaller one is taken for it: 2^-126 is the last power that is not subnormal.
const LEAST_EXPONENT: f32 = -125.0;
/// 2^r for |r| <= 1/2 with the least relative error, 8e-8 (2e-7 when computed in f32).
const EXP2: [f32; 6] = [1.000_000_1, 0.693_146_94, 0.240_221_2, 0.055_507_13, 0.009_675_541, 0.001_327_647_2];

/// 2^x for x <= 0, which is what a softmax needs; relative error below 3e-7. What underflows becomes about 1e-38.
///
/// # Safety
/// That of [`Simd`].
#[inline(always)]
pub(super) unsafe fn exp2<S: Simd>(x: S::Floats) -> S::Floats {
    let x = S::max(x, S::splat(LEAST_EXPONENT));
    let n = S::add(x, S::splat(ROUNDER));
    let r = S::sub(x, S::sub(n, S::splat(ROUNDER)));
    S::times_power_of_two(polynomial::<S, 6>(&EXP2, r), n)
}

/// Argument from which on erf is 1 in f32.
pub const ERF_END: f32 = 3.9;
/// erf(z) / z as a polynomial in t = 2 z^2 / `ERF_END`^2 - 1, fitted so that the error of erf stays below 2e-8 (2e-7 when
/// computed in f32). In t the coefficients are small and nothing cancels, and no division is needed.
pub const ERF: [f32; 16] = [
    0.362_583_97,
    -0.181_011_08,
    0.134_690_82,
    -0.109_532_23,
    0.090_674_85,
    -0.073_805_84,
    0.057_871_945,
    -0.042_762_69,
    0.029_246_336,
    -0.019_603_27,
    0.013_395_573,
    -0.007_025_082,
    0.002_056_777,
    -0.001_539_453_4,
    0.001_874_353_7,
    -0.000_704_735_7,
];

/// # Safety
/// That of [`Simd`].
#[inline(always)]
unsafe fn gelu<S: Simd>(x: S::Floats) -> S::Floats {
    let z = S::mul(x, S::splat(std::f32::consts::FRAC_1_SQRT_2));
    let z = S::max(S::min(z, S::splat(ERF_END)), S::splat(-ERF_END));
    let t = S::mul_add(S::mul(z, z), S::splat(2.0 / (ERF_END * ERF_END)), S::splat(-1.0));
    let erf = S::mul(polynomial::<S, 16>(&ERF, t), z);
    let half = S::mul(x, S::splat(0.5));
    S::mul_add(half, erf, half)
}

/// x (1 + tanh u) / 2 = x - x / (1 + e^2u), with the exponential of -2|u| so that it cannot overflow.
///
/// # Safety
/// That of [`Simd`].
#[inline(always)]
unsafe fn gelu_tanh<S: Simd>(x: S::Floats) -> S::Floats {
    let cubic = S::mul(S::mul(x, x), x);
    let inner = S::mul_add(cubic, S::splat(0.044_715), x);
    let u = S::mul(inner, S::splat(std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::FRAC_1_SQRT_2));
    let one = S::splat(1.0);
    let e = exp2::<S>(S::mul(abs::<S>(u), S::splat(-2.0 * std::f32::consts::LOG2_E)));
    // tanh |u| = (1 - e) / (1 + e), and the sign of u is that of x.
    let tanh = S::div(S::sub(one, e), S::add(one, e));
    let half = S::mul(x, S::splat(0.5));
    S::mul_add(abs::<S>(half), tanh, half)
}

/// c[0] + c[1] x + ..., from the highest power down.
///
/// # Safety
/// That of [`Simd`].
#[inline(always)]
unsafe fn polynomial<S: Simd, const N: usize>(coefficients: &[f32; N], x: S::Floats) -> S::Floats {
    let mut value = S::splat(coefficients[N - 1]);
    let mut idx = N - 1;
    while idx > 0 {
        idx -= 1;
        value = S::mul_add(value, x, S::splat(coefficients[idx]));
    }
    value
}

/// Applies an activation to a tile: `n_rows` rows of one panel's width, `stride` numbers apart.
///
/// # Safety
/// That of [`Simd`]; `at` is good for such a tile.
#[inline(always)]
pub(super) unsafe fn activate<S: Simd>(activation: Activation, at: *mut f32, n_rows: usize, stride: usize) {
    // One loop each, so that the constants stay in registers.
    macro_rules! each {
        ($x:ident => $value:expr) => {
            for row in 0..n_rows {
                for vector in 0..VECTORS {
                    let at = at.add(row * stride + vector * S::LANES);
                    let $x = S::load(at);
                    S::store(at, $value);
                }
            }
        };
    }
    match activation {
        Activation::Gelu => each!(x => gelu::<S>(x)),
        Activation::GeluTanh => each!(x => gelu_tanh::<S>(x)),
        Activation::Relu => each!(x => S::max(x, S::splat(0.0))),
    }
}
