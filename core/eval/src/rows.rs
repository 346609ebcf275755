//! Objects of a JSON Lines file or of a JSON array, one by one, with the line each begins in.

mod keys;
mod other_kinds;

pub use keys::key_twice;

use crate::saved::utf8;
use crate::{InputFile, Problem, ProblemList};
use other_kinds::{is_packed, is_table};
use serde_json::{Deserializer, Map, Value};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

/// Most bytes of a line of JSON Lines, or of an element of a list: 64 MiB. JSON can take twenty times its bytes.
pub const MAX_ROW_BYTES: usize = 64 << 20;

/// Most values of a row: each takes 72 bytes of memory, where a comma between them takes one. A list counts as
/// [`LIST`] values, an object as [`OBJECT`].
const MAX_VALUES: usize = 4_000_000;
const LIST: usize = 5;
const OBJECT: usize = 8;

/// Returns the message on a line of more than [`MAX_ROW_BYTES`].
pub fn too_long(n_bytes: usize) -> String {
    format!("{} MiB in one line: expected at most {} MiB", n_bytes >> 20, MAX_ROW_BYTES >> 20)
}

/// Returns the message on JSON that holds so many values that they fill the memory.
pub fn too_many_values(json: &[u8]) -> Option<String> {
    holds_too_many(json, false).then(too_many)
}

fn too_many() -> String {
    format!("more than {} million values in one place: split it", MAX_VALUES / 1_000_000)
}

/// Counts the values of a text, up to the end of its first list or object with `first`.
fn holds_too_many(json: &[u8], first: bool) -> bool {
    if json.len() < MAX_VALUES / OBJECT {
        return false;
    }
    let (mut n, mut depth, mut in_string, mut is_escaped) = (0, 0_usize, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b',' => n += 1,
            b'[' => (n, depth) = (n + LIST, depth + 1),
            b'{' => (n, depth) = (n + OBJECT, depth + 1),
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && first {
                    break;
                }
            }
            _ => {}
        }
        if n > MAX_VALUES {
            return true;
        }
    }
    false
}

/// The reason why a row is left out, in words: the field, what was expected and what was found.
///
/// It becomes a [`Problem`], which adds file, line and item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WrongRow(String);

impl WrongRow {
    /// Adds the part of the row that the reason is about, such as `evidence[2]`.
    pub fn within(self, part: impl fmt::Display) -> Self {
        Self(format!("`{part}`: {}", self.0))
    }
}

impl From<String> for WrongRow {
    fn from(words: String) -> Self {
        Self(words)
    }
}

impl From<&str> for WrongRow {
    fn from(words: &str) -> Self {
        Self(words.to_owned())
    }
}

impl From<WrongRow> for String {
    fn from(wrong: WrongRow) -> Self {
        wrong.0
    }
}

/// One object.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Line that the object begins in, from 1.
    pub line: usize,
    /// Fields of the object.
    pub fields: Map<String, Value>,
}

impl Row {
    /// A field as text: trimmed, numbers and truth values written out; `None` if absent, null, empty or nested.
    pub fn text(&self, name: &str) -> Option<String> {
        self.fields.get(name).and_then(scalar)
    }

    /// The texts of a list, or of a single value, in order; what is empty or nested is left out.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.fields.get(name).map(scalars).unwrap_or_default()
    }
}

/// A scalar as trimmed, non-empty text.
pub fn scalar(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The scalars of a list, or a single one.
pub fn scalars(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(scalar).collect(),
        value => scalar(value).into_iter().collect(),
    }
}

