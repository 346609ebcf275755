//! A book that is cut or searched once.

use super::Index;
use crate::books::{BookFile, JsCutOptions, JsFound, JsListing, JsReadOptions, JsSearchOptions};
use wasm_bindgen::prelude::*;

/// Cuts a book into passages: what `closeread chunk FILE --json` prints.
///
/// # Errors
/// A file that is no text, an empty book, an unknown option, an asset that was not provided.
#[wasm_bindgen]
pub fn chunk(file: BookFile, cut: Option<JsCutOptions>, reading: Option<JsReadOptions>) -> Result<JsListing, JsValue> {
    of_one(file, cut, reading)?.passages()
}

/// Searches a book by BM25: what `closeread search FILE QUESTION --retriever bm25 --json` prints.
///
/// # Errors
/// As [`chunk`].
#[wasm_bindgen]
pub fn search(
    file: BookFile,
    question: &str,
    options: Option<JsSearchOptions>,
    cut: Option<JsCutOptions>,
    reading: Option<JsReadOptions>,
) -> Result<JsFound, JsValue> {
    of_one(file, cut, reading)?.search(question, options)
}

fn of_one(file: BookFile, cut: Option<JsCutOptions>, reading: Option<JsReadOptions>) -> Result<Index, JsValue> {
    let mut index = Index::new(cut)?;
    index.add("book", file, reading)?;
    Ok(index)
}
