//! From a ranking to a context within a token budget, in score order or in document order.

use crate::index::{Ranked, Ranking};
use serde::{Deserialize, Serialize};

/// In which order the passages of a context stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassageOrder {
    /// Best first (vanilla RAG).
    Score,
    /// As in the document (DOS RAG).
    Document,
}

/// What happens at a passage that does not fit the rest of the budget.
///
/// Stronger Baselines, section 2.3, leaves it open. RAPTOR's collapsed retrieval, of which vanilla RAG is an exact
/// ablation by section 4, stops, so that is the default; skipping favours short passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overflow {
    /// Filling ends.
    #[default]
    Stop,
    /// Filling goes on with the next passage.
    Skip,
}

/// What was taken from a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The passages, best first.
    pub passages: Vec<Ranked>,
    /// Sum of their token counts.
    pub n_tokens: usize,
}

impl Selection {
    /// The same set in another order.
    #[must_use]
    pub fn ordered(mut self, order: PassageOrder) -> Self {
        if order == PassageOrder::Document {
            self.passages.sort_by_key(|r| r.idx);
        }
        self
    }
}

/// Takes passages, best first, while their total stays within `budget` tokens.
///
/// `n_tokens` holds the count of each passage's text by its number. Separators and prompt do not count: RAPTOR's code
/// counts node texts alone, and Stronger Baselines does not say otherwise.
pub fn fill(ranking: &Ranking, n_tokens: &[usize], budget: usize, overflow: Overflow) -> Selection {
    let mut selection = Selection { passages: Vec::new(), n_tokens: 0 };
    for &ranked in ranking {
        if selection.n_tokens + n_tokens[ranked.idx] > budget {
            match overflow {
                Overflow::Stop => break,
                Overflow::Skip => continue,
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
    use crate::index::rank;
    use proptest::prelude::*;

    fn taken(selection: &Selection) -> Vec<usize> {
        selection.passages.iter().map(|r| r.idx).collect()
    }

    #[test]
    fn filling_stops_at_the_first_overflow_unless_told_to_skip() {
        let ranking = rank([0.9, 0.8, 0.7]);
        assert_eq!(taken(&fill(&ranking, &[40, 100, 10], 60, Overflow::Stop)), [0]);
        assert_eq!(taken(&fill(&ranking, &[40, 100, 10], 60, Overflow::Skip)), [0, 2]);
    }

    proptest! {
        #[test]
        fn a_selection_keeps_its_budget_and_order_changes_no_member(
            passages in prop::collection::vec((-1.0..1.0f64, 0usize..200), 0..60),
            budget in 0usize..2000,
        ) {
            let ranking = rank(passages.iter().map(|p| p.0));
            let n_tokens: Vec<usize> = passages.iter().map(|p| p.1).collect();
            for overflow in [Overflow::Stop, Overflow::Skip] {
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
            let small = taken(&fill(&ranking, &n_tokens, budget, Overflow::Stop));
            let large = taken(&fill(&ranking, &n_tokens, budget + more, Overflow::Stop));
            prop_assert!(large.starts_with(&small));
        }
    }
}
