//! The files of a run folder as values, and what is said of those that are none.

use closeread_eval::rows::{MAX_ROW_BYTES, too_long, too_many_values};
use serde::de::{DeserializeOwned, IgnoredAny};

/// The reason why some files are not a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// A file holds something else than the run's own commands write.
    #[error("{file}: expected {expected}; {why}")]
    File {
        /// Name of the file.
        file: String,
        /// What the file holds in a run folder.
        expected: &'static str,
        /// Message of the parser.
        why: String,
    },
    /// A line of a file of JSON lines.
    #[error("{file}:{line}: expected {expected}; {why}")]
    Line {
        /// Name of the file.
        file: &'static str,
        /// Number of the line, from 1.
        line: usize,
        /// What a line holds in a run folder.
        expected: &'static str,
        /// Message of the parser.
        why: String,
    },
    /// A file is of another version of closeread.
    #[error(
        "{file} has format {there}, and this closeread reads format {here}: use the closeread that made the run{by}"
    )]
    Format {
        /// Name of the file.
        file: &'static str,
        /// Format version of the file.
        there: u32,
        /// Format version that is read here.
        here: u32,
        /// Version of closeread that made it, in brackets; empty where that is not known.
        by: String,
    },
}

pub(super) fn whole<T: DeserializeOwned>(file: &str, expected: &'static str, bytes: &[u8]) -> Result<T, FolderError> {
    let wrong = |why: String| FolderError::File { file: file.to_owned(), expected, why };
    match too_many_values(bytes) {
        Some(why) => Err(wrong(why)),
        None => serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string())),
    }
}

/// Bytes of the lines that are whole. A last line without its line feed is whole where it is an object, as an editor leaves it;
/// otherwise it was being written when the run was killed.
fn whole_lines(bytes: &[u8]) -> usize {
    let ended = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let last = &bytes[ended..];
    let is_whole = last.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(last).is_ok();
    if is_whole { bytes.len() } else { ended }
}

/// Reads one value a line; a last line that a kill cut short is skipped.
pub(super) fn lines<T: DeserializeOwned>(
    file: &'static str,
    expected: &'static str,
    bytes: &[u8],
) -> Result<Vec<T>, FolderError> {
    let mut values = Vec::new();
    for (idx, line) in bytes[..whole_lines(bytes)].split(|&byte| byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let wrong = |why: String| FolderError::Line { file, line: idx + 1, expected, why };
        if line.len() > MAX_ROW_BYTES {
            return Err(wrong(too_long(line.len())));
        }
        if let Some(why) = too_many_values(line) {
            return Err(wrong(why));
        }
        values.push(serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(values)
}
