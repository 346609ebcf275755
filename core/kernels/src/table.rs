//! One function per kernel and instruction set, with the features switched on.

use super::attention::{Attention, attend};
use super::attention_i16::{IntegerAttention, attend_i16};
use super::peak::multiply_adds;
use super::plain::Plain;
use super::product::{Eight, Product, Scales, Sixteen, product_f32, product_of_integers};
use super::rows::{arrange, normalise, quantise_i16, quantise_u8};
use super::simd::{Simd, VECTORS};

/// Type of [`quantise_u8`].
type RoundingToBytes = unsafe fn((*const f32, usize), *const f32, *mut u8, usize, usize, (*mut f32, *mut f32));

/// The kernels of one instruction set. Calling one is sound where the processor has that set and the pointers are good
/// for what the kernel's own contract says.
#[derive(Clone, Copy)]
pub(super) struct Table {
    /// Number of columns of a panel of weights.
    pub(super) panel_width: usize,
    /// Numbers of a vector.
    pub(super) lanes: usize,
    /// Most rows of a tile.
    pub(super) tile_rows: usize,
    pub(super) product_f32: unsafe fn(&Product),
    pub(super) product_i16: unsafe fn(&Product, &Scales),
    pub(super) product_i8: unsafe fn(&Product, &Scales),
    pub(super) attend: unsafe fn(&Attention),
    pub(super) attend_i16: unsafe fn(&IntegerAttention),
    pub(super) normalise: unsafe fn(*mut f32, usize, usize, usize, (*const f32, *const f32), f32),
    pub(super) arrange: unsafe fn((*const f32, usize), *mut f32, usize, usize),
    pub(super) quantise_i16: unsafe fn((*const f32, usize), *mut i16, usize, usize, f32, *mut f32),
    pub(super) quantise_u8: RoundingToBytes,
    pub(super) multiply_adds: unsafe fn(u64) -> f32,
}

macro_rules! table {
    ($(#[$features:meta])? $name:ident, $set:ty) => {
        pub(super) static $name: Table = {
            $(#[$features])?
            unsafe fn f32_product(product: &Product) {
                product_f32::<$set>(product);
            }
            $(#[$features])?
            unsafe fn i16_product(product: &Product, scales: &Scales) {
                product_of_integers::<$set, Sixteen>(product, scales);
            }
            $(#[$features])?
            unsafe fn i8_product(product: &Product, scales: &Scales) {
                product_of_integers::<$set, Eight>(product, scales);
            }
            $(#[$features])?
            unsafe fn attention(attention: &Attention) {
                attend::<$set>(attention);
            }
            $(#[$features])?
            unsafe fn attention_i16(attention: &IntegerAttention) {
                attend_i16::<$set>(attention);
            }
            $(#[$features])?
            unsafe fn norm(
                rows: *mut f32, n_rows: usize, stride: usize, n_columns: usize,
                parameters: (*const f32, *const f32), epsilon: f32,
            ) {
                normalise::<$set>(rows, n_rows, stride, n_columns, parameters, epsilon);
            }
            $(#[$features])?
            unsafe fn arrangement(input: (*const f32, usize), output: *mut f32, n_rows: usize, n_columns: usize) {
                arrange::<$set>(input, output, n_rows, n_columns);
            }
            $(#[$features])?
            unsafe fn i16_rounding(
                input: (*const f32, usize), output: *mut i16, n_rows: usize, n_columns: usize, levels: f32,
                scales: *mut f32,
            ) {
                quantise_i16::<$set>(input, output, n_rows, n_columns, levels, scales);
            }
            $(#[$features])?
            unsafe fn u8_rounding(
                input: (*const f32, usize), factors: *const f32, output: *mut u8, n_rows: usize, n_columns: usize,
                to: (*mut f32, *mut f32),
            ) {
                quantise_u8::<$set>(input, factors, output, n_rows, n_columns, to);
            }
            $(#[$features])?
            unsafe fn peak(n_turns: u64) -> f32 {
                multiply_adds::<$set>(n_turns)
            }
            Table {
                panel_width: VECTORS * <$set as Simd>::LANES,
                lanes: <$set as Simd>::LANES,
                tile_rows: <$set as Simd>::ROWS,
                product_f32: f32_product,
                product_i16: i16_product,
                product_i8: i8_product,
                attend: attention,
                attend_i16: attention_i16,
                normalise: norm,
                arrange: arrangement,
                quantise_i16: i16_rounding,
                quantise_u8: u8_rounding,
                multiply_adds: peak,
            }
        };
    };
}

table!(PLAIN, Plain);

#[cfg(target_arch = "x86_64")]
table!(
    #[target_feature(enable = "avx2,fma")]
    AVX2,
    super::avx2::Avx2
);

#[cfg(target_arch = "x86_64")]
table!(
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
    AVX512,
    super::avx512::Avx512
);

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
table!(SIMD128, super::simd128::Simd128);

#[cfg(target_arch = "aarch64")]
table!(NEON, super::neon::Neon);
