//! The numbers and tables of the five papers, as pure functions of finished trials.
//!
//! One file a paper: first its quantities, each a small function that reads like the paper's definition, then `tables`,
//! which lays out the paper's tables for whatever the trials carry. What a paper leaves open is settled in the doc
//! comment of the function that needed it.

mod tabulate;

pub mod corpusqa;
pub mod dos_rag;
pub mod hamlet;
pub mod label;
pub mod novelqa;
pub mod sagascale;

use closeread_eval::{Case, Paper};
pub use tabulate::{mean_over_items, per_item};

use closeread_table::Table;

/// A paper's tables for these trials; those for which the trials carry nothing are left out.
///
/// HAMLET's come from judged summaries, not from trials: [`hamlet::tables`].
pub fn tables_of(paper: Paper, cases: &[Case]) -> Vec<Table> {
    match paper {
        Paper::SagaScale => sagascale::tables(cases),
        Paper::NovelQa => novelqa::tables(cases),
        Paper::DosRag => dos_rag::tables(cases),
        Paper::CorpusQa => corpusqa::tables(cases),
        Paper::Hamlet => Vec::new(),
    }
}

/// The tables for a run: those of the paper that `benchmark` or the labels name, the budget curve where several budgets
/// were run, and one table a label where no paper has its own.
pub fn tables(benchmark: Option<&str>, cases: &[Case]) -> Vec<Table> {
    let paper = benchmark.and_then(Paper::of_benchmark).or_else(|| Paper::of_labels(cases));
    let mut tables = paper.map(|paper| tables_of(paper, cases)).unwrap_or_default();
    if paper != Some(Paper::DosRag) {
        tables.extend(dos_rag::tables(cases));
    }
    if !matches!(paper, Some(Paper::NovelQa | Paper::CorpusQa)) {
        tables.extend(label::tables(cases));
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::testing::case;

    #[test]
    fn a_benchmark_without_a_paper_gets_a_table_a_label() {
        let cases = [case("a").scored("accuracy", 1.0).label("genre", "gothic")];
        let ids: Vec<String> = tables(Some("own"), &cases).into_iter().map(|table| table.id).collect();
        assert_eq!(ids, ["label-genre"]);
    }
}
