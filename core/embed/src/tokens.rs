//! A model's own tokenizer, with the padding and truncation of its file overridden.

use super::EmbedError;
use tokenizers::{PostProcessor, Tokenizer, TruncationDirection};

/// Splits texts into the token ids of one model, special tokens included, cut at the model's longest input.
///
/// `tokenizer.json` carries settings of whoever saved it (all-MiniLM-L6-v2 ships truncation and padding at 128); both
/// are replaced here by the description's.
#[derive(Debug, Clone)]
pub struct TextTokenizer {
    tokenizer: Tokenizer,
    /// Most tokens of the text itself.
    max_content: usize,
}

/// One text as its model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenIds {
    /// Token ids, special tokens included.
    pub ids: Vec<u32>,
    /// Whether the text was longer than the model takes, so that its end is missing.
    pub cut: bool,
}

impl TextTokenizer {
    /// Reads a `tokenizer.json`; `model` names it in errors, `max_tokens` includes special tokens.
    ///
    /// # Errors
    /// [`EmbedError::Tokenizer`] if it does not parse or `max_tokens` leaves no room beside its special tokens.
    pub fn new(model: &str, json: &[u8], max_tokens: usize) -> Result<Self, EmbedError> {
        let problem = |problem: String| EmbedError::Tokenizer { model: model.to_owned(), problem };
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(|error| problem(error.to_string()))?;
        tokenizer.with_padding(None);
        // The library's own truncation may stop reading early and then cannot tell that it cut.
        tokenizer.with_truncation(None).map_err(|error| problem(error.to_string()))?;
        let n_special = tokenizer.get_post_processor().map_or(0, |post| post.added_tokens(false));
        if n_special >= max_tokens {
            return Err(problem(format!("{n_special} special tokens leave no room in max_tokens = {max_tokens}")));
        }
        Ok(Self { tokenizer, max_content: max_tokens - n_special })
    }

    /// Most tokens of the text itself, beside the special tokens.
    pub fn max_content(&self) -> usize {
        self.max_content
    }

    /// The token ids of one text: its first tokens as far as the model takes them, between the special tokens.
    ///
    /// # Errors
    /// The tokenizer library's words; it fails only on a vocabulary without the token that stands for unknown pieces.
    pub fn tokenize(&self, text: &str) -> Result<TokenIds, String> {
        let mut encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        let cut = encoding.len() > self.max_content;
        encoding.truncate(self.max_content, 0, TruncationDirection::Right);
        let whole = self.tokenizer.post_process(encoding, None, true).map_err(|error| error.to_string())?;
        Ok(TokenIds { ids: whole.get_ids().to_vec(), cut })
    }
}
