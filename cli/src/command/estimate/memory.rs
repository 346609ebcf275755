//! Memory that a run takes, from what runs were measured to take: the table is in docs/scale.md.

use super::scene::Scene;
use crate::config::RunArgs;
use closeread_methods::reader::EXTRACTIVE;
use closeread_providers::{is_served, rerank_provider};
use closeread_retrieve::Retriever;
use serde::Serialize;
use std::collections::HashMap;

/// Mebibytes of the program at work.
const PROGRAM: u64 = 96;
/// Mebibytes of the embedding model that ships.
const ENCODER: u64 = 96;
/// Bytes of memory for a byte of the largest text that is asked about at once: as a prompt to a server, read by the built-in reader,
/// searched by words, and by vectors.
const SENT: u64 = 10;
const READ_HERE: u64 = 34;
const WORDS: u64 = 5;
const VECTORS: u64 = 20;
/// The same for a byte of all texts that are not in files of their own but in `documents.jsonl`.
const INSIDE: u64 = 6;
/// Bytes of memory of a trial's record.
const TRIAL: u64 = 26_000;
/// Half as much again: other texts, other machines.
const MARGIN: (u64, u64) = (3, 2);

/// The memory of a run in mebibytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct MemoryEstimate {
    /// Of all runs of these books, however many questions there are.
    pub(super) fixed: u64,
    /// Of the records: a part of a run has its share of them.
    pub(super) records: u64,
}

/// Estimates it; `None` where a model other than the one that ships is computed here, whose size is not known.
pub(super) fn estimate(scene: &Scene<'_>, args: &RunArgs) -> Option<MemoryEstimate> {
    let by_words = args.retriever == Some(Retriever::Bm25);
    let own = args.embedder.as_deref().filter(|name| !by_words && !is_served(name));
    let reranker = args.reranker.as_deref().filter(|name| rerank_provider(name).is_none());
    if own.is_some() || reranker.is_some() {
        return None;
    }
    let (mut a_byte, mut embeds) = (0, false);
    for cell in scene.cells {
        let searched = cell.method.passages();
        let searches_vectors = searched.is_some() && !by_words;
        embeds |= searches_vectors;
        a_byte = a_byte.max(match (searched, cell.key.model == EXTRACTIVE) {
            (Some(_), _) if searches_vectors => WORDS + VECTORS,
            (Some(_), _) => WORDS,
            (None, true) => READ_HERE,
            (None, false) => SENT,
        });
    }
    let sizes: HashMap<&str, usize> =
        scene.benchmark.books.iter().map(|book| (book.id.as_str(), book.n_bytes())).collect();
    let together = |documents: &[String]| documents.iter().map(|id| sizes[id.as_str()]).sum::<usize>();
    let largest = scene.groups.iter().map(|group| together(group.documents)).max();
    let inside =
        scene.benchmark.books.iter().filter(|book| book.text().is_ok()).map(|book| book.n_bytes()).sum::<usize>();
    let of_texts = largest.unwrap_or(0) as u64 * a_byte + inside as u64 * INSIDE;
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let with_margin = |mebibytes: u64| (mebibytes * MARGIN.0).div_ceil(MARGIN.1);
    let of_model = if embeds && args.embedder.is_none() { ENCODER } else { 0 };
    let n_trials = scene.benchmark.items.len() as u64 * scene.cells.len() as u64 * u64::from(scene.repeats);
    Some(MemoryEstimate {
        fixed: with_margin(PROGRAM + of_model + mebibytes(of_texts)),
        records: with_margin(mebibytes(n_trials * TRIAL)),
    })
}
