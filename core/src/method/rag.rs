//! Vanilla RAG and DOS RAG (Stronger Baselines, section 2.3).

use super::ask::{Asking, End};
use super::dress::{Dress, Excerpt, Place, View};
use super::read::{Shown, read, title_of};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::chunk::Chunker;
use crate::host::Host;
use crate::index::{Ranking, Shelf};
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
    /// Whose prompt and answer form.
    pub dress: Dress,
}

impl Default for Rag {
    fn default() -> Self {
        Self { max_tokens: Chunker::Dos.default_max_tokens(), fill: Overflow::Stop, dress: Dress::DosRag }
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
        let passages = selection.passages.iter().map(|ranked| excerpt(shelf, ranked.idx)).collect();
        let context = Context {
            retriever: Some(material.retriever),
            n_tokens: selection.n_tokens,
            passages: selection.passages.iter().map(|r| reference(shelf, r.idx, r.score)).collect(),
        };
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

/// The best passages within the budget, best first.
async fn select<H: Host>(
    asking: &Asking<'_, H>,
    material: &Material<'_>,
    query: &str,
    parameters: &Rag,
    budget: usize,
) -> Result<Selection, End> {
    let ranking = ranking(asking, material, query).await?;
    Ok(fill(&ranking, material.shelf().n_tokens(), budget, parameters.fill))
}

/// Every passage by how well it matches the query, best first.
pub(super) async fn ranking<H: Host>(
    asking: &Asking<'_, H>,
    material: &Material<'_>,
    query: &str,
) -> Result<Ranking, End> {
    let vector = match material.retriever.needs_vectors() {
        true => Some(asking.embed_query(query).await?),
        false => None,
    };
    Ok(material.shelf().ranking(material.retriever, query, vector.as_deref())?)
}

/// A passage of the shelf as a prompt shows it.
pub(super) fn excerpt(shelf: &Shelf, idx: usize) -> Excerpt {
    let document = shelf.passages()[idx].book;
    Excerpt { place: Some(Place { document, idx }), text: shelf.text(idx) }
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
