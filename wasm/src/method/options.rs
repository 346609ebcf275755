//! A book, a question and options of a method as plain JavaScript objects, by the names and defaults of the command line.

use crate::assets;
use crate::books::read_book;
use crate::error::usage;
use closeread_books::Book;
use closeread_books::tokens::Tokenizer;
use closeread_eval::{Item, Task};
use closeread_methods::reader::EXTRACTIVE;
use closeread_retrieve::Retriever;
use js_sys::{JSON, Object, Reflect};
use serde::Deserialize;
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

/// The options by which a method is run.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MethodOptions {
    /// Name of the method, such as `dos-rag`.
    pub(super) method: String,
    /// Parameters of the method; what is left out keeps the paper's value.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(type = "Record<string, unknown>", optional))]
    pub(super) parameters: Map<String, Value>,
    /// Most tokens of the passages, for methods that have a budget.
    pub(super) budget: Option<usize>,
    /// Retriever of the passages; default `bm25`. The others need `embed` of the host.
    #[serde(default = "bm25")]
    #[cfg_attr(feature = "typescript", ts(as = "Option<Retriever>", optional))]
    pub(super) retriever: Retriever,
    /// Number of best passages that `rerank` of the host puts into another order; default: none.
    pub(super) rerank_from: Option<usize>,
    /// The reader, as the record names it; default `builtin/extractive`.
    #[serde(default = "extractive")]
    #[cfg_attr(feature = "typescript", ts(as = "Option<String>", optional))]
    pub(super) model: String,
    /// Most tokens of a response; default: as many as the provider lets it have.
    pub(super) max_output_tokens: Option<u32>,
    /// Sampling temperature; default 0.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<f32>", optional))]
    pub(super) temperature: f64,
    /// Tokens that the model can take, prompt and response together; default: no limit.
    pub(super) window: Option<usize>,
    /// Tokenizer that counts; default `cl100k`.
    #[serde(default = "cl100k")]
    #[cfg_attr(feature = "typescript", ts(type = "TokenizerName", optional))]
    tokenizer: String,
}

fn bm25() -> Retriever {
    Retriever::Bm25
}

fn extractive() -> String {
    EXTRACTIVE.to_owned()
}

fn cl100k() -> String {
    "cl100k".to_owned()
}

impl MethodOptions {
    pub(super) fn read(options: &JsValue) -> Result<Self, JsValue> {
        serde_json::from_str(&json_of(options)?).map_err(|error| usage(&format!("the options of a method: {error}")))
    }

    pub(super) fn tokenizer(&self) -> Result<Tokenizer, JsValue> {
        assets::tokenizer(Some(&self.tokenizer))
    }
}

/// A book as a method reads it: the fields of `MethodBook` that are not its own are how the file is read.
pub(super) fn book(given: &JsValue) -> Result<Book, JsValue> {
    let field = |name: &str| Reflect::get(given, &name.into());
    let wrong = |_| usage("a book must be an object with `file`: its bytes or its text");
    let (file, id, title) = (field("file").map_err(wrong)?, field("id")?.as_string(), field("title")?.as_string());
    let reading = Object::assign(&Object::new(), given.unchecked_ref());
    for own in ["file", "id", "title"] {
        Reflect::delete_property(&reading, &own.into())?;
    }
    let id = id.unwrap_or_else(|| "book".to_owned());
    let mut book = read_book(&id, file.unchecked_into(), Some(JsValue::from(reading).unchecked_into()))?.book;
    if let Some(title) = title {
        book.title = title;
    }
    Ok(book)
}

/// Returns the item that is asked, of books that are all there.
pub(super) fn item(given: &JsValue, books: &[std::sync::Arc<Book>]) -> Result<Item, JsValue> {
    let item: Item = serde_json::from_str(&json_of(given)?).map_err(|error| usage(&format!("the item: {error}")))?;
    if item.task == Task::Choice && item.options.len() < 2 {
        return Err(usage(&format!("a choice with {} `options`: expected two or more", item.options.len())));
    }
    if item.correct.is_some_and(|correct| correct >= item.options.len()) {
        return Err(usage("`correct` names no option: expected its index, from 0"));
    }
    let ids: Vec<&str> = books.iter().map(|book| book.id.as_str()).collect();
    if item.documents != ids {
        return Err(usage(&format!(
            "the item is about the documents {:?} and the books are {ids:?}: expected the same ids in the same order",
            item.documents
        )));
    }
    Ok(item)
}

/// Numbers come as JavaScript writes them: 3 stays an integer.
fn json_of(value: &JsValue) -> Result<String, JsValue> {
    JSON::stringify(value)?.as_string().ok_or_else(|| usage("expected an object"))
}
