//! What the adapters share: rows of JSON and CSV, markup, Python literals, and collecting a data set.

pub(super) mod collect;
pub(crate) mod html;
pub(super) mod literal;
pub(crate) mod rows;
pub(super) mod table;
