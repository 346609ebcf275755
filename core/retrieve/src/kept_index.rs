//! A whole index as bytes, without its vectors and the texts of its books.

use super::kept::{KEPT_FORMAT, KeptBytes, Reader, numbers};
use super::passage_index::{Passage, PassageIndex, PieceList, offset, word_rule};
use super::{Bm25, IndexError, WordRule};
use closeread_books::Book;
use closeread_text::Span;
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"crindex1";
/// Bytes of a passage: its book, where it begins and ends there, where its pieces end, its tokens.
const N_PASSAGE: usize = 20;
const N_PIECE: usize = 8;

impl PassageIndex {
    /// The index as bytes that [`PassageIndex::of_bytes`] reads; vectors and books are not among them. Equal indexes have equal
    /// bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut content = Vec::new();
        for (passage, &n_tokens) in self.passages().iter().zip(self.n_tokens()) {
            let Passage { book, span, pieces } = passage;
            let numbers = [offset(*book), offset(span.start), offset(span.end), pieces.end, offset(n_tokens)];
            numbers.iter().for_each(|number| content.extend(number.to_le_bytes()));
        }
        let n_pieces = self.passages().last().map_or(0, |passage| passage.pieces.end);
        for (start, end) in self.pieces.within(0..n_pieces) {
            content.extend(start.to_le_bytes());
            content.extend(end.to_le_bytes());
        }
        let words = self.bm25.write(&mut content);
        let rule = matches!(self.word_rule(), WordRule::CharacterPairs);
        let mut bytes = MAGIC.to_vec();
        let sizes = [self.books().len(), self.passages().len(), n_pieces as usize].into_iter().chain(words);
        for number in [KEPT_FORMAT as usize, usize::from(rule)].into_iter().chain(sizes) {
            bytes.extend((number as u64).to_le_bytes());
        }
        bytes.append(&mut content);
        bytes
    }

    /// The index of these books that [`PassageIndex::to_bytes`] wrote. Places and lengths of passages are copied, all else is read
    /// where it lies.
    ///
    /// That the bytes are whole, and of these books as they are read now, is for the caller to see to: what is looked at here is that
    /// they can be read at all.
    ///
    /// # Errors
    /// [`IndexError::Kept`] if they are no index, one of another format, or one of other books.
    pub fn of_bytes(books: Vec<Arc<Book>>, bytes: KeptBytes) -> Result<Self, IndexError> {
        let mut from = Reader::new(bytes, MAGIC)?;
        if from.number()? != KEPT_FORMAT as usize {
            return Err(IndexError::Kept("it is of another format"));
        }
        let rule = word_rule(&books);
        let is_of_rule = from.number()? == usize::from(rule == WordRule::CharacterPairs);
        if from.number()? != books.len() || !is_of_rule {
            return Err(IndexError::Kept("it is of other books"));
        }
        let (n_passages, n_pieces) = (from.number()?, from.number()?);
        let words = [from.number()?, from.number()?, from.number()?];
        let (passages, n_tokens) = passages(from.part(N_PASSAGE, n_passages)?.bytes(), books.len(), n_pieces)?;
        let pieces = PieceList::Kept(from.part(N_PIECE, n_pieces)?);
        let bm25 = Bm25::read(rule, &mut from, n_passages, words)?;
        from.finish()?;
        Ok(Self { books, passages, pieces, n_tokens, bm25, vectors: None })
    }
}

