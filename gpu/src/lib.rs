//! Embedding models of the BERT and XLM-RoBERTa families on graphics processors: one code for browsers (WebGPU) and for
//! Vulkan, Metal and Direct3D 12.
//!
//! The same models as [`closeread_embed::encoder`] computes, from the same files ([`checkpoint`]), in f32 throughout;
//! the two agree to rounding. An [`Adapter`] is looked for first, a [`GpuModel`] loaded onto it, and both can fail for reasons
//! that no input can help ([`GpuError`]): a [`Fallback`] then goes on with the encoder.
//!
//! [`checkpoint`]: closeread_embed::checkpoint
//! [`Fallback`]: closeread_embed::Fallback

mod adapter;
mod device;
mod error;
mod kernels;
mod model;
#[cfg(test)]
mod tests;
mod weights;
mod workspace;

pub use adapter::{Adapter, Wanted};
pub use error::GpuError;
pub use model::GpuModel;
pub use weights::Storage;
