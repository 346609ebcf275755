//! Choice of the rows of a table that are asked for.

use super::{Cell, CellId, ItemFacts, ItemId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A choice of rows; each condition narrows it down, and without any it is the whole table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    cells: Option<BTreeSet<CellId>>,
    items: Option<BTreeSet<ItemId>>,
    labels: BTreeMap<String, String>,
    length: Option<Range<usize>>,
    evidence: Option<Range<usize>>,
    in_window: bool,
}

impl Rows {
    /// Chooses all rows.
    pub fn all() -> Self {
        Self::default()
    }

    /// The rows of one cell.
    pub fn of(cell: CellId) -> Self {
        Self::all().cells([cell])
    }

    /// Chooses only rows of these cells.
    pub fn cells(self, cells: impl IntoIterator<Item = CellId>) -> Self {
        Self { cells: Some(cells.into_iter().collect()), ..self }
    }

    /// Chooses only rows of these items.
    pub fn items(self, items: impl IntoIterator<Item = ItemId>) -> Self {
        Self { items: Some(items.into_iter().collect()), ..self }
    }

    /// Chooses only items whose label has this value.
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(name.into(), value.into());
        self
    }

    /// Chooses only items whose documents have a number of tokens in this range.
    pub fn length(self, tokens: Range<usize>) -> Self {
        Self { length: Some(tokens), ..self }
    }

    /// Chooses only items with a piece of evidence that starts in this range of tokens.
    pub fn evidence(self, tokens: Range<usize>) -> Self {
        Self { evidence: Some(tokens), ..self }
    }

    /// Chooses only items whose documents have no more tokens than the context window of the cell; both must be known.
    pub fn in_window(self) -> Self {
        Self { in_window: true, ..self }
    }

    pub(super) fn has_cell(&self, id: CellId) -> bool {
        self.cells.as_ref().is_none_or(|cells| cells.contains(&id))
    }

    pub(super) fn has_item(&self, cell: &Cell, id: ItemId, item: &ItemFacts) -> bool {
        let fits = || item.book_tokens.zip(cell.facts.context_window).is_some_and(|(book, window)| book <= window);
        self.items.as_ref().is_none_or(|items| items.contains(&id))
            && self.labels.iter().all(|(name, value)| item.label(name) == Some(value))
            && self.length.as_ref().is_none_or(|range| item.book_tokens.is_some_and(|tokens| range.contains(&tokens)))
            && self.evidence.as_ref().is_none_or(|range| item.evidence_tokens.iter().any(|at| range.contains(at)))
            && (!self.in_window || fits())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, item};
    use super::*;

    #[test]
    fn each_condition_narrows_the_choice() {
        let facts = ItemFacts {
            labels: BTreeMap::from([("domain".to_owned(), "law".to_owned())]),
            book_tokens: Some(1000),
            evidence_tokens: vec![10, 900],
            ..item("a")
        };
        let mut narrow = cell("m");
        narrow.facts.context_window = Some(999);
        let has = |rows: Rows| rows.has_item(&narrow, ItemId(0), &facts);
        assert!(has(Rows::all()) && has(Rows::all().label("domain", "law")) && !has(Rows::all().label("domain", "x")));
        assert!(has(Rows::all().length(0..1001)) && !has(Rows::all().length(0..1000)));
        assert!(has(Rows::all().evidence(900..901)) && !has(Rows::all().evidence(11..900)));
        assert!(has(Rows::all().items([ItemId(0)])) && !has(Rows::all().items([])));
        assert!(!has(Rows::all().in_window()));
        assert!(!Rows::of(CellId(1)).has_cell(CellId(0)) && Rows::of(CellId(1)).has_cell(CellId(1)));
    }
}
