//! Scores of a reranker for passages.

/// The scores of passages for a query, by a model that read each of them together with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairScores {
    /// Scores, one a passage, in their order: finite, higher for a better one, on the model's own scale.
    pub scores: Vec<f64>,
    /// Number of passages that were longer than the model takes with the query and lost their end.
    pub n_cut: usize,
}
