//! Vanilla RAG and DOS RAG (Stronger Baselines, section 2.3).

use super::read::{Shown, read};
use super::{MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::embed::Role;
use crate::host::Host;
use crate::index::Shelf;
use crate::record::{Context, PassageRef};
use crate::retrieve::{Overflow, PassageOrder, Retriever, Selection, fill};

/// Retrieval into a token budget. Vanilla and DOS RAG take the same passages and differ in their order alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rag {
    /// Tokens the passages may have together.
    pub budget: usize,
    /// The order in which the reader sees them.
    pub order: PassageOrder,
    /// The ranking they are taken from; the paper's is dense.
    pub retriever: Retriever,
    /// What happens at a passage that does not fit.
    pub overflow: Overflow,
}

impl Rag {
    /// Best passage first.
    pub fn vanilla(budget: usize) -> Self {
        Self { budget, order: PassageOrder::Score, retriever: Retriever::Dense, overflow: Overflow::Stop }
    }

    /// Document's Original Structure: the same passages as they follow each other in the book.
    pub fn dos(budget: usize) -> Self {
        Self { order: PassageOrder::Document, ..Self::vanilla(budget) }
    }
}

/// Ranks the passages by the bare question, takes the best within the budget, asks the reader.
///
/// # Errors
/// [`MethodError`] if the question cannot be embedded or the shelf holds no vectors though they are needed.
pub async fn rag<H: Host>(
    host: &H,
    setting: Setting<'_>,
    shelf: &Shelf,
    item: &Item,
    cfg: &Rag,
) -> Result<Trial, MethodError> {
    let selection = select(host, shelf, &item.question, cfg).await?;
    let passages = selection.passages.iter().map(|ranked| shelf.text(ranked.idx)).collect();
    let context = Context {
        retriever: Some(cfg.retriever),
        n_tokens: selection.n_tokens,
        passages: selection.passages.iter().map(|r| reference(shelf, r.idx, r.score)).collect(),
    };
    let language = shelf.books().first().map_or("en", |b| b.language.code());
    read(host, setting, item, Shown { prompt: "read", title: "", passages, context: Some(context), language }).await
}

/// What `rag` hands to its reader.
pub(super) async fn select<H: Host>(host: &H, shelf: &Shelf, query: &str, cfg: &Rag) -> Result<Selection, MethodError> {
    let vectors = match cfg.retriever.needs_vectors() {
        true => Some(host.embed(Role::Query, &[query]).await?),
        false => None,
    };
    let ranking = shelf.ranking(cfg.retriever, query, vectors.as_ref().map(|v| v.row(0)))?;
    Ok(fill(&ranking, shelf.n_tokens(), cfg.budget, cfg.overflow).ordered(cfg.order))
}

fn reference(shelf: &Shelf, idx: usize, score: f64) -> PassageRef {
    let passage = &shelf.passages()[idx];
    PassageRef {
        document: shelf.books()[passage.book].id.clone(),
        start: passage.span.start,
        end: passage.span.end,
        score: Some(score),
    }
}
