//! `documents.jsonl`: one document a line, its text inside or in a file beside.

mod names;

use super::{FileText, Input, Kind, Problem, read_text, unreadable};
use closeread_eval::rows::{MAX_ROW_BYTES, key_twice, too_long, too_many_values};
use closeread_eval::saved::utf8;
use closeread_eval::{Content, Document, LISTED};
use closeread_files::leads_outside;
use closeread_text::Language;
use names::meant;
use serde_json::{Deserializer, Map, Value};
use std::path::Path;

const EXPECTED: &str = r#"expected {"id": ..., "text": ...} or {"id": ..., "path": ...}"#;

impl Input<'_> {
    /// Reads every document of the file; a wrong line is a problem, the others go on.
    pub(super) fn read_documents(&mut self, path: &Path) {
        let bytes = match closeread_files::read_file(path) {
            Ok(bytes) => bytes,
            Err(e) => return self.failed(path, None, unreadable(&e)),
        };
        self.read_lines(path, &bytes);
    }

    /// Reads every line of the file, whose bytes are here.
    pub(super) fn read_lines(&mut self, path: &Path, bytes: &[u8]) {
        let bytes = utf8(bytes);
        if bytes.trim_ascii_start().starts_with(b"[") {
            let why = format!("it is a JSON list: {EXPECTED} on each line; `jq -c '.[]'` makes lines of a list");
            return self.failed(path, Some(1), why);
        }
        let mut n_documents = 0;
        let n_before = self.problems.len();
        let mut rest: Option<Problem> = None;
        for (number, line) in (1..).zip(bytes.split(|&b| b == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            n_documents += 1;
            if let Err(message) = self.read_document(path, number, line) {
                self.failed(path, Some(number), message);
            }
            if self.problems.len() > n_before + LISTED {
                let problem = self.problems.pop().expect("there are many");
                rest.get_or_insert(problem).more += 1;
            }
        }
        if let Some(mut rest) = rest {
            rest.message = format!("{} more lines, from here on, are not read and not listed", rest.more);
            self.problems.push(rest);
        }
        if n_documents == 0 {
            self.failed(path, None, format!("the file is empty: {EXPECTED} on each line"));
        }
    }

    pub(super) fn read_document(&mut self, path: &Path, number: usize, line: &[u8]) -> Result<(), String> {
        if line.len() > MAX_ROW_BYTES {
            return Err(too_long(line.len()));
        }
        if let Some(why) = too_many_values(line) {
            return Err(why);
        }
        let line = std::str::from_utf8(line).map_err(|e| {
            format!(
                "invalid UTF-8 at byte {} of the line: JSON Lines are UTF-8; repair or re-encode the file",
                e.valid_up_to()
            )
        })?;
        let (document, note) = document(line)?;
        if document.id.is_empty() {
            return Err(format!("`id` is empty: {EXPECTED}"));
        }
        if self.ids.contains(&document.id) {
            return Err(format!("`{}` occurs twice: expected a different `id` on every line; rename one", document.id));
        }
        let language = match &document.language {
            Some(tag) => Some(tag.parse::<Language>().map_err(|e| format!("`language`: {e}"))?),
            None => self.options.language,
        };
        let (mut text, read_from) = match document.content {
            Content::Text(text) => (FileText::of(text, "UTF-8", Vec::new()), path.to_owned()),
            Content::Path(relative) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let mut file = path.parent().unwrap_or(Path::new("")).join(&relative);
                if !file.exists() {
                    file = meant(folder, &relative).unwrap_or(file);
                }
                if !self.options.allow_outside && leads_outside(folder, &file) {
                    return Err(format!(
                        "document `{}`: `path` leads out of {}: its text would go to the model's server; put the file there, \
                         or say --allow-outside",
                        document.id,
                        folder.display()
                    ));
                }
                let text = read_text(&file, Kind::of(&file), self.options)
                    .map_err(|message| format!("document `{}`: {}: {message}", document.id, file.display()))?;
                (text, file)
            }
        };
        text.notes.extend(note);
        let title = Some(document.title).filter(|t| !t.is_empty()).or_else(|| text.title.clone());
        let title = title.unwrap_or_else(|| document.id.clone());
        let language = language.or(text.language);
        let n_before = self.problems.len();
        self.add(&read_from, Some(number), document.id, title, language, text);
        // The line is the documents' line, wherever the text stands.
        self.problems[n_before..].iter_mut().for_each(|p| p.path = path.to_owned());
        Ok(())
    }
}

/// The document of a line, read as a data set's lines are: `null` counts as absent, and text behind the object is not read.
/// The note is on a key that is there twice.
fn document(line: &str) -> Result<(Document, Option<String>), String> {
    let wrong = |error: serde_json::Error| format!("not a document: {error}; {EXPECTED} on one line");
    let mut objects = Deserializer::from_str(line).into_iter::<Map<String, Value>>();
    let mut fields = objects.next().transpose().map_err(wrong)?.unwrap_or_default();
    let behind = line[objects.byte_offset()..].trim_start_matches(|c: char| c == ',' || c.is_whitespace());
    if behind.starts_with('{') {
        return Err(format!("a second object on the line: {EXPECTED}, each on a line of its own"));
    }
    let note = key_twice(&line.as_bytes()[..objects.byte_offset()], fields.len());
    fields.retain(|_, value| !value.is_null());
    Ok((serde_json::from_value(Value::Object(fields)).map_err(wrong)?, note))
}
