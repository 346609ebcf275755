//! What rerankers on servers took: `reranking.jsonl`, a line a request.

use anyhow::Result;
use closeread_files as files;
use closeread_methods::record::RerankingCall;
use std::path::Path;

/// The file's name in a run folder.
pub const RERANKING: &str = "reranking.jsonl";

/// The requests that were made for the run in a folder; a last line that a kill cut short is skipped.
pub fn reranking_calls(folder: &Path) -> Result<Vec<RerankingCall>> {
    files::read_lines(&folder.join(RERANKING), "{\"model\", \"texts\", \"tokens\", \"searches\"}")
}
