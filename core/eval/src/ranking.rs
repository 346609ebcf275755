//! Quality of a ranking: how well it puts the gold evidence first, whatever the passages are that books were cut into.
//!
//! What is to be found are the pieces of evidence, spans of bytes. A ranking of passages becomes one of pieces: a passage that
//! is the first to reach a piece stands as that piece (as several, if it reaches several), any other as itself, which finds
//! nothing. Binary relevance, as trec_eval counts it.

use crate::{Item, PassageRef};
use closeread_text::Span;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The model of a record that is a ranking alone, without a model that answers: its passages stand in the order of their ranks.
pub const RANKED_ALONE: &str = "builtin/retrieval";

/// The entry at a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A piece of evidence, by its place among the pieces.
    Piece(usize),
    /// A passage that reaches no piece that was not found before, by its place in the ranking.
    Passage(usize),
}

/// The pieces of an item's evidence whose place is known, each once, by document and span.
pub fn pieces(item: &Item) -> Vec<(String, Span)> {
    let place = |evidence: &crate::Evidence| {
        let document = evidence.document.clone().or_else(|| match item.documents.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        })?;
        Some((document, Span::stated(evidence.start?, evidence.end?)?))
    };
    each_once(item.evidence.iter().filter_map(place))
}

/// Returns each of the places once, by document and span.
pub fn each_once(places: impl IntoIterator<Item = (String, Span)>) -> Vec<(String, Span)> {
    let mut seen = HashSet::new();
    places.into_iter().filter(|piece| seen.insert(piece.clone())).collect()
}

/// The passages of a context in the order of their ranks: as they stand, unless they stand in the order of their text; then those
/// with the highest score first and those without one behind, ties in their order.
pub fn best_first(passages: &[PassageRef]) -> Vec<&PassageRef> {
    let mut ranked: Vec<&PassageRef> = passages.iter().collect();
    let in_order = |pair: &[PassageRef]| pair[0].document != pair[1].document || pair[0].start <= pair[1].start;
    if passages.windows(2).all(in_order) {
        let score = |passage: &PassageRef| passage.score.unwrap_or(f64::NEG_INFINITY);
        ranked.sort_by(|a, b| score(b).total_cmp(&score(a)));
    }
    ranked
}

/// The ranking of pieces that a ranking of passages is.
pub fn entries(pieces: &[(String, Span)], ranked: &[(&str, Span)]) -> Vec<Entry> {
    let mut found = vec![false; pieces.len()];
    let mut entries = Vec::with_capacity(ranked.len());
    for (passage, (document, span)) in ranked.iter().enumerate() {
        let reaches = |(of, piece): &(String, Span)| of == document && piece.start < span.end && span.start < piece.end;
        let new: Vec<usize> = (0..pieces.len()).filter(|n| !found[*n] && reaches(&pieces[*n])).collect();
        if new.is_empty() {
            entries.push(Entry::Passage(passage));
        }
        for piece in new {
            found[piece] = true;
            entries.push(Entry::Piece(piece));
        }
    }
    entries
}

/// Returns the scores of a ranking, each in 0..=1 by name: `hit@k`, `ndcg@k`, `precision@k` and `recall@k` for each
/// `k`, and `mrr`, over all that was ranked. `None` without a piece to find.
pub fn scores(pieces: &[(String, Span)], ranked: &[(&str, Span)], ks: &[usize]) -> Option<BTreeMap<String, f64>> {
    if pieces.is_empty() {
        return None;
    }
    let is_piece: Vec<bool> = entries(pieces, ranked).iter().map(|entry| matches!(entry, Entry::Piece(_))).collect();
    let first = is_piece.iter().position(|piece| *piece);
    let mut scores = BTreeMap::from([("mrr".to_owned(), first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64))]);
    for &k in ks {
        let top = &is_piece[..k.min(is_piece.len())];
        let n = top.iter().filter(|piece| **piece).count() as f64;
        let gains = top.iter().enumerate().filter(|(_, piece)| **piece).map(|(rank, _)| discount(rank));
        // An empty sum is -0.
        let gain = gains.fold(0.0, |gain, more| gain + more);
        let ideal: f64 = (0..k.min(pieces.len())).map(discount).sum();
        scores.insert(format!("hit@{k}"), f64::from(u8::from(n > 0.0)));
        scores.insert(format!("ndcg@{k}"), gain / ideal);
        scores.insert(format!("precision@{k}"), n / k as f64);
        scores.insert(format!("recall@{k}"), n / pieces.len() as f64);
    }
    Some(scores)
}

