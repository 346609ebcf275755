//! A dense matrix of embeddings, one row a text.

use crate::rows::Rows;

/// One vector a text.
pub type Vectors = Rows<f32>;
