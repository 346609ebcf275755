//! Statistics that the papers print of their data: books by length, and instances by what they are about.

mod collection;
mod hamlet;

pub use collection::instances;
pub use hamlet::{BookStatistics, books_table};

use closeread_eval::{Item, question_id};
use closeread_metrics::stats::bootstrap::{Percentile, percentile};
use closeread_table::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A book of a benchmark, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BookFacts {
    /// Id of the book.
    pub id: String,
    /// Name of the book in tables.
    pub name: String,
    /// ISO 639-1 code of the language.
    pub language: String,
    /// Length in tokens.
    pub tokens: usize,
    /// Number of questions about the book.
    pub questions: usize,
    /// Length with its questions, in tokens.
    pub with_questions: usize,
    /// Label that says who may print the book, where its items have the label `rights`.
    pub rights: Option<String>,
}

impl BookFacts {
    /// Counts a book of `tokens` tokens and the `items` about it, a question that is asked both ways once; `count` counts the
    /// tokens of questions and options.
    pub fn of(
        id: &str,
        title: &str,
        language: &str,
        tokens: usize,
        items: &[Item],
        count: impl Fn(&str) -> usize,
    ) -> Self {
        let mut seen = BTreeSet::new();
        let about = items.iter().filter(|item| item.documents.iter().any(|document| document == id));
        let own: Vec<&Item> = about.filter(|item| seen.insert(question_id(&item.id, &item.labels))).collect();
        let asked = own.iter().flat_map(|item| item.options.iter().chain([&item.question]));
        Self {
            id: id.to_owned(),
            name: if title.is_empty() { id.to_owned() } else { title.to_owned() },
            language: language.to_owned(),
            tokens,
            questions: own.len(),
            with_questions: tokens + asked.map(|text| count(text)).sum::<usize>(),
            rights: own.iter().find_map(|item| item.labels.get("rights")).cloned(),
        }
    }
}

/// Upper edges of SagaScale's ranges of length, in tokens; an edge belongs to the range above it. K is 1,000.
const EDGES: [usize; 4] = [128_000, 256_000, 512_000, 1_000_000];
const RANGES: [&str; 5] = ["<128K", "128K-256K", "256K-512K", "512K-1M", ">=1M"];

fn table(id: &str, title: &str, source: &str, columns: impl IntoIterator<Item = impl Into<String>>) -> Table {
    let columns = columns.into_iter().map(Into::into).collect();
    Table { source: source.to_owned(), ..Table::new(id, title, columns) }
}

/// Questions and books by length (SagaScale, Table 2). The range above a million tokens, which the paper has not, is there
/// if some book is in it.
pub fn by_length(books: &[BookFacts]) -> Table {
    let range = |book: &BookFacts| EDGES.iter().filter(|edge| book.tokens >= **edge).count();
    let n_ranges = if books.iter().any(|book| range(book) == EDGES.len()) { RANGES.len() } else { EDGES.len() };
    let heads = ["Range"].into_iter().chain(RANGES.into_iter().take(n_ranges)).chain(["Total"]);
    let mut made = table("data-lengths", "Questions and books by length in tokens", "SagaScale, Table 2", heads);
    let mut row = |name: &str, count: &dyn Fn(&BookFacts) -> usize| {
        let of = |wanted: usize| books.iter().filter(|book| range(book) == wanted).map(count).sum();
        let counts: Vec<usize> = (0..n_ranges).map(of).collect();
        let total = counts.iter().sum();
        let values = counts.into_iter().chain([total]).map(Value::count);
        made.rows.push([Value::text(name)].into_iter().chain(values).collect());
    };
    row("questions", &|book| book.questions);
    row("books", &|_| 1);
    made
}

/// Makes the table of every book with its language, tokens and questions, by language and title (SagaScale, Table 9).
pub fn lengths(books: &[BookFacts], tokenizer: &str) -> Table {
    let heads = ["title", "language", "tokens", "questions"];
    let mut made = table("lengths", "Lengths of the books", "SagaScale, Table 9", heads);
    made.notes.push(format!("tokens by {tokenizer}"));
    let mut books: Vec<&BookFacts> = books.iter().collect();
    books.sort_by_key(|book| (&book.language, &book.name));
    for book in books {
        let heads = [&book.name, &book.language].map(Value::text);
        made.rows.push(heads.into_iter().chain([book.tokens, book.questions].map(Value::count)).collect());
    }
    made
}

