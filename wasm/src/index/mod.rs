//! Books, cut and indexed once, for many questions.

mod embedding;
mod evidence;
pub(crate) mod one_book;
mod options;
mod shapes;
mod vectors;

use crate::books::{BookFile, JsCutOptions, JsFound, JsListing, JsReadOptions, JsSearchOptions, read_book, to_js};
use crate::error::{as_js, usage};
use crate::options::read;
use closeread_books::{Book, BookText, TextError, chapters};
use closeread_methods::listing::{Found, Listing};
use closeread_retrieve::context::{PassageOrder, Selection, fill, with_neighbours};
use closeread_retrieve::{IndexError, PassageIndex, Ranking, Retriever};
use closeread_text::Span;
use closeread_text::hash::sha256_of_parts;
use embedding::Embedding;
use options::{Cut, CutOptions, SearchOptions};
use shapes::{BookFacts, Chapter, Place, Retrieved, RetrievedPassage};
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

#[cfg(feature = "typescript")]
pub(crate) fn declare(types: &mut crate::typescript::declarations::Declarations) {
    types.add_options::<crate::books::Reading>().add_options::<CutOptions>().add_options::<SearchOptions>();
    types.add::<Listing>().add::<Found>().add::<BookFacts<'static>>().add::<Retrieved>().add::<Chapter>();
    evidence::declare(types);
    types.add::<shapes::ToEmbed>().add::<closeread_embed::ModelSpec>();
}

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("../index.d.ts");

#[wasm_bindgen]
extern "C" {
    /// `BookFacts` in TypeScript.
    #[wasm_bindgen(typescript_type = "BookFacts")]
    pub type JsBookFacts;
    /// `Retrieved` in TypeScript.
    #[wasm_bindgen(typescript_type = "Retrieved")]
    pub type JsRetrieved;
    /// `Place` in TypeScript.
    #[wasm_bindgen(typescript_type = "Place")]
    pub type JsPlace;
    /// `Chapter[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "Chapter[]")]
    pub type JsChapters;
}

/// Books, cut and indexed once, for many questions. Offsets are bytes of a file as decoded to UTF-8.
#[wasm_bindgen]
pub struct Index {
    cut: Cut,
    encodings: Vec<String>,
    passage_index: PassageIndex,
    /// Places of the gold evidence, by the number of its book.
    evidence: Vec<(usize, Span)>,
    asked: Option<Asked>,
    embedding: Option<Embedding>,
}

/// The last ranking: another budget does not rank again.
struct Asked {
    question: String,
    retriever: Retriever,
    neighbours: usize,
    /// Number of vectors there were, and whether the question's was among them.
    vectors: (usize, bool),
    ranking: Rc<Ranking>,
}

#[wasm_bindgen]
impl Index {
    /// An index without books.
    ///
    /// # Errors
    /// An unknown option, or an asset that was not provided.
    #[wasm_bindgen(constructor)]
    pub fn new(options: Option<JsCutOptions>) -> Result<Index, JsValue> {
        let cut = read::<CutOptions>(options.map(JsValue::from))?.cut()?;
        let passage_index = cut.index(Vec::new())?;
        Ok(Self { cut, encodings: Vec::new(), passage_index, evidence: Vec::new(), asked: None, embedding: None })
    }

    /// Reads, cuts and indexes a file, behind the books that are there, which are not cut again. BM25 is ready when this returns; vectors and
    /// evidence start anew.
    ///
    /// # Errors
    /// A name that is taken, a file that is no text, an empty book or an unknown option.
    pub fn add(&mut self, name: &str, file: BookFile, options: Option<JsReadOptions>) -> Result<JsBookFacts, JsValue> {
        if self.passage_index.books().iter().any(|book| book.id == name) {
            return Err(usage(&format!("there is a book `{name}` already: each needs a name of its own")));
        }
        let read = read_book(name, file, options)?;
        self.cut.push(&mut self.passage_index, Arc::new(read.book))?;
        self.encodings.push(read.encoding);
        (self.evidence, self.asked, self.embedding) = (Vec::new(), None, None);
        self.book(self.encodings.len() - 1)
    }

    /// Returns what is known of a book, by its number from 0.
    ///
    /// # Errors
    /// There is no such book.
    pub fn book(&self, number: usize) -> Result<JsBookFacts, JsValue> {
        let book = self.book_at(number)?;
        let passages = self.passage_index.passages_of(number);
        let facts = BookFacts {
            name: &book.id,
            title: &book.title,
            language: book.language.code(),
            encoding: &self.encodings[number],
            n_bytes: book.n_bytes(),
            first_passage: passages.start,
            n_passages: passages.len(),
            n_tokens: self.passage_index.n_tokens()[passages].iter().sum(),
        };
        to_js(&facts).map(JsCast::unchecked_into)
    }

