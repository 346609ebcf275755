//! Pairs of claims of which both must be right (NoCha).

use crate::Item;
use std::collections::BTreeMap;

/// Label that two claims of a pair share, within their documents.
pub const PAIR: &str = "pair";

/// A claim's score in 0..=1, with the claim.
pub type ClaimScore<'a> = (f64, &'a Item);

/// One score a pair: the lowest of its claims', with the first claim, by documents and then label.
///
/// Right is a pair whose claims are all right, so a pair that was guessed at is right in one case of four. An item
/// without the label, or whose partner is not among `scores`, forms no pair.
pub fn pair_scores<'a>(scores: &[ClaimScore<'a>]) -> Vec<ClaimScore<'a>> {
    let mut pairs: BTreeMap<(&[String], &str), Vec<ClaimScore<'a>>> = BTreeMap::new();
    for &(score, item) in scores {
        if let Some(pair) = item.labels.get(PAIR) {
            pairs.entry((&item.documents, pair)).or_default().push((score, item));
        }
    }
    let worst = |claims: Vec<ClaimScore<'a>>| match claims[..] {
        [] | [_] => None,
        [(_, item), ..] => Some((claims.iter().map(|(score, _)| *score).fold(1.0, f64::min), item)),
    };
    pairs.into_values().filter_map(worst).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;

    #[test]
    fn a_pair_is_right_when_all_its_claims_are() {
        let claim = |id: &str, book: &str, pair: &str| Item::new(id, book, "?", Task::Choice).label(PAIR, pair);
        let items = [
            claim("a", "x", "1"),
            claim("b", "x", "1"),
            claim("c", "y", "1"),
            claim("d", "y", "2"),
            claim("e", "y", "2"),
            claim("f", "y", ""),
        ];
        let scores: Vec<ClaimScore<'_>> = [1.0, 0.0, 1.0, 1.0, 1.0, 1.0].into_iter().zip(&items).collect();
        let pairs: Vec<(f64, &str)> = pair_scores(&scores).into_iter().map(|(s, item)| (s, item.id.as_str())).collect();
        assert_eq!(pairs, [(0.0, "a"), (1.0, "d")]);
    }
}
