//! RAPTOR (Sarthi et al. 2024), which Stronger Baselines compares DOS RAG with: retrieval from a tree of summaries.

mod build;
mod parameters;
mod retrieve;
mod tree;
mod words;

pub use parameters::{Raptor, TreeSearch};
pub use retrieve::{node_text, traversal};
pub use tree::{Leaf, Summary, Tree};

use super::cost::{Calls, Cost, Range, Shared, Sizes, Stage};
use super::read::Shown;
use super::style::View;
use super::{Answer, Method, MethodError, Passages, PreparationInputs, Preset, Questions, Session, Stop};
use crate::Host;
use closeread_prompts::readers::RaptorSummary;
use serde_json::json;

/// Number of times that a node can be expected to be summarised: soft clusters overlap.
const MOST_MEMBERSHIPS: u64 = 2;

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

    /// Costs of the tree: leaves have half to all of their tokens. The first layer has at least as many summaries as
    /// clusters of the largest size hold the text; every layer has at most one for two nodes, and reads each node once
    /// to twice, since soft clusters overlap.
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
        let query = self.query.of(questions.first());
        let found = retrieve::retrieve(session, tree, &query, self).await?;
        for (name, n) in found.measures() {
            session.measure(name, n);
        }
        let shown = Shown::passages(found.passages, Some(found.context));
        session.read(questions, shown, self.style).await
    }

    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError> {
        let mut text = sizes.within_budget(self.passages.max_tokens as u64, self.style);
        // What no longer fits ends the context, and may be a summary as well as a leaf.
        text.low =
            text.low.saturating_sub((self.summary_tokens as u64).saturating_sub(self.passages.max_tokens as u64));
        if self.top_k.is_some() || self.mode == TreeSearch::Traversal {
            // So few nodes may be short ones.
            text.low = 0;
        }
        if sizes.budget.is_none_or(|budget| budget as u64 > sizes.text()) {
            // There is room for summaries beside all leaves.
            let summaries: u64 = self.preparation_cost(sizes)?.iter().map(|layer| layer.n.high).sum();
            text.high += summaries * (self.summary_tokens as u64 + self.style.tokens_beside_passage());
        }
        Ok(sizes.reading(questions, self.style, View::Passages, text)?.into())
    }
}
