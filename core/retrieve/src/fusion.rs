//! Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009).

use super::ranking::{Ranking, rank};

/// The constant that damps the first ranks, as in the original publication.
pub const RRF_K: f64 = 60.0;

/// Fuses rankings of the same `n` passages: score = sum over rankings of 1 / (60 + rank), ranks from 1.
///
/// A passage that a ranking leaves out gets nothing from it. Hand in BM25 without its zero scores: a passage that
/// shares no word with the query would otherwise earn points for standing early in the book.
pub fn reciprocal_rank_fusion(n: usize, rankings: &[&Ranking]) -> Ranking {
    let mut scores = vec![0.0; n];
    for ranking in rankings {
        for (position, ranked) in ranking.iter().enumerate() {
            scores[ranked.idx] += 1.0 / (RRF_K + (position + 1) as f64);
        }
    }
    rank(scores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::Ranked;

    #[test]
    fn second_in_both_beats_first_in_one() {
        let r = |order: &[usize]| order.iter().map(|&idx| Ranked { idx, score: 0.0 }).collect::<Ranking>();
        let fused = reciprocal_rank_fusion(4, &[&r(&[0, 1, 3]), &r(&[2, 1])]);
        assert_eq!(fused.iter().map(|r| r.idx).collect::<Vec<_>>(), [1, 0, 2, 3]);
        assert_eq!(fused[0].score, 2.0 / 62.0);
        assert_eq!(fused[3].score, 1.0 / 63.0);
    }
}
