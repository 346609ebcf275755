//! Plan of a run, and its units of work.

use crate::embedder::Embedder;
use crate::host::{CliHost, QueryEncoder};
use crate::reranker::Reranking;
use crate::spending::Spending;
use closeread_books::Book;
use closeread_eval::Item;
use closeread_methods::record::TrialKey;
use closeread_methods::{AnyMethod, Questions, Settings, WordScores};
use closeread_providers::Batcher;
use closeread_report::Arm;
use closeread_retrieve::Retriever;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use tracing::info_span;

/// The plan of a run, decided before it starts.
pub struct Plan<'a> {
    /// Settings that all trials share; their window is that of models without one of their own.
    pub setting: Settings<'a>,
    /// Context windows by model.
    pub windows: BTreeMap<String, usize>,
    /// The lines of the table.
    pub cells: Vec<PlannedCell>,
    /// Model that makes preparations; `None`: each model for itself.
    pub preparer: Option<String>,
    /// Number of repeats of every trial.
    pub repeats: u32,
    /// Retriever as asked for; `None` chooses by language.
    pub retriever: Option<Retriever>,
    /// Number of calls to make at once.
    pub concurrency: usize,
    /// Hosts by model.
    pub hosts: HashMap<String, CliHost>,
    /// Spending of the calls of all hosts.
    pub spending: Arc<Spending>,
    /// The scores of answers in words that the paper prints beside the main one.
    pub words: WordScores,
}

impl<'a> Plan<'a> {
    /// Returns the settings that the trials of a model share.
    pub(super) fn setting_of(&self, model: &str) -> Settings<'a> {
        let context_window = self.windows.get(model).copied().or(self.setting.context_window);
        Settings { context_window, ..self.setting }
    }
}

impl Plan<'_> {
    /// The encoders of the cells, each once.
    pub(super) fn encoders(&self) -> Vec<&Rc<QueryEncoder>> {
        let mut encoders: Vec<&Rc<QueryEncoder>> = Vec::new();
        for encoder in self.cells.iter().filter_map(|cell| cell.encoder.as_ref()) {
            if !encoders.iter().any(|known| Rc::ptr_eq(known, encoder)) {
                encoders.push(encoder);
            }
        }
        encoders
    }

    /// Returns what takes calls into batches, one a model.
    pub(super) fn batchers(&self) -> Vec<&Batcher> {
        self.hosts.values().filter_map(|host| host.batcher().map(Rc::as_ref)).collect()
    }
}

/// A line of the table with the method that fills it.
#[derive(Clone)]
pub struct PlannedCell {
    /// Key of the line: method, model, budget.
    pub key: Arm,
    /// The method with its parameters.
    pub method: AnyMethod,
    /// Encoder that embeds for the cell, where it searches by vectors.
    pub encoder: Option<Rc<QueryEncoder>>,
    /// Reranker that puts the cell's best passages into another order, if there is one.
    pub reranking: Option<Reranking>,
}

/// The retriever for a book: as asked for, or dense where the encoder knows the language and BM25 where it does not.
pub fn retriever_for(books: &[Arc<Book>], asked: Option<Retriever>, embedder: Option<&Embedder>) -> Retriever {
    asked.unwrap_or_else(|| {
        let known = |book: &Arc<Book>| embedder.is_some_and(|e| e.speaks(book.language.code()));
        if books.iter().all(known) { Retriever::Dense } else { Retriever::Bm25 }
    })
}

/// A unit of what is asked at once: an item, or all items of one call for a method that asks them together. If one of
/// them has no record, all are asked again: one call gives all their answers.
pub(super) struct Unit<'a> {
    pub(super) cell: &'a PlannedCell,
    pub(super) repeat: u32,
    pub(super) items: Vec<&'a Item>,
}

impl Unit<'_> {
    pub(super) fn key(&self, item: &Item) -> TrialKey {
        let Arm { method, model, budget } = self.cell.key.clone();
        TrialKey { item: item.id.clone(), method, model, budget, repeat: self.repeat }
    }

    pub(super) fn span(&self) -> tracing::Span {
        let Arm { method, model, budget } = &self.cell.key;
        let cell = info_span!("cell", method, model, budget);
        let items: Vec<&str> = self.items.iter().map(|item| item.id.as_str()).collect();
        info_span!(parent: &cell, "trial", item = items.join(", "), repeat = self.repeat)
    }

    /// Returns the name of the unit's journal.
    pub(super) fn name(&self) -> Vec<TrialKey> {
        self.items.iter().map(|item| self.key(item)).collect()
    }
}

/// Returns all units of `items`, which are on the same books.
pub(super) fn units_of<'a>(plan: &'a Plan<'_>, items: &[&'a Item]) -> Vec<Unit<'a>> {
    let all_of = |cell: &'a PlannedCell, questions: &Questions<'a>| {
        let items = questions.items().to_vec();
        (0..plan.repeats).map(|repeat| Unit { cell, repeat, items: items.clone() }).collect::<Vec<_>>()
    };
    let (together, one_by_one): (Vec<_>, Vec<_>) = plan.cells.iter().partition(|cell| cell.method.asks_together());
    let mut units: Vec<Unit<'a>> = Vec::new();
    for questions in Questions::by_task(items).iter().filter(|_| !together.is_empty()) {
        units.extend(together.iter().flat_map(|cell| all_of(cell, questions)));
    }
    for questions in Questions::one_each(items) {
        units.extend(one_by_one.iter().flat_map(|cell| all_of(cell, &questions)));
    }
    units
}
