//! A ranking whose best passages are put into another order.

use crate::ranking::{Ranked, Ranking};

/// The ranking with its first passages, one a score, in the order of these scores, best first; equal ones keep their order.
/// Those behind them follow as they were, with the score of what nobody scored: negative infinity.
///
/// So no passage comes or goes, and the first `scores.len()` stay the same set.
///
/// # Panics
/// If there are more scores than passages.
pub fn reranked(mut ranking: Ranking, scores: &[f64]) -> Ranking {
    let behind = ranking.split_off(scores.len());
    ranking.iter_mut().zip(scores).for_each(|(ranked, &score)| ranked.score = score);
    ranking.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(std::cmp::Ordering::Equal));
    ranking.extend(behind.into_iter().map(|ranked| Ranked { score: f64::NEG_INFINITY, ..ranked }));
    ranking
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Fill, fill};
    use crate::ranking::rank;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn order(ranking: &Ranking) -> Vec<usize> {
        ranking.iter().map(|ranked| ranked.idx).collect()
    }

    proptest! {
        #[test]
        fn a_constant_score_leaves_the_order(
            scores in prop::collection::vec(-1.0..1.0f64, 0..40), from in 0usize..50, constant in -9.0..9.0f64,
        ) {
            let ranking = rank(scores.iter().copied());
            let n = from.min(ranking.len());
            prop_assert_eq!(order(&reranked(ranking.clone(), &vec![constant; n])), order(&ranking));
        }

        #[test]
        fn what_is_taken_of_the_first_n_is_among_them(
            passages in prop::collection::vec((-1.0..1.0f64, -9.0..9.0f64, 1usize..200), 1..40),
            from in 1usize..40, budget in 0usize..2000,
        ) {
            let ranking = rank(passages.iter().map(|passage| passage.0));
            let n = from.min(ranking.len());
            let scores: Vec<f64> = ranking[..n].iter().map(|ranked| passages[ranked.idx].1).collect();
            let new = reranked(ranking.clone(), &scores);
            let first = |ranking: &Ranking| order(ranking)[..n].iter().copied().collect::<BTreeSet<_>>();
            prop_assert_eq!(first(&new), first(&ranking));
            prop_assert_eq!(&order(&new)[n..], &order(&ranking)[n..]);
            prop_assert!(new.windows(2).all(|pair| pair[0].score >= pair[1].score), "best first");
            let n_tokens: Vec<usize> = passages.iter().map(|passage| passage.2).collect();
            let taken = fill(&new, &n_tokens, budget, Fill::Stop);
            prop_assert!(taken.n_tokens <= budget);
            let within = taken.passages.iter().take(n).all(|ranked| first(&ranking).contains(&ranked.idx));
            prop_assert!(within);
        }

        /// Passages of one length, some of which are evidence: no order finds more of it within a budget than that of an oracle
        /// who may look at all.
        #[test]
        fn an_oracle_over_all_passages_finds_the_most(
            passages in prop::collection::vec((-1.0..1.0f64, any::<bool>()), 1..40), budget in 1usize..40,
        ) {
            let ranking = rank(passages.iter().map(|passage| passage.0));
            let scores: Vec<f64> = ranking.iter().map(|ranked| f64::from(u8::from(passages[ranked.idx].1))).collect();
            let taken = fill(&reranked(ranking, &scores), &vec![1; passages.len()], budget, Fill::Stop).passages;
            let found = taken.iter().filter(|ranked| passages[ranked.idx].1).count();
            let evidence = passages.iter().filter(|passage| passage.1).count();
            prop_assert_eq!(found, evidence.min(budget));
        }
    }
}
