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

use closeread_eval::Paper;
use closeread_eval::observations::Observations;
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
pub fn tables_of(paper: Paper, table: &Observations) -> Vec<Table> {
    match paper {
        Paper::SagaScale => sagascale::tables(table),
        Paper::NovelQa => novelqa::tables(table),
        Paper::CorpusQa => corpusqa::tables(table),
        Paper::DosRag => dos_rag::tables(table),
        Paper::Hamlet => Vec::new(),
    }
}

/// The papers' tables and figures on questions alone, for whatever labels and evidence these have: SagaScale's Figure 2 and
/// NovelQA's Tables 1, 9, 12 and 13.
pub fn question_tables(items: &Observations) -> Vec<Table> {
    sagascale::tables::question_types(items).into_iter().chain(novelqa::data_tables(items)).collect()
}
