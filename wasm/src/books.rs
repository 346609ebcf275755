//! Books: cut into passages, searched.

mod options;

use crate::error::{as_js, usage};
use crate::options::to_js;
use closeread_core::index::Retriever;
use closeread_core::index::Shelf;
use closeread_core::listing::{Found, Listing};
use closeread_core::retrieve::{Overflow, fill};
use closeread_core::text::{Book, Language, ReadOptions, decode, read_epub};
use js_sys::Uint8Array;
use options::{ChunkOptions, SearchOptions};
use std::sync::Arc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("books.d.ts");

#[wasm_bindgen]
extern "C" {
    /// The bytes of a file, or its text.
    #[wasm_bindgen(typescript_type = "BookFile")]
    pub type BookFile;
    /// See `books.d.ts`.
    #[wasm_bindgen(typescript_type = "ChunkOptions")]
    pub type JsChunkOptions;
    /// See `books.d.ts`.
    #[wasm_bindgen(typescript_type = "SearchOptions")]
    pub type JsSearchOptions;
    /// See `books.d.ts`.
    #[wasm_bindgen(typescript_type = "Listing")]
    pub type JsListing;
    /// See `books.d.ts`.
    #[wasm_bindgen(typescript_type = "Found")]
    pub type JsFound;
}

/// Cuts a book into passages: what `closeread chunk FILE --json` prints.
///
/// # Errors
/// A file that is no text, an empty book or an unknown option.
#[wasm_bindgen]
pub fn chunk(file: BookFile, options: Option<JsChunkOptions>) -> Result<JsListing, JsValue> {
    OpenBook::new(file, options)?.passages()
}

/// Searches a book: what `closeread search FILE QUESTION --json` prints.
///
/// # Errors
/// As [`chunk`].
#[wasm_bindgen]
pub fn search(
    file: BookFile,
    question: &str,
    options: Option<JsSearchOptions>,
    cut: Option<JsChunkOptions>,
) -> Result<JsFound, JsValue> {
    OpenBook::new(file, cut)?.search(question, options)
}

/// A book cut and indexed once, for several questions.
#[wasm_bindgen]
pub struct OpenBook {
    shelf: Shelf,
    encoding: String,
}

#[wasm_bindgen]
impl OpenBook {
    /// Reads, cuts and indexes a file.
    ///
    /// # Errors
    /// As [`chunk`].
    #[wasm_bindgen(constructor)]
    pub fn new(file: BookFile, options: Option<JsChunkOptions>) -> Result<Self, JsValue> {
        let options = ChunkOptions::read(options.map(JsValue::from))?;
        let opened = text_of(file, options.encoding.as_deref())?;
        let read = ReadOptions {
            language: options.language()?.or(opened.language),
            keep_frame: options.keep_frame,
            ..ReadOptions::default()
        };
        let book = Book::new("book", opened.title, opened.text, &read).map_err(|error| as_js("TextError", &error))?;
        let tokenizer = options.tokenizer()?;
        let chunker = options.chunker()?;
        let max_tokens = options.max_tokens.unwrap_or_else(|| chunker.default_max_tokens());
        let shelf = Shelf::new(vec![Arc::new(book)], chunker, max_tokens, &tokenizer);
        Ok(Self { shelf, encoding: opened.encoding })
    }

    /// Every passage, in document order.
    ///
    /// # Errors
    /// None; the type is that of a conversion.
    pub fn passages(&self) -> Result<JsListing, JsValue> {
        to_js(&Listing::of(&self.shelf)).map(JsCast::unchecked_into)
    }

    /// The passages that BM25 finds within a budget.
    ///
    /// # Errors
    /// An unknown option.
    pub fn search(&self, question: &str, options: Option<JsSearchOptions>) -> Result<JsFound, JsValue> {
        let options = SearchOptions::read(options.map(JsValue::from))?;
        let ranking =
            self.shelf.ranking(Retriever::Bm25, question, None).map_err(|error| as_js("ShelfError", &error))?;
        let overflow = if options.skip { Overflow::Skip } else { Overflow::Stop };
        let selection = fill(&ranking, self.shelf.n_tokens(), options.budget, overflow).ordered(options.order()?);
        to_js(&Found::of(&self.shelf, &selection)).map(JsCast::unchecked_into)
    }

    /// ISO 639-1 code of the book's language, given or detected.
    #[wasm_bindgen(getter)]
    pub fn language(&self) -> String {
        self.book().language.code().to_owned()
    }

    /// Title in an EPUB's metadata; empty for other files.
    #[wasm_bindgen(getter)]
    pub fn title(&self) -> String {
        self.book().title.clone()
    }

    /// The encoding the file was read in; `EPUB` for one.
    #[wasm_bindgen(getter)]
    pub fn encoding(&self) -> String {
        self.encoding.clone()
    }

    /// Bytes of the whole file as decoded to UTF-8: what `start` and `end` count.
    #[wasm_bindgen(getter, js_name = nBytes)]
    pub fn n_bytes(&self) -> usize {
        self.book().source().len()
    }

    /// Passages of the book.
    #[wasm_bindgen(getter, js_name = nPassages)]
    pub fn n_passages(&self) -> usize {
        self.shelf.passages().len()
    }

    /// Tokens of all passages.
    #[wasm_bindgen(getter, js_name = nTokens)]
    pub fn n_tokens(&self) -> usize {
        self.shelf.n_tokens().iter().sum()
    }

    fn book(&self) -> &Book {
        &self.shelf.books()[0]
    }
}

/// What a file holds.
pub(crate) struct Opened {
    pub(crate) text: String,
    pub(crate) title: String,
    encoding: String,
    pub(crate) language: Option<Language>,
}

/// Reads a file; `label` names its encoding where it is known.
pub(crate) fn text_of(file: BookFile, label: Option<&str>) -> Result<Opened, JsValue> {
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
    if bytes.starts_with(ZIP) {
        let epub = read_epub(bytes).map_err(|error| as_js("EpubError", &error))?;
        let title = epub.title.unwrap_or_default();
        return Ok(Opened { text: epub.text, title, encoding: "EPUB".to_owned(), language: epub.language });
    }
    let decoded = decode(&bytes, label).map_err(|error| as_js("DecodeError", &error))?;
    Ok(plain(decoded.text, decoded.encoding))
}

/// The first bytes of a ZIP archive; no text starts with them.
const ZIP: &[u8] = b"PK\x03\x04";
