//! Options of cutting and searching books, as plain JavaScript objects, by the names and defaults of the command line.

use crate::assets;
use crate::error::{as_js, usage};
use closeread_books::Book;
use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_retrieve::context::{Fill, PassageOrder};
use closeread_retrieve::{PassageIndex, Retriever};
use serde::Deserialize;
use std::sync::Arc;
use wasm_bindgen::JsValue;

/// The options by which books are cut.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct CutOptions {
    /// The way to cut; default `dos`.
    #[cfg_attr(feature = "typescript", ts(as = "Chunker"))]
    chunker: Option<String>,
    /// Most tokens of a passage; default: the chunker's own, 100 for `dos`.
    max_tokens: Option<usize>,
    /// Tokenizer that counts; default `cl100k`. It must have been provided.
    #[cfg_attr(feature = "typescript", ts(type = "TokenizerName"))]
    tokenizer: Option<String>,
}

/// The options by which books are cut, read.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) chunker: Chunker,
    pub(super) max_tokens: usize,
    pub(super) tokenizer: Tokenizer,
}

impl Cut {
    /// The books cut so, and indexed.
    pub(super) fn index(&self, books: Vec<Arc<Book>>) -> Result<PassageIndex, JsValue> {
        PassageIndex::new(books, self.chunker, self.max_tokens, &self.tokenizer, Book::text)
            .map_err(|error| as_js("TextError", &error))
    }

    /// Cuts one more book behind those of the index.
    pub(super) fn push(&self, passage_index: &mut PassageIndex, book: Arc<Book>) -> Result<(), JsValue> {
        passage_index
            .push(book, self.chunker, self.max_tokens, &self.tokenizer, Book::text)
            .map_err(|error| as_js("TextError", &error))
    }
}

impl CutOptions {
    pub(super) fn cut(&self) -> Result<Cut, JsValue> {
        let name = self.chunker.as_deref().unwrap_or("dos");
        let chunker = Chunker::ALL.into_iter().find(|chunker| chunker.name() == name);
        let chunker = chunker.ok_or_else(|| {
            usage(&format!("unknown chunker `{name}`: expected {}", Chunker::ALL.map(Chunker::name).join(", ")))
        })?;
        let max_tokens = self.max_tokens.unwrap_or_else(|| chunker.default_max_tokens());
        if max_tokens == 0 {
            return Err(usage("`maxTokens` must be at least 1"));
        }
        assets::need_punkt()?;
        Ok(Cut { chunker, max_tokens, tokenizer: assets::tokenizer(self.tokenizer.as_deref())? })
    }
}

/// The options of a search.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct SearchOptions {
    /// Most tokens of all passages together; default 1500.
    pub(super) budget: usize,
    /// Order of the passages; default `document`.
    pub(super) order: PassageOrder,
    /// Whether filling goes on behind a passage that does not fit; default false.
    skip: bool,
    /// Retriever that ranks; default `bm25`. The others need vectors, as far as they have come.
    pub(super) retriever: Retriever,
    /// Neighbouring passages to take on each side of a ranked one; default 0.
    pub(super) neighbours: usize,
    /// Number of passages that are listed, of those that were found; all by default.
    pub(super) first: Option<usize>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            budget: 1500,
            order: PassageOrder::Document,
            skip: false,
            retriever: Retriever::Bm25,
            neighbours: 0,
            first: None,
        }
    }
}

impl SearchOptions {
    pub(super) fn overflow(&self) -> Fill {
        if self.skip { Fill::Skip } else { Fill::Stop }
    }
}
