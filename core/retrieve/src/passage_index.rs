//! The books an item is about, cut into passages and ready to be searched.

use super::bm25::Bm25Builder;
use super::kept::{KeptBytes, numbers};
use super::{Bm25, IndexError, KeptVectors, VectorBlocks, WordRule};
use closeread_books::chunk::{Chunker, Pieces};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText, Flow};
use closeread_embed::Vectors;
use closeread_text::sentence::Rules;
use closeread_text::{FlowSpan, Language, Span, sentence};
use std::ops::Range;
use std::sync::Arc;

/// Index of one or more books in reading order, with their passages numbered through.
///
/// It holds offsets and an index, not the texts: whoever asks for these says how a book's is had, and books are opened one
/// at a time.
#[derive(Debug, Clone)]
pub struct PassageIndex {
    pub(super) books: Vec<Arc<Book>>,
    pub(super) passages: Vec<Passage>,
    pub(super) pieces: PieceList,
    pub(super) n_tokens: Vec<usize>,
    pub(super) bm25: Bm25,
    pub(super) vectors: Option<PassageVectors>,
}

/// A passage of one of the books: offsets only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Number of its book in the index.
    pub book: usize,
    /// Bytes of the book's file.
    pub span: Span,
    /// Range of the passage's pieces among those of the index.
    pub(super) pieces: Range<u32>,
}

/// The pieces of all passages, one passage after another: start and end in their book's flow.
#[derive(Debug, Clone)]
pub(super) enum PieceList {
    Held(Vec<(u32, u32)>),
    Kept(KeptBytes),
}

impl PieceList {
    pub(super) fn within(&self, places: Range<u32>) -> Vec<(u32, u32)> {
        let Range { start, end } = places.start as usize..places.end as usize;
        match self {
            Self::Held(pieces) => pieces[start..end].to_vec(),
            Self::Kept(bytes) => {
                let mut numbers = numbers(&bytes.bytes()[8 * start..8 * end]);
                std::iter::from_fn(|| Some((numbers.next()?, numbers.next()?))).collect()
            }
        }
    }

    /// Returns the list in a form that can be added to; there are `n` pieces so far.
    fn held(&mut self, n: u32) -> &mut Vec<(u32, u32)> {
        if let Self::Kept(_) = self {
            *self = Self::Held(self.within(0..n));
        }
        match self {
            Self::Held(pieces) => pieces,
            Self::Kept(_) => unreachable!("just copied"),
        }
    }
}

/// The place of the passages' vectors.
#[derive(Debug, Clone)]
pub(super) enum PassageVectors {
    Memory(Arc<Vectors>),
    Blocks(Arc<dyn VectorBlocks>),
    Kept(KeptVectors),
}

/// The sentences of a text, by the rules of its language.
pub fn sentences(flow: &Flow, language: Language) -> Vec<FlowSpan> {
    sentence::split(flow.text(), Rules::of(language))
}

impl PassageIndex {
    /// Cuts the books and indexes the passages for BM25, a book at a time; embeddings come later by
    /// [`PassageIndex::put_vectors`]. `open` gives the text of a book, as [`Book::text`] does where books hold theirs.
    ///
    /// # Errors
    /// What `open` fails with.
    pub fn new<E>(
        books: Vec<Arc<Book>>,
        chunker: Chunker,
        max_tokens: usize,
        tokenizer: &Tokenizer,
        mut open: impl FnMut(&Book) -> Result<Arc<BookText>, E>,
    ) -> Result<Self, E> {
        let mut words = Bm25Builder::new(word_rule(&books));
        let mut index = Self::empty();
        for book in books {
            let text = open(&book)?;
            index.append(book, &text, chunker, max_tokens, tokenizer, &mut words);
        }
        index.bm25 = words.finish();
        Ok(index)
    }

