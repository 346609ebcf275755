//! Passages with their scores, best first.

/// A passage with its score under one retriever.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Number of the passage, in document order from 0.
    pub idx: usize,
    /// Score; what it means depends on the retriever, but more is better.
    pub score: f64,
}

/// All passages, best first; equal scores stand in document order, so runs agree.
pub type Ranking = Vec<Ranked>;

/// Sorts `scores` (one per passage, in document order) into a [`Ranking`]. A NaN ranks last.
pub fn rank(scores: impl IntoIterator<Item = f64>) -> Ranking {
    let mut ranking: Ranking = scores.into_iter().enumerate().map(|(idx, score)| Ranked { idx, score }).collect();
    // Adding zero turns -0.0 into 0.0, which total_cmp would tell apart.
    let key = |r: &Ranked| if r.score.is_nan() { f64::NEG_INFINITY } else { r.score + 0.0 };
    ranking.sort_by(|a, b| key(b).total_cmp(&key(a)).then(a.idx.cmp(&b.idx)));
    ranking
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_stand_in_document_order_and_nan_last() {
        let order: Vec<usize> = rank([0.5, f64::NAN, 0.7, 0.5]).iter().map(|r| r.idx).collect();
        assert_eq!(order, [2, 0, 3, 1]);
    }

    #[test]
    fn negative_zero_ties_with_zero_only_by_value() {
        // -0.0 and 0.0 are one score: the earlier passage wins.
        let order: Vec<usize> = rank([-0.0, 0.0]).iter().map(|r| r.idx).collect();
        assert_eq!(order, [0, 1]);
    }
}
