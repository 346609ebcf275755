//! RAPTOR (Sarthi et al. 2024), which Stronger Baselines compares DOS RAG with: retrieval from a tree of summaries.

mod build;
mod retrieve;
mod tree;
mod words;

pub use retrieve::{node_text, traversal};
pub use tree::{Leaf, Summary, Tree};

use super::cost::{Calls, Cost, Range, Shared, Sizes, Stage};
use super::read::Shown;
use super::style::View;
use super::{Answer, Method, MethodError, Passages, PreparationInputs, Preset, PromptStyle, Questions, Session, Stop};
use crate::Host;
use crate::cluster::TwoStep;
use closeread_prompts::readers::RaptorSummary;
use closeread_retrieve::context::Fill;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// How often a node can be expected to be summarised: soft clusters overlap.
const MOST_MEMBERSHIPS: u64 = 2;

/// Ranks the nodes of a tree of summaries by the bare question, takes those that the mode and the budget allow, asks the
/// reader.
///
/// The record's context holds the leaves that were shown, by place. Summaries are no text of the books and count as no
/// evidence: the measures `leaves`, `summaries` and `summary_tokens` say what the context was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Raptor {
    /// The leaves: passages as DOS RAG cuts them.
    #[serde(flatten)]
    pub passages: Passages,
    /// Most layers of summaries.
    pub max_layers: usize,
    /// Dimensions to which UMAP reduces. A layer of at most one more node is not clustered again.
    pub reduction_dimension: usize,
    /// A node belongs to every cluster whose posterior is above this.
    pub membership: f64,
    /// Most tokens of a cluster of more than one node; one with more is clustered again.
    pub cluster_tokens: usize,
    /// Most tokens of a summary: a longer one is cut. The prompt names no length.
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
    pub fill: Fill,
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

impl Method for Raptor {
    const PRESETS: &'static [Preset<Self>] = &[Preset::new(
        "raptor",
        "RAPTOR, as Stronger Baselines compares with it (A.7)",
        "the best passages and summaries of a tree within a token budget, best first",
        Self::default,
    )];
    type Prepared = Tree;

    fn passages(&self) -> Option<&Passages> {
        Some(&self.passages)
    }

    fn takes_budget(&self) -> bool {
        true
    }

    fn preparation(&self) -> Option<PreparationInputs> {
        let Self {
            passages, max_layers, reduction_dimension, membership, cluster_tokens, summary_tokens, seed, ..
        } = self;
        let parameters = json!({
            "split": passages.split, "max_tokens": passages.max_tokens, "max_layers": max_layers,
            "reduction_dimension": reduction_dimension, "membership": membership, "cluster_tokens": cluster_tokens,
            "summary_tokens": summary_tokens, "seed": seed,
        });
        Some(PreparationInputs { parameters, prompts: &[RaptorSummary::NAME] })
    }

    /// Builds the tree over the books, bottom up; measures count its nodes.
    async fn prepare<H: Host>(&self, session: &mut Session<'_, H>) -> Result<Option<Tree>, Stop> {
        build::build(session, self).await.map(Some)
    }

    /// Leaves have half to all of their tokens. The first layer has at least as many summaries as clusters of the largest
    /// size hold the text; every layer has at most one for two nodes, and reads each node once to twice, since soft
    /// clusters overlap.
    fn preparation_cost(&self, sizes: &Sizes<'_>) -> Result<Vec<Calls>, MethodError> {
        let around = build::around(sizes)?;
        let (summary, cluster) = (self.summary_tokens as u64, (self.cluster_tokens as u64).max(1));
        let last_layer = self.reduction_dimension as u64 + 1;
        let leaves = sizes.text().div_ceil((self.passages.max_tokens as u64).max(1));
        let mut nodes = Range { low: leaves, high: 2 * leaves };
        // White space between sentences is in no passage.
        let mut node_tokens = Range { low: sizes.text() - sizes.text() / 50, high: sizes.text() };
        let mut layers = Vec::new();
        for _ in 0..self.max_layers {
            if nodes.high <= last_layer {
                break;
            }
            let low = if nodes.low <= last_layer { 0 } else { node_tokens.low.div_ceil(cluster) };
            let n = Range { low, high: nodes.high.div_ceil(2) };
            let read = Range {
                low: if low == 0 { 0 } else { node_tokens.low + low * around },
                high: node_tokens.high * MOST_MEMBERSHIPS + n.high * around,
            };
            layers.push(Calls {
                stage: Stage::Preparation,
                n,
                prompt: read,
                longest: cluster + around,
                response_limit: sizes.settings.response_limit.reserved().into(),
                shared: Shared::Nothing,
            });
            // A summary may be a single word.
            (nodes, node_tokens) = (n, Range { low, high: n.high * summary });
        }
        Ok(layers)
    }

    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        prepared: Option<&Tree>,
    ) -> Result<Vec<Answer>, Stop> {
        let tree = prepared.ok_or(MethodError::NotPrepared)?;
        if !tree.fits(session.index()?) {
            return Err(MethodError::Unprepared("the tree is not of these books' passages".to_owned()).into());
        }
        let found = retrieve::retrieve(session, tree, &questions.first().question, self).await?;
        for (name, n) in found.measures() {
            session.measure(name, n);
        }
        let shown = Shown::passages(found.passages, Some(found.context));
        session.read(questions, shown, PromptStyle::DosRag).await
    }

    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        let mut text = sizes.within_budget(self.passages.max_tokens as u64, PromptStyle::DosRag);
        // What no longer fits ends the context, and may be a summary as well as a leaf.
        text.low =
            text.low.saturating_sub((self.summary_tokens as u64).saturating_sub(self.passages.max_tokens as u64));
        if sizes.budget.is_none_or(|budget| budget as u64 > sizes.text()) {
            // There is room for summaries beside all leaves.
            let summaries: u64 = self.preparation_cost(sizes)?.iter().map(|layer| layer.n.high).sum();
            text.high += summaries * (self.summary_tokens as u64 + PromptStyle::DosRag.tokens_beside_passage());
        }
        Ok(sizes.reading(questions, PromptStyle::DosRag, View::Passages, text)?.into())
    }
}
