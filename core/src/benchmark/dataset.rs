//! What reading files gives: documents, items, and everything that was wrong.

use super::{ChunkPlace, Content, Document, Item, resolve_chunk, resolve_evidence};
use crate::text::Locator;
use crate::text::Span;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A file handed to an adapter: its name for messages, its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Path relative to what the user named, with `/` between the parts.
    pub name: String,
    /// Content as it lies on disk.
    pub bytes: Vec<u8>,
}

/// Documents and items read from files, with everything that was wrong in them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dataset {
    /// Every document once, in the order of first use.
    pub documents: Vec<Document>,
    /// The items, in file order.
    pub items: Vec<Item>,
    /// Rows that could not be used, named; never dropped in silence.
    pub problems: Vec<Problem>,
}

/// One row or field that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// File as named by the user.
    pub file: String,
    /// Line, from 1, where the format has lines.
    pub line: Option<usize>,
    /// Item or document, where known.
    pub item: Option<String>,
    /// What is wrong, what was expected, what to do.
    pub message: String,
    /// True if a row was left out because of it; false if it is used with the stated repair.
    pub dropped: bool,
}

impl Problem {
    /// A row (or a file of rows) that is left out.
    pub fn dropped(file: &str, line: Option<usize>, item: Option<&str>, message: impl Into<String>) -> Self {
        let (file, item) = (file.to_owned(), item.map(str::to_owned));
        Self { file, line, item, message: message.into(), dropped: true }
    }

    /// A row that is used all the same; the message says how.
    pub fn note(file: &str, line: Option<usize>, item: Option<&str>, message: impl Into<String>) -> Self {
        Self { dropped: false, ..Self::dropped(file, line, item, message) }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(item) = &self.item {
            write!(f, " ({item})")?;
        }
        write!(f, ": {}{}", self.message, if self.dropped { " [left out]" } else { "" })
    }
}

/// Why documents could not be joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// A document still lies in a file of its own.
    #[error("document `{document}` lies in the file `{path}`: load its text before the documents are joined")]
    NotLoaded {
        /// Its id.
        document: String,
        /// Where it lies.
        path: String,
    },
}

impl Dataset {
    /// All documents as one, `id`: joined by a blank line in the order of their ids, every item asked about the whole.
    ///
    /// Evidence and key-fact chunks are looked up in their own document first, so that a quote is not found in another
    /// one, and shifted. A quote that is not found stays a quote.
    ///
    /// # Errors
    /// [`JoinError::NotLoaded`] if the text of a document is not in memory.
    pub fn as_one_book(mut self, id: &str) -> Result<Self, JoinError> {
        self.documents.sort_by(|a, b| a.id.cmp(&b.id));
        let mut whole = String::new();
        let mut starts = HashMap::new();
        for document in &self.documents {
            let text = match &document.content {
                Content::Text(text) => text,
                Content::Path(path) => {
                    return Err(JoinError::NotLoaded { document: document.id.clone(), path: path.clone() });
                }
            };
            if !whole.is_empty() {
                whole.push_str("\n\n");
            }
            starts.insert(document.id.as_str(), Span::new(whole.len(), whole.len() + text.len()));
            whole.push_str(text);
        }
        let locators: HashMap<&str, Locator<'_>> =
            starts.iter().map(|(name, span)| (*name, Locator::new(&whole[span.range()]))).collect();
        for item in &mut self.items {
            repoint(item, id, &starts, &locators);
        }
        let language = self.documents.first().and_then(|first| first.language.clone());
        let language = language.filter(|one| self.documents.iter().all(|other| other.language.as_ref() == Some(one)));
        let book = Document {
            id: id.to_owned(),
            title: id.to_owned(),
            language,
            content: Content::Text(whole),
            other: serde_json::Map::new(),
        };
        Ok(Self { documents: vec![book], ..self })
    }
}

fn repoint(item: &mut Item, id: &str, starts: &HashMap<&str, Span>, locators: &HashMap<&str, Locator<'_>>) {
    let known: Vec<&str> = item.documents.iter().map(String::as_str).filter(|name| starts.contains_key(name)).collect();
    let texts: Vec<&Locator<'_>> = known.iter().map(|name| &locators[name]).collect();
    let resolved =
        resolve_evidence(&Item { documents: known.iter().map(ToString::to_string).collect(), ..item.clone() }, &texts);
    let mut evidence = item.evidence.clone();
    for (quote, place) in evidence.iter_mut().zip(&resolved.places) {
        quote.document = None;
        quote.start = place.map(|(document, span)| starts[known[document]].start + span.start);
        quote.end = place.map(|(document, span)| starts[known[document]].start + span.end);
    }
    if let Some(facts) = &mut item.key_facts {
        let chunk = locators.get(facts.document.as_str()).and_then(|text| resolve_chunk(facts, text).ok());
        if let Some(span) = chunk {
            let start = starts[facts.document.as_str()].start;
            facts.chunk = ChunkPlace::Offsets { start: start + span.start, end: start + span.end };
        }
        id.clone_into(&mut facts.document);
    }
    item.evidence = evidence;
    item.documents = vec![id.to_owned()];
}
