//! Records of a CSV or TSV file with a header, with the line each begins in.

use closeread_eval::lines::Lines;
use closeread_eval::rows::excerpt;
use closeread_eval::saved::{Sheet, sheet};
use closeread_eval::{InputFile, Problem, ProblemList};
use csv::{ByteRecord, ReaderBuilder};
use std::collections::HashMap;

/// One record of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Physical line it begins in, from 1: quoted fields may hold line ends.
    pub(crate) line: usize,
    /// Place among the records of the table, from 1; records that cannot be read have places, too.
    pub(crate) number: usize,
    fields: HashMap<String, String>,
}

impl Record {
    /// The field under `column`, trimmed; empty if there is no such column.
    pub(crate) fn text(&self, column: &str) -> &str {
        self.fields.get(column).map_or("", |field| field.trim())
    }
}

/// The records of `file`; what is wrong goes to `problems`.
///
/// Tabs separate in a file that ends in `.tsv`; of any other the head tells ([`sheet`]). Column names are trimmed and lower-cased. A missing column of `required` costs the file; invalid UTF-8, a wrong
/// number of fields or a quote that is never closed cost the record. Lone CR, LF and CRLF end a record outside quotes
/// and stay as they are inside.
pub(crate) fn records(file: &InputFile, required: &[&str], problems: &mut ProblemList) -> Vec<Record> {
    let Sheet { bytes, separator } = sheet(&file.bytes);
    let separator = if file.name.to_lowercase().ends_with(".tsv") { b'\t' } else { separator };
    let mut reader = ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(&*bytes);
    let mut lines = Lines::new(&bytes);
    let mut raw = ByteRecord::new();
    let mut columns: Option<Vec<String>> = None;
    let mut records = Vec::new();
    let mut number = 0;
    while let Ok(true) = reader.read_byte_record(&mut raw) {
        number += usize::from(columns.is_some());
        let start = raw.position().map_or(0, csv::Position::byte);
        let end = reader.position().byte() as usize;
        let line = lines.line_of(start);
        let mut fail = |message: String| problems.push(Problem::dropped(&file.name, Some(line), None, message));
        let Some(fields) = raw.iter().map(|field| std::str::from_utf8(field).ok()).collect::<Option<Vec<_>>>() else {
            fail("invalid UTF-8 in this record: save the file as UTF-8".into());
            continue;
        };
        let Some(columns) = &columns else {
            let names: Vec<String> = fields.iter().map(|name| name.trim().to_lowercase()).collect();
            let missing: Vec<&str> =
                required.iter().filter(|name| !names.iter().any(|n| n == *name)).copied().collect();
            if !missing.is_empty() {
                let mut message =
                    format!("no column `{}`: expected a header with {}", missing.join("`, `"), required.join(", "));
                if let [all] = &names[..]
                    && all.contains([',', ';', '\t', '|'])
                {
                    let mark = if separator == b'\t' { "tabs" } else { "commas" };
                    message += &format!("; this one is `{}`: separate its columns by {mark}", excerpt(all));
                }
                fail(message);
                return Vec::new();
            }
            columns = Some(names);
            continue;
        };
        if end == bytes.len()
            && let Some(n_lines) = lines.unclosed(separator, None)
        {
            fail(format!(
                "a quotation mark is never closed: {n_lines} lines to the end of the file are read as one record"
            ));
        } else if fields.len() != columns.len() {
            fail(format!("{} fields: expected {}, as in the header", fields.len(), columns.len()));
        } else {
            let mut named = HashMap::new();
            for (name, field) in columns.iter().zip(fields) {
                named.entry(name.clone()).or_insert_with(|| field.to_owned());
            }
            records.push(Record { line, number, fields: named });
        }
    }
    if columns.is_none() {
        problems.push(Problem::dropped(&file.name, None, None, "the file is empty: expected a header and records"));
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &[(usize, &str, &str)], expected_problems: &[&str]) {
        let file = InputFile { name: "f.csv".into(), bytes: bytes.to_vec() };
        let mut problems = ProblemList::default();
        let records = records(&file, &["id", "text"], &mut problems);
        let found: Vec<_> =
            records.iter().map(|record| (record.line, record.text("id"), record.text("text"))).collect();
        assert_eq!(found, expected);
        assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), expected_problems);
    }

    #[test]
    fn records_know_the_line_they_begin_in() {
        check(
            b"\xef\xbb\xbfid, Text \r\n1,\"a\rb\n\"\"c\"\"\"\r\n\r\n2,d\r\n",
            &[(2, "1", "a\rb\n\"c\""), (5, "2", "d")],
            &[],
        );
        check(b"id,text\r1,a\r2,b", &[(2, "1", "a"), (3, "2", "b")], &[]);
    }

    #[test]
    fn a_table_that_a_spreadsheet_saved_is_read() {
        let expected = [(3, "1", "a;b"), (4, "2", "c")];
        check(b"sep=;\r\nid;text\r\n1;\"a;b\"\r\n2;c\r\n", &expected, &[]);
        check(b"\nid;text;\n1;\"a;b\";\n2;c;\n", &expected, &[]);
        let wide: Vec<u8> = "\u{feff}\nid\ttext\n1\ta;b\n2\tc\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&wide, &expected, &[]);
    }

    #[test]
    fn wrong_records_are_named_and_the_rest_is_read() {
        check(
            b"id,text\n1,a,b\n2\n3,\xff\n4,d\n",
            &[(5, "4", "d")],
            &[
                "f.csv:2: 3 fields: expected 2, as in the header [left out]",
                "f.csv:3: 1 fields: expected 2, as in the header [left out]",
                "f.csv:4: invalid UTF-8 in this record: save the file as UTF-8 [left out]",
            ],
        );
        check(
            b"id,text\n1,a\n2,\"b\n3,c\n4,d\n",
            &[(2, "1", "a")],
            &[
                "f.csv:3: a quotation mark is never closed: 3 lines to the end of the file are read as one record [left out]",
            ],
        );
        check(b"id,words\n1,a\n", &[], &["f.csv:1: no column `text`: expected a header with id, text [left out]"]);
        check(
            b"id|text|the source\n1|a\n",
            &[],
            &["f.csv:1: no column `id`, `text`: expected a header with id, text; this one is `id|text|the source`: \
               separate its columns by commas [left out]"],
        );
        check(b"", &[], &["f.csv: the file is empty: expected a header and records [left out]"]);
    }
}
