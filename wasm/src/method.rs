//! Methods, run step by step over a host given as JavaScript callbacks.

mod host;
mod options;

use crate::assets;
use crate::books::to_js;
use crate::error::{as_js, usage};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText, TextError};
use closeread_data::resolve_evidence;
use closeread_embed::{Role, Vectors};
use closeread_eval::reading::ExtractiveInput;
use closeread_eval::{Item, Outcome, PassageRef};
use closeread_methods::cost::{BookSize, Stage};
use closeread_methods::protocol::offers;
use closeread_methods::record::{Record, TrialKey};
use closeread_methods::{AnyMethod, Host, Session, Settings, ShownOfBooks as Shown, Trial, reader, recorded_scores};
use closeread_prompts::Prompts;
use closeread_retrieve::{PassageIndex, Retriever};
use closeread_text::sentence::Rules;
use closeread_text::{Folding, Language, Locator, Span};
use host::JsHost;
use js_sys::{Array, Date};
use options::MethodOptions;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use wasm_bindgen::prelude::*;

#[cfg(feature = "typescript")]
pub(crate) fn declare(types: &mut crate::typescript::declarations::Declarations) {
    types.add::<MethodOptions>().add::<Item>().add::<host::JsCall<'static>>().add::<closeread_llm::Response>();
    types
        .add::<closeread_eval::reading::Parsed>()
        .add::<Record>()
        .add::<closeread_methods::Tree>()
        .add::<closeread_methods::Pages>();
    types.add::<closeread_methods::Preparation<closeread_methods::Tree>>().add::<closeread_methods::protocol::Offer>();
    types.add::<closeread_text::Change>();
}

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("method.d.ts");

/// Passages that are embedded at once.
const EMBEDDED_AT_ONCE: usize = 64;

#[wasm_bindgen]
extern "C" {
    /// `MethodBook` in TypeScript.
    #[wasm_bindgen(typescript_type = "MethodBook")]
    pub type JsMethodBook;
    /// `MethodBook[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "MethodBook[]")]
    pub type JsMethodBooks;
    /// `Item` in TypeScript.
    #[wasm_bindgen(typescript_type = "Item")]
    pub type JsMethodItem;
    /// `MethodOptions` in TypeScript.
    #[wasm_bindgen(typescript_type = "MethodOptions")]
    pub type JsMethodOptions;
    /// `MethodHost` in TypeScript.
    #[wasm_bindgen(typescript_type = "MethodHost")]
    pub type JsMethodHost;
    /// `TrialRecord` in TypeScript.
    #[wasm_bindgen(typescript_type = "TrialRecord")]
    pub type JsMethodRecord;
    /// `MethodOffer[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "MethodOffer[]")]
    pub type JsMethodOffers;
    /// `Parsed` in TypeScript.
    #[wasm_bindgen(typescript_type = "Parsed")]
    pub type JsParsed;
    /// `TextChange[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "TextChange[]")]
    pub type JsChanges;
    /// `PassageRef[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "PassageRef[]")]
    pub type JsPlaces;
}

/// Returns every method, with the calls and tokens of one question on a book: what `closeread methods BOOK --json`
/// prints.
///
/// # Errors
/// A file that is no text, an asset that was not provided.
#[wasm_bindgen]
pub fn methods(book: &JsMethodBook) -> Result<JsMethodOffers, JsValue> {
    assets::need_punkt()?;
    let (prompts, tokenizer) = (Prompts::built_in(), assets::tokenizer(None)?);
    let setting = Settings::new(&prompts, &tokenizer);
    let book = options::book(book)?;
    let size = BookSize::of(&book, &*text_of(&book)?, &tokenizer);
    let offers = offers(setting, &size).map_err(|error| as_js("MethodError", &error))?;
    to_js(&offers).map(JsCast::unchecked_into)
}

/// Returns what a text became: its sentences that stayed, went and came, as a memory shows them. `language` is an ISO
/// 639-1 code.
///
/// # Errors
/// An asset that was not provided.
#[wasm_bindgen]
pub fn changes(before: &str, after: &str, language: &str) -> Result<JsChanges, JsValue> {
    assets::need_punkt()?;
    let changes = closeread_text::changes(before, after, Rules::of(language.parse().unwrap_or(Language::ENGLISH)));
    to_js(&changes).map(JsCast::unchecked_into)
}

/// One question, asked by one method.
#[wasm_bindgen]
pub struct MethodRun {
    books: Vec<Arc<Book>>,
    item: Item,
    gold: Option<Vec<(usize, Span)>>,
    method: AnyMethod,
    options: MethodOptions,
    prompts: Prompts,
    tokenizer: Tokenizer,
    made: RefCell<Vec<ExtractiveInput>>,
}

