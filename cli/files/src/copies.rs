//! Where copies of folders in object stores lie in the cache, which more than one crate knows.

/// Folder of all copies.
pub const COPIES: &str = "remote";
/// Folder in it of those that are read.
pub const READ: &str = "read";
/// Name of the file beside a copy that notes what was fetched or sent; it is written whenever the copy is fetched.
pub const INDEX: &str = "index.json";
/// Name of the file beside a copy that is locked by who uses it.
pub const LOCK: &str = "lock";
/// Name of the file beside a copy that is locked together by those who read from it as they go.
pub const READERS: &str = "readers.lock";
