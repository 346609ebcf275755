//! What is asked about which texts: the public formats and one adapter per published data set.

mod item;

pub use item::{Content, Document, Evidence, Item, KeyFact, KeyFacts, Task};

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
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
