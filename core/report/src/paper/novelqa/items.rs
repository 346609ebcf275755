//! Groups that the tables divide items into: aspects, and where the evidence stands.

use closeread_eval::observations::ItemFacts;
use std::collections::BTreeMap;

/// Upper edges of the absolute position bins in tokens (Table 12); an edge belongs to the bin above it.
const POSITION_EDGES: [usize; 8] = [20_000, 40_000, 60_000, 80_000, 100_000, 130_000, 170_000, 210_000];

/// Names of the absolute position bins.
pub(super) const POSITION_BINS: [&str; 9] =
    ["0-20K", "20-40K", "40-60K", "60-80K", "80-100K", "100-130K", "130-170K", "170-210K", ">210K"];

/// Relative position bins of 10% each (Table 13).
pub(super) const RELATIVE_BINS: usize = 10;

/// Aspects in the order of Table 1, with the words of Tables 3 and 14.
pub(super) const ASPECTS: [(&str, &str); 7] = [
    ("times", "times"),
    ("meaning", "mean"),
    ("span", "span"),
    ("setting", "settg"),
    ("relation", "relat"),
    ("character", "chara"),
    ("plot", "plot"),
];

/// The aspect of an item as Table 1 spells it.
pub(super) fn aspect(item: &ItemFacts) -> Option<&'static str> {
    let label = item.label("aspect")?;
    ASPECTS.into_iter().find(|(name, short)| label == *name || label == *short).map(|(name, _)| name)
}

/// The absolute position bin, from 0.
pub(super) fn position_bin(token: usize) -> usize {
    POSITION_EDGES.iter().filter(|edge| token >= **edge).count()
}

/// The relative position bin, from 0; `None` for an empty book. A place at or behind the end belongs to the last bin.
pub(super) fn relative_bin(token: usize, book_tokens: usize) -> Option<usize> {
    (book_tokens > 0).then(|| (token * RELATIVE_BINS / book_tokens).min(RELATIVE_BINS - 1))
}

/// Greatest distance in tokens between two pieces of evidence (C.4.5); `None` with fewer than two.
pub(super) fn evidence_distance(evidence_tokens: &[usize]) -> Option<usize> {
    let (first, last) = (evidence_tokens.iter().min()?, evidence_tokens.iter().max()?);
    (evidence_tokens.len() > 1).then(|| last - first)
}

/// Counts how many of `values` each name has, in the order of `names`.
pub(super) fn counts<'n>(names: &[&'n str], values: impl Iterator<Item = &'n str>) -> Vec<(&'n str, usize)> {
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    values.for_each(|value| *counted.entry(value).or_default() += 1);
    names.iter().map(|name| (*name, counted.get(name).copied().unwrap_or(0))).collect()
}
