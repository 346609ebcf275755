//! Clustering of vectors, as RAPTOR's tree needs it: neighbourhoods, UMAP, Gaussian mixtures, and both in two steps.
//!
//! All of it is exact and seeded, with `libm` for every function that platforms compute differently, and cut into jobs of
//! which each gives the same wherever it is done: the same vectors give the same clusters natively, on any number of
//! threads, and in WebAssembly.

mod kmeans;
mod linear;
mod mixture;
mod neighbours;
mod points;
mod two_step;
mod umap;

pub use mixture::GaussianMixture;
pub use points::Points;
pub use two_step::TwoStep;
pub(crate) use two_step::two_step_clusters;
pub use umap::Umap;
