//! SQLite as the database of `build corpusqa`: read-only, limited in time and rows.

use anyhow::{Context, Result};
use closeread_build::corpusqa::{
    CellValue, Column, Database, Row, Selected, SqlError, SqlValue, TABLE, ValueType, read_cell,
};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Instructions between two looks at the limits.
const STEP: i32 = 1_000;

/// Most bytes that a statement may select, and that each text on the way may have: one instruction can make a gigabyte.
const MAX_BYTES: usize = 16 << 20;

/// The limits of a statement.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Instructions of SQLite's machine, in thousands: the same on every computer.
    pub kilo_instructions: u64,
    /// Longest that one may run, for computers that are slow.
    pub time: Duration,
    /// Most rows that it may select.
    pub rows: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { kilo_instructions: 200_000, time: Duration::from_secs(30), rows: 10_000 }
    }
}

/// Databases in memory, one a set; the last one stays open.
#[derive(Default)]
pub struct Sqlite {
    limits: Limits,
    open: RefCell<Option<(String, Connection)>>,
}

impl Sqlite {
    /// Opens a database with these limits.
    #[cfg(test)]
    fn limited(limits: Limits) -> Self {
        Self { limits, open: RefCell::default() }
    }
}

impl Database for Sqlite {
    fn select(&self, id: &str, columns: &[Column], rows: &[&Row], sql: &str) -> Result<Selected, SqlError> {
        let mut open = self.open.borrow_mut();
        if open.as_ref().is_none_or(|(known, _)| known != id) {
            let connection = in_memory(columns, rows).map_err(|error| SqlError::Invalid(error.to_string()))?;
            *open = Some((id.to_owned(), connection));
        }
        let (_, connection) = open.as_ref().expect("opened above");
        let ended = Arc::new(AtomicBool::new(false));
        let mut left = self.limits.kilo_instructions;
        let (start, longest, flag) = (Instant::now(), self.limits.time, Arc::clone(&ended));
        connection.progress_handler(
            STEP,
            Some(move || {
                left = left.saturating_sub(1);
                let stops = left == 0 || start.elapsed() > longest;
                flag.store(stops, Ordering::Relaxed);
                stops
            }),
        );
        let found = selected(connection, sql, self.limits.rows);
        connection.progress_handler(STEP, None::<fn() -> bool>);
        found.map_err(|error| match error {
            Refused::Sql(error) => error,
            Refused::Sqlite(error) if ended.load(Ordering::Relaxed) => {
                SqlError::TooLong(format!("{} million instructions ({error})", self.limits.kilo_instructions / 1_000))
            }
            Refused::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied) => {
                SqlError::Forbidden(error.to_string())
            }
            Refused::Sqlite(rusqlite::Error::MultipleStatement) => SqlError::Forbidden("these are several".to_owned()),
            Refused::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::TooBig) => {
                SqlError::TooLarge(MAX_BYTES >> 20)
            }
            Refused::Sqlite(error) => SqlError::Invalid(error.to_string()),
        })
    }
}

enum Refused {
    Sql(SqlError),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn selected(connection: &Connection, sql: &str, most: usize) -> Result<Selected, Refused> {
    let mut statement = connection.prepare(sql.trim().trim_end_matches(';'))?;
    let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    if !statement.readonly() || columns.is_empty() {
        return Err(Refused::Sql(SqlError::Forbidden("it selects nothing".to_owned())));
    }
    let mut rows = statement.query([])?;
    let (mut found, mut left) = (Selected { columns, rows: Vec::new() }, MAX_BYTES);
    while let Some(row) = rows.next()? {
        if found.rows.len() == most {
            return Err(Refused::Sql(SqlError::TooMany(most)));
        }
        let mut value = |at| {
            let value = row.get_ref(at)?;
            let bytes = value.as_bytes_or_null().ok().flatten().map_or(0, <[u8]>::len);
            left = left.checked_sub(bytes).ok_or(Refused::Sql(SqlError::TooLarge(MAX_BYTES >> 20)))?;
            Ok::<_, Refused>(match value {
                ValueRef::Null => SqlValue::Null,
                ValueRef::Integer(n) => SqlValue::Integer(n),
                ValueRef::Real(n) => SqlValue::Real(n),
                ValueRef::Text(text) | ValueRef::Blob(text) => {
                    SqlValue::Text(String::from_utf8_lossy(text).into_owned())
                }
            })
        };
        found.rows.push((0..found.columns.len()).map(&mut value).collect::<Result<_, _>>()?);
    }
    Ok(found)
}

/// The rows as a database of their own, in which nothing can be done but select.
fn in_memory(columns: &[Column], rows: &[&Row]) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    fill(&connection, columns, rows.iter().copied())?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_BYTES as i32)?;
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Read { .. } => Authorization::Allow,
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }));
    Ok(connection)
}

/// Creates the table in a database and fills it; where every column was dropped there is none.
pub(crate) fn fill<'r>(
    connection: &Connection,
    columns: &[Column],
    rows: impl Iterator<Item = &'r Row>,
) -> rusqlite::Result<()> {
    let declared: Vec<String> = columns
        .iter()
        .map(|column| format!("\"{}\" {}", column.key, if column.is_number() { "REAL" } else { "TEXT" }))
        .collect();
    if declared.is_empty() {
        return Ok(());
    }
    connection.execute(&format!("CREATE TABLE {TABLE} ({})", declared.join(", ")), [])?;
    let slots = vec!["?"; columns.len()].join(", ");
    let mut insert = connection.prepare(&format!("INSERT INTO {TABLE} VALUES ({slots})"))?;
    for row in rows {
        let cells = row.cells.iter().map(|cell| match cell {
            CellValue::Number { value } => Value::Real(*value),
            CellValue::Missing => Value::Null,
            other => Value::Text(other.to_string()),
        });
        insert.execute(rusqlite::params_from_iter(cells))?;
    }
    Ok(())
}

