//! RAG over a corpus (CorpusQA, section 4.1): one search over all documents of an item at once.

use super::ask::Asking;
use super::rag::{context_of, select};
use super::read::{Shown, read};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::chunk::Chunker;
use crate::host::Host;
use crate::index::Shelf;
use crate::retrieve::{Overflow, PassageOrder, Selection};
use serde::{Deserialize, Serialize};

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
}

impl Default for CorpusRag {
    fn default() -> Self {
        Self { max_tokens: Chunker::Window.default_max_tokens(), fill: Overflow::Stop, neighbours: 0 }
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
        let CorpusRag { fill, neighbours, .. } = *parameters;
        let selection = select(&asking, material, &item.question, neighbours, budget, fill).await?;
        let selection = selection.ordered(PassageOrder::Document);
        let documents = by_document(material.shelf(), &selection);
        let (chunks, all) = (selection.passages.len(), material.books.len());
        asking.measures.extend(
            [
                (CHUNKS, chunks),
                (DOCUMENTS_READ, documents.len()),
                (DOCUMENTS, all),
                (FEWER_CHUNKS_THAN_DOCUMENTS, usize::from(chunks < all)),
            ]
            .map(|(measure, n)| (measure.to_owned(), n as f64)),
        );
        let context = Some(context_of(material, &selection));
        let shown = Shown { prompt: "read", title: "", passages: documents, context, language: material.language() };
        read(&mut asking, item, shown).await
    }
    .await;
    asking.finish(end)
}

/// The chunks of each document as one text under its heading, which counts the item's documents from 1.
fn by_document(shelf: &Shelf, selection: &Selection) -> Vec<String> {
    let texts = shelf.texts(selection.passages.iter().map(|ranked| ranked.idx));
    let places: Vec<usize> = selection.passages.iter().map(|ranked| shelf.passages()[ranked.idx].book).collect();
    let chunks: Vec<(usize, String)> = places.into_iter().zip(texts).collect();
    let of_document = |chunks: &[(usize, String)]| {
        let texts: Vec<&str> = chunks.iter().map(|(_, text)| text.as_str()).collect();
        format!("# Document {}:\n{}", chunks[0].0 + 1, texts.join("\n\n"))
    };
    chunks.chunk_by(|a, b| a.0 == b.0).map(of_document).collect()
}
