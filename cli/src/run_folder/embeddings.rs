//! What embeddings from servers took: `embeddings.jsonl`, a line a request.

use anyhow::{Context, Result};
use closeread_core::record::EmbeddingCall;
use std::io::ErrorKind;
use std::path::Path;

/// The file's name in a run folder.
pub(crate) const EMBEDDINGS: &str = "embeddings.jsonl";

/// The requests that were made for the run in a folder; a last line that a kill cut short is passed over.
pub(crate) fn embedding_calls(folder: &Path) -> Result<Vec<EmbeddingCall>> {
    let path = folder.join(EMBEDDINGS);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |(idx, line): (usize, &str)| {
        let expected = || format!("{}:{}: expected {{\"model\", \"texts\", \"tokens\"}}", path.display(), idx + 1);
        serde_json::from_str(line).with_context(expected)
    };
    whole.lines().enumerate().filter(|(_, line)| !line.is_empty()).map(parse).collect()
}
