//! What the questions on some books share: the books, cut and embedded as the methods want them.

use super::{Plan, Unit, retriever_for};
use crate::embedder::{Collected, Embedder};
use crate::host::embed_queries;
use crate::progress::Progress;
use anyhow::{Context, Result};
use closeread_core::index::{Retriever, Shelf};
use closeread_core::method::{Cut, Material, Method, Prepared};
use closeread_core::text::{Book, OpenBook};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of text that are held for the questions on them; more are read again whenever they are needed.
const HELD_TEXT: usize = 16 << 20;
/// Bytes of vectors that are held; more are read from the embedder's memory on disk for every search.
const HELD_VECTORS: usize = 16 << 20;

/// Books, and a shelf for each way in which a method wants them cut.
pub(super) struct Room {
    books: Vec<Arc<Book>>,
    /// Held open where they are few, so that no trial has to read them again.
    _open: Vec<Arc<OpenBook>>,
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
        let size: usize = books.iter().map(|book| book.n_bytes()).sum();
        let held = if size <= HELD_TEXT { books.as_slice() } else { &[] };
        let open = held.iter().map(|book| book.open()).collect::<Result<_, _>>()?;
        let mut room = Self { books, _open: open, shelves: HashMap::new(), retriever };
        let mut n_cut = 0;
        for cut in units.iter().filter_map(|unit| unit.cell.method.cut()) {
            if room.shelves.contains_key(&cut) {
                continue;
            }
            let mut shelf = Shelf::new(room.books.clone(), cut.chunker, cut.max_tokens, plan.setting.tokenizer);
            if let Some(embedder) = embedder {
                let (embedded, n_cut_of_shelf) = embed(embedder, shelf, progress).await?;
                (shelf, n_cut) = (embedded, n_cut + n_cut_of_shelf);
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
///
/// Vectors are made and remembered on disk book by book. Few are then held; many are read from there for every search.
async fn embed(embedder: &Arc<Embedder>, mut shelf: Shelf, progress: &Progress) -> Result<(Shelf, usize)> {
    let title = match shelf.books() {
        [only] => only.id.clone(),
        several => format!("{} documents", several.len()),
    };
    let started = Instant::now();
    let worker = Arc::clone(embedder);
    let what = format!("passages of {title} embedded");
    let embedded = tokio::task::spawn_blocking(move || {
        let n_passages = shelf.passages().len();
        let size = n_passages * worker.model().spec.dimension * size_of::<f32>();
        let mut vectors = worker.collection(size <= HELD_VECTORS);
        let passages = Progress::new(&what, n_passages);
        for book in 0..shelf.books().len() {
            let texts = shelf.texts(shelf.passages_of(book));
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut n_done = 0;
            vectors.embed(&texts, |done| {
                passages.advance(done - n_done);
                n_done = done;
            })?;
        }
        passages.finish();
        let n_cut = vectors.n_cut();
        match vectors.finish() {
            Collected::Memory(vectors) => shelf.put_vectors(vectors),
            Collected::Disk(blocks) => shelf.put_vector_blocks(blocks),
        }
        anyhow::Ok((shelf, n_cut))
    })
    .await
    .context("the embedding thread ended abruptly")?
    .with_context(|| format!("cannot embed the passages of {title}"))?;
    progress.paused(started);
    Ok(embedded)
}