/// Makes the distribution of the lengths of books in each language (SagaScale, Figure 5).
pub fn lengths_by_language(books: &[BookFacts]) -> Table {
    let group = |book: &BookFacts| book.language.clone();
    let title = "Lengths of the books by language, tokens";
    distribution("data-languages", title, "SagaScale, Figure 5", books, group, |book| book.tokens)
}

/// Makes the distribution of the lengths of books with their questions, by who may print them (NovelQA, Figure 3).
pub fn lengths_with_questions(books: &[BookFacts]) -> Table {
    let title = "Lengths of the books with their questions, tokens";
    let group = |book: &BookFacts| book.rights.clone().unwrap_or_else(|| "all".to_owned());
    distribution("data-with-questions", title, "NovelQA, Figure 3", books, group, |book| book.with_questions)
}

fn distribution(
    id: &str,
    title: &str,
    source: &str,
    books: &[BookFacts],
    group: impl Fn(&BookFacts) -> String,
    length: impl Fn(&BookFacts) -> usize,
) -> Table {
    let heads = ["group", "books", "least", "first quarter", "median", "third quarter", "most", "mean"];
    let mut made = table(id, title, source, heads);
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    books.iter().for_each(|book| groups.entry(group(book)).or_default().push(length(book) as f64));
    for (name, lengths) in groups {
        let rounded = |value: f64| Value::Number { value, decimals: 0 };
        let at =
            |p: f64| percentile(&lengths, p, Percentile::Linear).map_or_else(|| Value::missing("no book"), rounded);
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let quarters = [0.0, 0.25, 0.5, 0.75, 1.0].map(at);
        let heads = [Value::text(name), Value::count(lengths.len())];
        made.rows.push(heads.into_iter().chain(quarters).chain([rounded(mean)]).collect());
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;

    fn book(name: &str, language: &str, tokens: usize, questions: usize) -> BookFacts {
        let (name, language) = (name.to_owned(), language.to_owned());
        let id = name.clone();
        BookFacts { id, name, language, tokens, questions, with_questions: tokens + 10, rights: None }
    }

    #[test]
    fn an_edge_belongs_to_the_range_above_it() {
        let books = [book("a", "en", 127_999, 3), book("b", "en", 128_000, 2), book("c", "zh", 999_999, 1)];
        let shown = |table: &Table| table.rows.iter().map(|row| row.iter().map(Value::shown).collect()).collect();
        let rows: Vec<Vec<String>> = shown(&by_length(&books));
        assert_eq!(rows, [["questions", "3", "2", "0", "1", "6"], ["books", "1", "1", "0", "1", "3"]]);
        let long = by_length(&[book("d", "en", 1_000_000, 4)]);
        assert_eq!((long.columns[5].as_str(), long.rows[0][5].clone()), (">=1M", Value::count(4)));
        let rows: Vec<Vec<String>> = shown(&lengths_by_language(&books));
        assert_eq!(rows[0], ["en", "2", "127,999", "127,999", "128,000", "128,000", "128,000", "128,000"]);
        assert_eq!(rows[1][0], "zh");
        assert_eq!(lengths_with_questions(&books).rows.len(), 1, "no rights, no groups");
    }

    #[test]
    fn the_papers_list_books_by_language_and_title_or_by_length() {
        let books = [book("c", "zh", 9, 3), book("b", "en", 7, 2), book("a", "en", 8, 1)];
        let names = |table: &Table| table.rows.iter().map(|row| row[0].shown()).collect::<Vec<_>>();
        assert_eq!(names(&lengths(&books, "cl100k_base")), ["a", "b", "c"]);
        let facts = books.map(|book| BookStatistics::of(&book.name, book.tokens, &[]));
        assert_eq!(names(&books_table(&facts)), ["b", "a", "c", "Average", "Total"]);
    }

    #[test]
    fn a_question_that_is_asked_both_ways_is_one() {
        let open = Item::new("q1", "b", "who", Task::Generative).label("asked_as", "generative");
        let choice =
            Item { id: "q1#choice".to_owned(), task: Task::Choice, ..open.clone() }.label("asked_as", "choice");
        let other = Item::new("q2#choice", "b", "when", Task::Choice);
        let facts = BookFacts::of("b", "", "en", 100, &[open, choice, other], str::len);
        assert_eq!((facts.questions, facts.with_questions), (2, 107));
    }
}
