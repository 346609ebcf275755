//! Tables as CSV by RFC 4180: lines end in CRLF, what holds a comma, a quote or a line end is quoted.
//!
//! Numbers are raw: a score is a fraction, as in JSON, with its interval and its n in columns of their own. What is not
//! available is an empty field. A *name* that a spreadsheet would run as a formula (it begins with `=`, `+`, `-`, `@`,
//! a tab or a carriage return) gets an apostrophe before it, which spreadsheets do not show (OWASP, "CSV Injection").

use crate::{Table, Value, in_brackets};
use ::csv::{Terminator, WriterBuilder};

/// One table, one line a row: a score in the column `x` also gives `x low`, `x high` and `x n`.
///
/// A second column of a name is `x 2`. The last column, `complete`, is `no` in a table of a run with missing items.
pub fn wide(table: &Table, complete: bool) -> String {
    let parts: Vec<Parts> = (0..table.columns.len()).map(|column| Parts::of(table, column)).collect();
    let mut head: Vec<String> = Vec::new();
    for (name, parts) in table.columns.iter().zip(&parts) {
        for suffix in parts.suffixes() {
            head.push(unused(&head, inert(&format!("{name}{suffix}"))));
        }
    }
    head.push("complete".to_owned());
    let mut lines = vec![head];
    for row in &table.rows {
        let mut line: Vec<String> = Vec::new();
        for (value, parts) in row.iter().zip(&parts) {
            match parts {
                Parts::Printed => line.extend(printed(value)),
                _ => line.extend(fields(value).into_iter().take(parts.suffixes().len())),
            }
        }
        line.push(if complete { "yes" } else { "no" }.to_owned());
        lines.push(line);
    }
    written(&lines)
}

/// The name, with a number behind it if a column before it has that name.
fn unused(head: &[String], name: String) -> String {
    let numbered = (2..).map(|n| format!("{name} {n}"));
    let found = std::iter::once(name.clone()).chain(numbered).find(|name| !head.contains(name));
    found.unwrap_or(name)
}

