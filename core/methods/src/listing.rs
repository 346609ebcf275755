//! A book as a method sees it: what `closeread chunk`, `search` and `tree` print, natively and in the page.

use crate::Tree;
use closeread_books::{Book, BookText, TextError};
use closeread_retrieve::PassageIndex;
use closeread_retrieve::context::Selection;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All passages of a book.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Listing {
    /// Passages in the order of the document.
    pub passages: Vec<ListedPassage>,
}

/// The passages that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Found {
    /// Sum of the passages' tokens.
    pub tokens: usize,
    /// Passages in the order asked for.
    pub passages: Vec<ListedPassage>,
}

/// One passage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ListedPassage {
    /// Number in document order, from 0.
    pub index: usize,
    /// First byte in the file as decoded to UTF-8.
    pub start: usize,
    /// End in bytes: one past the last byte.
    pub end: usize,
    /// Score under the retriever; absent where nothing was searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Number of tokens of `text`.
    pub tokens: usize,
    /// Text that a model would see: the sentences joined by one space, wraps undone.
    pub text: String,
}

impl Listing {
    /// Lists every passage of an index whose books hold their texts.
    ///
    /// # Errors
    /// [`TextError::Gone`] if a book does not.
    pub fn of(index: &PassageIndex) -> Result<Self, TextError> {
        Ok(Self { passages: listed(index, (0..index.passages().len()).map(|idx| (idx, None)))? })
    }
}

impl Found {
    /// The passages of a selection, in its order; the books hold their texts.
    ///
    /// # Errors
    /// [`TextError::Gone`] if a book does not.
    pub fn of(index: &PassageIndex, selection: &Selection) -> Result<Self, TextError> {
        let passages = selection.passages.iter().map(|ranked| (ranked.idx, Some(ranked.score)));
        Ok(Self { tokens: selection.n_tokens, passages: listed(index, passages)? })
    }
}

fn listed(
    passage_index: &PassageIndex,
    passages: impl Iterator<Item = (usize, Option<f64>)> + Clone,
) -> Result<Vec<ListedPassage>, TextError> {
    let texts = passage_index.texts(passages.clone().map(|(index, _)| index), Book::text)?;
    let listed = passages.zip(texts).map(|((index, score), text)| {
        let span = passage_index.passages()[index].span;
        ListedPassage { index, start: span.start, end: span.end, score, tokens: passage_index.n_tokens()[index], text }
    });
    Ok(listed.collect())
}

/// A tree of summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedTree {
    /// Number of nodes that are passages.
    pub leaves: usize,
    /// Number of nodes that are summaries.
    pub summaries: usize,
    /// Tokens of the summaries over tokens of what they summarise; absent without summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<f64>,
    /// Numbers of the nodes of the uppermost layer.
    pub roots: Vec<usize>,
    /// The leaves in document order, then layer by layer.
    pub nodes: Vec<ListedNode>,
}

/// One node of the tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedNode {
    /// Number of the node, from 0.
    pub index: usize,
    /// Layer of the node: 0 for a leaf.
    pub layer: usize,
    /// Number of tokens of the node's text.
    pub tokens: usize,
    /// Numbers of the nodes below; a node can stand below several.
    pub children: Vec<usize>,
    /// Place of a leaf; absent for a summary.
    #[serde(flatten)]
    pub place: Option<NodePlace>,
    /// A summary as the model wrote it, a leaf as the file has it.
    pub text: String,
}

/// The place of a leaf in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePlace {
    /// Id of the document.
    pub document: String,
    /// First byte in the document's file as decoded to UTF-8.
    pub start: usize,
    /// End in bytes: one past the last byte.
    pub end: usize,
}

impl ListedTree {
    /// Lists every node of a tree over `books`, which hold their texts; a leaf of another book has no text.
    ///
    /// # Errors
    /// [`TextError::Gone`] if a book does not.
    pub fn of<B: Borrow<Book>>(tree: &Tree, books: &[B]) -> Result<Self, TextError> {
        let opened = books.iter().map(Borrow::borrow).map(|book| Ok((book.id.as_str(), book.text()?)));
        let texts: BTreeMap<&str, Arc<BookText>> = opened.collect::<Result<_, TextError>>()?;
        let source = |place: &NodePlace| texts.get(place.document.as_str())?.source().get(place.start..place.end);
        let n_tokens = tree.n_tokens();
        let node = |layer: usize, index: usize| {
            let place = tree.leaves.get(index).map(|leaf| NodePlace {
                document: leaf.document.clone(),
                start: leaf.start,
                end: leaf.end,
            });
            let text = match (tree.summary(index), &place) {
                (Some(summary), _) => summary.text.clone(),
                (None, place) => place.as_ref().and_then(source).unwrap_or_default().to_owned(),
            };
            ListedNode { index, layer, tokens: n_tokens[index], children: tree.children(index).to_vec(), place, text }
        };
        Ok(Self {
            leaves: tree.leaves.len(),
            summaries: tree.summaries().count(),
            compression: tree.compression(),
            roots: tree.roots().collect(),
            nodes: (0..tree.height())
                .flat_map(|layer| tree.layer(layer).map(move |index| (layer, index)))
                .map(|(l, i)| node(l, i))
                .collect(),
        })
    }
}
