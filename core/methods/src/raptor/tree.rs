//! The tree: leaves are passages of the books, every other node summarises the nodes below it.

use closeread_retrieve::PassageIndex;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A tree over books. Nodes are numbered through: the leaves in document order from 0, then layer by layer.
///
/// Clusters are soft, so a node can have several parents; the last layer, or the leaves where there is no other, are the
/// roots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Tree {
    /// The passages, in document order.
    pub leaves: Vec<Leaf>,
    /// The summaries, lowest layer first; no layer is empty.
    pub layers: Vec<Vec<Summary>>,
}

/// A passage of a book, by reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Leaf {
    /// Id of the document.
    pub document: String,
    /// First byte in the document's file as decoded to UTF-8.
    pub start: usize,
    /// End in bytes: one past the last byte.
    pub end: usize,
    /// Tokens of its text by the run's tokenizer.
    pub n_tokens: usize,
}

/// A node that is no leaf.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Summary {
    /// Summary of the node's children that the model wrote.
    pub text: String,
    /// Tokens of `text` by the run's tokenizer.
    pub n_tokens: usize,
    /// Numbers of the nodes below, ascending.
    pub children: Vec<usize>,
    /// Embedding of `text`; empty where nodes are ranked by their words alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vector: Vec<f32>,
}

impl Tree {
    /// A tree of the index's passages without summaries.
    pub(super) fn of_passages(passage_index: &PassageIndex) -> Self {
        let leaf = |(passage, &n_tokens): (&closeread_retrieve::Passage, &usize)| Leaf {
            document: passage_index.books()[passage.book].id.clone(),
            start: passage.span.start,
            end: passage.span.end,
            n_tokens,
        };
        Self {
            leaves: passage_index.passages().iter().zip(passage_index.n_tokens()).map(leaf).collect(),
            layers: Vec::new(),
        }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.leaves.len() + self.layers.iter().map(Vec::len).sum::<usize>()
    }

    /// True for a tree of books without text.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Number of layers, that of the leaves included.
    pub fn height(&self) -> usize {
        self.layers.len() + 1
    }

    /// Numbers of the nodes of a layer; the leaves are layer 0.
    pub fn layer(&self, layer: usize) -> Range<usize> {
        let below = |layers: &[Vec<Summary>]| layers.iter().map(Vec::len).sum::<usize>();
        match layer {
            0 => 0..self.leaves.len(),
            _ => {
                let start = self.leaves.len() + below(&self.layers[..layer - 1]);
                start..start + self.layers[layer - 1].len()
            }
        }
    }

    /// Numbers of the nodes of the uppermost layer.
    pub fn roots(&self) -> Range<usize> {
        self.layer(self.layers.len())
    }

    /// The summary at a node; `None` for a leaf.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn summary(&self, node: usize) -> Option<&Summary> {
        let mut idx = node.checked_sub(self.leaves.len())?;
        for layer in &self.layers {
            match layer.get(idx) {
                Some(summary) => return Some(summary),
                None => idx -= layer.len(),
            }
        }
        panic!("a tree of {} nodes has no node {node}", self.len())
    }

    /// Returns all summaries, in the order of their numbers.
    pub fn summaries(&self) -> impl Iterator<Item = &Summary> {
        self.layers.iter().flatten()
    }

    /// Numbers of the nodes below a node; none for a leaf.
    pub fn children(&self, node: usize) -> &[usize] {
        self.summary(node).map_or(&[], |summary| &summary.children)
    }

    /// Tokens of each node's text.
    pub fn n_tokens(&self) -> Vec<usize> {
        self.leaves.iter().map(|leaf| leaf.n_tokens).chain(self.summaries().map(|s| s.n_tokens)).collect()
    }

    /// Tokens of all summaries over tokens of what they summarise, each child counted for each of its parents; `None` without
    /// summaries.
    pub fn compression(&self) -> Option<f64> {
        let n_tokens = self.n_tokens();
        let summaries: usize = self.summaries().map(|summary| summary.n_tokens).sum();
        let children: usize =
            self.summaries().flat_map(|summary| &summary.children).filter_map(|&node| n_tokens.get(node)).sum();
        (children > 0).then(|| summaries as f64 / children as f64)
    }

    /// Returns whether the leaves are the passages of the index, and children numbers of nodes below.
    pub(super) fn fits(&self, passage_index: &PassageIndex) -> bool {
        let below = |layer: usize| {
            let end = self.layer(layer).start;
            self.layers[layer - 1].iter().all(|summary| summary.children.iter().all(|&child| child < end))
        };
        Self::of_passages(passage_index).leaves == self.leaves && (1..self.height()).all(below)
    }
}
