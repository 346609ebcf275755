//! Files as they are handed in, and what is wrong in them.

use serde::{Deserialize, Serialize};

/// A file handed to an adapter: its name for messages, its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Path relative to what the user named, with `/` between the parts.
    pub name: String,
    /// Content as it lies on disk.
    pub bytes: Vec<u8>,
}

/// One row or field that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Problem {
    /// File as named by the user.
    pub file: String,
    /// Line, from 1, where the format has lines.
    pub line: Option<usize>,
    /// Item or document, where known.
    pub item: Option<String>,
    /// Message of the problem: what is wrong, what was expected, what to do.
    pub message: String,
    /// True if a row was left out because of it; false if it is used with the stated repair.
    pub dropped: bool,
    /// Number of problems that this one stands for and that are not listed themselves; 0 for one of its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Problem {
    /// A row (or a file of rows) that is left out.
    pub fn dropped(file: &str, line: Option<usize>, item: Option<&str>, message: impl Into<String>) -> Self {
        let (file, item) = (file.to_owned(), item.map(|item| cut(item, 200)));
        Self { file, line, item, message: cut(&message.into(), 1000), dropped: true, more: 0 }
    }

    /// A row that is used all the same; the message says how.
    pub fn note(file: &str, line: Option<usize>, item: Option<&str>, message: impl Into<String>) -> Self {
        Self { dropped: false, ..Self::dropped(file, line, item, message) }
    }
}

/// Cuts a text to `most` characters at most.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(item) = &self.item {
            write!(f, " ({item})")?;
        }
        write!(f, ": {}{}", self.message, if self.dropped { " [left out]" } else { "" })
    }
}