    /// Cuts one more book and indexes it behind the others, which are not cut again. Vectors are dropped: there is not one for
    /// each passage any more.
    ///
    /// # Errors
    /// What `open` fails with; the index is then as it was.
    pub fn push<E>(
        &mut self,
        book: Arc<Book>,
        chunker: Chunker,
        max_tokens: usize,
        tokenizer: &Tokenizer,
        mut open: impl FnMut(&Book) -> Result<Arc<BookText>, E>,
    ) -> Result<(), E> {
        let text = open(&book)?;
        let rule = word_rule(self.books.iter().chain([&book]));
        // The first Chinese book changes what a word is in all of them.
        let mut words = if rule == self.bm25.rule() { None } else { Some(self.words_again(rule, &mut open)?) };
        let kept = std::mem::replace(&mut self.bm25, Bm25Builder::new(rule).finish());
        let mut words = words.take().unwrap_or_else(|| kept.reopen());
        self.append(book, &text, chunker, max_tokens, tokenizer, &mut words);
        (self.bm25, self.vectors) = (words.finish(), None);
        Ok(())
    }

    fn empty() -> Self {
        let bm25 = Bm25Builder::new(WordRule::Letters).finish();
        Self {
            books: Vec::new(),
            passages: Vec::new(),
            pieces: PieceList::Held(Vec::new()),
            n_tokens: Vec::new(),
            bm25,
            vectors: None,
        }
    }

    fn append(
        &mut self,
        book: Arc<Book>,
        text: &BookText,
        chunker: Chunker,
        max_tokens: usize,
        tokenizer: &Tokenizer,
        words: &mut Bm25Builder,
    ) {
        let flow = text.flow();
        let n_pieces = self.passages.last().map_or(0, |passage| passage.pieces.end);
        let pieces = self.pieces.held(n_pieces);
        for passage in chunker.pieces(flow.text(), &sentences(flow, book.language), tokenizer, max_tokens) {
            words.add(&passage.joined(flow.text()));
            let first = offset(pieces.len());
            pieces.extend(passage.spans.iter().map(|span| (offset(span.start), offset(span.end))));
            self.passages.push(Passage {
                book: self.books.len(),
                span: flow.to_source(passage.cover()),
                pieces: first..offset(pieces.len()),
            });
            self.n_tokens.push(passage.n_tokens);
        }
        self.books.push(book);
    }

    /// The words of the passages that are there, by another rule.
    fn words_again<E>(
        &self,
        rule: WordRule,
        mut open: impl FnMut(&Book) -> Result<Arc<BookText>, E>,
    ) -> Result<Bm25Builder, E> {
        let mut words = Bm25Builder::new(rule);
        for (number, book) in self.books.iter().enumerate() {
            let text = open(book)?;
            self.passages_of(number).for_each(|idx| words.add(&self.text_in(&text, idx)));
        }
        Ok(words)
    }

    /// Adds one vector a passage, in order.
    ///
    /// # Errors
    /// [`IndexError::Count`] if there is not one vector for each passage.
    pub fn put_vectors(&mut self, vectors: Vectors) -> Result<(), IndexError> {
        self.check_count(vectors.len())?;
        self.vectors = Some(PassageVectors::Memory(Arc::new(vectors)));
        Ok(())
    }

    /// Puts in vectors that are read anew for every search.
    ///
    /// # Errors
    /// As [`PassageIndex::put_vectors`].
    pub fn put_vector_blocks(&mut self, blocks: Arc<dyn VectorBlocks>) -> Result<(), IndexError> {
        self.check_count(blocks.n_rows())?;
        self.vectors = Some(PassageVectors::Blocks(blocks));
        Ok(())
    }

    /// Puts in vectors that are read where they lie.
    ///
    /// # Errors
    /// As [`PassageIndex::put_vectors`].
    pub fn put_kept_vectors(&mut self, vectors: KeptVectors) -> Result<(), IndexError> {
        self.check_count(vectors.len())?;
        self.vectors = Some(PassageVectors::Kept(vectors));
        Ok(())
    }

