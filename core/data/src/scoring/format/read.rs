//! Rows and entries of JSON as Python writes it: what serde_json refuses and Python does not is repaired and noted.

use closeread_eval::rows::{Row, WrongRow, kind, rows};
use closeread_eval::{InputFile, Problem};
use memchr::memmem;
use serde_json::{Deserializer, Value};
use std::borrow::Cow;

/// The objects of JSON Lines or of a JSON array in order, and between them what is wrong; a [`Problem`] that is not
/// `dropped` is a note on a row that is used.
///
/// `NaN`, `Infinity` and lone surrogates, which Python's `json` writes, are read as null and as U+FFFD.
pub(super) fn records(file: &InputFile) -> Vec<Result<Row, Problem>> {
    let (file, notes) = repaired(file);
    notes.into_iter().map(Err).chain(rows(&file)).collect()
}

/// One entry of a JSON object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// Line of the key, from 1.
    pub(super) line: usize,
    /// Key of the entry.
    pub(super) key: String,
    /// Value of the entry.
    pub(super) value: Value,
}

/// The entries of the one JSON object that a file holds, in order, repeated keys included, and what is wrong.
///
/// A syntax error costs the rest of the object, which is said. Repairs as in [`records`].
pub(super) fn entries(file: &InputFile) -> Vec<Result<Entry, Problem>> {
    let (file, notes) = repaired(file);
    let mut found: Vec<_> = notes.into_iter().map(Err).collect();
    let mut cursor = Cursor { bytes: file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file.bytes), at: 0, line: 1 };
    cursor.skip(b"");
    match cursor.peek() {
        None => return found,
        Some(b'{') => cursor.advance(1),
        Some(_) => {
            let message = "expected one JSON object in braces that holds all predictions by their ids";
            found.push(Err(Problem::dropped(&file.name, Some(cursor.line), None, message)));
            return found;
        }
    }
    loop {
        cursor.skip(b",");
        let line = cursor.line;
        let problem = |what: &str| {
            let message = format!("{what}: this entry and all after it are unread");
            Err(Problem::dropped(&file.name, Some(line), None, message))
        };
        match cursor.peek() {
            None => found.push(problem("the object has no `}` at its end, the file is cut off")),
            Some(b'}') => {
                cursor.advance(1);
                cursor.skip(b"");
                if let Some(byte) = cursor.peek() {
                    let message = format!("text after the JSON object is ignored, from `{}` on", char::from(byte));
                    found.push(Err(Problem::note(&file.name, Some(cursor.line), None, message)));
                }
            }
            Some(_) => {
                let entry = cursor.value().and_then(|key| match key {
                    Value::String(key) => {
                        cursor.skip(b"");
                        if cursor.peek() != Some(b':') {
                            return Err("expected `:` after a key".into());
                        }
                        cursor.advance(1);
                        Ok(Entry { line, key, value: cursor.value()? })
                    }
                    other => Err(format!("expected a key in quotes, found {}", kind(&other)).into()),
                });
                match entry {
                    Ok(entry) => {
                        found.push(Ok(entry));
                        continue;
                    }
                    Err(wrong) => found.push(problem(&wrong.to_string())),
                }
            }
        }
        return found;
    }
}

struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
    line: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn advance(&mut self, n_bytes: usize) {
        let passed = &self.bytes[self.at..self.at + n_bytes];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at += n_bytes;
    }

    /// Skips white space and the bytes `also`.
    fn skip(&mut self, also: &[u8]) {
        let rest = &self.bytes[self.at..];
        self.advance(rest.iter().take_while(|byte| byte.is_ascii_whitespace() || also.contains(byte)).count());
    }

    fn value(&mut self) -> Result<Value, WrongRow> {
        self.skip(b"");
        let mut values = Deserializer::from_slice(&self.bytes[self.at..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let n_bytes = values.byte_offset();
                self.advance(n_bytes);
                Ok(value)
            }
            Some(Err(error)) => Err(format!("not valid JSON ({error})").into()),
            None => Err("the file is cut off".into()),
        }
    }
}

