//! HAMLET's table on its novels (Table 8).

use closeread_eval::hamlet::{Level, Perspective, linearised};
use closeread_eval::{ChunkPlace, Item};
use closeread_table::{Table, Value};

/// A book of the benchmark with its key facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BookStatistics {
    /// Title of the book, or its id where it has none.
    pub name: String,
    /// Author of the book, where that is known.
    pub author: Option<String>,
    /// Kind of book, where that is known.
    pub genre: Option<String>,
    /// Date on which the book came out, where that is known.
    pub date: Option<String>,
    /// Length in tokens.
    pub tokens: usize,
    /// Chunks that it was cut into.
    pub chunks: usize,
    /// Number of queries, of both perspectives.
    pub queries: usize,
    /// Key facts of each perspective, by level.
    pub facts: [[usize; 3]; 2],
}

impl BookStatistics {
    /// Counts a book of `tokens` tokens, by the items on it: its chunks are as many as they say it has, else as many as
    /// they have.
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

/// Tokens, chunks and key facts of each book, shortest first, by perspective and level, with average and total (Table 8).
pub fn books_table(books: &[BookStatistics]) -> Table {
    let mut columns: Vec<String> =
        ["Name", "Author", "Genre", "Token Count", "Publication Date", "# Chunks"].map(str::to_owned).to_vec();
    for perspective in ["Analytical", "Narrative"] {
        columns.extend(["Root", "Branch", "Leaf", "Total"].map(|level| format!("{perspective} {level}")));
    }
    columns.push("Queries".to_owned());
    let mut table = Table::new("books", "Key facts of each book", columns);
    table.source = "HAMLET, Table 8".to_owned();
    let mut rows: Vec<&BookStatistics> = books.iter().collect();
    rows.sort_by_key(|book| book.tokens);
    for book in rows {
        let known = |text: &Option<String>| text.as_ref().map_or_else(|| Value::missing("not known"), Value::text);
        let heads = [Value::text(&book.name), known(&book.author), known(&book.genre)];
        let lengths = [Value::count(book.tokens), known(&book.date)];
        table.rows.push(heads.into_iter().chain(lengths).chain(book.counts().into_iter().map(Value::count)).collect());
    }
    if books.len() > 1 {
        let of_book = |book: &BookStatistics| [book.tokens].into_iter().chain(book.counts()).collect::<Vec<_>>();
        let all: Vec<Vec<usize>> = books.iter().map(of_book).collect();
        let totals: Vec<usize> = (0..all[0].len()).map(|column| all.iter().map(|row| row[column]).sum()).collect();
        let mut row = |name: &str, value: &dyn Fn(usize) -> Value| {
            let mut cells: Vec<Value> = [name, "", ""].map(Value::text).to_vec();
            cells.extend(totals.iter().map(|total| value(*total)));
            // A date has neither mean nor sum.
            cells.insert(4, Value::text(""));
            table.rows.push(cells);
        };
        row("Average", &|total| Value::printed(total as f64 / books.len() as f64, 0, books.len()));
        row("Total", &Value::count);
        table.summary_rows = 2;
    }
    table
}
