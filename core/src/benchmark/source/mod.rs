//! What the adapters share: rows of JSON and CSV, Python literals, and collecting a data set.

pub(super) mod collect;
pub(super) mod literal;
pub(crate) mod rows;
pub(super) mod table;