/// The rows of a table in a database file, with the columns that `columns` names.
pub(crate) fn read_rows(connection: &Connection, columns: &[Column]) -> Result<Vec<Row>> {
    let keys: Vec<String> = columns.iter().map(|column| format!("\"{}\"", column.key)).collect();
    let mut statement = connection.prepare(&format!("SELECT {} FROM {TABLE}", keys.join(", ")))?;
    let mut found = statement.query([])?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let mut cells = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            cells.push(match row.get_ref(at)? {
                ValueRef::Null => CellValue::Missing,
                ValueRef::Integer(n) => CellValue::Number { value: n as f64 },
                ValueRef::Real(value) => CellValue::Number { value },
                ValueRef::Text(text) | ValueRef::Blob(text) => cell(&String::from_utf8_lossy(text), column)?,
            });
        }
        let name = cells.first().map(CellValue::to_string).unwrap_or_default();
        rows.push(Row { name, cells, documents: Vec::new(), conflicts: Vec::new() });
    }
    Ok(rows)
}

fn cell(text: &str, column: &Column) -> Result<CellValue> {
    match column.value_type {
        ValueType::YearMonth => {
            read_cell(text, column).map_err(anyhow::Error::msg).with_context(|| format!("column {}", column.key))
        }
        _ => Ok(CellValue::Text { text: text.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(sql: &str, limits: Limits) -> Result<Vec<String>, SqlError> {
        let columns = [Column::new("name", ValueType::Name, ""), Column::new("beds", ValueType::Count, "")];
        let row = |name: &str, beds: f64| {
            let cells = vec![CellValue::Text { text: name.to_owned() }, CellValue::Number { value: beds }];
            Row { name: name.to_owned(), cells, documents: Vec::new(), conflicts: Vec::new() }
        };
        let rows = [row("Ana", 3.0), row("Bo's", 4.0)];
        let found = Sqlite::limited(limits).select("s", &columns, &rows.iter().collect::<Vec<_>>(), sql)?;
        Ok(found.rows.iter().flatten().map(ToString::to_string).collect())
    }

    #[test]
    fn a_select_is_answered_and_quotients_are_exact() {
        let of = |sql| select(sql, Limits::default());
        assert_eq!(of("SELECT name FROM corpus WHERE beds > 3;"), Ok(vec!["Bo's".to_owned()]));
        assert_eq!(of("SELECT SUM(beds) / COUNT(*) FROM corpus"), Ok(vec!["3.5".to_owned()]));
        assert_eq!(
            of("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n")
                .unwrap()
                .len(),
            3
        );
    }

    #[test]
    fn a_table_without_columns_is_no_error() {
        let connection = Connection::open_in_memory().unwrap();
        fill(&connection, &[], [].into_iter()).unwrap();
        assert!(!connection.table_exists(None, TABLE).unwrap());
    }

    #[test]
    fn whatever_changes_or_looks_elsewhere_is_refused() {
        for sql in [
            "DELETE FROM corpus",
            "DROP TABLE corpus",
            "UPDATE corpus SET beds = 1",
            "INSERT INTO corpus VALUES ('x', 1)",
            "CREATE TABLE t (x)",
            "ATTACH 'x.db' AS x",
            "PRAGMA writable_schema = 1",
            "VACUUM INTO 'x.db'",
            "SELECT 1; DROP TABLE corpus",
            "SELECT load_extension('x')",
            "BEGIN",
            "",
        ] {
            let refused = select(sql, Limits::default()).unwrap_err();
            assert!(matches!(refused, SqlError::Forbidden(_) | SqlError::Invalid(_)), "{sql}: {refused}");
        }
        assert!(
            select("SELECT nobody FROM corpus", Limits::default()).unwrap_err().to_string().contains("no such column")
        );
    }

    #[test]
    fn finding_09_what_a_statement_makes_has_a_limit() {
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT";
        for sql in [
            "SELECT zeroblob(900000000)",
            "SELECT LENGTH(zeroblob(900000000) || zeroblob(900000000))",
            &format!("{many} printf('%.*c', 10000, 'x') FROM n"),
        ] {
            let refused = select(sql, Limits::default()).unwrap_err();
            assert!(matches!(refused, SqlError::TooLarge(_)), "{sql}: {refused}");
        }
        let too_long = select("SELECT printf('%.*c', 100000000, 'x')", Limits::default());
        assert_eq!(too_long.unwrap(), ["null"], "printf itself gives nothing above the limit");
        assert_eq!(
            select("SELECT LENGTH(printf('%.*c', 100000, 'x'))", Limits::default()),
            Ok(vec!["100000".to_owned()])
        );
    }

    #[test]
    fn what_never_ends_is_ended() {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT";
        let limits = Limits { kilo_instructions: 300, rows: 50, ..Limits::default() };
        assert!(matches!(select(&format!("{endless} COUNT(*) FROM n"), limits), Err(SqlError::TooLong(_))));
        assert_eq!(select(&format!("{endless} i FROM n"), limits), Err(SqlError::TooMany(50)));
    }
}