    /// Returns every passage, in document order: for one book what `closeread chunk FILE --json` prints.
    ///
    /// # Errors
    /// None; the type is that of a conversion.
    pub fn passages(&self) -> Result<JsListing, JsValue> {
        to_js(&Listing::of(&self.passage_index).map_err(|error| text_error(&error))?).map(JsCast::unchecked_into)
    }

    /// Returns what is found within a budget: for one book what `closeread search FILE QUESTION --json` prints.
    ///
    /// # Errors
    /// An unknown option, or a retriever that needs vectors where none are coming.
    pub fn search(&mut self, question: &str, options: Option<JsSearchOptions>) -> Result<JsFound, JsValue> {
        to_js(&self.found(question, options)?).map(JsCast::unchecked_into)
    }

    /// As [`Index::search`], byte for byte as the command line prints it, without its line end.
    ///
    /// # Errors
    /// As [`Index::search`].
    #[wasm_bindgen(js_name = searchJson)]
    pub fn search_json(&mut self, question: &str, options: Option<JsSearchOptions>) -> Result<String, JsValue> {
        serde_json::to_string(&self.found(question, options)?).map_err(|error| as_js("JsonError", &error))
    }

    /// As [`Index::search`] without the texts, with the book of each passage and the recall of the evidence.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn retrieve(&mut self, question: &str, options: Option<JsSearchOptions>) -> Result<JsRetrieved, JsValue> {
        let options: SearchOptions = read(options.map(JsValue::from))?;
        let ranking = self.ranking(question, options.retriever, options.neighbours)?;
        let selection = fill(&ranking, self.passage_index.n_tokens(), options.budget, options.overflow());
        let recall = self.recall(&selection, &self.sources()?);
        let selection = selection.ordered(options.order);
        let place = |idx: usize, score| {
            let passage = &self.passage_index.passages()[idx];
            let Span { start, end } = passage.span;
            let tokens = self.passage_index.n_tokens()[idx];
            RetrievedPassage { index: idx, book: passage.book, start, end, score, tokens }
        };
        let (tokens, n_passages) = (selection.n_tokens, selection.passages.len());
        let n_matched = selection.passages.iter().filter(|ranked| ranked.score > 0.0).count();
        let listed = selection.passages.iter().take(options.first.unwrap_or(usize::MAX));
        let passages = listed.map(|ranked| place(ranked.idx, ranked.score)).collect();
        let spans = self.stretches(&selection.ordered(PassageOrder::Document));
        to_js(&Retrieved { tokens, recall, n_passages, n_matched, spans, passages }).map(JsCast::unchecked_into)
    }

    /// Returns where the chapters of a book begin and what they are called, as far as their headings tell.
    ///
    /// # Errors
    /// There is no such book.
    pub fn chapters(&self, book: usize) -> Result<JsChapters, JsValue> {
        let (body, text) = (self.book_at(book)?.body(), self.text_at(book)?);
        let shown = |closeread_books::Chapter { title, span }| Chapter { title, start: span.start, end: span.end };
        let chapters: Vec<Chapter> = chapters(text.source(), body).into_iter().map(shown).collect();
        to_js(&chapters).map(JsCast::unchecked_into)
    }

    /// The number of the passage at a byte of a book, or of the one behind it; of the last where there is none.
    ///
    /// # Errors
    /// There is no such book.
    #[wasm_bindgen(js_name = passageAt)]
    pub fn passage_at(&self, book: usize, byte: usize) -> Result<usize, JsValue> {
        self.book_at(book)?;
        let range = self.passage_index.passages_of(book);
        let passages = &self.passage_index.passages()[range.clone()];
        let before = passages.partition_point(|passage| passage.span.end <= byte);
        Ok(range.start + before.min(passages.len().saturating_sub(1)))
    }

    /// Returns where a passage stands.
    ///
    /// # Errors
    /// There is no such passage.
    pub fn place(&self, passage: usize) -> Result<JsPlace, JsValue> {
        let n = self.passage_index.passages().len();
        let missing = || usage(&format!("there is no passage {passage}: the index has {n}, numbered from 0"));
        let found = self.passage_index.passages().get(passage).ok_or_else(missing)?;
        let Span { start, end } = found.span;
        to_js(&Place { book: found.book, start, end }).map(JsCast::unchecked_into)
    }

    /// The texts of passages, as a model would see them.
    ///
    /// # Errors
    /// There is no such passage.
    pub fn texts(&self, passages: &[u32]) -> Result<Vec<String>, JsValue> {
        let n = self.passage_index.passages().len();
        match passages.iter().find(|passage| **passage as usize >= n) {
            Some(passage) => Err(usage(&format!("there is no passage {passage}: the index has {n}, numbered from 0"))),
            None => self.texts_of(passages.iter().map(|passage| *passage as usize)),
        }
    }

    /// The text of a book from byte `start` to byte `end`, widened to whole characters and cut to the book.
    ///
    /// # Errors
    /// There is no such book.
    pub fn slice(&self, book: usize, start: usize, end: usize) -> Result<String, JsValue> {
        let text = self.text_at(book)?;
        let source = text.source();
        let end = source.ceil_char_boundary(end.min(source.len()));
        Ok(source[source.floor_char_boundary(start.min(end))..end].to_owned())
    }

    /// The UTF-16 units before a byte of a book: where JavaScript counts it.
    ///
    /// # Errors
    /// There is no such book.
    #[wasm_bindgen(js_name = toUtf16)]
    pub fn to_utf16(&self, book: usize, byte: usize) -> Result<usize, JsValue> {
        let text = self.text_at(book)?;
        let source = text.source();
        Ok(source[..source.floor_char_boundary(byte.min(source.len()))].encode_utf16().count())
    }

    /// Names texts, chunker and tokenizer: vectors that were kept under another key are not those of these passages.
    #[wasm_bindgen(getter, js_name = contentKey)]
    pub fn content_key(&self) -> String {
        let Cut { chunker, max_tokens, tokenizer } = &self.cut;
        let how = format!("{} {max_tokens} {}", chunker.name(), tokenizer.name());
        let books = self.passage_index.books().iter().map(|book| (book.hash(), book.language.code(), book.body()));
        let books: Vec<String> =
            books.map(|(hash, language, body)| format!("{hash} {language} {}..{}", body.start, body.end)).collect();
        sha256_of_parts(std::iter::once(how.as_bytes()).chain(books.iter().map(String::as_bytes)))
    }

    /// Returns the number of passages of all books.
    #[wasm_bindgen(getter, js_name = nPassages)]
    pub fn n_passages(&self) -> usize {
        self.passage_index.passages().len()
    }
}

