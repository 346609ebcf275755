//! Errors of an index that cannot rank.

/// The reason why an index cannot rank.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Embeddings are wanted and none were put in.
    #[error("retriever `{0}` needs embeddings of the passages, and this index has none")]
    NoVectors(&'static str),
    /// Embeddings that are not held in memory cannot be read.
    #[error("the embeddings of the passages cannot be read: {0}")]
    Vectors(String),
    /// Bytes that should be an index are none, or one of other books.
    #[error("the kept index cannot be used: {0}")]
    Kept(&'static str),
    /// The vectors that were put in are not one for each passage.
    #[error("there are {vectors} vectors for {passages} passages: expected one for each")]
    Count {
        /// Number of vectors that were put in.
        vectors: usize,
        /// Number of passages of the index.
        passages: usize,
    },
    /// The query was embedded by another model than the passages.
    #[error("the query's vector has {query} numbers, those of the passages have {passages}: embed both by one model")]
    Dimension {
        /// Numbers in the query's vector.
        query: usize,
        /// Numbers in the passages' vectors.
        passages: usize,
    },
}
