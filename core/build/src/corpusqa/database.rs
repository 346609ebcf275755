//! Database of the pipeline: it runs one read-only statement at a time over one table.

use super::column::Column;
use super::global::Row;
use std::fmt;

/// The name of the table in every statement.
pub const TABLE: &str = "corpus";

/// Answers read-only SQL over a table that is called [`TABLE`].
///
/// Columns are called by their keys. Numbers of every type are reals, so that no quotient is cut to a whole number; dates are
/// texts (`YYYY-MM`), which sort as they follow; what is missing is null.
pub trait Database {
    /// Returns what `sql` selects from the rows of the set `id`; the same id always comes with the same rows.
    ///
    /// # Errors
    /// [`SqlError`].
    fn select(&self, id: &str, columns: &[Column], rows: &[&Row], sql: &str) -> Result<Selected, SqlError>;
}

/// The selection of a statement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selected {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<SqlValue>>,
}

/// A value of a database.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    /// Null: no value.
    Null,
    /// A whole number.
    Integer(i64),
    /// Any number.
    Real(f64),
    /// Words.
    Text(String),
}

impl fmt::Display for SqlValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Integer(n) => write!(f, "{n}"),
            Self::Real(n) => write!(f, "{n}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The reason why a statement gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// The SQL is no statement of this database, or names what is not there.
    #[error("the database refuses it: {0}")]
    Invalid(String),
    /// The statement would change something, or look at something else than the table.
    #[error("only one SELECT on the table `{TABLE}` is allowed: {0}")]
    Forbidden(String),
    /// The statement takes too long.
    #[error("it takes too long: ended after {0}")]
    TooLong(String),
    /// The statement selects too much.
    #[error("it selects more than {0} rows")]
    TooMany(usize),
    /// The selection is too large, or what the statement makes on the way.
    #[error("it takes more than {0} MiB")]
    TooLarge(usize),
}