/// The passages with their tokens, each behind the one before.
fn passages(bytes: &[u8], n_books: usize, n_pieces: usize) -> Result<(Vec<Passage>, Vec<usize>), IndexError> {
    let (mut passages, mut n_tokens) = (Vec::new(), Vec::new());
    let (mut book_before, mut pieces_before) = (0, 0);
    let mut numbers = numbers(bytes);
    let mut number = || numbers.next();
    while let (Some(book), Some(start), Some(end), Some(pieces), Some(tokens)) =
        (number(), number(), number(), number(), number())
    {
        let is_next = (book_before..n_books).contains(&(book as usize)) && start <= end && pieces >= pieces_before;
        if !is_next || pieces as usize > n_pieces {
            return Err(IndexError::Kept("its passages do not follow each other"));
        }
        let span = Span::new(start as usize, end as usize);
        passages.push(Passage { book: book as usize, span, pieces: pieces_before..pieces });
        n_tokens.push(tokens as usize);
        (book_before, pieces_before) = (book as usize, pieces);
    }
    Ok((passages, n_tokens))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeptVectors, Retriever, VectorBlocks};
    use closeread_books::ReadOptions;
    use closeread_books::chunk::Chunker;
    use closeread_books::tokens::Tokenizer;
    use closeread_embed::Vectors;
    use proptest::prelude::*;

    const TEXT: &str = "([A-C][a-d]{1,3}( [a-d]{1,3}){0,5}\\. ?){1,6}|[船灯亮海静。]{4,20}";

    fn books(texts: &[String]) -> Vec<Arc<Book>> {
        let options = ReadOptions::default();
        let book = |(i, text): (usize, &String)| Book::new(format!("b{i}"), "", text.clone(), &options).expect("text");
        texts.iter().enumerate().map(book).map(Arc::new).collect()
    }

    fn index(books: Vec<Arc<Book>>) -> PassageIndex {
        PassageIndex::new(books, Chunker::Dos, 12, &Tokenizer::cl100k(), Book::text).expect("held")
    }

    /// Makes vectors of few different numbers, so that many cosines are equal, and some vectors are zero.
    fn vectors(n: usize, seed: usize) -> Vectors {
        Vectors::new(3, (0..3 * n).map(|i| ((i * 7919 + seed) % 5) as f32 / 2.0 - 1.0).collect())
    }

    fn kept_vectors(vectors: &dyn VectorBlocks, n_cut: usize) -> KeptVectors {
        let mut bytes = Vec::new();
        KeptVectors::write(3, vectors, n_cut, &mut |part| bytes.extend_from_slice(part)).expect("all there");
        KeptVectors::of_bytes(KeptBytes::new(bytes)).expect("just written")
    }

    fn kept(index: &PassageIndex) -> PassageIndex {
        PassageIndex::of_bytes(index.books().to_vec(), KeptBytes::new(index.to_bytes())).expect("just written")
    }

    proptest! {
        #[test]
        fn a_kept_index_ranks_bit_for_bit_as_the_one_in_memory(
            texts in prop::collection::vec(TEXT, 1..6), seed in 0usize..100,
            queries in prop::collection::vec("[a-d]{1,3}( [a-d]{1,3}){0,3}|[船灯]{2,4}|", 1..4),
        ) {
            let mut held = index(books(&texts));
            let mut kept = kept(&held);
            let n = held.passages().len();
            held.put_vectors(vectors(n, seed)).expect("one each");
            kept.put_kept_vectors(kept_vectors(&vectors(n, seed), 2)).expect("one each");
            prop_assert_eq!(held.passages(), kept.passages());
            prop_assert_eq!(held.n_tokens(), kept.n_tokens());
            prop_assert_eq!(held.word_rule(), kept.word_rule());
            prop_assert_eq!(held.texts(0..n, Book::text), kept.texts(0..n, Book::text));
            prop_assert_eq!(held.vectors(), kept.vectors());
            prop_assert_eq!(held.to_bytes(), kept.to_bytes());
            for query in &queries {
                for retriever in [Retriever::Dense, Retriever::Bm25, Retriever::Hybrid] {
                    let bits = |index: &PassageIndex| {
                        let ranking = index.ranking(retriever, query, Some(&[0.5, -1.0, 0.25])).expect("ranked");
                        ranking.iter().map(|ranked| (ranked.idx, ranked.score.to_bits())).collect::<Vec<_>>()
                    };
                    prop_assert_eq!(bits(&held), bits(&kept));
                    let mut first = held.ranking(retriever, query, Some(&[0.5, -1.0, 0.25])).expect("ranked");
                    first.truncate(3);
                    prop_assert_eq!(kept.best(retriever, query, Some(&[0.5, -1.0, 0.25]), 3), Ok(first));
                }
            }
        }

        #[test]
        fn a_book_behind_a_kept_index_leads_to_the_index_of_all(texts in prop::collection::vec(TEXT, 2..5)) {
            let books = books(&texts);
            let (last, first) = books.split_last().expect("two or more");
            let mut grown = kept(&index(first.to_vec()));
            grown.push(last.clone(), Chunker::Dos, 12, &Tokenizer::cl100k(), Book::text).expect("held");
            prop_assert_eq!(grown.to_bytes(), index(books).to_bytes());
        }

        #[test]
        fn bytes_that_are_cut_off_or_of_other_books_are_refused(texts in prop::collection::vec(TEXT, 1..4), at in 0.0..1.0f64) {
            let index = index(books(&texts));
            let whole = index.to_bytes();
            let of = |books: Vec<Arc<Book>>, bytes: Vec<u8>| PassageIndex::of_bytes(books, KeptBytes::new(bytes)).map(drop);
            let all = index.books().to_vec();
            let short = whole[..(whole.len() as f64 * at) as usize].to_vec();
            prop_assert!(matches!(of(all.clone(), short), Err(IndexError::Kept(_))));
            let long = [&whole[..], b"x"].concat();
            prop_assert_eq!(of(all.clone(), long), Err(IndexError::Kept("it goes on behind its end")));
            prop_assert_eq!(of(all[1..].to_vec(), whole), Err(IndexError::Kept("it is of other books")));
        }
    }

    #[test]
    fn vectors_of_another_number_or_dimension_are_refused() {
        let mut index = index(books(&["The tide came in.".to_owned()]));
        let kept = kept_vectors(&vectors(9, 1), 3);
        assert_eq!((kept.len(), kept.dimension(), kept.n_cut()), (9, 3, 3));
        assert_eq!(index.put_kept_vectors(kept), Err(IndexError::Count { vectors: 9, passages: 1 }));
        index.put_kept_vectors(kept_vectors(&vectors(1, 1), 0)).expect("one each");
        let other_model = index.ranking(Retriever::Dense, "tide", Some(&[1.0]));
        assert_eq!(other_model, Err(IndexError::Dimension { query: 1, passages: 3 }));
        let foreign = KeptVectors::of_bytes(KeptBytes::new(index.to_bytes())).map(drop);
        assert_eq!(foreign, Err(IndexError::Kept("it begins otherwise than an index")));
    }
}
