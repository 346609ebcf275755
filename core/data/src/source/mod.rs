//! What the adapters share: rows of CSV, Python literals, and collecting a data set.

pub(super) mod collect;
#[cfg(feature = "other-formats")]
pub(super) mod literal;
pub(super) mod table;
