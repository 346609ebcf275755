//! Vanilla RAG and DOS RAG (Stronger Baselines, section 2.3).

use super::ask::{Asking, End};
use super::dress::{Dress, Excerpt, Place, View};
use super::read::{Shown, read, title_of};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::chunk::Chunker;
use crate::host::Host;
use crate::index::{Ranked, Ranking, Shelf};
use crate::record::{Context, PassageRef};
use crate::retrieve::{Overflow, PassageOrder, fill, with_neighbours};
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
    /// Whose prompt and answer form.
    pub dress: Dress,
}

impl Default for Rag {
    fn default() -> Self {
        Self {
            max_tokens: Chunker::Dos.default_max_tokens(),
            fill: Overflow::Stop,
            neighbours: 0,
            dress: Dress::DosRag,
        }
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
        let ranking = ranking(&asking, material, &item.question, parameters.neighbours).await?;
        let selection = fill(&ranking, shelf.n_tokens(), budget, parameters.fill).ordered(order);
        let passages = excerpts(shelf, &selection.passages);
        let context = context_of(material, &selection.passages);
        let shown = Shown {
            dress: parameters.dress,
            view: View::Passages,
            title: &title_of(material.books),
            passages,
            context: Some(context),
            language: material.language(),
            evidence: false,
        };
        read(&mut asking, item, shown).await
    }
    .await;
    asking.finish(end)
}

/// Every passage by how well it matches the query, best first, each with its neighbours right behind it.
pub(super) async fn ranking<H: Host>(
    asking: &Asking<'_, H>,
    material: &Material<'_>,
    query: &str,
    neighbours: usize,
) -> Result<Ranking, End> {
    let vector = match material.retriever.needs_vectors() {
        true => Some(asking.embed_query(query).await?),
        false => None,
    };
    let shelf = material.shelf();
    let ranking = shelf.ranking(material.retriever, query, vector.as_deref())?;
    Ok(with_neighbours(ranking, neighbours, |idx| shelf.passages()[idx].book))
}

/// Passages of the shelf as a prompt shows them.
pub(super) fn excerpts(shelf: &Shelf, passages: &[Ranked]) -> Vec<Excerpt> {
    let texts = shelf.texts(passages.iter().map(|ranked| ranked.idx));
    let place = |idx: usize| Place { document: shelf.passages()[idx].book, idx };
    passages.iter().zip(texts).map(|(ranked, text)| Excerpt { place: Some(place(ranked.idx)), text }).collect()
}

/// Passages of the shelf as a record names what a reader was given.
pub(super) fn context_of(material: &Material<'_>, passages: &[Ranked]) -> Context {
    let shelf = material.shelf();
    Context {
        retriever: Some(material.retriever),
        n_tokens: passages.iter().map(|ranked| shelf.n_tokens()[ranked.idx]).sum(),
        passages: passages.iter().map(|ranked| reference(shelf, ranked.idx, ranked.score)).collect(),
    }
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
