//! Making benchmarks: one file, or folder, a way.
//!
//! Pipelines of the papers: async functions over a [`Host`](closeread_methods::Host) that read like the paper's algorithm, in
//! stages. Each stage leaves a line a unit of work in a [`StageStore`] before the next begins, so that a build can be looked
//! at, edited, stopped and resumed anywhere.

#![forbid(unsafe_code)]

mod ask;
mod assumed;
mod canary;
mod check;
pub mod corpusqa;
mod funnel;
pub mod hamlet;
mod line;
pub mod options;
pub mod sagascale;
mod slots;
mod stage;

pub use assumed::StageCost;
pub use canary::canary;
pub use check::{
    AgainstFilter, CheckAnswers, CheckError, Form, FormError, Question, Reviewed, Sheet, Written, against_filter,
    checkers, reviewed, sample,
};
pub use funnel::{Funnel, FunnelRow};
pub use line::{End, Line};
pub use stage::{BuildError, Building, Made, StageStore, Stored, Unit};

use closeread_books::Book;
use closeread_eval::{Content, Document, Item};
use closeread_table::Table;
use closeread_text::hash::name_hash;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The result of a pipeline: items, funnel, tables, questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The items that were made.
    pub items: Vec<Item>,
    /// Funnel: the units of each stage, kept and dropped.
    pub funnel: Funnel,
    /// Tables that the paper reports of its data.
    pub tables: Vec<Table>,
    /// Questions that people may be asked about the items.
    pub questions: Vec<Question>,
    /// Sheet of what people may write about the items.
    pub sheet: Option<Sheet>,
    /// Facts that the documents state of themselves.
    pub about: About,
}

/// Facts that documents state of themselves besides id, title and language, such as `author`, `genre` and `date`, by
/// their ids.
pub type About = BTreeMap<String, Map<String, Value>>;

/// The named books as documents, each with the path that its text is to be written to and what is known `about` it.
pub fn documents_of<'a>(books: &[Arc<Book>], named: impl Iterator<Item = &'a str>, about: &About) -> Vec<Document> {
    let named: BTreeSet<&str> = named.collect();
    let document = |book: &Arc<Book>| Document {
        id: book.id.clone(),
        title: book.title.clone(),
        language: Some(book.language.code().to_owned()),
        content: Content::Path(format!("texts/{}.txt", name_hash(&book.id))),
        other: about.get(&book.id).cloned().unwrap_or_default(),
    };
    books.iter().filter(|book| named.contains(book.id.as_str())).map(document).collect()
}
