//! RAPTOR's parameters.

use crate::cluster::TwoStep;
use crate::passages::Passages;
use crate::rag::QueryForm;
use crate::style::PromptStyle;
use closeread_retrieve::context::Fill;
use serde::{Deserialize, Serialize};

/// Ranks the nodes of a tree of summaries by the question, takes those that the mode and the budget allow, asks the
/// reader.
///
/// The record's context holds the leaves that were shown, by place. Summaries are no text of the books and count as no
/// evidence: the measures `leaves`, `summaries` and `summary_tokens` say what the context was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Raptor {
    /// The leaves: passages as DOS RAG cuts them.
    #[serde(flatten)]
    pub passages: Passages,
    /// Most layers of summaries that a tree may have.
    pub max_layers: usize,
    /// Dimensions to which UMAP reduces. A layer of at most one more node is not clustered again.
    pub reduction_dimension: usize,
    /// A node belongs to every cluster whose posterior is above this.
    pub membership: f64,
    /// Most tokens that a cluster of more than one node may have; one with more is clustered again.
    pub cluster_tokens: usize,
    /// Most tokens that a summary may have: a longer one is cut. The prompt names no length.
    pub summary_tokens: usize,
    /// Seed of UMAP, which RAPTOR's code leaves unseeded.
    pub seed: u64,
    /// The way to search the tree.
    pub mode: TreeSearch,
    /// Most nodes to take: of the whole tree when collapsed (no limit but the budget by default), of each layer in a
    /// traversal (5 by default).
    pub top_k: Option<usize>,
    /// Layers that a traversal visits from the roots down; all by default.
    pub depth: Option<usize>,
    /// What to do at a node that does not fit the rest of the budget.
    pub fill: Fill,
    /// The query that is searched for.
    pub query: QueryForm,
    /// Whether the query is embedded as the model wants queries; if not, as it wants passages, as RAPTOR's code does.
    pub query_prefix: bool,
    /// Paper whose prompt and answer form the method uses.
    pub style: PromptStyle,
}

/// The way to search the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TreeSearch {
    /// All nodes are ranked together, leaves and summaries alike.
    #[default]
    Collapsed,
    /// The best roots, then the best of their children, and so on down.
    Traversal,
}

impl Default for Raptor {
    fn default() -> Self {
        Self {
            passages: Passages::sentences(100),
            max_layers: 5,
            reduction_dimension: 10,
            membership: 0.1,
            cluster_tokens: 3500,
            summary_tokens: 100,
            seed: 0,
            mode: TreeSearch::Collapsed,
            top_k: None,
            depth: None,
            fill: Fill::Stop,
            query: QueryForm::Question,
            query_prefix: true,
            style: PromptStyle::DosRag,
        }
    }
}

impl Raptor {
    pub(super) fn clustering(&self) -> TwoStep {
        TwoStep {
            dimension: self.reduction_dimension.max(1),
            membership: self.membership,
            max_weight: self.cluster_tokens,
            seed: self.seed,
        }
    }
}
