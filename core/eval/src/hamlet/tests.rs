//! HAMLET's scores of summaries judged by hand.

use super::*;
use crate::testing::verdicts;
use ErrorCategory::{Entity, NoError, OutOfArticle, Relation};
use Level::{Branch, Leaf, Root};
use serde_json::json;

fn judged() -> SummaryVerdicts {
    verdicts(
        &[(Root, true), (Branch, true), (Branch, false), (Leaf, false)],
        &[(&[Root, Branch], NoError), (&[Branch], Entity), (&[], OutOfArticle), (&[], Relation)],
    )
}

fn ratio(hit: u32, of: u32) -> Score {
    Score::Ratio { hit, of }
}

#[test]
fn recall_and_faithfulness_by_level() {
    let judged = judged();
    assert_eq!(
        Scope::OF_FACTS.map(|scope| recall(&judged, scope)),
        [(1, 1), (1, 2), (0, 1), (2, 4)].map(|(hit, of)| ratio(hit, of))
    );
    assert_eq!(
        Scope::OF_SENTENCES.map(|scope| faithfulness(&judged, scope)),
        [(1, 1), (1, 2), (0, 0), (0, 2), (1, 2), (1, 4)].map(|(hit, of)| ratio(hit, of)),
        "a sentence of two levels counts in each, and once among those aligned"
    );
    assert_eq!(scores(&judged)[&RECALL_FAITHFULNESS.into()], Score::Value(0.375));
}

#[test]
fn without_alignment_sentences_count_in_all_alone() {
    let unread = SummaryVerdicts { facts: None, ..judged() };
    assert_eq!(recall(&unread, Scope::All), Score::Unjudged);
    assert_eq!(faithfulness(&unread, Scope::None), Score::Unjudged);
    assert_eq!(faithfulness(&unread, Scope::All), ratio(1, 4));
    assert_eq!(scores(&unread)[&RECALL_FAITHFULNESS.into()], Score::Unjudged);
}

#[test]
fn errors_divide_into_extrinsic_and_kinds_of_intrinsic() {
    let shares = error_shares(&judged());
    let of = |name: &str| shares[&name.into()];
    assert_eq!([of("extrinsic_errors"), of("intrinsic_errors")], [ratio(1, 3), ratio(2, 3)]);
    assert_eq!(
        [of("relation_errors"), of("entity_errors"), of("sentence_errors")],
        [ratio(1, 2), ratio(1, 2), ratio(0, 2)]
    );
    assert!(error_shares(&SummaryVerdicts::default()).values().all(|share| *share == Score::Unjudged));
}

#[test]
fn a_level_without_facts_has_no_recall() {
    let applies = applies(&[Root, Leaf, Leaf]);
    assert_eq!(applies[&"recall_branch".into()], Applies::OutOf(0));
    assert_eq!(applies[&"recall".into()], Applies::OutOf(3));
    assert_eq!(applies[&"faithfulness_aligned".into()], Applies::OutOfAnswer);
}

#[test]
fn a_chunk_belongs_to_the_fifth_in_which_it_begins() {
    assert_eq!((0..7).map(|chunk| fifth(chunk, 7)).collect::<Vec<_>>(), [0, 0, 1, 2, 2, 3, 4]);
    assert_eq!([0.0, 0.19, 0.2, 0.5, 0.8, 1.0].map(fifth_at), [0, 0, 1, 2, 4, 4]);
}

#[test]
fn a_category_is_read_as_judges_write_it() {
    assert_eq!(ErrorCategory::of_name("Out-of-article error"), Some(OutOfArticle));
    assert_eq!(ErrorCategory::of_name("no error"), Some(NoError));
    assert_eq!(ErrorCategory::of_name("EntityError"), Some(Entity));
    assert_eq!(ErrorCategory::of_name("Sentence"), Some(ErrorCategory::Sentence));
    assert_eq!(ErrorCategory::of_name("error"), None);
}

#[test]
fn lines_are_named_by_numbers_or_in_text() {
    let lines = |value: Value| line_numbers(value.as_object().unwrap());
    assert_eq!(lines(json!({"line number": [2, "1", 3.0]})), [2, 1, 3]);
    assert_eq!(lines(json!({"line_numbers": "[1, 2]"})), [1, 2]);
    assert_eq!(lines(json!({"line": "lines 3; 4"})), [3, 4]);
    assert!(lines(json!({"line number": []})).is_empty() && lines(json!({"line number": null})).is_empty());
}