/// The objects of `file` in order, and between them what is wrong.
///
/// A wrong line of JSON Lines costs that line. A syntax error in an array costs its line where each element has a line
/// of its own, else the rest of the array, which is said. Text after the object of a line, or after the array, is named
/// and the object used; lines after an array are rows. What a byte order mark calls UTF-16 is read as such, blank lines
/// are no rows. Where very many lines are wrong the last problem says how many ([`ProblemList`]).
pub fn rows(file: &InputFile) -> Rows<'_> {
    let bytes = match utf8(&file.bytes) {
        Cow::Borrowed(bytes) => bytes,
        Cow::Owned(bytes) => {
            let converted = InputFile { name: file.name.clone(), bytes };
            let queue = rows(&converted).collect();
            return Rows { queue, ..Rows::new(&file.name, &[], Form::Lines) };
        }
    };
    let first = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    // A line that holds one list alone is a wrong row of JSON Lines only if other lines follow it as objects; an
    // array of objects is far more common, so `[` opens an array.
    let is_array = first.is_some_and(|at| bytes[at] == b'[');
    let form = if is_array { Form::Array } else { Form::Lines };
    let mut rows = Rows::new(&file.name, bytes, form);
    if is_array {
        rows.advance(first.map_or(0, |at| at + 1));
    }
    rows
}

/// See [`rows`].
#[derive(Debug)]
pub struct Rows<'f> {
    name: &'f str,
    bytes: &'f [u8],
    at: usize,
    /// Number of the line at `at`.
    line: usize,
    form: Form,
    queue: VecDeque<Result<Row, Problem>>,
    /// Problems so far.
    wrong: ProblemList,
}

/// The form of the text at the reader's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Lines of JSON, one object a line.
    Lines,
    /// Elements, wherever their lines end.
    Array,
    /// Behind a syntax error in an array: one element a line, with the comma after it.
    BrokenArray,
}

impl Iterator for Rows<'_> {
    type Item = Result<Row, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.queue.is_empty() && self.at < self.bytes.len() {
                if self.form == Form::Array { self.read_element() } else { self.read_line() }
            }
            match self.queue.pop_front() {
                Some(Err(problem)) => {
                    if let Some(problem) = self.wrong.listable(problem) {
                        return Some(Err(problem));
                    }
                }
                Some(row) => return Some(row),
                None => return self.wrong.take_rest().map(Err),
            }
        }
    }
}

impl<'f> Rows<'f> {
    fn new(name: &'f str, bytes: &'f [u8], form: Form) -> Self {
        Self { name, bytes, at: 0, line: 1, form, queue: VecDeque::new(), wrong: ProblemList::default() }
    }

    fn read_line(&mut self) {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let line = self.line;
        self.at += (end + 1).min(rest.len());
        self.line += 1;
        if end > MAX_ROW_BYTES {
            return self.fail(line, too_long(end));
        }
        if let Some(why) = too_many_values(&rest[..end]) {
            return self.fail(line, why);
        }
        let Ok(text) = std::str::from_utf8(&rest[..end]) else {
            if line == 1 && is_packed(rest) {
                self.at = self.bytes.len();
                return self.fail(line, "a packed file, none of which is read: unpack it first".into());
            }
            return self.fail(line, "invalid UTF-8: save the file as UTF-8".into());
        };
        let mut text = text.trim();
        if self.form == Form::BrokenArray {
            text = text.strip_suffix(',').unwrap_or(text);
            if text == "]" {
                self.form = Form::Lines;
                return;
            }
        }
        let mut rest = text;
        loop {
            let mut values = Deserializer::from_str(rest).into_iter::<Value>();
            match values.next() {
                None => return,
                Some(Ok(value)) => self.push(line, value, &rest.as_bytes()[..values.byte_offset()]),
                Some(Err(_)) if rest.len() == text.len() && line == 1 && is_table(self.name) => {
                    let message = "a table, such as CSV, cannot be read here: expected JSON Lines, one object a line";
                    self.at = self.bytes.len();
                    return self.fail(line, message.into());
                }
                Some(Err(error)) if rest.len() == text.len() => {
                    let message = format!("not valid JSON, {}: expected one object a line", position(&error));
                    return self.fail(line, message);
                }
                Some(Err(_)) if rest.starts_with('{') => {
                    let message = format!("a further object is not valid JSON: `{}`", excerpt(rest));
                    return self.fail(line, message);
                }
                Some(Err(_)) => {
                    let message = format!("text after the JSON object is ignored: `{}`", excerpt(rest));
                    return self.queue.push_back(Err(Problem::note(self.name, Some(line), None, message)));
                }
            }
            rest = &rest[values.byte_offset()..];
            // Objects of a list without brackets, or on lines that end as only Unicode says.
            let next = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
            if next.starts_with('{') {
                rest = next;
            }
        }
    }

