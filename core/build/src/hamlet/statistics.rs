//! What the paper reports of its data: Table 8, and what pruning removed (appendix C).

use super::{Chunk, Pruned, Removal, Tree, Unit, numbered};
use crate::line::{End, Line};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use closeread_eval::Item;
use closeread_eval::hamlet::{Level, Perspective};
use closeread_judges::linearised;
use closeread_table::{Table, Value};
use std::sync::Arc;

/// Tokens, chunks and key facts of each book, by perspective and level, as they are in the items.
pub(super) fn books(
    books: &[Arc<Book>],
    tokenizer: &Tokenizer,
    chunks: &[Unit<Chunk>],
    items: &[Item],
) -> Result<Table, TextError> {
    let mut columns: Vec<String> = ["book", "tokens", "chunks", "queries"].map(str::to_owned).to_vec();
    for perspective in Perspective::ALL {
        let levels = Level::ALL.iter().map(|level| level.name()).chain(["all"]);
        columns.extend(levels.map(|level| format!("{} {level}", perspective.name())));
    }
    let mut table = Table::new("books", "Key facts of each book", columns);
    table.source = "HAMLET, Table 8".to_owned();
    let mut total = vec![0; table.columns.len() - 1];
    for book in books {
        let of_book: Vec<&Item> = items.iter().filter(|item| item.documents.contains(&book.id)).collect();
        let mut counts = vec![
            tokenizer.count(book.text()?.flow().text()),
            chunks.iter().filter(|unit| unit.input.document == book.id).count(),
            of_book.len(),
        ];
        for perspective in Perspective::ALL {
            let seen = |item: &&&Item| item.labels.get("perspective").is_some_and(|name| name == perspective.name());
            let facts: Vec<Level> = of_book
                .iter()
                .filter(seen)
                .filter_map(|item| item.key_facts.as_ref())
                .flat_map(|facts| linearised(facts).into_iter().map(|(level, _)| level))
                .collect();
            counts.extend(Level::ALL.map(|level| facts.iter().filter(|at| **at == level).count()));
            counts.push(facts.len());
        }
        total.iter_mut().zip(&counts).for_each(|(sum, n)| *sum += n);
        table.rows.push(row(&book.id, &counts));
    }
    if books.len() > 1 {
        table.rows.push(row("total", &total));
    }
    Ok(table)
}

fn row(name: &str, counts: &[usize]) -> Vec<Value> {
    std::iter::once(Value::text(name)).chain(counts.iter().map(|n| Value::count(*n))).collect()
}

/// What pruning removed on each level, and why. Facts of trees that were dropped whole are counted as removed.
pub(super) fn pruning(trees: &[Unit<Tree>], lines: &[Line<Pruned>]) -> Table {
    let mut columns: Vec<String> = ["level", "written", "kept", "removed"].map(str::to_owned).to_vec();
    columns.extend(Removal::ALL.iter().map(|why| why.name().to_owned()));
    let mut table = Table::new("pruning", "Key facts that pruning removed", columns);
    table.source = "HAMLET, appendix C".to_owned();
    table.notes.push(
        "removed: share of the facts written (22% in the paper: roots 4%, branches 13%, leaves 30%); then how many for \
         which reason, of several the first; facts of trees that were dropped whole have none"
            .to_owned(),
    );
    let written: Vec<Level> =
        trees.iter().flat_map(|unit| numbered(&unit.input.roots)).map(|fact| fact.level).collect();
    let pruned: Vec<&Pruned> = lines
        .iter()
        .filter_map(|line| match &line.end {
            End::Kept { value } => Some(value),
            _ => None,
        })
        .collect();
    let kept: Vec<Level> = pruned.iter().flat_map(|p| numbered(&p.roots)).map(|fact| fact.level).collect();
    let removed: Vec<(Level, Removal)> =
        pruned.iter().flat_map(|p| p.removed.iter().map(|removed| (removed.fact.level, removed.why))).collect();
    for level in Level::ALL.map(Some).into_iter().chain([None]) {
        let at = |other: Level| level.is_none_or(|level| level == other);
        let n_written = written.iter().filter(|level| at(**level)).count();
        let n_kept = kept.iter().filter(|level| at(**level)).count();
        let share = match n_written {
            0 => Value::missing("no fact was written"),
            n => Value::Share { value: n.saturating_sub(n_kept) as f64 / n as f64, n },
        };
        let mut row =
            vec![Value::text(level.map_or("all", Level::name)), Value::count(n_written), Value::count(n_kept), share];
        let because = |why: Removal| removed.iter().filter(|(l, w)| at(*l) && *w == why).count();
        row.extend(Removal::ALL.map(|why| Value::count(because(why))));
        table.rows.push(row);
    }
    table
}
