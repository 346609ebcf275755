//! Options for books as plain JavaScript objects, by the names and defaults of the command line.

use crate::error::{as_js, usage};
use crate::options::{read, tokenizer_named};
use closeread_core::chunk::Chunker;
use closeread_core::retrieve::PassageOrder;
use closeread_core::text::Language;
use closeread_core::text::tokens::Tokenizer;
use serde::Deserialize;
use wasm_bindgen::JsValue;

/// How a book is read and cut.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct ChunkOptions {
    chunker: Option<String>,
    pub(super) max_tokens: Option<usize>,
    tokenizer: Option<String>,
    language: Option<String>,
    pub(super) encoding: Option<String>,
    pub(super) keep_frame: bool,
}

/// How a book is searched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct SearchOptions {
    pub(super) budget: usize,
    order: String,
    /// Whether filling goes on behind a passage that does not fit.
    pub(super) skip: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { budget: DEFAULT_BUDGET, order: "document".to_owned(), skip: false }
    }
}

/// Tokens, as in the tables of Stronger Baselines.
const DEFAULT_BUDGET: usize = 5_000;

impl ChunkOptions {
    pub(super) fn read(options: Option<JsValue>) -> Result<Self, JsValue> {
        read(options)
    }

    pub(super) fn chunker(&self) -> Result<Chunker, JsValue> {
        let name = self.chunker.as_deref().unwrap_or("dos");
        let found = Chunker::ALL.into_iter().find(|chunker| chunker.name() == name);
        found.ok_or_else(|| usage(&format!("unknown chunker `{name}`: expected dos, window, sentences or sections")))
    }

    pub(super) fn tokenizer(&self) -> Result<Tokenizer, JsValue> {
        tokenizer_named(self.tokenizer.as_deref().unwrap_or("cl100k"))
    }

    pub(super) fn language(&self) -> Result<Option<Language>, JsValue> {
        let parse = |code: &String| code.parse().map_err(|error| as_js("UsageError", &error));
        self.language.as_ref().map(parse).transpose()
    }
}

impl SearchOptions {
    pub(super) fn read(options: Option<JsValue>) -> Result<Self, JsValue> {
        read(options)
    }

    pub(super) fn order(&self) -> Result<PassageOrder, JsValue> {
        match self.order.as_str() {
            "score" => Ok(PassageOrder::Score),
            "document" => Ok(PassageOrder::Document),
            other => Err(usage(&format!("unknown order `{other}`: expected score or document"))),
        }
    }
}
