//! Data sets: the public formats of items and texts, and one adapter per published data set.
//!
//! Feature `data-sets` has the adapters; without it, what scoring needs is left, which opens no book.

#![forbid(unsafe_code)]

#[cfg(feature = "data-sets")]
mod adapter;
#[cfg(feature = "data-sets")]
mod adapters;
mod dataset;
#[cfg(feature = "data-sets")]
mod own;
mod resolve;
mod source;
#[cfg(all(test, feature = "data-sets"))]
mod testing;

#[cfg(feature = "data-sets")]
pub mod corpusqa;
#[cfg(all(feature = "data-sets", feature = "other-formats"))]
pub mod fairytaleqa;
#[cfg(feature = "other-formats")]
pub mod foreign;
#[cfg(all(feature = "data-sets", feature = "other-formats"))]
pub mod frames;
#[cfg(feature = "data-sets")]
pub mod hamlet;
#[cfg(feature = "data-sets")]
pub mod infinitebench;
pub mod jsonl;
#[cfg(all(feature = "data-sets", feature = "other-formats"))]
pub mod leval_quality;
#[cfg(all(feature = "data-sets", feature = "other-formats"))]
pub mod longbench_v2;
#[cfg(all(feature = "data-sets", feature = "other-formats"))]
pub mod loogle;
#[cfg(feature = "data-sets")]
pub mod narrativeqa;
#[cfg(all(feature = "data-sets", feature = "other-formats"))]
pub mod nocha;
pub mod novelqa;
pub mod quality;
#[cfg(feature = "data-sets")]
pub mod sagascale;
pub mod scoring;
#[cfg(feature = "other-formats")]
pub mod squality;
pub mod statistics;

#[cfg(feature = "data-sets")]
pub use adapter::{Adapter, LabelValues, Texts};
#[cfg(feature = "data-sets")]
pub use adapters::{ADAPTERS, adapter};
pub use dataset::{Dataset, JoinError};
pub use resolve::{ResolveError, Resolved, resolve_chunk, resolve_evidence};
