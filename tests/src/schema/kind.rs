//! A kind of vector file.

use crate::report::FileReport;
use serde_json::Value;

/// A kind of vector file that has code.
pub(crate) struct Schema {
    /// Name: the part before the slash in a file's `schema` field.
    pub(crate) name: &'static str,
    /// Version: the part after the slash.
    pub(crate) version: &'static str,
    /// Runs all cases of a file.
    pub(crate) run: fn(&Value, &mut FileReport),
}
