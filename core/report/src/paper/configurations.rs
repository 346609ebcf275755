//! The rows of a paper's table: a model in one of its settings, such as reasoning or not.

use closeread_eval::observations::{CellId, CellKey, Ending, ItemFacts, ItemId, Observations, Rows};
use std::collections::{BTreeMap, BTreeSet};

/// A model as one run played it.
pub(super) struct Configuration<'a> {
    table: &'a Observations,
    /// The run's name, the model's, or both where a run has several models.
    pub(super) name: String,
    pub(super) model: &'a str,
    /// Tokens that its context window holds, where they are known.
    pub(super) window: Option<usize>,
    pub(super) reasoning: Option<bool>,
    /// The cells of the configuration, in the order of the table.
    pub(super) cells: Vec<(CellId, &'a CellKey)>,
}

/// The configurations of a table by context window, then as given; those of an unknown window come last (SagaScale,
/// Table 3).
pub(super) fn by_window(table: &Observations) -> Vec<Configuration<'_>> {
    let mut found = configurations(table);
    found.sort_by_key(|configuration| configuration.window.unwrap_or(usize::MAX));
    found
}

/// The configurations of a table, as given.
pub(super) fn configurations(table: &Observations) -> Vec<Configuration<'_>> {
    let mut found: Vec<Configuration<'_>> = Vec::new();
    for (id, cell) in table.cells() {
        let same = |other: &&mut Configuration<'_>| {
            other.model == &*cell.key.model && other.cells[0].1.configuration == cell.key.configuration
        };
        match found.iter_mut().find(same) {
            Some(configuration) => configuration.cells.push((id, &cell.key)),
            None => found.push(Configuration {
                table,
                name: String::new(),
                model: &cell.key.model,
                window: cell.facts.context_window,
                reasoning: cell.facts.reasoning,
                cells: vec![(id, &cell.key)],
            }),
        }
    }
    let run = |configuration: &Configuration<'_>| configuration.cells[0].1.configuration.to_string();
    let runs: Vec<String> = found.iter().map(run).collect();
    for (configuration, run) in found.iter_mut().zip(&runs) {
        let of_run = runs.iter().filter(|other| *other == run).count();
        configuration.name = match (run.as_str(), of_run) {
            ("", _) => configuration.model.to_owned(),
            (run, 1) => run.to_owned(),
            (run, _) => format!("{run}: {}", configuration.model),
        };
    }
    found
}

impl Configuration<'_> {
    /// The rows of the methods that `of` accepts; `None` if it played none of them.
    pub(super) fn rows(&self, of: impl Fn(&str) -> bool) -> Option<Rows> {
        let cells: Vec<CellId> = self.cells.iter().filter(|(_, key)| of(&key.method)).map(|(id, _)| *id).collect();
        (!cells.is_empty()).then(|| Rows::all().cells(cells))
    }

    /// Returns every item that the configuration was to be asked.
    pub(super) fn items(&self) -> BTreeMap<ItemId, &ItemFacts> {
        let rows = Rows::all().cells(self.cells.iter().map(|(id, _)| *id));
        self.table.rows(&rows).map(|row| (row.item, self.table.item(row.item))).collect()
    }

    /// The items that its window holds: what reading the whole document said, or else their length. A window or a length
    /// that is not known excludes nothing.
    pub(super) fn in_window(&self, whole: impl Fn(&str) -> bool) -> BTreeSet<ItemId> {
        let mut fits: BTreeMap<ItemId, bool> = BTreeMap::new();
        if let Some(rows) = self.rows(whole) {
            for row in self.table.rows(&rows).filter(|row| row.outcome != Ending::Missing) {
                *fits.entry(row.item).or_insert(true) &= row.outcome != Ending::Overflow;
            }
        }
        let by_length =
            |item: &ItemFacts| item.book_tokens.zip(self.window).is_none_or(|(book, window)| book <= window);
        let holds = |id: &ItemId, item: &ItemFacts| fits.get(id).copied().unwrap_or_else(|| by_length(item));
        self.items().into_iter().filter(|(id, item)| holds(id, item)).map(|(id, _)| id).collect()
    }

    /// True if the context window of the configuration holds every item.
    pub(super) fn holds_all(&self, whole: impl Fn(&str) -> bool) -> bool {
        self.in_window(whole).len() == self.items().len()
    }
}