/// Share of the bytes of the passages, each counted once, that are evidence; 0 of no passage, `None` without evidence.
pub fn precision(pieces: &[(String, Span)], passages: &[(&str, Span)]) -> Option<f64> {
    if pieces.is_empty() {
        return None;
    }
    let of_document = |document: &str| {
        let of = |spans: Vec<Span>| crate::evidence::union(spans);
        let retrieved = of(passages.iter().filter(|(of, _)| *of == document).map(|(_, span)| *span).collect());
        let evidence = of(pieces.iter().filter(|(of, _)| of == document).map(|(_, span)| *span).collect());
        let bytes = |spans: &[Span]| spans.iter().map(|span| span.len()).sum::<usize>();
        let both: Vec<Span> = crate::evidence::intersection(&evidence, &retrieved).collect();
        (bytes(&both), bytes(&retrieved))
    };
    let documents: BTreeSet<&str> = passages.iter().map(|(document, _)| *document).collect();
    let parts = documents.into_iter().map(of_document);
    let (inside, all) = parts.fold((0, 0), |(inside, all), (more, of)| (inside + more, all + of));
    Some(if all == 0 { 0.0 } else { inside as f64 / all as f64 })
}

/// Returns the weight of rank `rank`, from 0.
fn discount(rank: usize) -> f64 {
    1.0 / libm::log2(rank as f64 + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(start: usize, end: usize) -> (String, Span) {
        ("book".to_owned(), Span::new(start, end))
    }

    #[test]
    fn finding_10_a_piece_that_ends_before_it_begins_is_none() {
        let mut item = Item::new("q", "book", "?", crate::Task::Choice);
        let evidence = |start, end| crate::Evidence { document: None, quote: String::new(), start, end };
        item.evidence = [(1, 9), (9, 1), (usize::MAX, 1), (1, 9)].map(|(a, b)| evidence(Some(a), Some(b))).to_vec();
        assert_eq!(pieces(&item), [piece(1, 9)]);
    }

    #[test]
    fn a_passage_that_is_first_to_reach_a_piece_stands_as_that_piece() {
        let pieces = [piece(10, 20), piece(15, 30), piece(50, 60)];
        let span = |start, end| ("book", Span::new(start, end));
        let ranked = [span(0, 10), span(18, 25), span(12, 19), ("other", Span::new(50, 60)), span(59, 70)];
        let (piece, passage) = (Entry::Piece, Entry::Passage);
        let expected = [passage(0), piece(0), piece(1), passage(2), passage(3), piece(2)];
        assert_eq!(entries(&pieces, &ranked), expected);
    }

    #[test]
    fn passages_in_the_order_of_their_text_rank_by_score() {
        let passage = |start, score| PassageRef { document: "b".to_owned(), start, end: start + 1, score };
        let starts = |passages: &[PassageRef]| best_first(passages).iter().map(|one| one.start).collect::<Vec<_>>();
        assert_eq!(starts(&[passage(1, Some(0.1)), passage(2, None), passage(3, Some(0.9))]), [3, 1, 2]);
        // A neighbour stands behind the passage that it is beside, whatever its own score.
        assert_eq!(starts(&[passage(5, Some(0.9)), passage(4, Some(0.1)), passage(9, Some(0.5))]), [5, 4, 9]);
    }

    #[test]
    fn precision_is_the_share_of_bytes_that_are_evidence() {
        let pieces = [piece(10, 20), piece(15, 30)];
        let span = |document, start, end| (document, Span::new(start, end));
        assert_eq!(precision(&pieces, &[span("book", 0, 20), span("book", 10, 40)]), Some(0.5), "20 of 40");
        assert_eq!(precision(&pieces, &[span("book", 12, 14), span("other", 12, 14)]), Some(0.5));
        assert_eq!((precision(&pieces, &[]), precision(&[], &[span("book", 0, 1)])), (Some(0.0), None));
    }

    #[test]
    fn a_ranking_is_worth_what_trec_eval_says() {
        let pieces = [piece(10, 20), piece(50, 60)];
        let ranked: Vec<(&str, Span)> =
            [(0, 5), (10, 12), (70, 80), (55, 58)].map(|(start, end)| ("book", Span::new(start, end))).to_vec();
        let scores = scores(&pieces, &ranked, &[1, 5]).unwrap();
        let ideal = 1.0 + 1.0 / libm::log2(3.0);
        let gain = 1.0 / libm::log2(3.0) + 1.0 / libm::log2(5.0);
        let expected = [
            ("hit@1", 0.0),
            ("hit@5", 1.0),
            ("mrr", 0.5),
            ("ndcg@1", 0.0),
            ("ndcg@5", gain / ideal),
            ("precision@1", 0.0),
            ("precision@5", 0.4),
            ("recall@1", 0.0),
            ("recall@5", 1.0),
        ];
        for (name, value) in expected {
            assert!((scores[name] - value).abs() < 1e-12, "{name}: {} {value}", scores[name]);
        }
        assert_eq!(scores.len(), expected.len());
        assert_eq!(super::scores(&[], &ranked, &[1]), None, "nothing is to be found");
        let none = super::scores(&pieces, &[], &[3]).unwrap();
        assert!(none.values().all(|value| *value == 0.0 && value.is_sign_positive()), "{none:?}");
    }
}
