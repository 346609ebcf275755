//! What embeddings from servers took: `embeddings.jsonl`, a line a request.

use anyhow::Result;
use closeread_files as files;
use closeread_methods::record::EmbeddingCall;
use std::path::Path;

/// The file's name in a run folder.
pub const EMBEDDINGS: &str = "embeddings.jsonl";

/// The requests that were made for the run in a folder; a last line that a kill cut short is skipped.
pub fn embedding_calls(folder: &Path) -> Result<Vec<EmbeddingCall>> {
    files::read_lines(&folder.join(EMBEDDINGS), "{\"model\", \"texts\", \"tokens\"}")
}
