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
    let spaceless = books.into_iter().any(|book| book.language.is_spaceless());
    if spaceless { WordRule::CharacterPairs } else { WordRule::Letters }
}

/// An offset or a place in half the bytes: there are several a passage, and a corpus has passages by the hundred thousand.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("a book has less than 4 GiB of text, a passage_index fewer than four billion sentences")
}

#[cfg(test)]
mod tests;
