//! Ranking passages for a query: exact cosine, BM25, their fusion, and a reranker's order.

#![forbid(unsafe_code)]

mod arriving;
mod bm25;
pub mod context;
mod dense;
mod error;
mod fusion;
mod kept;
mod kept_index;
mod kept_vectors;
mod passage_index;
mod postings;
mod ranking;
mod rerank;
mod retriever;
mod search;

pub use arriving::ArrivingVectors;
pub use bm25::{Bm25, WordRule};
pub use dense::{VectorBlocks, cosine, cosine_ranking};
pub use error::IndexError;
pub use fusion::{RRF_K, reciprocal_rank_fusion};
pub use kept::{KEPT_FORMAT, KeptBytes};
pub use kept_vectors::KeptVectors;
pub use passage_index::{Passage, PassageIndex, sentences};
pub use ranking::{Ranked, Ranking, best, rank};
pub use rerank::reranked;
pub use retriever::Retriever;
