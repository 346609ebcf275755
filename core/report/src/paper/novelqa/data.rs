//! Tables on the questions: Tables 1, 9, 12 and 13.

use super::items::{ASPECTS, POSITION_BINS, RELATIVE_BINS, aspect, counts, position_bin, relative_bin};
use crate::paper::grid::{Grid, Number};
use closeread_data::novelqa::COMPLEXITIES;
use closeread_eval::observations::{ItemFacts, Observations};
use closeread_eval::question_id;
use closeread_table::{Table, Value};
use std::collections::BTreeSet;

/// The tables on the data, from the items of the trials; a question that is asked in both settings is one.
pub(in crate::paper) fn tables(trials: &Observations) -> Vec<Table> {
    let mut seen = BTreeSet::new();
    let items = trials.items().map(|(_, item)| item);
    let items: Vec<&ItemFacts> = items.filter(|item| seen.insert(question_id(&item.id, &item.labels))).collect();
    let all = [table_1(&items), table_9(&items), table_12(&items), table_13(&items)];
    all.into_iter().flatten().collect()
}

fn complexity(item: &ItemFacts) -> Option<&str> {
    item.label("complexity")
}

/// Names of the relative position bins.
pub(super) fn relative_bins() -> Vec<String> {
    (0..RELATIVE_BINS).map(|bin| format!("{}-{}%", 10 * bin, 10 * (bin + 1))).collect()
}

fn table_1(items: &[&ItemFacts]) -> Option<Table> {
    if items.iter().all(|item| aspect(item).is_none() || complexity(item).is_none()) {
        return None;
    }
    let columns = ["aspect"].into_iter().chain(COMPLEXITIES).chain(["sum"]).map(str::to_owned).collect();
    let mut table = Table::new("novelqa-table-1", "Questions by aspect and complexity", columns);
    table.source = "NovelQA, Table 1".to_owned();
    let mut row = |name: &str, own: Vec<&&ItemFacts>| {
        let counted = counts(&COMPLEXITIES, own.iter().filter_map(|item| complexity(item)));
        let counted = counted.into_iter().map(|(_, n)| Value::count(n));
        let row = [Value::text(name)].into_iter().chain(counted).chain([Value::count(own.len())]);
        table.rows.push(row.collect());
    };
    for (name, _) in ASPECTS {
        row(name, items.iter().filter(|item| aspect(item) == Some(name)).collect());
    }
    row("sum", items.iter().collect());
    table.summary_rows = 1;
    let without = items.iter().filter(|item| aspect(item).is_none()).count();
    if without > 0 {
        table.notes.push(format!("{without} questions have no aspect of the paper's and are in the sums alone"));
    }
    Some(table)
}

fn share(count: usize, of: usize) -> Number {
    Number::new(100.0 * count as f64 / of as f64, of)
}

fn table_9(items: &[&ItemFacts]) -> Option<Table> {
    let title = "Share of questions, %";
    let columns = ["share"];
    let mut grid = Grid::new("novelqa-table-9", title, "NovelQA, Table 9", &["dimension", "type"], columns).decimals(2);
    let aspects = ASPECTS.map(|(name, _)| name);
    let by_complexity = counts(&COMPLEXITIES, items.iter().filter_map(|item| complexity(item)));
    let by_aspect = counts(&aspects, items.iter().filter_map(|item| aspect(item)));
    if by_complexity.iter().chain(&by_aspect).all(|(_, n)| *n == 0) {
        return None;
    }
    for (dimension, counted) in [("complexity", by_complexity), ("aspect", by_aspect)] {
        for (name, count) in counted {
            grid.row([Value::text(dimension), Value::text(name)], [Ok(share(count, items.len()))]);
        }
    }
    grid.note("of all questions, those without the label among them").finished()
}

fn pieces_by(
    items: &[&ItemFacts],
    id: &str,
    title: &str,
    source: &str,
    bins: &[String],
    bin: impl Fn(&ItemFacts, usize) -> Option<usize>,
) -> Option<Table> {
    let own = |item: &&ItemFacts| item.evidence_tokens.iter().filter_map(|token| bin(item, *token)).collect::<Vec<_>>();
    let placed: Vec<usize> = items.iter().flat_map(own).collect();
    if placed.is_empty() {
        return None;
    }
    let of = |wanted: usize| placed.iter().filter(|bin| **bin == wanted).count();
    let mut grid = Grid::new(id, title, source, &["Range"], bins.iter().cloned()).decimals(2);
    grid.counts([Value::text("Count")], (0..bins.len()).map(of));
    grid.row([Value::text("Percentage")], (0..bins.len()).map(|bin| Ok(share(of(bin), placed.len()))));
    let unplaced: usize = items.iter().map(|item| item.evidence_unplaced).sum();
    let note = format!("{} pieces of gold evidence; {unplaced} more have no exact match in the book", placed.len());
    grid.note(note).finished()
}

fn table_12(items: &[&ItemFacts]) -> Option<Table> {
    let title = "Where the evidence starts, in tokens: pieces, and % of them";
    let bins = POSITION_BINS.map(str::to_owned);
    pieces_by(items, "novelqa-table-12", title, "NovelQA, Table 12", &bins, |_, token| Some(position_bin(token)))
}

fn table_13(items: &[&ItemFacts]) -> Option<Table> {
    let title = "Where in its book the evidence starts: pieces, and % of them";
    let place = |item: &ItemFacts, token: usize| relative_bin(token, item.book_tokens?);
    pieces_by(items, "novelqa-table-13", title, "NovelQA, Table 13", &relative_bins(), place)
}
