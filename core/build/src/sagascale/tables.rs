//! What the paper reports of its data: the types of questions (figure 8), the lengths of books (Tables 2 and 9).

use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
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
pub(super) fn lengths(books: &[&Arc<Book>], tokenizer: &Tokenizer, items: &[Item]) -> Result<Table, TextError> {
    let columns = ["book", "language", "tokens", "questions"].map(str::to_owned).to_vec();
    let mut table = Table::new("lengths", "Lengths of the books", columns);
    table.source = "SagaScale, Table 9".to_owned();
    table.notes.push(format!("tokens by {}", tokenizer.name()));
    for book in books {
        table.rows.push(vec![
            Value::text(&book.id),
            Value::text(book.language.code()),
            Value::count(tokenizer.count(book.text()?.flow().text())),
            Value::count(items.iter().filter(|item| item.documents.contains(&book.id)).count()),
        ]);
    }
    Ok(table)
}
