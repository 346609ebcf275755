//! Vanilla RAG and DOS RAG (Stronger Baselines, section 2.3).

use super::ask::{Asking, End};
use super::read::{Shown, read};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::chunk::Chunker;
use crate::host::Host;
use crate::index::Shelf;
use crate::record::{Context, PassageRef};
use crate::retrieve::{Overflow, PassageOrder, Selection, fill};
use serde::{Deserialize, Serialize};

/// Parameters of [`rag`]. Vanilla and DOS RAG take the same passages and differ in their order alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rag {
    /// Most tokens of a passage.
    pub max_tokens: usize,
    /// What happens at a passage that does not fit the rest of the budget.
    pub fill: Overflow,
}

impl Default for Rag {
    fn default() -> Self {
        Self { max_tokens: Chunker::Dos.default_max_tokens(), fill: Overflow::Stop }
    }
}

/// Ranks the passages by the bare question, takes the best within `budget` tokens, asks the reader.
///
/// # Errors
/// [`MethodError`] if the shelf holds no vectors though they are needed.
pub async fn rag<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    parameters: &Rag,
    order: PassageOrder,
    budget: usize,
) -> Result<Trial, MethodError> {
    let mut asking = Asking::new(host, setting);
    let end = async {
        let shelf = material.shelf();
        let selection = select(&asking, material, &item.question, parameters, budget).await?.ordered(order);
        let passages = selection.passages.iter().map(|ranked| shelf.text(ranked.idx)).collect();
        let context = Context {
            retriever: Some(material.retriever),
            n_tokens: selection.n_tokens,
            passages: selection.passages.iter().map(|r| reference(shelf, r.idx, r.score)).collect(),
        };
        let shown =
            Shown { prompt: "read", title: "", passages, context: Some(context), language: material.language() };
        read(&mut asking, item, shown).await
    }
    .await;
    asking.finish(end)
}

/// The best passages within the budget, best first.
async fn select<H: Host>(
    asking: &Asking<'_, H>,
    material: &Material<'_>,
    query: &str,
    parameters: &Rag,
    budget: usize,
) -> Result<Selection, End> {
    let vector = match material.retriever.needs_vectors() {
        true => Some(asking.embed_query(query).await?),
        false => None,
    };
    let shelf = material.shelf();
    let ranking = shelf.ranking(material.retriever, query, vector.as_deref())?;
    Ok(fill(&ranking, shelf.n_tokens(), budget, parameters.fill))
}

/// A passage of the shelf as records name it.
pub(super) fn reference(shelf: &Shelf, idx: usize, score: f64) -> PassageRef {
    let passage = &shelf.passages()[idx];
    PassageRef {
        document: shelf.books()[passage.book].id.clone(),
        start: passage.span.start,
        end: passage.span.end,
        score: Some(score),
    }
}
