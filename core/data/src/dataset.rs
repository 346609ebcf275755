//! The data set that reading files gives: documents, items, and everything that was wrong.

use super::{resolve_chunk, resolve_evidence};
use closeread_eval::ProblemList;
use closeread_eval::{ChunkPlace, Content, Document, Item};
use closeread_text::Locator;
use closeread_text::Span;
use std::collections::HashMap;

/// Documents and items read from files, with everything that was wrong in them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dataset {
    /// Every document once, in the order of first use.
    pub documents: Vec<Document>,
    /// The items, in file order.
    pub items: Vec<Item>,
    /// Rows that could not be used, named or counted; never dropped in silence.
    pub problems: ProblemList,
}

/// The reason why documents could not be joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// A document still lies in a file of its own.
    #[error("document `{document}` lies in the file `{path}`: load its text before the documents are joined")]
    NotLoaded {
        /// Id of the document.
        document: String,
        /// Path of the document's file.
        path: String,
    },
}

impl Dataset {
    /// Joins all documents to one, `id`, by a blank line in the order of their ids, every item asked about the whole.
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