/// Several tables as one list, one line a value:
/// `table,title,row,names,column,kind,value,low,high,n,note,complete`.
///
/// A second column of a name is `x 2`. `row` counts from 1, `names` are the names in the row, joined by ` / `; `note` says why a value is not available, or the
/// standard deviation of a printed number.
pub fn tidy(tables: &[Table], complete: bool) -> String {
    let head = ["table", "title", "row", "names", "column", "kind", "value", "low", "high", "n", "note", "complete"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for table in tables {
        let columns = table.columns.iter().fold(Vec::new(), |mut columns, column| {
            columns.push(unused(&columns, inert(column)));
            columns
        });
        for (idx, row) in table.rows.iter().enumerate() {
            let names: Vec<&str> = row
                .iter()
                .filter_map(|value| match value {
                    Value::Text { text } => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            let names = inert(&names.join(" / "));
            for (column, value) in columns.iter().zip(row) {
                let [number, low, high, n] = fields(value);
                let note = match value {
                    Value::Missing { reason } => inert(reason),
                    Value::Printed { sd: Some(sd), aside, .. } => format!("sd {sd}{}", in_brackets(aside)),
                    Value::Printed { aside, .. } if !aside.is_empty() => inert(aside),
                    _ => String::new(),
                };
                let complete = if complete { "yes" } else { "no" };
                lines.push(vec![
                    inert(&table.id),
                    inert(&table.title),
                    (idx + 1).to_string(),
                    names.clone(),
                    column.clone(),
                    kind(value).to_owned(),
                    number,
                    low,
                    high,
                    n,
                    note,
                    complete.to_owned(),
                ]);
            }
        }
    }
    written(&lines)
}

/// The columns that a column of the table takes.
#[derive(Clone, Copy)]
enum Parts {
    Value,
    ValueAndInterval,
    Printed,
}

impl Parts {
    fn of(table: &Table, column: usize) -> Self {
        let values = table.rows.iter().filter_map(|row| row.get(column));
        let has_n = |v: &Value| matches!(v, Value::Score { .. } | Value::Difference { .. } | Value::Share { .. });
        if values.clone().any(|value| matches!(value, Value::Printed { .. })) {
            Self::Printed
        } else if values.into_iter().any(has_n) {
            Self::ValueAndInterval
        } else {
            Self::Value
        }
    }

    fn suffixes(self) -> &'static [&'static str] {
        match self {
            Self::Value => &[""],
            Self::ValueAndInterval => &["", " low", " high", " n"],
            Self::Printed => &["", " sd", " n"],
        }
    }
}

/// Value, low, high, n; empty where there is none.
fn fields(value: &Value) -> [String; 4] {
    let number = |x: f64| if x.is_finite() { x.to_string() } else { String::new() };
    let none = String::new;
    match value {
        Value::Text { text } => [inert(text), none(), none(), none()],
        Value::Count { count } => [count.to_string(), none(), none(), none()],
        Value::Score { estimate: e } => [number(e.value), number(e.low), number(e.high), e.n.to_string()],
        Value::Difference { value, low, high, n, .. } => [number(*value), number(*low), number(*high), n.to_string()],
        Value::Share { value, n } => [number(*value), none(), none(), n.to_string()],
        Value::Printed { value, n, .. } => [number(*value), none(), none(), n.to_string()],
        Value::Number { value, .. } => [number(*value), none(), none(), none()],
        Value::Missing { .. } | Value::Spanned => [none(), none(), none(), none()],
    }
}

/// Value, deviation, n; empty where there is none.
fn printed(value: &Value) -> [String; 3] {
    let sd = match value {
        Value::Printed { sd: Some(sd), .. } => sd.to_string(),
        _ => String::new(),
    };
    let [number, _, _, n] = fields(value);
    [number, sd, n]
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Text { .. } => "text",
        Value::Count { .. } => "count",
        Value::Score { .. } => "score",
        Value::Difference { .. } => "difference",
        Value::Share { .. } => "share",
        Value::Number { .. } => "number",
        Value::Printed { .. } => "printed",
        Value::Missing { .. } => "missing",
        Value::Spanned => "spanned",
    }
}

/// A name as a spreadsheet takes it for text: with an apostrophe where it would run it as a formula.
pub fn inert(text: &str) -> String {
    let risky = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if risky { format!("'{text}") } else { text.to_owned() }
}

fn written(lines: &[Vec<String>]) -> String {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).flexible(true).from_writer(Vec::new());
    for line in lines {
        writer.write_record(line).expect("writing to memory does not fail");
    }
    let bytes = writer.into_inner().expect("flushing to memory does not fail");
    String::from_utf8(bytes).expect("every field is a string")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{hostile, spanned};
    use expect_test::expect;

    #[test]
    fn a_table_has_a_column_for_each_number() {
        expect![[r#"
            name,n,score,score low,score high,score n,difference,difference low,difference high,difference n,other,complete
            赊渡簿,12,0.541,0.436,0.643,85,-0.031,-0.066,0.004,85,0.000000001,yes
            '=SUM(A1),1234,1,0.97,1,85,0.02,0.01,0.03,85,,yes
            a\u{202e}b,,0.125,,,8,,,,,,yes
        "#]]
        .assert_eq(&wide(&hostile(), true).replace("\r\n", "\n").replace('\u{202e}', "\\u{202e}"));
    }

    #[test]
    fn no_two_columns_have_one_name() {
        let columns = ["wrong", "n", "left out", "n", "n 2", "n"].map(str::to_owned);
        let table = Table::new("t", "T", columns.to_vec());
        assert_eq!(wide(&table, true), "wrong,n,left out,n 2,n 2 2,n 3,complete\r\n");
        let table = Table { rows: vec![vec![Value::count(0); 6]], ..table };
        let listed = tidy(&[table], true);
        let mut reader = ::csv::Reader::from_reader(listed.as_bytes());
        let columns: Vec<String> = reader.records().map(|row| row.unwrap()[4].to_owned()).collect();
        assert_eq!(columns, ["wrong", "n", "left out", "n 2", "n 2 2", "n 3"]);
    }

    #[test]
    fn quotes_commas_and_line_ends_come_back_as_they_were() {
        let mut table = Table::new("t", "T, \"quoted\"", vec!["a".to_owned()]);
        table.rows = vec![vec![Value::text("one, \"two\"\r\nthree")], vec![Value::text("@cmd")]];
        let text = tidy(&[table], false);
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<Vec<String>> =
            reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
        assert_eq!(rows[0][6], "one, \"two\"\r\nthree");
        assert_eq!((rows[0][1].as_str(), rows[0][11].as_str()), ("T, \"quoted\"", "no"));
        assert_eq!(rows[1][6], "'@cmd");
        assert!(text.ends_with("\r\n"));
    }

    #[test]
    fn what_a_cell_reaches_over_is_empty() {
        expect![[r#"
            Method,"1,500","1,500 sd","1,500 n",Voices low,Voices low sd,Voices low n,Voices high,complete
            dos-rag,68.9,,5,1,,5,,yes
            read-agent,76.2,1,5,,,,,yes
            whole,,,,,,,,yes
        "#]]
        .assert_eq(&wide(&spanned(), true).replace("\r\n", "\n"));
    }
}
