//! HAMLET's numbers on summaries judged by hand.

use super::*;
use crate::testing::summary;
use ErrorCategory::{Entity, NoError, OutOfArticle, Relation};
use Level::{Branch, Leaf, Root};

fn two() -> [SummaryEvaluation; 2] {
    [
        summary(
            "q1",
            &[(Root, true), (Branch, true), (Branch, false), (Leaf, false)],
            &[(&[Root, Branch], NoError), (&[Branch], Entity), (&[], OutOfArticle)],
        ),
        summary("q2", &[(Root, true), (Branch, true)], &[(&[Root], NoError), (&[], OutOfArticle), (&[], Relation)]),
    ]
}

#[test]
fn recall_and_faithfulness_by_level() {
    let [first, _] = two();
    let value = |measure, scope| ratio(&first, measure, scope).value();
    assert_eq!(value(Measure::Recall, Scope::Root), Some(1.0));
    assert_eq!(value(Measure::Recall, Scope::Branch), Some(0.5));
    assert_eq!(value(Measure::Recall, Scope::Leaf), Some(0.0));
    assert_eq!(value(Measure::Recall, Scope::All), Some(0.5));
    assert_eq!(value(Measure::Recall, Scope::None), None);
    assert_eq!(value(Measure::Faithfulness, Scope::Root), Some(1.0));
    assert_eq!(value(Measure::Faithfulness, Scope::Branch), Some(0.5), "a sentence of two levels counts in each");
    assert_eq!(value(Measure::Faithfulness, Scope::Leaf), None);
    assert_eq!(value(Measure::Faithfulness, Scope::None), Some(0.0));
    assert_eq!(value(Measure::Faithfulness, Scope::All), Some(1.0 / 3.0));
}

#[test]
fn the_mean_of_summaries_is_not_the_pooled_ratio() {
    let both = two();
    let summaries: Vec<&SummaryEvaluation> = both.iter().collect();
    assert_eq!(summary_level_mean(&summaries, Measure::Recall, Scope::All), Some(0.75));
    assert_eq!(pooled(&summaries, Measure::Recall, Scope::All), Ratio { count: 4, total: 6 });
}

#[test]
fn errors_divide_into_extrinsic_and_kinds_of_intrinsic() {
    let both = two();
    let taxonomy = error_taxonomy(&both.iter().collect::<Vec<_>>());
    assert_eq!(taxonomy.errors, Ratio { count: 4, total: 6 });
    assert_eq!(taxonomy.extrinsic, Ratio { count: 2, total: 4 });
    assert_eq!(taxonomy.relation, Ratio { count: 1, total: 2 });
    assert_eq!(taxonomy.sentence, Ratio { count: 0, total: 2 });
}

#[test]
fn positions_fall_into_five_bins() {
    assert_eq!([0.0, 0.19, 0.2, 0.5, 0.8, 1.0].map(position_bin), [0, 0, 1, 2, 4, 4]);
    assert_eq!(recall_gap(&[0.5, 0.25, 0.75]), Some(0.5));
    assert_eq!(recall_gap(&[0.5]), None);
}

#[test]
fn differences_are_taken_over_the_queries_that_both_have() {
    let [first, second] = two();
    let mut better = first.clone();
    better.facts.iter_mut().for_each(|fact| fact.matched = true);
    let difference = paired_difference(&[&first, &second], &[&better], Measure::Recall, Scope::Branch);
    assert_eq!(difference, Some((0.5, 1)));
}

#[test]
fn longer_summaries_may_recall_more() {
    let [mut short, mut long] = two();
    (short.n_words, long.n_words) = (50, 200);
    assert_eq!(length_correlation(&[&short, &long], Scope::All), Some((1.0, 2)));
    assert_eq!(length_correlation(&[&short, &long], Scope::Root), None, "both recall every root");
}

#[test]
fn a_category_is_read_as_judges_write_it() {
    assert_eq!(ErrorCategory::of_name("Out-of-article error"), Some(OutOfArticle));
    assert_eq!(ErrorCategory::of_name("no error"), Some(NoError));
    assert_eq!(ErrorCategory::of_name("EntityError"), Some(Entity));
    assert_eq!(ErrorCategory::of_name("Sentence"), Some(ErrorCategory::Sentence));
    assert_eq!(ErrorCategory::of_name("error"), None);
}
