//! Tables that the paper reports of its data: the types of questions (Figure 2), how many were kept by language
//! (section 3.3), the lengths of books (Tables 2 and 9, Figure 5).

use super::filter::Candidate;
use crate::stage::Unit;
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use closeread_data::statistics::{self, BookFacts};
use closeread_eval::Item;
use closeread_judges::QuestionType;
use closeread_table::number::thousands;
use closeread_table::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Counts how many questions ask for what; no response named the type of `n_untyped` of them.
pub(super) fn types(items: &[Item], n_untyped: usize) -> Table {
    let columns = ["type", "questions", "share"].map(str::to_owned).to_vec();
    let mut table = Table::new("types", "What the questions ask for", columns);
    table.source = "SagaScale, Figure 2".to_owned();
    for kind in QuestionType::ALL {
        let n = items
            .iter()
            .filter(|item| item.labels.get("question_type").is_some_and(|name| name == kind.name()))
            .count();
        let share = match items.len() {
            0 => Value::missing("no question"),
            all => Value::Share { value: n as f64 / all as f64, n: all },
        };
        table.rows.push(vec![Value::text(kind.name()), Value::count(n), share]);
    }
    if n_untyped > 0 {
        let n = thousands(n_untyped as u64);
        table.notes.push(format!("questions whose type no response named, which count as Miscellaneous: {n}"));
    }
    table
}

/// Counts the questions that each step left, by the language of their books; the last step is compared with the first.
pub(super) fn by_language(steps: &[(&str, &Vec<Unit<Candidate>>)], language: impl Fn(&str) -> String) -> Table {
    let of = |units: &[Unit<Candidate>]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        units.iter().for_each(|unit| *counts.entry(language(&unit.input.document)).or_default() += 1);
        counts
    };
    let counts: Vec<BTreeMap<String, usize>> = steps.iter().map(|(_, units)| of(units)).collect();
    let names = steps.iter().map(|(name, _)| *name);
    let columns = ["language"].into_iter().chain(names).chain(["share"]).map(str::to_owned).collect();
    let mut table = Table::new("languages", "Questions generated and kept, by language", columns);
    table.source = "SagaScale, section 3.3".to_owned();
    let mut row = |name: &str, counts: Vec<usize>| {
        let share = match (counts.first(), counts.last()) {
            (Some(&all), Some(&kept)) if all > 0 => Value::Share { value: kept as f64 / all as f64, n: all },
            _ => Value::missing("no question was generated"),
        };
        let counts = counts.into_iter().map(Value::count);
        table.rows.push([Value::text(name)].into_iter().chain(counts).chain([share]).collect());
    };
    let languages: BTreeSet<&String> = counts.iter().flat_map(BTreeMap::keys).collect();
    for name in languages {
        row(name, counts.iter().map(|step| step.get(name).copied().unwrap_or(0)).collect());
    }
    row("all", steps.iter().map(|(_, units)| units.len()).collect());
    table.summary_rows = 1;
    table.notes.push(
        "share: kept of those generated (the paper: 613 of 7,760 in English, 511 of 3,824 in Chinese)".to_owned(),
    );
    table
}

/// Tokens and questions of the books: by range, of each, and their distribution in each language.
pub(super) fn lengths(books: &[&Arc<Book>], tokenizer: &Tokenizer, items: &[Item]) -> Result<Vec<Table>, TextError> {
    let facts = |book: &&Arc<Book>| {
        let tokens = tokenizer.count(book.text()?.flow().text());
        let (id, language) = (&book.id, book.language.code());
        Ok(BookFacts::of(id, &book.title, language, tokens, items, |text| tokenizer.count(text)))
    };
    let facts = books.iter().map(facts).collect::<Result<Vec<_>, TextError>>()?;
    Ok(vec![
        statistics::by_length(&facts),
        statistics::lengths(&facts, tokenizer.name()),
        statistics::lengths_by_language(&facts),
    ])
}
