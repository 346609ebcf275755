//! Embedding of passages: which have vectors, which are being embedded, which come next.

use closeread_retrieve::{ArrivingVectors, Ranking};
use std::collections::BTreeSet;

/// The vectors of an index, as they come.
#[derive(Debug)]
pub(super) struct Embedding {
    /// Names the weights that compute the vectors.
    pub(super) model: Option<String>,
    pub(super) vectors: ArrivingVectors,
    /// Passages that somebody embeds at the moment.
    under_way: BTreeSet<usize>,
    /// The question that was embedded last, with its vector.
    query: Option<(String, Vec<f32>)>,
}

impl Embedding {
    pub(super) fn new(model: Option<String>, n_passages: usize, dimension: usize) -> Self {
        let vectors = ArrivingVectors::new(n_passages, dimension);
        Self { model, vectors, under_way: BTreeSet::new(), query: None }
    }

    /// The next passages to embed, best ranked first; they are under way from now on.
    pub(super) fn next(&mut self, ranking: &Ranking, n: usize) -> Vec<usize> {
        let waiting = ranking.iter().map(|ranked| ranked.idx);
        let waiting = waiting.filter(|idx| self.vectors.get(*idx).is_none() && !self.under_way.contains(idx));
        let next: Vec<usize> = waiting.take(n).collect();
        self.under_way.extend(&next);
        next
    }

    /// Takes the vectors of passages, one after another.
    pub(super) fn put(&mut self, passages: &[u32], values: &[f32]) {
        for (&passage, vector) in passages.iter().zip(values.chunks_exact(self.vectors.dimension())) {
            self.under_way.remove(&(passage as usize));
            self.vectors.put(passage as usize, vector);
        }
    }

    /// Passages that nobody embeds any more.
    pub(super) fn give_back(&mut self, passages: &[u32]) {
        for passage in passages {
            self.under_way.remove(&(*passage as usize));
        }
    }

    pub(super) fn put_query(&mut self, question: String, vector: Vec<f32>) {
        self.query = Some((question, vector));
    }

    /// The vector of a question, if it is the one that was embedded last.
    pub(super) fn query(&self, question: &str) -> Option<&[f32]> {
        self.query.as_ref().filter(|(asked, _)| asked == question).map(|(_, vector)| vector.as_slice())
    }
}
