//! What the adapters share: rows of JSON and CSV, plain text, markup, Python literals, and collecting a data set.

pub(super) mod collect;
pub(super) mod html;
pub(super) mod literal;
pub(super) mod plain;
pub(super) mod rows;
pub(super) mod table;
