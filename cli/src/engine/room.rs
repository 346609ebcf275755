//! What the questions on some books share: the books, cut and embedded as the methods want them.

use super::{Plan, PlannedCell, Unit, retriever_for};
use crate::embedder::Embedder;
use crate::host::QueryEncoder;
use crate::progress::Progress;
use anyhow::{Context, Result};
use closeread_core::embed::Role;
use closeread_core::index::{Retriever, Shelf};
use closeread_core::method::{Cut, Material, Prepared};
use closeread_core::text::Book;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Books, and a shelf for each way in which a method wants them cut and embedded.
pub(super) struct Room {
    books: Vec<Arc<Book>>,
    shelves: HashMap<ShelfKey, Shelf>,
}

/// How a shelf was cut, and the fingerprint of the encoder whose vectors it holds.
type ShelfKey = (Cut, Option<String>);

impl Room {
    /// Cuts, indexes and, where a method needs it, embeds the books and all their questions; says how many of these
    /// texts were longer than the encoders take.
    pub(super) async fn open(
        plan: &Plan<'_>,
        books: Vec<Arc<Book>>,
        units: &[Unit<'_>],
        progress: &Progress,
    ) -> Result<(Self, usize)> {
        let mut room = Self { books, shelves: HashMap::new() };
        let mut n_cut = 0;
        for unit in units {
            let Some(cut) = unit.cell.method.cut() else { continue };
            let encoder = room.encoder(plan, unit.cell);
            let key = room.key(plan, unit.cell, cut);
            if !room.shelves.contains_key(&key) {
                let mut shelf = Shelf::new(room.books.clone(), cut.chunker, cut.max_tokens, plan.setting.tokenizer);
                if let Some(encoder) = encoder {
                    n_cut += embed(encoder.embedder(), &mut shelf, progress).await?;
                }
                room.shelves.insert(key, shelf);
            }
        }
        for encoder in plan.encoders() {
            let asks = |unit: &&Unit<'_>| {
                unit.cell.method.cut().is_some()
                    && room.encoder(plan, unit.cell).is_some_and(|e| Rc::ptr_eq(e, encoder))
            };
            let items = units.iter().filter(asks).flat_map(|unit| &unit.items);
            let questions: Vec<&str> = items.map(|item| item.question.as_str()).collect();
            n_cut += encoder.prepare(&questions)?;
        }
        Ok((room, n_cut))
    }

    /// How passages are ranked for a cell.
    fn retriever(&self, plan: &Plan<'_>, cell: &PlannedCell) -> Retriever {
        retriever_for(&self.books, plan.retriever, cell.encoder.as_deref().map(|encoder| &**encoder.embedder()))
    }

    /// The encoder of a cell, where its retriever needs vectors.
    fn encoder<'a>(&self, plan: &Plan<'_>, cell: &'a PlannedCell) -> Option<&'a Rc<QueryEncoder>> {
        cell.encoder.as_ref().filter(|_| self.retriever(plan, cell).needs_vectors())
    }

    fn key(&self, plan: &Plan<'_>, cell: &PlannedCell, cut: Cut) -> ShelfKey {
        (cut, self.encoder(plan, cell).map(|encoder| encoder.embedder().fingerprint()))
    }

    pub(super) fn books(&self) -> &[Arc<Book>] {
        &self.books
    }

    pub(super) fn language(&self) -> &str {
        self.books.first().map_or("en", |book| book.language.code())
    }

    /// What a trial of a cell works with.
    pub(super) fn material<'a>(
        &'a self,
        plan: &Plan<'_>,
        cell: &PlannedCell,
        prepared: Option<&'a Prepared>,
    ) -> Material<'a> {
        let shelf = cell.method.cut().map(|cut| &self.shelves[&self.key(plan, cell, cut)]);
        Material { books: &self.books, shelf, retriever: self.retriever(plan, cell), prepared }
    }
}

/// Puts the vectors of its passages into a shelf, on a thread of its own, so that Ctrl-C is heard in the middle of a long
/// book.
async fn embed(embedder: &Arc<Embedder>, shelf: &mut Shelf, progress: &Progress) -> Result<usize> {
    let texts: Vec<String> = (0..shelf.passages().len()).map(|idx| shelf.text(idx)).collect();
    let title = shelf.books().first().map_or("", |book| book.id.as_str()).to_owned();
    let started = Instant::now();
    let worker = Arc::clone(embedder);
    let what = format!("passages of {title} embedded");
    let embedded = tokio::task::spawn_blocking(move || {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let passages = Progress::new(&what, texts.len());
        let mut n_done = 0;
        let embedded = worker.embed(Role::Passage, &texts, |done| {
            passages.advance(done - n_done);
            n_done = done;
        });
        passages.finish();
        embedded
    })
    .await
    .context("the embedding thread ended abruptly")?
    .with_context(|| format!("cannot embed the passages of `{title}`"))?;
    progress.paused(started);
    shelf.put_vectors(embedded.vectors);
    Ok(embedded.n_cut)
}
