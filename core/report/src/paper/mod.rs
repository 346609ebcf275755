//! The numbers and tables of the five papers, as pure functions of the evaluation table.
//!
//! One file a paper: first its quantities, each a small function that reads like the paper's definition, then `tables`,
//! which lays out the paper's tables for whatever the trials carry. What a paper leaves open is settled in the doc
//! comment of the function that needed it.

mod configurations;
mod exhibits;
mod grid;
mod tabulate;

pub mod corpusqa;
pub mod dos_rag;
pub mod hamlet;
pub mod novelqa;
pub mod sagascale;

pub(crate) use exhibits::listed;
pub use exhibits::{Exhibit, Held, Made, Need, NotANumber, Number, Status, exhibits, numbered};

use crate::Run;
use closeread_data::statistics::{self, BookFacts, BookStatistics, books_table};
use closeread_eval::observations::Observations;
use closeread_eval::{Item, Paper};
use closeread_table::Table;

/// The paper's tables for these trials, or those of the paper whose labels the items carry, and the budget curve where
/// several budgets were run. Tables for which the trials carry nothing are left out.
///
/// HAMLET's come from an evaluation table of judged summaries by level: [`hamlet::tables`].
pub fn tables(paper: Option<Paper>, table: &Observations) -> Vec<Table> {
    let paper = paper.or_else(|| Paper::of_labels(table.items().map(|(_, item)| &item.labels)));
    let mut tables =
        paper.filter(|paper| *paper != Paper::DosRag).map_or_else(Vec::new, |paper| tables_of(paper, table));
    let mut budgets: Vec<usize> = table.cells().filter_map(|(_, cell)| cell.key.budget).collect();
    budgets.sort_unstable();
    budgets.dedup();
    if budgets.len() > 1 || paper == Some(Paper::DosRag) {
        tables.extend(dos_rag::tables(table));
    }
    tables
}

/// The tables of this paper for these trials, whatever benchmark they are of; HAMLET has none of trials.
pub(crate) fn tables_of(paper: Paper, table: &Observations) -> Vec<Table> {
    let mut tables = match paper {
        Paper::SagaScale => sagascale::tables(table),
        Paper::NovelQa => novelqa::tables(table),
        Paper::CorpusQa => corpusqa::tables(table),
        Paper::DosRag => dos_rag::tables(table),
        Paper::Hamlet => Vec::new(),
    };
    let note = tabulate::asked_apart(table);
    tables.iter_mut().for_each(|table| table.notes.extend(note.clone()));
    tables
}

/// Makes what a paper prints of its data, from the books and items of these runs: SagaScale's Tables 2 and 9 and Figure
/// 5, NovelQA's Figure 3, CorpusQA's Table 2, HAMLET's Table 8. Nothing where the runs' texts are not at hand.
pub(crate) fn tables_of_data(paper: Paper, runs: &[Run]) -> Vec<Table> {
    let mut books: Vec<BookFacts> = Vec::new();
    for fact in runs.iter().flat_map(|run| &run.data) {
        if books.iter().all(|known| known.id != fact.id) {
            books.push(fact.clone());
        }
    }
    let (Some(run), false) = (runs.first(), books.is_empty()) else { return Vec::new() };
    let tokenizer = run.facts.iter().find(|(name, _)| name == "tokenizer").map_or("", |(_, value)| value.as_str());
    match paper {
        Paper::SagaScale => vec![
            statistics::by_length(&books),
            statistics::lengths(&books, tokenizer),
            statistics::lengths_by_language(&books),
        ],
        Paper::NovelQa => vec![statistics::lengths_with_questions(&books)],
        Paper::CorpusQa => {
            let of = |item: &Item| books.iter().filter(|book| item.documents.contains(&book.id)).collect::<Vec<_>>();
            let tokens = |item: &Item| Some(of(item).iter().map(|book| book.tokens).sum());
            let languages = |item: &Item| of(item).iter().map(|book| book.language.clone()).collect();
            statistics::instances(&run.items, tokens, languages).into_iter().collect()
        }
        Paper::Hamlet if run.items.iter().any(|item| item.key_facts.is_some()) => {
            let of_book = |book: &BookFacts| {
                let own = run.items.iter().filter(|item| item.key_facts.is_some() && item.documents.contains(&book.id));
                BookStatistics::of(&book.name, book.tokens, &own.collect::<Vec<_>>())
            };
            vec![books_table(&books.iter().map(of_book).collect::<Vec<_>>())]
        }
        Paper::DosRag | Paper::Hamlet => Vec::new(),
    }
}

/// The papers' tables and figures on questions alone, for whatever labels and evidence these have: SagaScale's Figure 2 and
/// NovelQA's Tables 1, 9, 12 and 13.
pub fn question_tables(items: &Observations) -> Vec<Table> {
    sagascale::tables::question_types(items).into_iter().chain(novelqa::data_tables(items)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Case, case, table};
    use std::sync::Arc;

    #[test]
    fn runs_that_were_asked_other_items_are_named_below_every_table() {
        let run = |items: &[&str]| {
            let trial = |item: &&str| Case { method: "naive-rag".to_owned(), ..case(item).scored("accuracy", 1.0) };
            table(&items.iter().map(trial).collect::<Vec<_>>())
        };
        let pool = |second: &[&str]| {
            let runs = [(Arc::from("whole"), run(&["a", "b"])), (Arc::from("part"), run(second))];
            tables_of(Paper::SagaScale, &Observations::pooled(runs).unwrap())
        };
        let note = "the runs were not asked the same items: 1 of part, 2 of whole".to_owned();
        assert!(pool(&["b"]).iter().all(|table| table.notes.contains(&note)));
        assert!(pool(&["b", "a"]).iter().all(|table| !table.notes.iter().any(|note| note.contains("same items"))));
    }
}