    fn read_element(&mut self) {
        let gap = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b',').count();
        self.advance(gap);
        match self.bytes.get(self.at) {
            None => return self.fail(self.line, "the list has no `]` at its end: the file is cut off".into()),
            Some(b']') => return self.end_array(),
            Some(_) => {}
        }
        let rest = &self.bytes[self.at..];
        let longest = &rest[..rest.len().min(MAX_ROW_BYTES)];
        if holds_too_many(longest, true) {
            self.fail(self.line, format!("{}; this element of the list and all after it are unread", too_many()));
            return self.advance(self.bytes.len() - self.at);
        }
        let mut values = Deserializer::from_slice(longest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let n_bytes = values.byte_offset();
                self.push(self.line, value, &longest[..n_bytes]);
                self.advance(n_bytes);
            }
            Some(Err(error)) if error.is_eof() && rest.len() > MAX_ROW_BYTES => {
                let most = MAX_ROW_BYTES >> 20;
                let message =
                    format!("this element of the list has more than {most} MiB: it and all after it are unread");
                self.fail(self.line, message);
                self.advance(self.bytes.len() - self.at);
            }
            Some(Err(error)) => {
                let line = self.line + error.line().saturating_sub(1);
                if line == self.line && self.rest_of_line() < self.bytes.len() - self.at {
                    let message = format!("not valid JSON, {}: expected one object a line", position(&error));
                    self.fail(line, message);
                    self.form = Form::BrokenArray;
                    return self.advance(self.rest_of_line());
                }
                let message = format!(
                    "not valid JSON, {}: this element of the list, begun in line {}, and all after it are unread",
                    position(&error),
                    self.line
                );
                self.fail(line, message);
                self.advance(self.bytes.len() - self.at);
            }
            None => self.advance(self.bytes.len() - self.at),
        }
    }

    /// Goes on behind the `]` of an array.
    fn end_array(&mut self) {
        self.advance(1);
        let n_bytes = self.rest_of_line();
        let after = String::from_utf8_lossy(&self.bytes[self.at..self.at + n_bytes]);
        if !after.trim().is_empty() {
            let message = format!("text after the JSON list is ignored: `{}`", excerpt(&after));
            self.queue.push_back(Err(Problem::note(self.name, Some(self.line), None, message)));
        }
        self.advance(n_bytes);
        self.form = Form::Lines;
    }

    /// Bytes up to the end of the line, its line feed included.
    fn rest_of_line(&self) -> usize {
        let rest = &self.bytes[self.at..];
        rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1)
    }

    fn push(&mut self, line: usize, value: Value, json: &[u8]) {
        match value {
            Value::Object(fields) => {
                if let Some(message) = key_twice(json, fields.len()) {
                    self.queue.push_back(Err(Problem::note(self.name, Some(line), None, message)));
                }
                self.queue.push_back(Ok(Row { line, fields }));
            }
            other => self.fail(line, format!("expected a JSON object in braces, found {}", kind(&other))),
        }
    }

    fn fail(&mut self, line: usize, message: String) {
        self.queue.push_back(Err(Problem::dropped(self.name, Some(line), None, message)));
    }

    fn advance(&mut self, n_bytes: usize) {
        self.line += self.bytes[self.at..self.at + n_bytes].iter().filter(|byte| **byte == b'\n').count();
        self.at += n_bytes;
    }
}

/// Returns the kind of a JSON value, in words.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A serde_json error without its own line, which counts from the start of the row.
fn position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    format!("column {}: {what}", error.column())
}

/// The beginning of a text, for messages.
pub fn excerpt(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
