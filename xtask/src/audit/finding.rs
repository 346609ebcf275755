//! A printed figure of a paper and its recomputation from the paper's own tables.
use super::numbers::leaves;
use serde::Deserialize;
use serde_json::Value;

/// The result of recomputing a figure.
pub(super) struct Finding {
    pub(super) table: String,
    pub(super) quantity: String,
    /// The rule in words.
    pub(super) rule: String,
    pub(super) printed: Value,
    /// The recomputed figures, in the shape of `printed`.
    pub(super) recomputed: Value,
    /// True if every recomputed figure is the printed one within the tolerance.
    pub(super) agrees: bool,
    pub(super) note: String,
}

impl Finding {
    /// The greatest difference between a printed figure and the recomputed one.
    pub(super) fn off_by(&self) -> f64 {
        let pairs = leaves(&self.printed).into_iter().zip(leaves(&self.recomputed));
        pairs.filter_map(|(a, b)| Some((a? - b?).abs())).fold(0.0, f64::max)
    }
}

/// A remark on a difference between a paper's text and its tables that no rule can compute.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remark {
    pub(super) table: String,
    /// The rest of a sentence that begins with the name of the table.
    pub(super) text: String,
}

/// The audit of a paper: all its findings and remarks.
pub(super) struct Audit {
    pub(super) paper: String,
    pub(super) findings: Vec<Finding>,
    pub(super) remarks: Vec<Remark>,
}
