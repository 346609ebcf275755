//! Contexts: filling a token budget from a ranking, in score order or in document order.

use crate::ranking::{Ranked, Ranking};
use serde::{Deserialize, Serialize};

/// The order in which the passages of a context stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum PassageOrder {
    /// The order of scores, best first (vanilla RAG).
    Score,
    /// The order of the document (DOS RAG).
    Document,
}

impl PassageOrder {
    /// Puts passages that are given best first into this order.
    pub fn of(self, mut passages: Vec<Ranked>) -> Vec<Ranked> {
        if self == Self::Document {
            passages.sort_by_key(|ranked| ranked.idx);
        }
        passages
    }
}

/// What to do at a passage that does not fit the rest of the budget.
///
/// Stronger Baselines, section 2.3, leaves it open. RAPTOR's collapsed retrieval, of which vanilla RAG is an exact
/// ablation by section 4, stops, so that is the default; skipping favours short passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// Filling ends at the passage.
    #[default]
    Stop,
    /// Filling goes on with the next passage.
    Skip,
}

/// The selection of passages from a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The passages, best first.
    pub passages: Vec<Ranked>,
    /// Sum of their token counts.
    pub n_tokens: usize,
}

impl Selection {
    /// Puts the selection into another order.
    #[must_use]
    pub fn ordered(self, order: PassageOrder) -> Self {
        Self { passages: order.of(self.passages), ..self }
    }
}

/// The ranking with the neighbours of each passage right behind it, every passage once: p1, p1 - 1, p1 + 1, p2, ... and, for
/// `n` > 1, the nearer ones first.
///
/// A neighbour stands within `n` passages before or behind in the same document, as `document` (of a passage's number)
/// tells. It keeps its own score. None of the papers does this; with `n` = 0 the ranking is as it was.
pub fn with_neighbours(ranking: Ranking, n: usize, document: impl Fn(usize) -> usize) -> Ranking {
    if n == 0 {
        return ranking;
    }
    let size = ranking.iter().map(|r| r.idx + 1).max().unwrap_or(0);
    let mut left: Vec<Option<Ranked>> = vec![None; size];
    ranking.iter().for_each(|&ranked| left[ranked.idx] = Some(ranked));
    let mut widened = Vec::with_capacity(ranking.len());
    for Ranked { idx, .. } in ranking {
        widened.extend(left[idx].take());
        for distance in 1..=n.min(size) {
            let beside = [idx.checked_sub(distance), idx.checked_add(distance).filter(|&next| next < size)];
            for neighbour in beside.into_iter().flatten().filter(|&other| document(other) == document(idx)) {
                widened.extend(left[neighbour].take());
            }
        }
    }
    widened
}

