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
    best(scores, usize::MAX)
}

/// Returns the first `n` of [`rank`]; the others are not put in order, which takes most of the time where they are
/// many.
pub fn best(scores: impl IntoIterator<Item = f64>, n: usize) -> Ranking {
    let mut ranking: Ranking = scores.into_iter().enumerate().map(|(idx, score)| Ranked { idx, score }).collect();
    // Adding zero turns -0.0 into 0.0, which total_cmp would tell apart.
    let key = |r: &Ranked| if r.score.is_nan() { f64::NEG_INFINITY } else { r.score + 0.0 };
    let order = |a: &Ranked, b: &Ranked| key(b).total_cmp(&key(a)).then(a.idx.cmp(&b.idx));
    if n < ranking.len() {
        ranking.select_nth_unstable_by(n, order);
        ranking.truncate(n);
    }
    ranking.sort_unstable_by(order);
    ranking
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_the_first_of_all(scores in prop::collection::vec(0u8..6, 0..60), n in 0usize..70) {
            // Few different scores, so that many are equal; 5 stands for one that is no number.
            let scores: Vec<f64> =
                scores.iter().map(|&score| if score == 5 { f64::NAN } else { f64::from(score) - 2.0 }).collect();
            let mut all = rank(scores.iter().copied());
            all.truncate(n);
            let bits = |ranking: Ranking| ranking.iter().map(|r| (r.idx, r.score.to_bits())).collect::<Vec<_>>();
            prop_assert_eq!(bits(best(scores, n)), bits(all));
        }
    }

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
