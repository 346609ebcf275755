//! Requests to embedding models and rerankers on servers: `embeddings.jsonl` and `reranking.jsonl`, a line a request.

use anyhow::Result;
use closeread_files as files;
pub use closeread_files::run_files::{EMBEDDINGS, RERANKING};
use closeread_methods::record::ServedCall;
use std::path::Path;

/// Description of a line, for messages on a line that is something else.
pub(super) const LINE: &str = "{\"model\", \"texts\", \"tokens\", \"searches\"}";

/// A name for a request, which no other one has.
pub(crate) fn new_id() -> String {
    format!("{:016x}", fastrand::u64(..))
}

/// The requests that one of these files of a run folder lists; a last line that a kill cut short is skipped.
pub fn served_calls(folder: &Path, file: &str) -> Result<Vec<ServedCall>> {
    files::read_lines(&folder.join(file), LINE)
}
