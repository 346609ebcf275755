//! What the paper reports of its data: the types of questions (figure 8), the lengths of books (Tables 2 and 9).

use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use closeread_data::statistics::{self, BookFacts};
use closeread_eval::Item;
use closeread_judges::QuestionType;
use closeread_table::{Table, Value};
use std::sync::Arc;

/// How many questions ask for what.
pub(super) fn types(items: &[Item]) -> Table {
    let columns = ["type", "questions", "share"].map(str::to_owned).to_vec();
    let mut table = Table::new("types", "What the questions ask for", columns);
    table.source = "SagaScale, figure 8".to_owned();
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
    table
}

/// Tokens and questions of each book.
pub(super) fn lengths(books: &[&Arc<Book>], tokenizer: &Tokenizer, items: &[Item]) -> Result<Vec<Table>, TextError> {
    let facts = |book: &&Arc<Book>| {
        let tokens = tokenizer.count(book.text()?.flow().text());
        Ok(BookFacts {
            name: book.id.clone(),
            language: book.language.code().to_owned(),
            tokens,
            questions: items.iter().filter(|item| item.documents.contains(&book.id)).count(),
            ..BookFacts::default()
        })
    };
    let facts = books.iter().map(facts).collect::<Result<Vec<_>, TextError>>()?;
    Ok(vec![statistics::by_length(&facts), statistics::lengths(&facts, tokenizer.name())])
}
