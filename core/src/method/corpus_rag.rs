//! RAG over a corpus (CorpusQA, section 4.1): one search over all documents of an item at once.

use super::ask::Asking;
use super::dress::{Dress, View};
use super::rag::{context_of, excerpts, ranking};
use super::read::{Shown, read, title_of};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::chunk::Chunker;
use crate::host::Host;
use crate::index::Ranked;
use crate::retrieve::{Overflow, PassageOrder, Selection, fill};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Parameters of [`corpus_rag`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorpusRag {
    /// Most tokens of a chunk. The paper names no length; this is SagaScale's.
    pub max_tokens: usize,
    /// What happens at a chunk that does not fit the rest of the budget.
    pub fill: Overflow,
    /// How many chunks on each side of a ranked one are ranked right behind it; the paper has none.
    pub neighbours: usize,
    /// Whose prompt and answer form.
    pub dress: Dress,
}

impl Default for CorpusRag {
    fn default() -> Self {
        Self {
            max_tokens: Chunker::Window.default_max_tokens(),
            fill: Overflow::Stop,
            neighbours: 0,
            dress: Dress::Corpusqa,
        }
    }
}

/// Measure: chunks in the context.
pub const CHUNKS: &str = "chunks";
/// Measure: documents that some chunk in the context is from.
pub const DOCUMENTS_READ: &str = "documents_read";
/// Measure: documents the item is about.
pub const DOCUMENTS: &str = "documents";
/// Measure: 1 where the context holds fewer chunks than there are documents, so that no answer over all documents can
/// be right (Table 4, dagger), else 0.
pub const FEWER_CHUNKS_THAN_DOCUMENTS: &str = "fewer_chunks_than_documents";

/// Ranks the chunks of all documents by the bare question, takes the best within `budget` tokens, shows them in the order
/// of documents and text, each document's under its heading, and asks the reader.
///
/// # Errors
/// [`MethodError`] if the shelf holds no vectors though they are needed.
pub async fn corpus_rag<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    parameters: &CorpusRag,
    budget: usize,
) -> Result<Trial, MethodError> {
    let mut asking = Asking::new(host, setting);
    let end = async {
        let shelf = material.shelf();
        let ranking = ranking(&asking, material, &item.question, parameters.neighbours).await?;
        let selection = fill(&ranking, shelf.n_tokens(), budget, parameters.fill).ordered(PassageOrder::Document);
        measure(&mut asking.measures, material, &selection);
        let shown = Shown {
            dress: parameters.dress,
            view: View::Passages,
            title: &title_of(material.books),
            passages: excerpts(shelf, &selection.passages),
            context: Some(context_of(material, &selection.passages)),
            language: material.language(),
            evidence: false,
        };
        read(&mut asking, item, shown).await
    }
    .await;
    asking.finish(end)
}

fn measure(measures: &mut BTreeMap<String, f64>, material: &Material<'_>, selection: &Selection) {
    let documents = |ranked: &Ranked| material.shelf().passages()[ranked.idx].book;
    let read: BTreeSet<usize> = selection.passages.iter().map(documents).collect();
    let (chunks, all) = (selection.passages.len(), material.books.len());
    let counts = [
        (CHUNKS, chunks),
        (DOCUMENTS_READ, read.len()),
        (DOCUMENTS, all),
        (FEWER_CHUNKS_THAN_DOCUMENTS, usize::from(chunks < all)),
    ];
    measures.extend(counts.map(|(measure, n)| (measure.to_owned(), n as f64)));
}
