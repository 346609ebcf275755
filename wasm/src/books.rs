//! A file becomes a book.

use crate::error::{as_js, usage};
use crate::options::read;
use closeread_books::html::whole_page;
use closeread_books::{Book, ReadOptions, decode, read_epub};
use closeread_text::Language;
use js_sys::Uint8Array;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("books.d.ts");

#[wasm_bindgen]
extern "C" {
    /// The bytes of a file, or its text.
    #[wasm_bindgen(typescript_type = "BookFile")]
    pub type BookFile;
    /// `ReadOptions` in TypeScript.
    #[wasm_bindgen(typescript_type = "ReadOptions")]
    pub type JsReadOptions;
    /// `CutOptions` in TypeScript.
    #[wasm_bindgen(typescript_type = "CutOptions")]
    pub type JsCutOptions;
    /// `SearchOptions` in TypeScript.
    #[wasm_bindgen(typescript_type = "SearchOptions")]
    pub type JsSearchOptions;
    /// `Listing` in TypeScript.
    #[wasm_bindgen(typescript_type = "Listing")]
    pub type JsListing;
    /// `Found` in TypeScript.
    #[wasm_bindgen(typescript_type = "Found")]
    pub type JsFound;
}

/// The options by which a file is read.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ReadOptions"))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Reading {
    /// Language as ISO 639-1 code; detected if left out.
    language: Option<String>,
    /// Encoding as WHATWG label; detected if left out.
    encoding: Option<String>,
    /// Whether Project Gutenberg's header and trailer are kept; default false.
    keep_frame: bool,
    /// Whether every line break of a hard-wrapped book is kept; default false.
    keep_wraps: bool,
}

/// A book and what its file was.
pub(crate) struct ReadBook {
    pub(crate) book: Book,
    pub(crate) encoding: String,
}

/// Reads a file as the command line does; `name` becomes the book's id.
pub(crate) fn read_book(name: &str, file: BookFile, options: Option<JsReadOptions>) -> Result<ReadBook, JsValue> {
    let options: Reading = read(options.map(JsValue::from))?;
    let opened = text_of(name, file, options.encoding.as_deref())?;
    let language = options.language.as_deref().map(str::parse).transpose();
    let read = ReadOptions {
        language: language.map_err(|error| as_js("UsageError", &error))?.or(opened.language),
        keep_frame: options.keep_frame,
        keep_wraps: options.keep_wraps,
    };
    let book = Book::new(name, opened.title, opened.text, &read).map_err(|error| as_js("TextError", &error))?;
    Ok(ReadBook { book, encoding: opened.encoding })
}

/// The content of a file that was opened.
struct Opened {
    text: String,
    title: String,
    encoding: String,
    language: Option<Language>,
}

fn text_of(name: &str, file: BookFile, label: Option<&str>) -> Result<Opened, JsValue> {
    let plain =
        |text, encoding: &str| Opened { text, title: String::new(), encoding: encoding.to_owned(), language: None };
    let file: JsValue = file.into();
    if let Some(text) = file.as_string() {
        return Ok(plain(text, "UTF-8"));
    }
    let bytes = file
        .dyn_into::<Uint8Array>()
        .map_err(|_| usage("the book must be a Uint8Array with the bytes of a file, or a string with its text"))?
        .to_vec();
    if bytes.starts_with(ZIP) || name.to_ascii_lowercase().ends_with(".epub") {
        let epub = read_epub(bytes).map_err(|error| as_js("EpubError", &error))?;
        let title = epub.title.unwrap_or_default();
        return Ok(Opened { text: epub.text, title, encoding: "EPUB".to_owned(), language: epub.language });
    }
    let decoded = decode(&bytes, label).map_err(|error| as_js("DecodeError", &error))?;
    Ok(match whole_page(&decoded.text) {
        Some(text) => plain(text, &format!("HTML, {}", decoded.encoding)),
        None => plain(decoded.text, decoded.encoding),
    })
}

/// The first bytes of a ZIP archive; no text starts with them.
const ZIP: &[u8] = b"PK\x03\x04";

/// A value as the plain object that its JSON parses to.
pub(crate) fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).map_err(JsValue::from)
}
