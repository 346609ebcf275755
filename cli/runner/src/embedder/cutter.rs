//! Texts that are longer than a served model takes.

use anyhow::{Context, Result};
use closeread_books::tokens::Tokenizer;
use closeread_embed::TextTokenizer;
use closeread_text::hash::sha256;

/// Cuts texts where the model's longest input ends.
pub(super) struct Cutter {
    tokenizer: Tokenizer,
    /// Most tokens that a text may have, beside the special tokens.
    max_content: usize,
    /// Hash of what the cutter was made from.
    sha256: String,
}

impl std::fmt::Debug for Cutter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cutter").field("tokenizer", &self.tokenizer).field("max_content", &self.max_content).finish()
    }
}

impl Cutter {
    /// `tokenizer` is `cl100k`, `o200k` or the path of a `tokenizer.json`; `max_tokens` includes special tokens.
    pub(super) fn new(tokenizer: &str, max_tokens: usize) -> Result<Self> {
        let named = |tokenizer: Tokenizer| Self {
            sha256: sha256(tokenizer.name().as_bytes()),
            tokenizer,
            max_content: max_tokens,
        };
        match tokenizer {
            "cl100k" => Ok(named(Tokenizer::cl100k())),
            "o200k" => Ok(named(Tokenizer::o200k())),
            path => {
                let json = closeread_files::read_file(path)
                    .with_context(|| format!("cannot read the tokenizer {path} of the embedding model"))?;
                let max_content = TextTokenizer::new(path, &json, max_tokens)?.max_content();
                let sha256 = sha256(&json);
                Ok(Self { tokenizer: Tokenizer::from_json(path, &json)?, max_content, sha256 })
            }
        }
    }

    /// Returns the tokenizer of the model.
    pub(super) fn tokenizer(&self) -> Tokenizer {
        self.tokenizer.clone()
    }

    /// Returns the hash of what the cutter was made from, in hex.
    pub(super) fn sha256(&self) -> &[u8] {
        self.sha256.as_bytes()
    }

    /// Returns where a text has to end; `None` for one that fits whole.
    pub(super) fn end(&self, text: &str) -> Option<usize> {
        // A token has at least a byte.
        if text.len() <= self.max_content {
            return None;
        }
        let ends = self.tokenizer.token_ends(text);
        if ends.len() <= self.max_content {
            return None;
        }
        let mut n_tokens = self.max_content;
        // The beginning alone may be split into more tokens than it was within the text.
        while n_tokens > 0 && self.tokenizer.count(&text[..ends[n_tokens - 1]]) > self.max_content {
            n_tokens -= 1;
        }
        Some(if n_tokens == 0 { 0 } else { ends[n_tokens - 1] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_the_longest_input_ends() {
        let cutter = Cutter::new("cl100k", 8).unwrap();
        let text = "one two three four five six seven eight nine ten";
        let end = cutter.end(text).expect("ten words are more than eight tokens");
        assert_eq!(&text[..end], "one two three four five six seven eight");
        assert_eq!(cutter.end("one two three four five six seven eight"), None);
        assert_eq!(cutter.end("短い"), None);
    }
}
