//! Comparison of two orders: the same questions, answered from the same passages in two orders, and whether one is
//! ahead.

use super::MetricName;
use closeread_metrics::stats::paired::{Comparison, Pair, Side, compare};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The scores of one question, as two records hold them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BothOrders {
    /// Name of the book.
    pub book: String,
    /// Scores of the answer from passages by score.
    pub by_score: BTreeMap<String, f64>,
    /// Scores of the answer from passages in the book's order.
    pub by_place: BTreeMap<String, f64>,
}

/// The effect of two orders of the same passages on the answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OrderEffect {
    /// The questions that both answers have a score for; the second side is the book's order. Absent if there are none.
    pub comparison: Option<Comparison>,
    /// The side that is ahead, `a` by score, `b` in the book's order; absent where that cannot be told, see
    /// [`Comparison::ahead`].
    pub ahead: Option<Side>,
    /// Scores of each question, in the order given: metric, by score, in the book's order, in 0..=1.
    pub scored: Vec<Option<(MetricName, f64, f64)>>,
}

/// Compares the two orders, each question by the first metric in rank that both answers have, accuracy before F1.
pub fn order_effect(questions: &[BothOrders]) -> OrderEffect {
    let scored: Vec<_> = questions.iter().map(both).collect();
    let pairs = questions.iter().zip(&scored);
    let pairs: Vec<Pair<'_>> = pairs
        .filter_map(|(question, scored)| {
            let &(_, a, b) = scored.as_ref()?;
            Some(Pair { a, b, cluster: &question.book })
        })
        .collect();
    let comparison = compare(&pairs);
    OrderEffect { ahead: comparison.as_ref().and_then(Comparison::ahead), comparison, scored }
}

fn both(BothOrders { by_score, by_place, .. }: &BothOrders) -> Option<(MetricName, f64, f64)> {
    let named = by_score.iter().map(|(name, &a)| (MetricName::from(name.as_str()), a, by_place.get(name).copied()));
    let shared = named.filter_map(|(metric, a, b)| Some((metric, a, b?)));
    shared.filter(|(metric, ..)| !metric.is_of_context()).min_by(|x, y| x.0.cmp(&y.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(metric: &str, by_score: f64, by_place: f64) -> BothOrders {
        let scores = |value| BTreeMap::from([(metric.to_owned(), value), ("evidence_recall".to_owned(), 1.0)]);
        BothOrders { book: "b".to_owned(), by_score: scores(by_score), by_place: scores(by_place) }
    }

    #[test]
    fn choices_count_by_accuracy_and_other_answers_by_f1() {
        let mut mixed = question("f1", 0.2, 0.4);
        mixed.by_score.insert("rougeL".to_owned(), 0.9);
        let none = BothOrders { by_place: BTreeMap::new(), ..mixed.clone() };
        let effect = order_effect(&[question("accuracy", 0.0, 1.0), mixed, none]);
        let scored = [Some((MetricName::from("accuracy"), 0.0, 1.0)), Some((MetricName::from("f1"), 0.2, 0.4)), None];
        assert_eq!(effect.scored, scored);
        assert_eq!(effect.comparison.unwrap().n, 2);
        assert_eq!(order_effect(&[]).comparison, None);
    }

    #[test]
    fn nothing_is_said_before_there_are_as_many_questions_as_it_takes() {
        let asked = |gained: usize, lost: usize, same: usize| {
            let mut all = vec![question("accuracy", 0.0, 1.0); gained];
            all.extend(vec![question("accuracy", 1.0, 0.0); lost]);
            all.extend(vec![question("accuracy", 1.0, 1.0); same]);
            order_effect(&all)
        };
        let few = asked(4, 1, 15);
        assert_eq!(few.ahead, None);
        assert!(few.comparison.unwrap().needed.unwrap().items > 20);
        // Told apart at 5%, and yet a difference of this size is found less often than in four of five samples.
        let some = asked(8, 1, 11);
        let comparison = some.comparison.unwrap();
        assert!(comparison.p_value < 0.05 && comparison.needed.unwrap().items > 20, "{comparison:?}");
        assert_eq!(some.ahead, None);
        assert_eq!(asked(40, 4, 36).ahead, Some(Side::B));
        assert_eq!(asked(4, 40, 36).ahead, Some(Side::A));
        assert_eq!(asked(9, 9, 60).ahead, None);
    }
}
