//! What the questions on some books share: the books, cut and embedded as the methods want them.

use super::{Plan, Unit, retriever_for};
use crate::embedder::Embedder;
use crate::host::embed_queries;
use crate::progress::Progress;
use anyhow::{Context, Result};
use closeread_core::embed::Role;
use closeread_core::index::{Retriever, Shelf};
use closeread_core::method::{Cut, Material, Method, Prepared};
use closeread_core::text::Book;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// Books, and a shelf for each way in which a method wants them cut.
pub(super) struct Room {
    books: Vec<Arc<Book>>,
    shelves: HashMap<Cut, Shelf>,
    retriever: Retriever,
}

impl Room {
    /// Cuts, indexes and, where a method needs it, embeds the books and all their questions; says how many of these
    /// texts were longer than the encoder takes.
    pub(super) async fn open(
        plan: &Plan<'_>,
        books: Vec<Arc<Book>>,
        units: &[Unit<'_>],
        progress: &Progress,
    ) -> Result<(Self, usize)> {
        let retriever = retriever_for(&books, plan.retriever, plan.embedder.as_deref());
        let embedder = plan.embedder.as_ref().filter(|_| retriever.needs_vectors());
        let mut room = Self { books, shelves: HashMap::new(), retriever };
        let mut n_cut = 0;
        for cut in units.iter().filter_map(|unit| unit.cell.method.cut()) {
            if room.shelves.contains_key(&cut) {
                continue;
            }
            let mut shelf = Shelf::new(room.books.clone(), cut.chunker, cut.max_tokens, plan.setting.tokenizer);
            if let Some(embedder) = embedder {
                n_cut += embed(embedder, &mut shelf, progress).await?;
            }
            room.shelves.insert(cut, shelf);
        }
        if let Some(embedder) = embedder.filter(|_| !room.shelves.is_empty()) {
            let items = units.iter().filter(|unit| unit.cell.method.cut().is_some()).flat_map(|unit| &unit.items);
            let questions: Vec<&str> = items.map(|item| item.question.as_str()).collect();
            n_cut += embed_queries(embedder, &questions, &plan.queries)?;
        }
        Ok((room, n_cut))
    }

    pub(super) fn books(&self) -> &[Arc<Book>] {
        &self.books
    }

    pub(super) fn language(&self) -> &str {
        self.books.first().map_or("en", |book| book.language.code())
    }

    /// What a trial of `method` works with.
    pub(super) fn material<'a>(&'a self, method: &Method, prepared: Option<&'a Prepared>) -> Material<'a> {
        let shelf = method.cut().map(|cut| &self.shelves[&cut]);
        Material { books: &self.books, shelf, retriever: self.retriever, prepared }
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