    fn check_count(&self, vectors: usize) -> Result<(), IndexError> {
        let passages = self.passages.len();
        if vectors == passages { Ok(()) } else { Err(IndexError::Count { vectors, passages }) }
    }

    /// The books, in reading order.
    pub fn books(&self) -> &[Arc<Book>] {
        &self.books
    }

    /// The passages, in document order.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// The numbers of the passages of the book at `book`.
    pub fn passages_of(&self, book: usize) -> Range<usize> {
        let first = |book| self.passages.partition_point(|passage| passage.book < book);
        first(book)..first(book + 1)
    }

    /// Tokens of each passage's text.
    pub fn n_tokens(&self) -> &[usize] {
        &self.n_tokens
    }

    /// A copy of the passages' vectors, in order; `None` where there are none.
    ///
    /// # Errors
    /// [`IndexError::Vectors`] if they lie elsewhere and cannot be read.
    pub fn vectors(&self) -> Result<Option<Vec<Vec<f32>>>, IndexError> {
        let copied = |vectors: &Vectors| vectors.rows().map(<[f32]>::to_vec).collect::<Vec<_>>();
        Ok(match &self.vectors {
            None => None,
            Some(PassageVectors::Memory(vectors)) => Some(copied(vectors)),
            Some(PassageVectors::Kept(vectors)) => Some(vectors.rows()),
            Some(PassageVectors::Blocks(blocks)) => {
                let mut rows = Vec::with_capacity(blocks.n_rows());
                blocks.read(&mut |block| rows.extend(copied(block))).map_err(IndexError::Vectors)?;
                Some(rows)
            }
        })
    }

    /// Returns the rule that says what a word is in these books.
    pub fn word_rule(&self) -> WordRule {
        self.bm25.rule()
    }

    /// Passages as a model sees them, in their order: sentences joined by one space, wraps undone. `open` is called once for
    /// each of their books, and as in [`PassageIndex::new`].
    ///
    /// # Errors
    /// What `open` fails with.
    pub fn texts<E>(
        &self,
        passages: impl IntoIterator<Item = usize>,
        mut open: impl FnMut(&Book) -> Result<Arc<BookText>, E>,
    ) -> Result<Vec<String>, E> {
        let passages: Vec<usize> = passages.into_iter().collect();
        let mut texts = vec![String::new(); passages.len()];
        for (book, places) in self.by_book(&passages) {
            let text = open(&self.books[book])?;
            places.into_iter().for_each(|place| texts[place] = self.text_in(&text, passages[place]));
        }
        Ok(texts)
    }

    /// The places in `passages` of those of each book, book after book.
    pub fn by_book(&self, passages: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let book = |place: &usize| self.passages[passages[*place]].book;
        let mut places: Vec<usize> = (0..passages.len()).collect();
        places.sort_by_key(book);
        places.chunk_by(|a, b| book(a) == book(b)).map(|places| (book(&places[0]), places.to_vec())).collect()
    }

    /// Returns one passage of [`PassageIndex::texts`], of the text of its book.
    pub fn text_in(&self, text: &BookText, idx: usize) -> String {
        let spans = self.pieces.within(self.passages[idx].pieces.clone()).into_iter();
        let spans = spans.map(|(start, end)| FlowSpan::new(start as usize, end as usize)).collect();
        Pieces { spans, n_tokens: self.n_tokens[idx] }.joined(text.flow().text())
    }
}

pub(super) fn word_rule<'b>(books: impl IntoIterator<Item = &'b Arc<Book>>) -> WordRule {
    let chinese = books.into_iter().any(|book| book.language.code() == "zh");
    if chinese { WordRule::ChinesePairs } else { WordRule::Letters }
}

