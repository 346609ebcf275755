//! The books of a run, packed as they lie in `texts/`, unpacked when they are looked into.

use crate::assets::{need_punkt, tokenizer};
use crate::error::as_js;
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, ReadOptions};
use closeread_eval::{Item, PassageRef};
use closeread_llm::Message;
use closeread_methods::record::Record;
use closeread_report::folder::{DocumentEntry, RunConfiguration};
use closeread_report::{TokenPlaces, sent};
use closeread_text::Language;
use closeread_text::hash::sha256;
use ruzstd::decoding::StreamingDecoder;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::sync::Arc;
use wasm_bindgen::JsValue;

pub(super) struct Texts {
    configuration: RunConfiguration,
    /// Packed texts by hash.
    packed: BTreeMap<String, Vec<u8>>,
}

/// A passage by its place, with its text where the book is at hand.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct TracedPassage<'a> {
    /// Place of the passage.
    #[serde(flatten)]
    place: &'a PassageRef,
    /// Text of the passage; absent where the book is not at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Length of the book in bytes; absent where it is not at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    book_bytes: Option<usize>,
}

impl Texts {
    pub(super) fn new(configuration: RunConfiguration, files: &BTreeMap<String, Vec<u8>>) -> Self {
        let hash = |path: &str| Some(path.strip_prefix("texts/")?.strip_suffix(".txt.zst")?.to_owned());
        let packed = files.iter().filter_map(|(path, bytes)| Some((hash(path)?, bytes.clone()))).collect();
        Self { configuration, packed }
    }

    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    /// The tokens of the books that are at hand, by document, and what is damaged of them, a sentence each.
    pub(super) fn places(&self) -> (BTreeMap<String, TokenPlaces>, Vec<String>) {
        let (mut places, mut damaged) = (BTreeMap::new(), Vec::new());
        if self.packed.is_empty() {
            return (places, damaged);
        }
        let Ok(tokenizer) = self.tokenizer() else { return (places, damaged) };
        for document in self.configuration.documents.iter().filter(|d| self.packed.contains_key(&d.sha256)) {
            match self.book(document).and_then(|book| TokenPlaces::of(&book, &tokenizer).ok()) {
                Some(found) => {
                    places.insert(document.id.clone(), found);
                }
                None => damaged.push(format!(
                    "DAMAGED: the text of document `{}`: texts/{}.txt.zst is damaged; give the run's command again, \
                     which writes it anew",
                    document.id, document.sha256
                )),
            }
        }
        (places, damaged)
    }

    pub(super) fn passages<'a>(&self, places: &'a [PassageRef]) -> Vec<TracedPassage<'a>> {
        let hashes: HashMap<&str, &str> =
            self.configuration.documents.iter().map(|d| (d.id.as_str(), d.sha256.as_str())).collect();
        let mut open: HashMap<&str, Option<String>> = HashMap::new();
        let mut traced = Vec::new();
        for place in places {
            let text = open.entry(&place.document).or_insert_with(|| self.text(hashes.get(place.document.as_str())?));
            let book_bytes = text.as_ref().map(String::len);
            let text = text.as_ref().and_then(|text| text.get(place.start..place.end)).map(str::to_owned);
            traced.push(TracedPassage { place, text, book_bytes });
        }
        traced
    }

    /// The run's tokenizer, or cl100k in the place of one that pages do not have.
    fn tokenizer(&self) -> Result<Tokenizer, JsValue> {
        let name = self.configuration.tokenizer.as_str();
        tokenizer(Some(name).filter(|name| *name == "o200k"))
    }

    /// Returns what was sent in a trial.
    pub(super) fn sent(&self, item: &Item, record: &Record) -> Result<Vec<Vec<Message>>, JsValue> {
        need_punkt()?;
        let of = |id: &String| {
            let document = self.configuration.documents.iter().find(|document| document.id == *id)?;
            self.book(document).map(Arc::new)
        };
        let books = item.documents.iter().filter_map(of).collect();
        sent(&self.configuration, books, item, record, &self.tokenizer()?).map_err(|error| as_js("NotSent", &error))
    }

    fn book(&self, document: &DocumentEntry) -> Option<Book> {
        let options = ReadOptions {
            language: document.language.as_deref().and_then(Language::stored),
            keep_frame: self.configuration.keep_frame,
            keep_wraps: self.configuration.keep_wraps,
        };
        Book::new(document.id.clone(), document.title.clone(), self.text(&document.sha256)?, &options).ok()
    }

    /// A text by its hash; `None` where it is not at hand or is damaged.
    fn text(&self, hash: &str) -> Option<String> {
        let mut text = String::new();
        StreamingDecoder::new(self.packed.get(hash)?.as_slice()).ok()?.read_to_string(&mut text).ok()?;
        (sha256(text.as_bytes()) == hash).then_some(text)
    }
}
