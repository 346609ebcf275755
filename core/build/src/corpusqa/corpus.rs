//! The corpus that the pipeline made, and what its parts share.

use super::column::Schema;
use super::extract::Agreed;
use super::global::Row;
use super::sets::DocumentSet;
use crate::Built;
use crate::stage::{BuildError, Unit};

/// The corpus that the pipeline made.
#[derive(Debug, Clone, PartialEq)]
pub struct Corpus {
    /// Items, funnel, tables, questions to people.
    pub built: Built,
    /// The columns of the global table.
    pub schema: Schema,
    /// Rows of the table.
    pub rows: Vec<Row>,
    /// Sets of documents, by name.
    pub sets: Vec<(String, DocumentSet)>,
    /// The values that were extracted from each document; nothing of a ready table.
    pub agreed: Vec<Unit<Agreed>>,
}

pub(super) fn unknown(document: &str) -> BuildError {
    BuildError::Store(format!("a stage names the document `{document}`, which is not among those given"))
}
