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
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MethodOptions {
    pub(super) method: String,
    #[serde(default)]
    pub(super) parameters: Map<String, Value>,
    pub(super) budget: Option<usize>,
    #[serde(default = "bm25")]
    pub(super) retriever: Retriever,
    pub(super) rerank_from: Option<usize>,
    #[serde(default = "extractive")]
    pub(super) model: String,
    pub(super) max_output_tokens: Option<u32>,
    #[serde(default)]
    pub(super) temperature: f32,
    pub(super) window: Option<usize>,
    #[serde(default = "cl100k")]
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