#[wasm_bindgen]
impl MethodRun {
    /// Reads the books and looks the options over; nothing is asked yet.
    ///
    /// # Errors
    /// A file that is no text, an unknown method or parameter, an item about other books, an asset that was not
    /// provided.
    #[wasm_bindgen(constructor)]
    pub fn new(books: &JsMethodBooks, item: &JsMethodItem, options: &JsMethodOptions) -> Result<Self, JsValue> {
        assets::need_punkt()?;
        let options = MethodOptions::read(options)?;
        let parameters = Value::Object(options.parameters.clone());
        let method = AnyMethod::named(&options.method, &parameters).map_err(|error| as_js("ParameterError", &error))?;
        let books = Array::from(books).into_iter().map(|book| options::book(&book).map(Arc::new));
        let books: Vec<Arc<Book>> = books.collect::<Result<_, _>>()?;
        let item = options::item(item, &books)?;
        let texts: Vec<_> = books.iter().map(|book| text_of(book)).collect::<Result<_, _>>()?;
        let gold = (!item.evidence.is_empty()).then(|| {
            let locators: Vec<Locator<'_>> = texts.iter().map(|text| Locator::new(text.source())).collect();
            resolve_evidence(&item, &locators).spans()
        });
        let (prompts, tokenizer) = (Prompts::built_in(), options.tokenizer()?);
        Ok(Self { books, item, gold, method, options, prompts, tokenizer, made: RefCell::default() })
    }

    /// Runs the method to its end; every call goes to `host.chat` first. The record is the line that `closeread run` writes
    /// for the same item, method and responses, but for the seconds.
    ///
    /// # Errors
    /// None of what goes wrong with a call, which is an outcome; only what keeps the method from running at all.
    pub async fn run(&self, host: JsMethodHost) -> Result<JsMethodRecord, JsValue> {
        let started = Date::now();
        let host = JsHost {
            callbacks: host.into(),
            tokenizer: &self.tokenizer,
            stage: Cell::new(Stage::Preparation),
            made: &self.made,
        };
        let trial = self.tried(&host).await?;
        let shown = Shown { context: trial.context.as_ref(), cited: trial.evidence.as_deref() };
        let scores = recorded_scores(&self.item, &trial.outcome, shown, self.gold.as_deref(), &self.books, text_of)?;
        let record = Record {
            key: TrialKey {
                item: self.item.id.clone(),
                method: self.options.method.clone(),
                model: self.options.model.clone(),
                budget: self.options.budget,
                repeat: 0,
            },
            scores,
            outcome: trial.outcome,
            prompt_tokens: trial.prompt_tokens,
            context: trial.context,
            calls: trial.calls,
            measures: trial.measures,
            evidence: trial.evidence,
            shared_call: trial.shared_call,
            seconds: (Date::now() - started) / 1000.0,
        };
        to_js(&record).map(JsCast::unchecked_into)
    }

    /// Returns what `builtin/extractive` responds to a call of this run.
    ///
    /// # Errors
    /// A number that no call has.
    pub fn extractive(&self, call: usize) -> Result<String, JsValue> {
        self.input_of(call, reader::answer)
    }

    /// Returns what a response to a call of this run is understood as.
    ///
    /// # Errors
    /// A number that no call has.
    pub fn parsed(&self, call: usize, response: &str) -> Result<JsParsed, JsValue> {
        let parsed = self.input_of(call, |input| input.expected.parse(&[&self.item], input.context.len(), response))?;
        to_js(&parsed).map(JsCast::unchecked_into)
    }

    /// Returns where the passages that a call's prompt holds stand in the books; those that no book holds word for word
    /// are left out.
    ///
    /// # Errors
    /// A number that no call has.
    pub fn places(&self, call: usize) -> Result<JsPlaces, JsValue> {
        let passages = self.input_of(call, |input| input.context.clone())?;
        let texts: Vec<_> = self.books.iter().map(|book| text_of(book)).collect::<Result<_, _>>()?;
        let locators: Vec<Locator<'_>> = texts.iter().map(|text| Locator::new(text.source())).collect();
        let place = |passage: &String| {
            let found = locators.iter().map(|text| text.locate(passage, Folding::Space).span());
            found.enumerate().find_map(|(book, span)| Some((book, span?)))
        };
        self.to_places(passages.iter().filter_map(place))
    }

