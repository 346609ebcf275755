//! RAPTOR (Sarthi et al. 2024), which Stronger Baselines compares DOS RAG with: retrieval from a tree of summaries.

mod build;
mod retrieve;
mod tree;
mod words;

pub use retrieve::{node_text, traversal};
pub use tree::{Leaf, Summary, Tree};

use super::ask::{Asking, End};
use super::dress::{Dress, View};
use super::read::{Shown, read, title_of};
use super::{Material, MethodError, Preparation, Prepared, Setting, Trial};
use crate::benchmark::Item;
use crate::chunk::Chunker;
use crate::cluster::TwoStep;
use crate::host::Host;
use crate::retrieve::Overflow;
use serde::{Deserialize, Serialize};

/// Parameters of [`raptor`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Raptor {
    /// Most tokens of a leaf, which is a passage as DOS RAG cuts it.
    pub max_tokens: usize,
    /// Most layers of summaries.
    pub max_layers: usize,
    /// Dimensions to which UMAP reduces. A layer of at most one more node is not clustered again.
    pub reduction_dimension: usize,
    /// A node belongs to every cluster whose posterior is above this.
    pub membership: f64,
    /// Most tokens of a cluster of more than one node; one with more is clustered again.
    pub cluster_tokens: usize,
    /// Tokens of a summary: what the prompt asks for, and where a longer one is cut.
    pub summary_tokens: usize,
    /// Seed of UMAP, which RAPTOR's code leaves unseeded.
    pub seed: u64,
    /// How the tree is searched.
    pub mode: TreeSearch,
    /// Most nodes that are taken: of the whole tree when collapsed (no limit but the budget by default), of each layer in a
    /// traversal (5 by default).
    pub top_k: Option<usize>,
    /// Layers that a traversal visits from the roots down; all by default.
    pub depth: Option<usize>,
    /// What happens at a node that does not fit the rest of the budget.
    pub fill: Overflow,
}

/// How the tree is searched.
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
            max_tokens: Chunker::Dos.default_max_tokens(),
            max_layers: 5,
            reduction_dimension: 10,
            membership: 0.1,
            cluster_tokens: 3500,
            summary_tokens: 100,
            seed: 0,
            mode: TreeSearch::Collapsed,
            top_k: None,
            depth: None,
            fill: Overflow::Stop,
        }
    }
}

impl Raptor {
    fn clustering(&self) -> TwoStep {
        TwoStep {
            dimension: self.reduction_dimension.max(1),
            membership: self.membership,
            max_weight: self.cluster_tokens,
            seed: self.seed,
        }
    }
}

/// Builds the tree over the books of the material, bottom up; `measures` counts its nodes.
///
/// # Errors
/// [`MethodError`] if the prompt cannot be filled, or embeddings are needed and the shelf has none. A call that fails is
/// the preparation's outcome.
pub(super) async fn prepare<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    parameters: &Raptor,
) -> Result<Preparation, MethodError> {
    let mut asking = Asking::new(host, setting);
    let tree = build::build(&mut asking, material, parameters).await;
    asking.finish_preparation(tree.map(Prepared::Tree))
}

/// Ranks the nodes of the prepared tree by the bare question, takes those that the mode and `budget` allow, asks the reader.
///
/// The record's context holds the leaves that were shown, by place. Summaries are no text of the books and count as no
/// evidence: the measures `leaves`, `summaries` and `summary_tokens` say what the context was made of.
///
/// # Errors
/// [`MethodError`] if the tree is of other passages than the shelf's.
///
/// # Panics
/// If the material holds no tree: the caller did not prepare the method.
pub async fn raptor<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    parameters: &Raptor,
    budget: usize,
) -> Result<Trial, MethodError> {
    let Some(Prepared::Tree(tree)) = material.prepared else { panic!("RAPTOR searches the tree that it prepared") };
    if !tree.fits(material.shelf()) {
        return Err(MethodError::Unprepared("the tree is not of these books' passages".to_owned()));
    }
    let mut asking = Asking::new(host, setting);
    let end = async {
        let found = retrieve::retrieve(&asking, material, tree, &item.question, parameters, budget).await?;
        asking.measures.extend(found.measures());
        let shown = Shown {
            dress: Dress::DosRag,
            view: View::Passages,
            title: &title_of(material.books),
            passages: found.passages,
            context: Some(found.context),
            language: material.language(),
            evidence: false,
        };
        read(&mut asking, item, shown).await
    }
    .await;
    asking.finish(end)
}
