//! The tokenizers that papers count with.

use closeread_books::tokens::Encoding;
use serde::Serialize;

/// The tokenizer that counts budgets, passages, prompts and windows in a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum PaperTokenizer {
    /// [`Encoding::Cl100k`], which is inside.
    Cl100k,
    /// The tokenizer of DeepSeek-R1-0528, which must be installed.
    DeepSeekR1,
}

impl PaperTokenizer {
    /// Returns the tokenizer's name in runs and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cl100k => Encoding::Cl100k.name(),
            Self::DeepSeekR1 => "deepseek-r1",
        }
    }
}

impl From<PaperTokenizer> for &'static str {
    fn from(tokenizer: PaperTokenizer) -> Self {
        tokenizer.name()
    }
}
