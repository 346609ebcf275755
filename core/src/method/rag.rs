//! Vanilla RAG and DOS RAG (Stronger Baselines, section 2.3).

use super::ask::{Asking, End};
use super::read::{Shown, read};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::chunk::Chunker;
use crate::host::Host;
use crate::index::Shelf;
use crate::record::{Context, PassageRef};
use crate::retrieve::{Overflow, PassageOrder, Selection, fill, with_neighbours};
use serde::{Deserialize, Serialize};

/// Parameters of [`rag`]. Vanilla and DOS RAG take the same passages and differ in their order alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rag {
    /// Most tokens of a passage.
    pub max_tokens: usize,
    /// What happens at a passage that does not fit the rest of the budget.
    pub fill: Overflow,
    /// How many passages on each side of a ranked one are ranked right behind it; the paper has none.
    pub neighbours: usize,
}

impl Default for Rag {
    fn default() -> Self {
        Self { max_tokens: Chunker::Dos.default_max_tokens(), fill: Overflow::Stop, neighbours: 0 }
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
        let Rag { fill, neighbours, .. } = *parameters;
        let selection = select(&asking, material, &item.question, neighbours, budget, fill).await?.ordered(order);
        let passages = shelf.texts(selection.passages.iter().map(|ranked| ranked.idx));
        let context = context_of(material, &selection);
        let shown =
            Shown { prompt: "read", title: "", passages, context: Some(context), language: material.language() };
        read(&mut asking, item, shown).await
    }
    .await;
    asking.finish(end)
}

/// The best passages within the budget, each with its neighbours, best first.
pub(super) async fn select<H: Host>(
    asking: &Asking<'_, H>,
    material: &Material<'_>,
    query: &str,
    neighbours: usize,
    budget: usize,
    overflow: Overflow,
) -> Result<Selection, End> {
    let vector = match material.retriever.needs_vectors() {
        true => Some(asking.embed_query(query).await?),
        false => None,
    };
    let shelf = material.shelf();
    let ranking = shelf.ranking(material.retriever, query, vector.as_deref())?;
    let ranking = with_neighbours(ranking, neighbours, |idx| shelf.passages()[idx].book);
    Ok(fill(&ranking, shelf.n_tokens(), budget, overflow))
}

/// What was selected, as records name it.
pub(super) fn context_of(material: &Material<'_>, selection: &Selection) -> Context {
    let shelf = material.shelf();
    Context {
        retriever: Some(material.retriever),
        n_tokens: selection.n_tokens,
        passages: selection.passages.iter().map(|r| reference(shelf, r.idx, r.score)).collect(),
    }
}

/// A passage of the shelf as records name it.
fn reference(shelf: &Shelf, idx: usize, score: f64) -> PassageRef {
    let passage = &shelf.passages()[idx];
    PassageRef {
        document: shelf.books()[passage.book].id.clone(),
        start: passage.span.start,
        end: passage.span.end,
        score: Some(score),
    }
}
