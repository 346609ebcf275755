//! Options as plain JavaScript objects, by the names and defaults of the command line.

use crate::error::usage;
use crate::tokenizer_named;
use closeread_core::chunk::Chunker;
use closeread_core::metric::Words;
use closeread_core::retrieve::PassageOrder;
use closeread_core::text::Language;
use closeread_core::text::tokens::Tokenizer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;

/// How a book is read and cut.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct ChunkOptions {
    chunker: Option<String>,
    pub(crate) max_tokens: Option<usize>,
    tokenizer: Option<String>,
    language: Option<String>,
    pub(crate) encoding: Option<String>,
    pub(crate) keep_frame: bool,
}

/// How a book is searched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct SearchOptions {
    pub(crate) budget: usize,
    order: String,
    /// Whether filling goes on behind a passage that does not fit.
    pub(crate) skip: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { budget: DEFAULT_BUDGET, order: "document".to_owned(), skip: false }
    }
}

/// Tokens, as in the tables of Stronger Baselines.
const DEFAULT_BUDGET: usize = 5_000;

/// How predictions are scored.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct ScoreOptions {
    pub(crate) metrics: Vec<String>,
    pub(crate) by: Vec<String>,
    chinese: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) system: Option<String>,
}

impl ScoreOptions {
    pub(crate) fn read(options: Option<JsValue>) -> Result<Self, JsValue> {
        read(options)
    }

    pub(crate) fn chinese(&self) -> Result<Words, JsValue> {
        match self.chinese.as_deref() {
            None | Some("reference") => Ok(Words::Reference),
            Some("characters") => Ok(Words::ChineseCharacters),
            Some(other) => Err(usage(&format!("unknown `chinese` option `{other}`: expected reference or characters"))),
        }
    }
}

impl ChunkOptions {
    pub(crate) fn read(options: Option<JsValue>) -> Result<Self, JsValue> {
        read(options)
    }

    pub(crate) fn chunker(&self) -> Result<Chunker, JsValue> {
        let name = self.chunker.as_deref().unwrap_or("dos");
        let found = Chunker::ALL.into_iter().find(|chunker| chunker.name() == name);
        found.ok_or_else(|| usage(&format!("unknown chunker `{name}`: expected dos, window, sentences or sections")))
    }

    pub(crate) fn tokenizer(&self) -> Result<Tokenizer, JsValue> {
        tokenizer_named(self.tokenizer.as_deref().unwrap_or("cl100k"))
    }

    pub(crate) fn language(&self) -> Result<Option<Language>, JsValue> {
        let parse = |code: &String| code.parse().map_err(|error| crate::error::as_js("UsageError", &error));
        self.language.as_ref().map(parse).transpose()
    }
}

impl SearchOptions {
    pub(crate) fn read(options: Option<JsValue>) -> Result<Self, JsValue> {
        read(options)
    }

    pub(crate) fn order(&self) -> Result<PassageOrder, JsValue> {
        match self.order.as_str() {
            "score" => Ok(PassageOrder::Score),
            "document" => Ok(PassageOrder::Document),
            other => Err(usage(&format!("unknown order `{other}`: expected score or document"))),
        }
    }
}

fn read<T: DeserializeOwned + Default>(options: Option<JsValue>) -> Result<T, JsValue> {
    match options.filter(|options| !options.is_undefined() && !options.is_null()) {
        None => Ok(T::default()),
        Some(options) => serde_wasm_bindgen::from_value(options).map_err(|error| usage(&error.to_string())),
    }
}
