//! A corpus in memory and one out of it are one; vectors arrive whole, by blocks or kept.

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
