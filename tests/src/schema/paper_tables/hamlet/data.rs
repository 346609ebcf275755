//! Tables of HAMLET's data: fifths, the taxonomy, books, chunk sizes, pruning.

use super::input::{self, Label};
use super::{capital, found};
use crate::schema::paper_tables::check::{place, same};
use closeread_build::hamlet::{
    BookStatistics, Chunk, FactLabel, Labels, Pruned, Rating, Tree, books_table, prune, pruning_table, study_table,
};
use closeread_eval::KeyFact;
use closeread_eval::hamlet::{ErrorCategory, Level, Perspective, fifth};
use closeread_table::{Table, Value as Place};
use closeread_text::Language;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Checks a case that is not about summaries; `None` if it is.
pub(super) fn check(
    table: &str,
    inputs: Option<&Value>,
    asked: &Value,
    expected: &Value,
    tolerance: f64,
) -> Option<Result<(), String>> {
    Some(match table {
        "Fifths" => fifths(asked, expected),
        "Table 12" => table_12(asked, expected),
        "Table 8" => table_8(inputs, asked, expected, tolerance),
        "Table 9" => table_9(asked, expected, tolerance),
        "Appendix C" => appendix_c(asked, expected, tolerance),
        _ => return None,
    })
}

pub(super) fn read<T: DeserializeOwned>(asked: &Value, name: &str) -> Result<T, String> {
    serde_json::from_value(asked[name].clone()).map_err(|error| format!("input.{name}: {error}"))
}

fn equal(what: &str, got: &Value, expected: &Value) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("{what}: expected {expected}, got {got}")) }
}

fn fifths(asked: &Value, expected: &Value) -> Result<(), String> {
    let chunks: Vec<usize> = read(asked, "chunks")?;
    for (chunks, expected) in chunks.into_iter().zip(expected.as_array().ok_or("`expected` is no list")?) {
        let fifths: Vec<usize> = (0..chunks).map(|chunk| fifth(chunk, chunks)).collect();
        equal(&format!("{chunks} chunks"), &json!(fifths), &expected["fifth"])?;
    }
    Ok(())
}

fn table_12(asked: &Value, expected: &Value) -> Result<(), String> {
    let labels: Vec<Label> = read(asked, "labels")?;
    for (label, name) in labels.into_iter().zip(read::<Vec<String>>(asked, "labels")?) {
        let category = ErrorCategory::from(label);
        let faithful = category == ErrorCategory::NoError;
        let kind = (!faithful).then_some(if category.is_intrinsic() { "intrinsic" } else { "extrinsic" });
        equal(&name, &json!({"faithful": faithful, "category": kind}), &expected[&name])?;
    }
    Ok(())
}

/// The cell of a column in the row that begins with this name.
fn at<'t>(table: &'t Table, name: &str, column: &str) -> Result<&'t Place, String> {
    let row = found(table, &[name]).ok_or_else(|| format!("no row {name}"))?;
    place(table, row, column).ok_or_else(|| format!("no column {column}"))
}

fn count(table: &Table, name: &str, column: &str, expected: &Value) -> Result<(), String> {
    match at(table, name, column)? {
        Place::Count { count } if expected.as_u64() == Some(*count) => Ok(()),
        got => Err(format!("{name}, {column}: expected {expected}, got {got:?}")),
    }
}

fn table_8(inputs: Option<&Value>, asked: &Value, expected: &Value, tolerance: f64) -> Result<(), String> {
    let input = input::input(inputs, asked)?;
    let books: Vec<input::Book> = read(asked, "books")?;
    let statistics = |book: &input::Book| {
        let own = || input.queries.iter().filter(|query| query.book == book.id);
        let facts = Perspective::ALL.map(|perspective| {
            let trees = own().filter(|query| query.perspective == perspective);
            let levels: Vec<Level> = trees.flat_map(|query| query.facts.iter().map(|fact| fact.level)).collect();
            Level::ALL.map(|level| levels.iter().filter(|at| **at == level).count())
        });
        BookStatistics {
            name: book.name.clone().unwrap_or_default(),
            author: book.author.clone(),
            genre: book.genre.clone(),
            date: book.date.clone(),
            tokens: book.tokens.unwrap_or(0),
            chunks: book.chunks,
            queries: own().count(),
            facts,
        }
    };
    let table = books_table(&books.iter().map(statistics).collect::<Vec<_>>());
    for expected in expected["books"].as_object().into_iter().flat_map(|books| books.values()) {
        let name = expected["name"].as_str().unwrap_or_default();
        for (column, field) in [("Author", "author"), ("Genre", "genre"), ("Publication Date", "date")] {
            if *at(&table, name, column)? != Place::text(expected[field].as_str().unwrap_or_default()) {
                return Err(format!("{name}, {column}: expected {}", expected[field]));
            }
        }
        count(&table, name, "Token Count", &expected["tokens"])?;
        each_count(expected, |column, expected| count(&table, name, column, expected))?;
    }
    let mean = |column: &str, expected: &Value| {
        same(column, Some(at(&table, "Average", column)?), &json!({"value": expected, "n": books.len()}), tolerance)
    };
    // One book has neither row: its own says both.
    let only = (books.len() == 1).then(|| books[0].name.clone().unwrap_or_default());
    let total = only.as_deref().unwrap_or("Total");
    if only.is_none() {
        mean("Token Count", &expected["average"]["tokens"])?;
        each_count(&expected["average"], mean)?;
    }
    each_count(&expected["total"], |column, expected| count(&table, total, column, expected))?;
    let totals = ["analytical", "narrative"].map(|perspective| expected["total"][perspective]["total"].as_u64());
    equal("facts", &json!(totals.into_iter().flatten().sum::<u64>()), &expected["facts"])?;
    let queries = ["analytical", "narrative"].map(|perspective| expected["queries"][perspective].as_u64());
    count(&table, total, "Queries", &json!(queries.into_iter().flatten().sum::<u64>()))
}

