//! Estimate of embedding the books by a server.

use super::scene::Scene;
use closeread_books::chunk::Chunker;
use closeread_llm::price::{Dollars, Tokens};
use closeread_providers::is_served;
use closeread_retrieve::Retriever;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// The estimate of what one embedding model on a server would be asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct EmbeddingEstimate {
    /// The model, `provider/model`.
    pub(super) model: String,
    /// Tokens of the books, once for each way of cutting them, and of the questions; prefixes, and what methods embed on
    /// their own, are not in it.
    pub(super) tokens: u64,
    /// Cost at list price; absent where it is not known.
    pub(super) dollars: Option<Dollars>,
}

/// Estimates by model, for the methods that search by vectors.
pub(super) fn estimates(
    scene: &Scene<'_>,
    embedder: Option<&str>,
    retriever: Option<Retriever>,
) -> Vec<EmbeddingEstimate> {
    if retriever == Some(Retriever::Bm25) {
        return Vec::new();
    }
    let mut cuts: BTreeMap<String, HashSet<(Chunker, usize)>> = BTreeMap::new();
    for cell in scene.cells {
        let Some(passages) = cell.method.passages() else { continue };
        let own = passages.embedder.as_deref().or(embedder);
        let Some(name) = own.filter(|name| is_served(name)) else { continue };
        cuts.entry(name.to_owned()).or_default().insert((passages.split, passages.max_tokens));
    }
    let count = |text: &str| scene.setting.tokenizer.count(text) as u64;
    let questions = || scene.benchmark.items.iter().map(|item| count(&item.question)).sum::<u64>();
    let mut books: BTreeMap<&str, u64> = BTreeMap::new();
    for group in &scene.groups {
        books.extend(group.documents.iter().map(String::as_str).zip(group.sizes.iter().map(|size| size.tokens)));
    }
    let books: u64 = books.values().sum();
    cuts.into_iter()
        .map(|(model, cuts)| {
            let tokens = books * cuts.len() as u64 + questions();
            let rates = scene.prices.of(&model).and_then(|facts| facts.price);
            let dollars = rates.map(|rates| rates.cost(Tokens { prompt: tokens, ..Tokens::default() }));
            EmbeddingEstimate { model, tokens, dollars }
        })
        .collect()
}
