//! Estimate of reranking.

use super::scene::Scene;
use crate::config::RunArgs;
use closeread_books::chunk::Chunker;
use closeread_llm::price::Dollars;
use closeread_providers::rerank_provider;
use closeread_runner::reranker::RERANK_FROM;
use serde::Serialize;
use std::collections::HashSet;
use std::iter::repeat_n;

/// The estimate of what a reranker would be asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct RerankingEstimate {
    /// The model, installed or `provider/model`.
    pub(super) model: String,
    /// Passages that are scored: for every question the best, once for each way of cutting the books. What is remembered of
    /// other runs, and what a model searches for by itself, is not in it.
    pub(super) pairs: u64,
    /// Tokens of the passages, and those of the question with each of them.
    pub(super) tokens: u64,
    /// Searches, with a provider that is paid by these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) searches: Option<u64>,
    /// Whether the reranker is computed on this machine.
    pub(super) here: bool,
    /// Cost at list price; absent where it is not known.
    pub(super) dollars: Option<Dollars>,
}

/// Estimates reranking for the methods that rank passages by the question; `None` without a reranker.
pub(super) fn estimates(scene: &Scene<'_>, args: &RunArgs) -> Option<RerankingEstimate> {
    let model = args.reranker.clone()?;
    let from = args.rerank_from.unwrap_or(RERANK_FROM) as u64;
    let ranking = scene.cells.iter().filter(|cell| cell.method.ranks_passages());
    let cuts: HashSet<(Chunker, usize)> =
        ranking.filter_map(|cell| cell.method.passages()).map(|p| (p.split, p.max_tokens)).collect();
    let provider = rerank_provider(&model);
    let listed = scene.prices.pays_searches(&model);
    let searches_of = |question, texts| provider.and_then(|provider| provider.asked.searches(listed, question, texts));
    let (mut pairs, mut tokens, mut searches) = (0, 0, searches_of(0, repeat_n(0, 0)));
    for group in &scene.groups {
        let books: u64 = group.sizes.iter().map(|size| size.tokens).sum();
        for &(_, max_tokens) in &cuts {
            let passage = max_tokens as u64;
            let n = from.min(books.div_ceil(passage.max(1)));
            for item in &group.items {
                let question = scene.setting.tokenizer.count(&item.question) as u64;
                pairs += n;
                tokens += n * question + (n * passage).min(books);
                let more = searches_of(question, repeat_n(passage, n as usize));
                searches = searches.zip(more).map(|(before, more)| before + more);
            }
        }
    }
    let dollars = scene.prices.cost_of_texts(&model, Some(tokens), searches);
    Some(RerankingEstimate { model, pairs, tokens, searches, here: provider.is_none(), dollars })
}
