//! Shared parts of the adapters: rows of CSV, Python literals, and collecting a data set.

#[cfg_attr(not(feature = "data-sets"), allow(dead_code, reason = "scoring collects questions alone"))]
pub(super) mod collect;
#[cfg(feature = "data-sets")]
pub(super) mod decoded;
#[cfg(feature = "other-formats")]
pub(super) mod literal;
#[cfg(feature = "data-sets")]
pub(super) mod table;