/// Takes passages, best first, while their total stays within `budget` tokens.
///
/// `n_tokens` holds the count of each passage's text by its number. Separators and prompt do not count: RAPTOR's code
/// counts node texts alone, and Stronger Baselines does not say otherwise.
pub fn fill(ranking: &Ranking, n_tokens: &[usize], budget: usize, overflow: Fill) -> Selection {
    let mut selection = Selection { passages: Vec::new(), n_tokens: 0 };
    for &ranked in ranking {
        if selection.n_tokens + n_tokens[ranked.idx] > budget {
            match overflow {
                Fill::Stop => break,
                Fill::Skip => continue,
            }
        }
        selection.n_tokens += n_tokens[ranked.idx];
        selection.passages.push(ranked);
    }
    selection
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::rank;
    use proptest::prelude::*;

    fn taken(selection: &Selection) -> Vec<usize> {
        selection.passages.iter().map(|r| r.idx).collect()
    }

    #[test]
    fn filling_stops_at_the_first_overflow_unless_told_to_skip() {
        let ranking = rank([0.9, 0.8, 0.7]);
        assert_eq!(taken(&fill(&ranking, &[40, 100, 10], 60, Fill::Stop)), [0]);
        assert_eq!(taken(&fill(&ranking, &[40, 100, 10], 60, Fill::Skip)), [0, 2]);
    }

    fn order(ranking: &Ranking) -> Vec<usize> {
        ranking.iter().map(|r| r.idx).collect()
    }

    #[test]
    fn neighbours_follow_their_passage_and_stay_in_its_document() {
        let ranking = rank([0.1, 0.2, 0.9, 0.3, 0.8, 0.0]);
        assert_eq!(order(&with_neighbours(ranking.clone(), 1, |_| 0)), [2, 1, 3, 4, 5, 0]);
        assert_eq!(order(&with_neighbours(ranking.clone(), 2, |_| 0)), [2, 1, 3, 0, 4, 5]);
        assert_eq!(order(&with_neighbours(ranking.clone(), 1, |idx| idx / 3)), [2, 1, 4, 3, 5, 0]);
        assert_eq!(with_neighbours(ranking.clone(), 0, |_| 0), ranking);
    }

    proptest! {
        #[test]
        fn neighbours_lose_and_invent_nothing(
            scores in prop::collection::vec(0.0..1.0f64, 0..40), n in 0usize..50, documents in 1usize..5,
        ) {
            let ranking = rank(scores.iter().copied());
            let widened = with_neighbours(ranking.clone(), n, |idx| idx / documents);
            prop_assert!(widened.iter().all(|r| scores[r.idx] == r.score), "a neighbour keeps its score");
            let mut all = order(&widened);
            prop_assert_eq!(all.first().copied(), ranking.first().map(|r| r.idx));
            all.sort_unstable();
            prop_assert_eq!(all, (0..scores.len()).collect::<Vec<_>>());
        }

        #[test]
        fn a_passage_is_taken_up_with_its_neighbours_or_for_itself(
            scores in prop::collection::vec(0.0..1.0f64, 1..40), n in 1usize..4,
        ) {
            let ranking = rank(scores.iter().copied());
            let widened = order(&with_neighbours(ranking.clone(), n, |_| 0));
            let mut expected: Vec<usize> = Vec::new();
            for best in order(&ranking) {
                let mut group: Vec<usize> = (0..scores.len()).filter(|other| other.abs_diff(best) <= n).collect();
                group.sort_by_key(|&other| (other.abs_diff(best), other));
                group.retain(|other| !expected.contains(other));
                expected.extend(group);
            }
            prop_assert_eq!(widened, expected);
        }

        #[test]
        fn a_selection_keeps_its_budget_and_order_changes_no_member(
            passages in prop::collection::vec((-1.0..1.0f64, 0usize..200), 0..60),
            budget in 0usize..2000,
        ) {
            let ranking = rank(passages.iter().map(|p| p.0));
            let n_tokens: Vec<usize> = passages.iter().map(|p| p.1).collect();
            for overflow in [Fill::Stop, Fill::Skip] {
                let vanilla = fill(&ranking, &n_tokens, budget, overflow).ordered(PassageOrder::Score);
                prop_assert!(vanilla.n_tokens <= budget);
                prop_assert_eq!(vanilla.n_tokens, taken(&vanilla).iter().map(|&i| n_tokens[i]).sum::<usize>());
                let dos = vanilla.clone().ordered(PassageOrder::Document);
                prop_assert!(taken(&dos).is_sorted());
                let mut same = taken(&vanilla);
                same.sort_unstable();
                prop_assert_eq!(same, taken(&dos));
            }
        }

        #[test]
        fn a_larger_budget_never_loses_a_passage(
            passages in prop::collection::vec((-1.0..1.0f64, 0usize..200), 0..40),
            budget in 0usize..1000, more in 0usize..500,
        ) {
            let ranking = rank(passages.iter().map(|p| p.0));
            let n_tokens: Vec<usize> = passages.iter().map(|p| p.1).collect();
            let small = taken(&fill(&ranking, &n_tokens, budget, Fill::Stop));
            let large = taken(&fill(&ranking, &n_tokens, budget + more, Fill::Stop));
            prop_assert!(large.starts_with(&small));
        }
    }
}
