//! What the paper reports of its data: Table 8, and what pruning removed (appendix C).

use super::{Chunk, Pruned, Removal, Tree, Unit, numbered};
use crate::About;
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use closeread_eval::hamlet::{Level, Perspective};
use closeread_eval::{ChunkPlace, Item};
use closeread_judges::linearised;
use closeread_table::{Table, Value};
use std::sync::Arc;

/// A book of the benchmark (Table 8).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BookStatistics {
    /// Its title, or its id where it has none.
    pub name: String,
    /// Who wrote it, where that is known.
    pub author: Option<String>,
    /// What kind of book it is, where that is known.
    pub genre: Option<String>,
    /// When it came out, where that is known.
    pub date: Option<String>,
    /// Length in tokens.
    pub tokens: usize,
    /// Chunks that it was cut into.
    pub chunks: usize,
    /// Queries, of both perspectives.
    pub queries: usize,
    /// Key facts of each perspective, by level.
    pub facts: [[usize; 3]; 2],
}

impl BookStatistics {
    /// Of a book of so many tokens, by the items on it: its chunks are as many as they say it has, else as many as they have.
    pub fn of(name: &str, tokens: usize, own: &[&Item]) -> Self {
        let facts = Perspective::ALL.map(|perspective| {
            let seen = |item: &&&Item| item.labels.get("perspective").is_some_and(|name| name == perspective.name());
            let trees = own.iter().filter(seen).filter_map(|item| item.key_facts.as_ref());
            let levels: Vec<Level> = trees.flat_map(linearised).map(|(level, _)| level).collect();
            Level::ALL.map(|level| levels.iter().filter(|at| **at == level).count())
        });
        let said = own.iter().filter_map(|item| item.other.get("n_chunks")?.as_u64()).max();
        let mut places: Vec<&ChunkPlace> = Vec::new();
        for place in own.iter().filter_map(|item| Some(&item.key_facts.as_ref()?.chunk)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let chunks = said.and_then(|n| usize::try_from(n).ok()).unwrap_or(places.len());
        Self { name: name.to_owned(), tokens, chunks, queries: own.len(), facts, ..Self::default() }
    }

    fn counts(&self) -> Vec<usize> {
        let facts = self.facts.iter().flat_map(|levels| levels.iter().copied().chain([levels.iter().sum()]));
        [self.chunks].into_iter().chain(facts).chain([self.queries]).collect()
    }
}

/// Tokens, chunks and key facts of each book, by perspective and level, with average and total (Table 8).
pub fn books_table(books: &[BookStatistics]) -> Table {
    let mut columns: Vec<String> =
        ["Name", "Author", "Genre", "Publication Date", "Token Count", "# Chunks"].map(str::to_owned).to_vec();
    for perspective in ["Analytical", "Narrative"] {
        columns.extend(["Root", "Branch", "Leaf", "Total"].map(|level| format!("{perspective} {level}")));
    }
    columns.push("Queries".to_owned());
    let mut table = Table::new("books", "Key facts of each book", columns);
    table.source = "HAMLET, Table 8".to_owned();
    for book in books {
        let known = |text: &Option<String>| text.as_ref().map_or_else(|| Value::missing("not known"), Value::text);
        let heads = [Value::text(&book.name), known(&book.author), known(&book.genre), known(&book.date)];
        let counts = [book.tokens].into_iter().chain(book.counts()).map(Value::count);
        table.rows.push(heads.into_iter().chain(counts).collect());
    }
    if books.len() > 1 {
        let of_book = |book: &BookStatistics| [book.tokens].into_iter().chain(book.counts()).collect::<Vec<_>>();
        let all: Vec<Vec<usize>> = books.iter().map(of_book).collect();
        let totals: Vec<usize> = (0..all[0].len()).map(|column| all.iter().map(|row| row[column]).sum()).collect();
        let heads = |name: &str| [name, "", "", ""].map(Value::text);
        let mean = |total: &usize| Value::printed(*total as f64 / books.len() as f64, 0, books.len());
        table.rows.push(heads("Average").into_iter().chain(totals.iter().map(mean)).collect());
        table.rows.push(heads("Total").into_iter().chain(totals.iter().map(|n| Value::count(*n))).collect());
        table.summary_rows = 2;
    }
    table
}

/// What Table 8 says of each book, from the items that were made of it.
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

/// What pruning removed on each level, and why. Facts of trees that were dropped whole are counted as removed.
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