/// An offset or a place in half the bytes: there are several a passage, and a corpus has passages by the hundred thousand.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("a book has less than 4 GiB of text, a passage_index fewer than four billion sentences")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArrivingVectors, Retriever};
    use closeread_books::{ReadOptions, TextError};
    use proptest::prelude::*;
    use std::cell::Cell;

    /// Blocks of vectors that hand over a row at a time.
    #[derive(Debug)]
    struct Rows(Vectors);

    impl VectorBlocks for Rows {
        fn n_rows(&self) -> usize {
            self.0.len()
        }

        fn read(&self, take: &mut dyn FnMut(&Vectors)) -> Result<(), String> {
            self.0.rows().for_each(|row| take(&Vectors::new(row.len(), row.to_vec())));
            Ok(())
        }
    }

    fn vectors(n: usize) -> Vectors {
        Vectors::new(3, (0..3 * n).map(|i| ((i * 7919 + 13) % 101) as f32 / 50.0 - 1.0).collect())
    }

    proptest! {
        #[test]
        fn a_corpus_out_of_memory_is_cut_and_ranked_as_one_in_memory(
            texts in prop::collection::vec("([A-C][a-d]{1,3}( [a-d]{1,3}){0,5}\\. ?){1,6}", 1..6), query in "[a-d]{1,3}( [a-d]{1,3})?",
        ) {
            let book = |(i, text): (usize, &String)| {
                Book::new(format!("b{i}"), "", text.clone(), &ReadOptions::default()).expect("text")
            };
            let books: Vec<Arc<Book>> = texts.iter().enumerate().map(book).map(Arc::new).collect();
            let handles = books.iter().map(|b| Arc::new(b.as_ref().clone().let_go())).collect();
            let opened = Cell::new(0);
            let load = |book: &Book| {
                opened.set(opened.get() + 1);
                let at = books.iter().position(|b| b.id == book.id).expect("a known book");
                book.read_again(texts[at].clone()).map(Arc::new)
            };
            let (chunker, tokenizer) = (Chunker::Dos, Tokenizer::cl100k());
            let mut held = PassageIndex::new(books.clone(), chunker, 12, &tokenizer, Book::text).expect("held");
            let mut stored = PassageIndex::new(handles, chunker, 12, &tokenizer, load).expect("all there");
            prop_assert_eq!(held.passages(), stored.passages());
            let all = 0..held.passages().len();
            opened.set(0);
            let texts_of = |passages: Vec<usize>| stored.texts(passages, load).expect("all there");
            prop_assert_eq!(held.texts(all.clone(), Book::text), Ok(texts_of(all.clone().collect())));
            prop_assert!(opened.get() <= books.len(), "each book once");
            let backwards: Vec<String> = texts_of(all.clone().collect()).into_iter().rev().collect();
            prop_assert_eq!(texts_of(all.clone().rev().collect()), backwards);
            let missing = stored.texts(all.clone(), Book::text).map_err(|error| matches!(error, TextError::Gone { .. }));
            prop_assert_eq!(missing, Err(true), "a book that does not hold its text has none of its own");
            let by_book: Vec<usize> = (0..held.books().len()).flat_map(|book| held.passages_of(book)).collect();
            prop_assert_eq!(by_book, all.clone().collect::<Vec<_>>());
            let n = all.len();
            prop_assert_eq!(held.put_vectors(vectors(n + 1)), Err(IndexError::Count { vectors: n + 1, passages: n }));
            prop_assert_eq!(held.put_vectors(vectors(n)), Ok(()));
            prop_assert_eq!(stored.put_vector_blocks(Arc::new(Rows(vectors(n)))), Ok(()));
            for retriever in [Retriever::Dense, Retriever::Bm25, Retriever::Hybrid] {
                let ranking = |passage_index: &PassageIndex| passage_index.ranking(retriever, &query, Some(&[0.5, -1.0, 0.25]));
                prop_assert_eq!(ranking(&held), ranking(&stored));
            }
            for index in [&held, &stored] {
                let other_model = index.ranking(Retriever::Dense, &query, Some(&[1.0]));
                prop_assert_eq!(other_model, Err(IndexError::Dimension { query: 1, passages: 3 }));
            }
        }

        #[test]
        fn books_that_come_one_by_one_are_the_index_of_all_and_each_is_cut_once(
            texts in prop::collection::vec("([A-C][a-d]{1,3}( [a-d]{1,3}){0,5}\\. ?){1,6}|[船灯亮海静。]{4,20}", 1..5), query in "[a-d]{1,3}|[船灯]{2}",
        ) {
            let book = |(i, text): (usize, &String)| {
                Arc::new(Book::new(format!("b{i}"), "", text.clone(), &ReadOptions::default()).expect("text"))
            };
            let books: Vec<Arc<Book>> = texts.iter().enumerate().map(book).collect();
            let (chunker, tokenizer) = (Chunker::Dos, Tokenizer::cl100k());
            let whole = PassageIndex::new(books.clone(), chunker, 12, &tokenizer, Book::text).expect("held");
            let mut grown = PassageIndex::new(Vec::new(), chunker, 12, &tokenizer, Book::text).expect("nothing");
            for book in books {
                let (opened, rule, before) = (Cell::new(0), grown.word_rule(), grown.books().len());
                let open = |book: &Book| { opened.set(opened.get() + 1); book.text() };
                prop_assert_eq!(grown.push(book, chunker, 12, &tokenizer, open), Ok(()));
                let again = if rule == grown.word_rule() { 0 } else { before };
                prop_assert_eq!(opened.get(), 1 + again, "others are opened where the words change, and never cut");
            }
            prop_assert_eq!(grown.passages(), whole.passages());
            prop_assert_eq!(grown.n_tokens(), whole.n_tokens());
            prop_assert_eq!(grown.ranking(Retriever::Bm25, &query, None), whole.ranking(Retriever::Bm25, &query, None));
            let all = 0..whole.passages().len();
            prop_assert_eq!(grown.texts(all.clone(), Book::text), whole.texts(all, Book::text));
        }

        #[test]
        fn vectors_that_arrive_lead_to_the_ranking_of_all_of_them(
            text in "([A-C][a-d]{1,3}( [a-d]{1,3}){0,5}\\. ?){1,20}", query in "[a-d]{1,3}( [a-d]{1,3})?", salt in 0usize..7,
        ) {
            let book = Book::new("b", "", text, &ReadOptions::default()).expect("text");
            let books = vec![Arc::new(book)];
            let mut passage_index = PassageIndex::new(books, Chunker::Dos, 12, &Tokenizer::cl100k(), Book::text).expect("held");
            let n = passage_index.passages().len();
            let all = vectors(n);
            let mut arriving = ArrivingVectors::new(n, 3);
            let query_vector = [0.5, -1.0, 0.25];
            let none = passage_index.ranking_so_far(Retriever::Dense, &query, None, &arriving);
            prop_assert!(none.is_empty());
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by_key(|passage| (passage * 31 + salt) % 7);
            for (come, &passage) in order.iter().enumerate() {
                let dense = passage_index.ranking_so_far(Retriever::Dense, &query, Some(&query_vector), &arriving);
                prop_assert_eq!(dense.len(), come, "those that have come");
                prop_assert_eq!(passage_index.ranking_so_far(Retriever::Hybrid, &query, Some(&query_vector), &arriving).len(), n);
                prop_assert!(arriving.put(passage, all.row(passage)));
                prop_assert!(!arriving.put(passage, &[9.0; 3]), "the first one stays");
            }
            prop_assert_eq!(arriving.len(), n);
            prop_assert_eq!(passage_index.put_vectors(all), Ok(()));
            for retriever in [Retriever::Dense, Retriever::Bm25, Retriever::Hybrid] {
                let so_far = passage_index.ranking_so_far(retriever, &query, Some(&query_vector), &arriving);
                prop_assert_eq!(Ok(so_far), passage_index.ranking(retriever, &query, Some(&query_vector)));
            }
        }
    }
}
