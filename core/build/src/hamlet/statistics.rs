//! Statistics that the paper reports of its data: the books of Table 8, and what pruning removed (appendix C).

use super::{Chunk, Pruned, Removal, Tree, Unit, numbered};
use crate::About;
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use closeread_data::statistics::BookStatistics;
use closeread_eval::Item;
use closeread_eval::hamlet::Level;
use closeread_table::{Table, Value};
use std::sync::Arc;

/// Makes Table 8 on the books, from the items that were made of each.
pub(super) fn books(
    books: &[Arc<Book>],
    tokenizer: &Tokenizer,
    chunks: &[Unit<Chunk>],
    items: &[Item],
    about: &About,
) -> Result<Vec<BookStatistics>, TextError> {
    let of_book = |book: &Arc<Book>| {
        let own: Vec<&Item> = items.iter().filter(|item| item.documents.contains(&book.id)).collect();
        let name = if book.title.is_empty() { &book.id } else { &book.title };
        let tokens = tokenizer.count(book.text()?.flow().text());
        let chunks = chunks.iter().filter(|unit| unit.input.document == book.id).count();
        let known = |field: &str| Some(about.get(&book.id)?.get(field)?.as_str()?.to_owned());
        let (author, genre, date) = (known("author"), known("genre"), known("date"));
        Ok(BookStatistics { chunks, author, genre, date, ..BookStatistics::of(name, tokens, &own) })
    };
    books.iter().map(of_book).collect()
}

/// Makes the table of what pruning removed on each level, and why. Facts of trees that were dropped whole are counted
/// as removed.
pub fn pruning_table<'a>(
    trees: impl IntoIterator<Item = &'a Tree>,
    pruned: impl IntoIterator<Item = &'a Pruned>,
) -> Table {
    let mut columns: Vec<String> = ["level", "written", "kept", "removed"].map(str::to_owned).to_vec();
    columns.extend(Removal::ALL.iter().map(|why| why.name().to_owned()));
    let mut table = Table::new("pruning", "Key facts that pruning removed", columns);
    table.source = "HAMLET, appendix C".to_owned();
    table.notes.push(
        "removed: share of the facts written (22% in the paper: roots 4%, branches 13%, leaves 30%); then how many for \
         which reason, of several the first; facts of trees that were dropped whole have none"
            .to_owned(),
    );
    let written = trees.into_iter().flat_map(|tree| numbered(&tree.roots));
    let written: Vec<Level> = written.map(|fact| fact.level).collect();
    let pruned: Vec<&Pruned> = pruned.into_iter().collect();
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