impl Index {
    fn book_at(&self, number: usize) -> Result<&Book, JsValue> {
        let books = self.passage_index.books();
        let missing = || usage(&format!("there is no book {number}: the index has {}, numbered from 0", books.len()));
        books.get(number).map(Arc::as_ref).ok_or_else(missing)
    }

    fn found(&mut self, question: &str, options: Option<JsSearchOptions>) -> Result<Found, JsValue> {
        let options: SearchOptions = read(options.map(JsValue::from))?;
        let ranking = self.ranking(question, options.retriever, options.neighbours)?;
        let selection = fill(&ranking, self.passage_index.n_tokens(), options.budget, options.overflow());
        Found::of(&self.passage_index, &selection.ordered(options.order)).map_err(|error| text_error(&error))
    }

    fn ranking(&mut self, question: &str, retriever: Retriever, neighbours: usize) -> Result<Rc<Ranking>, JsValue> {
        let embedding = self.embedding.as_ref().filter(|_| retriever.needs_vectors());
        let query = embedding.and_then(|embedding| embedding.query(question));
        let vectors = (embedding.map_or(0, |embedding| embedding.vectors.len()), query.is_some());
        if let Some(asked) = &self.asked {
            let same = (asked.retriever, asked.neighbours, asked.vectors) == (retriever, neighbours, vectors);
            if same && asked.question == question {
                return Ok(Rc::clone(&asked.ranking));
            }
        }
        let ranking = match embedding {
            Some(embedding) => self.passage_index.ranking_so_far(retriever, question, query, &embedding.vectors),
            None => self.passage_index.ranking(retriever, question, None).map_err(|error| index_error(&error))?,
        };
        let ranking = Rc::new(with_neighbours(ranking, neighbours, |idx| self.passage_index.passages()[idx].book));
        let kept = Rc::clone(&ranking);
        self.asked = Some(Asked { question: question.to_owned(), retriever, neighbours, vectors, ranking: kept });
        Ok(ranking)
    }

    /// Returns what passages in document order cover, those that follow each other as one.
    fn stretches(&self, selection: &Selection) -> Vec<Place> {
        let mut stretches: Vec<Place> = Vec::new();
        let mut next = None;
        for ranked in &selection.passages {
            let passage = &self.passage_index.passages()[ranked.idx];
            let Span { start, end } = passage.span;
            match stretches.last_mut() {
                Some(last) if next == Some(ranked.idx) && last.book == passage.book => last.end = last.end.max(end),
                _ => stretches.push(Place { book: passage.book, start, end }),
            }
            next = Some(ranked.idx + 1);
        }
        stretches
    }

    fn text_at(&self, number: usize) -> Result<Arc<BookText>, JsValue> {
        self.book_at(number)?.text().map_err(|error| text_error(&error))
    }

    fn texts_of(&self, passages: impl IntoIterator<Item = usize>) -> Result<Vec<String>, JsValue> {
        self.passage_index.texts(passages, Book::text).map_err(|error| text_error(&error))
    }

    fn sources(&self) -> Result<Vec<Arc<BookText>>, JsValue> {
        self.passage_index.books().iter().map(|book| book.text().map_err(|error| text_error(&error))).collect()
    }
}

fn text_error(error: &TextError) -> JsValue {
    as_js("TextError", error)
}

fn index_error(error: &IndexError) -> JsValue {
    as_js("IndexError", error)
}
