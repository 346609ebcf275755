//! Vectors that arrive one by one, while questions are asked already.

use super::cosine;
use super::ranking::{Ranked, Ranking, rank};
use closeread_embed::Vectors;

/// The vectors of some passages of an index, in whatever order they came.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrivingVectors {
    /// Vectors in the order in which they came.
    vectors: Vectors,
    /// Number of each passage's vector among those that came.
    places: Vec<Option<u32>>,
}

impl ArrivingVectors {
    /// Makes room for `n_passages` passages, of `dimension` numbers each; none has come yet.
    pub fn new(n_passages: usize, dimension: usize) -> Self {
        Self { vectors: Vectors::new(dimension, Vec::new()), places: vec![None; n_passages] }
    }

    /// Adds the vector of a passage; one that was there already stays. True if it is new.
    ///
    /// # Panics
    /// If there is no such passage, or the vector has another dimension.
    pub fn put(&mut self, passage: usize, vector: &[f32]) -> bool {
        if self.places[passage].is_some() {
            return false;
        }
        let place = u32::try_from(self.len()).expect("fewer than four billion passages");
        self.places[passage] = Some(place);
        self.vectors.push(vector);
        true
    }

    /// The vector of a passage, if it has come.
    pub fn get(&self, passage: usize) -> Option<&[f32]> {
        Some(self.vectors.row((*self.places.get(passage)?)? as usize))
    }

    /// Returns the vectors that have come with the numbers of their passages, in document order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[f32])> {
        (0..self.places.len()).filter_map(|passage| Some((passage, self.get(passage)?)))
    }

    /// Returns the number of values in each vector.
    pub fn dimension(&self) -> usize {
        self.vectors.dimension()
    }

    /// Returns how many vectors have come.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// True if no vector has come.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// The passages that have vectors by cosine similarity to `query`, best first; the others are left out.
    pub(super) fn ranking(&self, query: &[f32]) -> Ranking {
        let (passages, scores): (Vec<usize>, Vec<f64>) =
            self.iter().map(|(passage, vector)| (passage, cosine(query, vector))).unzip();
        rank(scores).into_iter().map(|Ranked { idx, score }| Ranked { idx: passages[idx], score }).collect()
    }
}
