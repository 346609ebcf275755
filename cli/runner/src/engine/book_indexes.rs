//! The books that some questions share, cut and embedded as each method wants them.

use super::plan::{Plan, PlannedCell, Unit, retriever_for};
use crate::embedder::Embedder;
use crate::embedder::collection::{Collected, Collection};
use crate::host::QueryEncoder;
use crate::kept_index::{Cut, IndexKey, KeptIndexes};
use crate::progress::Progress;
use crate::texts::BookTexts;
use anyhow::{Context, Result};
use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText};
use closeread_methods::{Host, Passages, Session};
use closeread_retrieve::{PassageIndex, Retriever};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of text that are held for the questions on them; more are read again whenever they are needed.
const HELD_TEXT: usize = 16 << 20;
/// Bytes of vectors that are held; more are read from the embedder's memory on disk for every search.
pub(super) const HELD_VECTORS: usize = 16 << 20;

/// Books, and an index for each way in which a method wants them cut and embedded.
pub(super) struct BookIndexes {
    books: Vec<Arc<Book>>,
    /// Texts of the books, held open where they are few, so that no trial has to read them again.
    _open: Vec<Arc<BookText>>,
    texts: Arc<BookTexts>,
    indexes: HashMap<CutAndEmbedder, PassageIndex>,
}

/// The key of an index: how it was cut, and the fingerprint of the encoder whose vectors it holds.
type CutAndEmbedder = (Chunker, usize, Option<String>);

impl BookIndexes {
    /// Cuts, indexes and, where a method needs it, embeds the books and all their questions; says how many of these
    /// texts were longer than the encoders take.
    pub(super) async fn open(
        plan: &Plan<'_>,
        (books, texts): (Vec<Arc<Book>>, &Arc<BookTexts>),
        units: &[Unit<'_>],
        progress: &Progress,
    ) -> Result<(Self, usize)> {
        let size: usize = books.iter().map(|book| book.n_bytes()).sum();
        let held = if size <= HELD_TEXT { books.as_slice() } else { &[] };
        let open = held.iter().map(|book| texts.open(book)).collect::<Result<_, _>>()?;
        let mut opened = Self { books, _open: open, texts: Arc::clone(texts), indexes: HashMap::new() };
        let (mut n_cut, kept) = (0, KeptIndexes::of_user());
        for unit in units {
            let Some(passages) = unit.cell.method.passages() else { continue };
            let encoder = opened.encoder(plan, unit.cell);
            let key = opened.key(plan, unit.cell, passages);
            if !opened.indexes.contains_key(&key) {
                let cut = cut_of(passages, plan.setting.tokenizer);
                let words = IndexKey::of_words(&opened.books, cut);
                let mut passage_index = kept.words(&words, &opened.books, cut, |book| texts.open(book))?;
                if let Some(encoder) = encoder {
                    let vectors = (&kept, words.of_vectors(encoder.embedder()));
                    let (with_vectors, n_cut_here) =
                        with_vectors(encoder.embedder(), passage_index, vectors, texts, progress).await?;
                    (passage_index, n_cut) = (with_vectors, n_cut + n_cut_here);
                }
                opened.indexes.insert(key, passage_index);
            }
        }
        for encoder in plan.encoders() {
            let asks = |unit: &&Unit<'_>| {
                unit.cell.method.passages().is_some()
                    && opened.encoder(plan, unit.cell).is_some_and(|e| Rc::ptr_eq(e, encoder))
            };
            let items = units.iter().filter(asks).flat_map(|unit| &unit.items);
            let questions: Vec<&str> = items.map(|item| item.question.as_str()).collect();
            n_cut += encoder.prepare(&questions).await?;
        }
        Ok((opened, n_cut))
    }

    /// Returns how passages are ranked for a cell.
    fn retriever(&self, plan: &Plan<'_>, cell: &PlannedCell) -> Retriever {
        retriever_for(&self.books, plan.retriever, cell.encoder.as_deref().map(|encoder| &**encoder.embedder()))
    }

    /// The encoder of a cell, where its retriever needs vectors.
    fn encoder<'a>(&self, plan: &Plan<'_>, cell: &'a PlannedCell) -> Option<&'a Rc<QueryEncoder>> {
        cell.encoder.as_ref().filter(|_| self.retriever(plan, cell).needs_vectors())
    }

