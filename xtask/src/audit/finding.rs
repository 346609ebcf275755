//! A figure of a paper beside what follows from its own tables.
use serde_json::Value;

/// What came of recomputing a figure.
pub(super) struct Finding {
    pub(super) paper: String,
    pub(super) table: String,
    pub(super) quantity: String,
    /// The rule in words.
    pub(super) rule: String,
    pub(super) printed: Value,
    /// In the shape of `printed`.
    pub(super) recomputed: Value,
    /// True if every recomputed figure is the printed one within the tolerance.
    pub(super) agrees: bool,
    pub(super) note: String,
}
