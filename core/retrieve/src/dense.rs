//! Exact search over embeddings.

use super::IndexError;
use super::ranking::{Ranking, rank};
use closeread_embed::Vectors;
use std::fmt;

/// Vectors that are too many to hold: they are read anew for every search, some rows at a time.
pub trait VectorBlocks: fmt::Debug + Send + Sync {
    /// Returns the number of vectors.
    fn n_rows(&self) -> usize;

    /// Hands over all rows in their order, some at a time.
    ///
    /// # Errors
    /// Why they cannot be read, for people.
    fn read(&self, take: &mut dyn FnMut(&Vectors)) -> Result<(), String>;
}

/// Cosine similarity, in -1..=1, summed in double precision from left to right; 0 if either vector is zero.
///
/// # Panics
/// If the vectors differ in length.
pub fn cosine<T: Copy + Into<f64>>(a: &[T], b: &[T]) -> f64 {
    assert_eq!(a.len(), b.len(), "vectors of one model have one dimension");
    let (mut dot, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (&x, &y) in a.iter().zip(b) {
        let (x, y): (f64, f64) = (x.into(), y.into());
        dot += x * y;
        aa += x * x;
        bb += y * y;
    }
    let norms = libm::sqrt(aa) * libm::sqrt(bb);
    if norms == 0.0 { 0.0 } else { dot / norms }
}

/// Ranks every row by its cosine similarity to `query`, best first.
pub fn cosine_ranking<'a, T>(query: &[T], rows: impl IntoIterator<Item = &'a [T]>) -> Ranking
where
    T: Copy + Into<f64> + 'a,
{
    rank(rows.into_iter().map(|row| cosine(query, row)))
}

/// The similarities that [`cosine_ranking`] ranks by, bit for bit, of rows that lie elsewhere.
///
/// # Errors
/// What [`VectorBlocks::read`] says, and rows of another dimension than the query.
pub(super) fn cosines_of_blocks(query: &[f32], blocks: &dyn VectorBlocks) -> Result<Vec<f64>, IndexError> {
    let mut scores = Vec::with_capacity(blocks.n_rows());
    let mut other = None;
    let score = &mut |block: &Vectors| match block.dimension() == query.len() {
        true => scores.extend(block.rows().map(|row| cosine(query, row))),
        false => other = Some(block.dimension()),
    };
    blocks.read(score).map_err(IndexError::Vectors)?;
    if let Some(passages) = other {
        return Err(IndexError::Dimension { query: query.len(), passages });
    }
    if scores.len() != blocks.n_rows() {
        let why = format!("{} vectors are there instead of {}", scores.len(), blocks.n_rows());
        return Err(IndexError::Vectors(why));
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_does_not_matter_and_zero_is_similar_to_nothing() {
        assert_eq!(cosine(&[3.0, 4.0], &[6.0, 8.0]), 1.0);
        assert_eq!(cosine(&[1.0, 0.0], &[-2.0, 0.0]), -1.0);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 1.0]), 0.0);
    }

    #[test]
    fn nearest_first() {
        let rows = [[0.0f32, 1.0], [1.0, 0.1], [1.0, 0.0]];
        let order: Vec<usize> =
            cosine_ranking(&[1.0, 0.0], rows.iter().map(|r| r.as_slice())).iter().map(|r| r.idx).collect();
        assert_eq!(order, [2, 1, 0]);
    }
}