    fn key(&self, plan: &Plan<'_>, cell: &PlannedCell, passages: &Passages) -> CutAndEmbedder {
        (passages.split, passages.max_tokens, self.embedder(plan, cell))
    }

    /// The fingerprint of the model that embeds the passages of a cell; `None` where they are ranked by their words.
    pub(super) fn embedder(&self, plan: &Plan<'_>, cell: &PlannedCell) -> Option<String> {
        self.encoder(plan, cell).map(|encoder| encoder.embedder().fingerprint())
    }

    pub(super) fn books(&self) -> &[Arc<Book>] {
        &self.books
    }

    /// Returns the texts that the books do not hold.
    pub(super) fn texts(&self) -> &BookTexts {
        &self.texts
    }

    /// A session for a trial of a cell, or for its preparation; `model` is asked.
    pub(super) fn session<'a, H: Host>(
        &'a self,
        plan: &Plan<'a>,
        cell: &PlannedCell,
        model: &str,
        host: &'a H,
    ) -> Session<'a, H> {
        let index = cell.method.passages().map(|passages| &self.indexes[&self.key(plan, cell, passages)]);
        let session = Session::new(host, plan.setting_of(model)).about(&self.books);
        let session = session.searching(index, self.retriever(plan, cell)).within(cell.key.budget);
        session.reranking(cell.reranking.as_ref().map(|reranking| reranking.from))
    }
}

/// Returns how a method's passages are cut.
pub(super) fn cut_of<'t>(passages: &Passages, tokenizer: &'t Tokenizer) -> Cut<'t> {
    Cut { chunker: passages.split, max_tokens: passages.max_tokens, tokenizer }
}

/// Puts the vectors of its passages into an index: those that are kept, or such as are made now. Says how many are of cut texts.
async fn with_vectors(
    embedder: &Arc<Embedder>,
    mut passage_index: PassageIndex,
    (kept, key): (&KeptIndexes, IndexKey),
    texts: &Arc<BookTexts>,
    progress: &Progress,
) -> Result<(PassageIndex, usize)> {
    let (dimension, n_passages) = (embedder.dimension(), passage_index.passages().len());
    if let Some(vectors) = kept.kept_vectors(&key, dimension, n_passages) {
        let n_cut = vectors.n_cut();
        passage_index.put_kept_vectors(vectors)?;
        return Ok((passage_index, n_cut));
    }
    let started = Instant::now();
    let (mut passage_index, collected, n_cut) = embed(embedder, passage_index, texts).await?;
    progress.paused(started);
    kept.replace_vectors(&key, dimension, collected.blocks(), n_cut);
    match collected {
        Collected::Memory(vectors) => passage_index.put_vectors(vectors)?,
        Collected::Disk(blocks) => passage_index.put_vector_blocks(blocks)?,
    }
    Ok((passage_index, n_cut))
}

/// Makes the vectors of the passages of an index, on a thread of its own, so that Ctrl-C is heard in the middle of a long
/// book.
///
/// Vectors are made and remembered on disk book by book. Few are then held; many are read from there for every search.
pub(super) async fn embed(
    embedder: &Arc<Embedder>,
    passage_index: PassageIndex,
    texts: &Arc<BookTexts>,
) -> Result<(PassageIndex, Collected, usize)> {
    let title = match passage_index.books() {
        [only] => only.id.clone(),
        several => format!("{} documents", several.len()),
    };
    let (worker, books) = (Arc::clone(embedder), Arc::clone(texts));
    let what = format!("passages of {title} embedded");
    let embedded = tokio::task::spawn_blocking(move || {
        let n_passages = passage_index.passages().len();
        let size = n_passages * worker.dimension() * size_of::<f32>();
        let mut vectors = Collection::new(&worker, size <= HELD_VECTORS);
        let passages = Progress::new(&what, n_passages);
        for book in 0..passage_index.books().len() {
            let texts = passage_index.texts(passage_index.passages_of(book), |book| books.open(book))?;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut n_done = 0;
            vectors.embed(&texts, |done| {
                passages.advance(done - n_done);
                n_done = done;
            })?;
        }
        passages.finish();
        let n_cut = vectors.n_cut();
        anyhow::Ok((passage_index, vectors.finish(), n_cut))
    })
    .await
    .context("the embedding thread ended abruptly")?;
    embedded.with_context(|| format!("cannot embed the passages of {title}"))
}
