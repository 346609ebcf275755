//! Naive RAG (SagaScale §4.1): one retrieval, a fixed number of passages.

use super::ask::Asking;
use super::dress::{Dress, View};
use super::rag::{context_of, excerpts, ranking};
use super::read::{Shown, read, title_of};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::chunk::Chunker;
use crate::host::Host;
use crate::retrieve::PassageOrder;
use serde::{Deserialize, Serialize};

/// The embedding model of SagaScale's experiments (§4.1).
pub const SAGASCALE_EMBEDDER: &str = "multilingual-e5-large";
/// Passages of one retrieval in SagaScale's experiments (§4.1).
pub(super) const SAGASCALE_TOP_K: usize = 3;

/// Parameters of [`naive_rag`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NaiveRag {
    /// Most tokens of a passage: windows without overlap, counted by the run's tokenizer; the paper names neither.
    pub max_tokens: usize,
    /// Passages handed over.
    pub top_k: usize,
    /// How many passages on each side of a ranked one are ranked right behind it; the paper has none.
    pub neighbours: usize,
    /// Their order. The paper names none; best first is what a retriever returns.
    pub order: PassageOrder,
    /// The embedding model; absent: [`SAGASCALE_EMBEDDER`] where it is installed, else the run's.
    pub embedder: Option<String>,
    /// Whose prompt and answer form.
    pub dress: Dress,
}

impl Default for NaiveRag {
    fn default() -> Self {
        Self {
            max_tokens: Chunker::Window.default_max_tokens(),
            top_k: SAGASCALE_TOP_K,
            neighbours: 0,
            order: PassageOrder::Score,
            embedder: None,
            dress: Dress::Sagascale,
        }
    }
}

/// Hands the reader the passages nearest to the question, each with its number in the text.
///
/// # Errors
/// [`MethodError`] if the shelf holds no vectors though they are needed.
pub async fn naive_rag<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    parameters: &NaiveRag,
) -> Result<Trial, MethodError> {
    let mut asking = Asking::new(host, setting);
    let end = async {
        let shelf = material.shelf();
        let mut nearest = ranking(&asking, material, &item.question, parameters.neighbours).await?;
        nearest.truncate(parameters.top_k);
        if parameters.order == PassageOrder::Document {
            nearest.sort_by_key(|ranked| ranked.idx);
        }
        let shown = Shown {
            dress: parameters.dress,
            view: View::Passages,
            title: &title_of(material.books),
            passages: excerpts(shelf, &nearest),
            context: Some(context_of(material, &nearest)),
            language: material.language(),
            evidence: false,
        };
        read(&mut asking, item, shown).await
    }
    .await;
    asking.finish(end)
}
