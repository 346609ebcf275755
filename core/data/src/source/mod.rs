//! What the adapters share: rows of CSV, Python literals, and collecting a data set.

pub(super) mod collect;
pub(super) mod literal;
pub(super) mod table;
