//! The fast parts of the encoder, behind functions that check their arguments: the only `unsafe` code of closeread.
//!
//! A crate of its own, so that core can forbid `unsafe` altogether and development builds can optimise the kernels
//! without optimising all of core.
//!
//! Each kernel is written once over [`simd::Simd`] and compiled for every instruction set of the target; which of them
//! runs is chosen when a model is loaded. [`Kernels`] checks lengths, so that no call from outside can read or write
//! beyond its slices; inside, every `unsafe fn` states what it relies on.
#![allow(
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    reason = "vector instructions are unsafe functions; the contract stands on each kernel and is met here and in attending.rs"
)]
#![allow(clippy::needless_range_loop, reason = "a tile's rows and vectors are counted loops over registers")]

mod activation;
mod aligned;
mod attending;
mod attention;
mod attention_i16;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod instructions;
mod kernels;
mod math;
#[cfg(target_arch = "aarch64")]
mod neon;
mod peak;
mod plain;
mod product;
mod rows;
mod simd;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
mod table;
#[cfg(test)]
mod tests;

pub use activation::Activation;
pub use aligned::{Aligned, LINE};
pub use attending::{AttentionRoom, TextHeads};
pub use instructions::Instructions;
pub use kernels::{Arranged, Columns, Kernels, Panels, View, ViewMut};
pub use math::{ERF, ERF_END};
pub use product::Then;
