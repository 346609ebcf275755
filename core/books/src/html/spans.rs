//! Cells of a table that reach over several columns or rows.

use html5ever::Attribute;

/// Most columns of a table that are told apart, and most rows that a cell reaches over.
const MOST: usize = 100;

/// The columns of a table while its rows are read.
#[derive(Default)]
pub(super) struct Spans {
    /// Column of the next cell.
    at: usize,
    /// Columns that the last cell reaches over beside its own.
    beside: usize,
    /// Rows below the present one that a cell reaches into, by column.
    below: Vec<usize>,
}

impl Spans {
    /// Begins a row.
    pub(super) fn row(&mut self) {
        self.below.iter_mut().skip(self.at).for_each(|rows| *rows = rows.saturating_sub(1));
        (self.at, self.beside) = (0, 0);
    }

    /// Takes the next cell; returns how many columns right before it belong to other cells.
    pub(super) fn cell(&mut self, attributes: &[Attribute]) -> usize {
        let mut n_before = std::mem::take(&mut self.beside);
        while self.below.get(self.at).is_some_and(|rows| *rows > 0) {
            self.below[self.at] -= 1;
            (self.at, n_before) = (self.at + 1, n_before + 1);
        }
        let end = (self.at + span(attributes, "colspan")).min(MOST);
        if let Some(beside) = (end - self.at.min(end)).checked_sub(1) {
            self.below.resize(self.below.len().max(end), 0);
            self.below[self.at..end].fill(span(attributes, "rowspan") - 1);
            (self.at, self.beside) = (end, beside);
        }
        n_before
    }
}

/// The number that an attribute says, from 1.
fn span(attributes: &[Attribute], name: &str) -> usize {
    let said = attributes.iter().find(|attribute| &*attribute.name.local == name);
    said.and_then(|attribute| attribute.value.trim().parse().ok()).unwrap_or(1).clamp(1, MOST)
}