/// Repairs what JSON has no word for, and escapes of half a character; everything else of the file is left as it is.
fn repaired(file: &InputFile) -> (Cow<'_, InputFile>, Vec<Problem>) {
    let has = |what: &[u8]| memmem::find(&file.bytes, what).is_some();
    let is_half = |at: usize| {
        matches!(file.bytes.get(at + 2..at + 4), Some([b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F']))
    };
    if !has(b"NaN") && !has(b"Infinity") && !memmem::find_iter(&file.bytes, r"\u").any(is_half) {
        return (Cow::Borrowed(file), Vec::new());
    }
    let (bytes, repairs) = repair(&file.bytes);
    let notes = repairs.into_iter().map(|(line, what)| Problem::note(&file.name, Some(line), None, what)).collect();
    (Cow::Owned(InputFile { name: file.name.clone(), bytes }), notes)
}

fn repair(bytes: &[u8]) -> (Vec<u8>, Vec<(usize, &'static str)>) {
    const NOT_FINITE: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    let (mut out, mut repairs) = (Vec::with_capacity(bytes.len()), Vec::new());
    let (mut at, mut line, mut is_text) = (0, 1, false);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let n = match byte {
            // A string of JSON ends in its line: one that does not is a wrong line, which costs no other.
            b'\n' => {
                (line, is_text) = (line + 1, false);
                1
            }
            b'"' => {
                is_text = !is_text;
                1
            }
            b'\\' if is_text && is_escape(rest, b"89abAB") && is_escape(&rest[6..], b"cdefCDEF") => 12,
            b'\\' if is_text && is_escape(rest, b"89abcdefABCDEF") => {
                out.extend_from_slice(b"\\ufffd");
                repairs.push((line, "half of a surrogate pair is read as U+FFFD"));
                at += 6;
                continue;
            }
            b'\\' if is_text => 2.min(rest.len()),
            _ if !is_text => match NOT_FINITE.iter().find(|word| rest.starts_with(word)) {
                Some(word) => {
                    out.extend_from_slice(b"null");
                    repairs.push((line, "NaN or Infinity, which JSON does not have, is read as null"));
                    at += word.len();
                    continue;
                }
                None => 1,
            },
            _ => 1,
        };
        out.extend_from_slice(&rest[..n]);
        at += n;
    }
    repairs.dedup();
    (out, repairs)
}

/// True for `\uDxyz` with x among `third`.
fn is_escape(bytes: &[u8], third: &[u8]) -> bool {
    matches!(bytes, [b'\\', b'u', b'd' | b'D', x, y, z, ..]
        if third.contains(x) && y.is_ascii_hexdigit() && z.is_ascii_hexdigit())
}

/// A value as the text it stands for, nothing trimmed: numbers and truth values written out; `None` for null, lists
/// and objects.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The texts of a list or of a single value, nothing trimmed.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(text).collect(),
        value => text(value).into_iter().collect(),
    }
}

/// Returns the first of the fields `names` that a row has, with its name.
pub(super) fn field<'r, 'n>(row: &'r Row, names: &[&'n str]) -> Option<(&'n str, &'r Value)> {
    names.iter().find_map(|name| Some((*name, row.fields.get(*name)?)))
}

/// The text of the first of the fields `names` that a row has.
///
/// # Errors
/// What is wrong: none of them is there, or what is there is no text.
pub(super) fn field_text(row: &Row, names: &[&str]) -> Result<String, WrongRow> {
    match field(row, names) {
        None => Err(format!("no `{}`: expected text", names.join("` or `")).into()),
        Some((name, value)) => {
            text(value).ok_or_else(|| format!("`{name}`: expected text, found {}", kind(value)).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> InputFile {
        InputFile { name: "f".into(), bytes: text.as_bytes().to_vec() }
    }

    fn shown(text: &str) -> Vec<String> {
        let entry = |entry: Result<Entry, Problem>| match entry {
            Ok(entry) => format!("{} {}={}", entry.line, entry.key, entry.value),
            Err(problem) => problem.to_string(),
        };
        entries(&file(text)).into_iter().map(entry).collect()
    }

    #[test]
    fn what_python_writes_is_read() {
        let row =
            r#"{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" Infinity \ud83d\ude00 \ud83d", "d": "\\ud83d"}"#;
        let found = records(&file(&format!("{{\"a\": 1}}\n{row}\n")));
        let shown: Vec<String> = found
            .into_iter()
            .map(|row| row.map_or_else(|problem| problem.to_string(), |row| Value::Object(row.fields).to_string()))
            .collect();
        assert_eq!(
            shown,
            [
                "f:2: NaN or Infinity, which JSON does not have, is read as null",
                "f:2: half of a surrogate pair is read as U+FFFD",
                r#"{"a":1}"#,
                r#"{"a":null,"b":[null,null],"c":"NaN \" Infinity 😀 �","d":"\\ud83d"}"#,
            ]
        );
    }

    #[test]
    fn a_line_cut_off_costs_no_other() {
        let found = records(&file("{\"a\": \"NaN\n{\"a\": NaN}"));
        let lines: Vec<bool> = found.iter().map(Result::is_ok).collect();
        assert_eq!(lines, [false, false, true]);
    }

    #[test]
    fn entries_know_their_lines_and_repeat() {
        assert_eq!(
            shown("\u{feff}{\r\n \"a\": [1,\n 2], \"a\": \"x\",\n\"b\": null}\n"),
            ["2 a=[1,2]", "3 a=\"x\"", "4 b=null"]
        );
        assert_eq!(shown(""), Vec::<String>::new());
        assert_eq!(shown("{}"), Vec::<String>::new());
        assert_eq!(shown("{\"a\": 1} gi"), ["1 a=1", "f:1: text after the JSON object is ignored, from `g` on"]);
        let wrong = [
            ("[1]", "expected one JSON object in braces that holds all predictions by their ids"),
            (
                "{\"a\": 1",
                "the object has no `}` at its end, the file is cut off: this entry and all after it are unread",
            ),
            ("{\"a\" 1}", "expected `:` after a key: this entry and all after it are unread"),
            ("{1: 1}", "expected a key in quotes, found a number: this entry and all after it are unread"),
            ("{\"a\":", "the file is cut off: this entry and all after it are unread"),
        ];
        for (text, message) in wrong {
            assert_eq!(shown(text).last(), Some(&format!("f:1: {message} [left out]")), "{text}");
        }
    }
}