    /// Returns where the gold evidence stands; nothing where the item has none.
    ///
    /// # Errors
    /// None that depends on what is given.
    pub fn evidence(&self) -> Result<JsPlaces, JsValue> {
        self.to_places(self.gold.iter().flatten().copied())
    }

    /// Returns what stands in a book between two bytes of its file as decoded to UTF-8.
    ///
    /// # Errors
    /// Another book, or offsets that are not in it.
    pub fn slice(&self, document: &str, start: usize, end: usize) -> Result<String, JsValue> {
        let book = self.books.iter().find(|book| book.id == document);
        let book = book.ok_or_else(|| usage(&format!("there is no book `{document}` here")))?;
        let text = text_of(book)?;
        let wrong = || usage(&format!("bytes {start} to {end} are no whole characters of `{document}`"));
        text.source().get(start..end).map(str::to_owned).ok_or_else(wrong)
    }
}

fn text_of(book: &Book) -> Result<Arc<BookText>, JsValue> {
    book.text().map_err(|error| as_js("TextError", &error))
}

impl MethodRun {
    fn to_places(&self, spans: impl Iterator<Item = (usize, Span)>) -> Result<JsPlaces, JsValue> {
        let place = |(book, span): (usize, Span)| {
            let document = self.books[book].id.clone();
            PassageRef { document, start: span.start, end: span.end, score: None }
        };
        to_js(&spans.map(place).collect::<Vec<_>>()).map(JsCast::unchecked_into)
    }

    fn input_of<T>(&self, call: usize, read: impl FnOnce(&ExtractiveInput) -> T) -> Result<T, JsValue> {
        let made = self.made.borrow();
        let made = made.get(call).ok_or_else(|| usage(&format!("there is no call {call} in this run")))?;
        Ok(read(made))
    }

    async fn tried(&self, host: &JsHost<'_>) -> Result<Trial, JsValue> {
        let Self { books, item, method, options, prompts, tokenizer, .. } = self;
        let MethodOptions { max_output_tokens, temperature, window, retriever, rerank_from, budget, .. } = *options;
        let response_limit = max_output_tokens.into();
        let setting = Settings { prompts, tokenizer, response_limit, temperature, context_window: window };
        let passage_index = match self.passage_index(host, retriever).await {
            Ok(passage_index) => passage_index,
            Err(error) => return Ok(Trial::ended(Outcome::Failed { error })),
        };
        let session = Session::new(host, setting).about(books).searching(passage_index.as_ref(), retriever);
        let session = session.reranking(rerank_from).within(budget);
        let preparation = method.prepare(&session).await;
        let preparation = preparation.map_err(|error| as_js("MethodError", &error))?;
        if let Some(preparation) = &preparation {
            host.prepared(preparation)?;
        }
        let prepared = match preparation.map(|preparation| preparation.prepared) {
            Some(Err(outcome)) => return Ok(Trial::ended(outcome)),
            Some(Ok(prepared)) => Some(prepared),
            None => None,
        };
        host.stage.set(Stage::Question);
        let trials = method.run(&session, &[item], prepared.as_ref()).await;
        let mut trials = trials.map_err(|error| as_js("MethodError", &error))?;
        Ok(trials.remove(0))
    }

    /// The books cut as the method wants them, with vectors where these are needed; or why there are none.
    async fn passage_index(&self, host: &JsHost<'_>, retriever: Retriever) -> Result<Option<PassageIndex>, String> {
        let Some(passages) = self.method.passages() else { return Ok(None) };
        let gone = |error: TextError| error.to_string();
        let mut passage_index = passages.index(&self.books, &self.tokenizer, Book::text).map_err(gone)?;
        if retriever.needs_vectors() {
            let texts = passage_index.texts(0..passage_index.passages().len(), Book::text).map_err(gone)?;
            let (mut dimension, mut values) = (0, Vec::new());
            for some in texts.chunks(EMBEDDED_AT_ONCE) {
                let some: Vec<&str> = some.iter().map(String::as_str).collect();
                let vectors = host.embed(Role::Passage, &some).await.map_err(|error| error.to_string())?;
                for row in vectors.rows() {
                    dimension = row.len();
                    values.extend_from_slice(row);
                }
            }
            let n_numbers = dimension * texts.len();
            if values.len() != n_numbers {
                return Err(format!("{} numbers for {} vectors of {dimension}", values.len(), texts.len()));
            }
            passage_index.put_vectors(Vectors::new(dimension, values)).map_err(|error| error.to_string())?;
        }
        Ok(Some(passage_index))
    }
}
