//! Embedding models of the BERT and XLM-RoBERTa families on graphics processors: one code for browsers (WebGPU) and for
//! Vulkan, Metal and Direct3D 12.
//!
//! The same models as [`closeread_embed::encoder`] computes, from the same files ([`checkpoint`]), in f32, which agrees with
//! the encoder to rounding, or in half precision ([`Precision`]). An [`Adapter`] is looked for first, a [`GpuModel`] loaded onto
//! it, and both can fail for reasons that no input can help ([`GpuError`]): a [`Fallback`] then goes on with the encoder.
//!
//! [`checkpoint`]: closeread_embed::checkpoint
//! [`Fallback`]: closeread_embed::Fallback

mod adapter;
mod arithmetic;
mod device;
mod error;
mod kernels;
mod model;
mod precision;
mod probe;
#[cfg(test)]
mod tests;
mod weights;
mod workspace;

pub use adapter::{Adapter, Wanted};
pub use error::GpuError;
pub use model::GpuModel;
pub use precision::Precision;