/// Chunks and the facts of each perspective and level.
fn each_count(expected: &Value, check: impl Fn(&str, &Value) -> Result<(), String>) -> Result<(), String> {
    check("# Chunks", &expected["chunks"])?;
    for perspective in ["analytical", "narrative"] {
        for level in ["root", "branch", "leaf", "total"] {
            check(&format!("{} {}", capital(perspective), capital(level)), &expected[perspective][level])?;
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct InputRating {
    size: usize,
    chunk: String,
    validity: Option<u8>,
    coherence: Option<u8>,
    cross_content: Option<u8>,
}

fn table_9(asked: &Value, expected: &Value, tolerance: f64) -> Result<(), String> {
    let ratings: Vec<InputRating> = read(asked, "scores")?;
    let rating = |InputRating { size, chunk, validity, coherence, cross_content }| Rating {
        size,
        chunk,
        scores: [validity, coherence, cross_content],
    };
    let table = study_table(&ratings.into_iter().map(rating).collect::<Vec<_>>());
    for (size, expected) in expected.as_object().ok_or("`expected` is no object")? {
        for (column, field) in
            [("Validity", "validity"), ("Coherence", "coherence"), ("Cross-content", "cross_content")]
        {
            let expected = &expected[field];
            same(&format!("{size}, {column}"), Some(at(&table, size, column)?), expected, tolerance)?;
            let (n, out) = (expected["n"].as_u64().unwrap_or(0), expected["out"].as_u64().unwrap_or(0));
            count(&table, size, "chunks", &json!(n + out))?;
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct InputTree {
    facts: Vec<InputFact>,
}

#[derive(Deserialize)]
struct InputFact {
    id: String,
    parent: Option<String>,
    faithfulness: Passed,
    objectivity: Passed,
    significance: Passed,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Passed {
    Pass,
    Fail,
}

impl InputTree {
    fn below(&self, parent: Option<&str>) -> Vec<KeyFact> {
        let own = self.facts.iter().filter(|fact| fact.parent.as_deref() == parent);
        own.map(|fact| KeyFact { fact: fact.id.clone(), children: self.below(Some(&fact.id)) }).collect()
    }

    /// The facts, depth first, as in the label files.
    fn depth_first<'a>(&'a self, parent: Option<&str>, into: &mut Vec<&'a InputFact>) {
        for fact in self.facts.iter().filter(|fact| fact.parent.as_deref() == parent) {
            into.push(fact);
            self.depth_first(Some(&fact.id), into);
        }
    }

    fn pruned(&self) -> (Tree, Pruned) {
        let chunk = Chunk { document: "b".to_owned(), index: 0, start: 0, end: 0, tokens: 0 };
        let tree = Tree { chunk, perspective: Perspective::Narrative, roots: self.below(None) };
        let mut facts = Vec::new();
        self.depth_first(None, &mut facts);
        let labels = |of: fn(&InputFact) -> Passed| {
            let label = |fact: &&InputFact| FactLabel { passes: of(fact) == Passed::Pass, reason: String::new() };
            Labels { labels: facts.iter().map(|fact| Some(label(fact))).collect() }
        };
        let passes = [labels(|f| f.faithfulness), labels(|f| f.objectivity), labels(|f| f.significance)];
        let left = prune(&tree, &passes.iter().collect::<Vec<_>>(), Some(Language::ENGLISH));
        (tree, left)
    }
}

fn appendix_c(asked: &Value, expected: &Value, tolerance: f64) -> Result<(), String> {
    let trees: Vec<InputTree> = read(asked, "trees")?;
    let pruned: Vec<(Tree, Pruned)> = trees.iter().map(InputTree::pruned).collect();
    let table = pruning_table(pruned.iter().map(|(tree, _)| tree), pruned.iter().map(|(_, left)| left));
    for level in ["root", "branch", "leaf", "all"] {
        let rate = &expected["rate"][level];
        match (at(&table, level, "removed")?, rate["value"].as_f64()) {
            (Place::Share { value, n }, Some(wanted)) => {
                if (value - wanted).abs() > tolerance || Some(*n as u64) != rate["of"].as_u64() {
                    return Err(format!("{level}: expected {rate}, got {value} of {n}"));
                }
            }
            (Place::Missing { .. }, None) => {}
            (got, _) => return Err(format!("{level}: expected {rate}, got {got:?}")),
        }
        count(&table, level, "kept", &expected["kept"][level])?;
        let reasons = ["faithfulness", "objectivity", "significance"].map(|why| match at(&table, level, why) {
            Ok(Place::Count { count }) => *count,
            _ => 0,
        });
        let failed = &expected["failed_themselves"][level];
        equal(&format!("{level}: failed themselves"), &json!(reasons.iter().sum::<u64>()), failed)?;
    }
    Ok(())
}
