//! A model's own tokenizer, with the padding and truncation of its file overridden.

use super::EmbedError;
use tokenizers::{Encoding, PostProcessor, Tokenizer, TruncationDirection};

/// Splits texts into the token ids of one model, special tokens included, cut at the model's longest input.
///
/// `tokenizer.json` carries settings of whoever saved it (all-MiniLM-L6-v2 ships truncation and padding at 128); both
/// are replaced here by the description's.
#[derive(Debug, Clone)]
pub struct TextTokenizer {
    tokenizer: Tokenizer,
    /// Most tokens that the text itself may have.
    max_content: usize,
    /// Most tokens that a query and a passage may have together, beside the special tokens of a pair.
    max_pair: usize,
}

/// A query and a passage as a model reads them together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairIds {
    /// Token ids, special tokens included.
    pub ids: Vec<u32>,
    /// Place where the tokens of the second type begin; as many as there are, if the model knows one type.
    pub second: usize,
    /// Whether the two were longer than the model takes, so that an end is missing.
    pub cut: bool,
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
        let n_special_of_pair = tokenizer.get_post_processor().map_or(0, |post| post.added_tokens(true));
        let max_pair = max_tokens.saturating_sub(n_special_of_pair);
        Ok(Self { tokenizer, max_content: max_tokens - n_special, max_pair })
    }

    /// Returns the most tokens that the text itself may have, beside the special tokens.
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

    /// A query with each of several passages, in their order: both as far as the model takes them, between the special tokens of
    /// a pair. What is too much is taken off the end of the longer one, and of both once they are equally long.
    ///
    /// # Errors
    /// Which of the passages it was, and the tokenizer library's words.
    pub fn pairs(&self, query: &str, passages: &[&str]) -> Result<Vec<PairIds>, (usize, String)> {
        let query = self.tokenizer.encode_fast(query, false).map_err(|error| (0, error.to_string()))?;
        let pair = |(place, passage): (usize, &&str)| {
            self.pair(query.clone(), passage).map_err(|error| (place, error.to_string()))
        };
        passages.iter().enumerate().map(pair).collect()
    }

    fn pair(&self, mut query: Encoding, passage: &str) -> Result<PairIds, tokenizers::Error> {
        let mut passage = self.tokenizer.encode_fast(passage, false)?;
        let (n_query, n_passage) = kept(query.len(), passage.len(), self.max_pair);
        let cut = n_query < query.len() || n_passage < passage.len();
        query.truncate(n_query, 0, TruncationDirection::Right);
        passage.truncate(n_passage, 0, TruncationDirection::Right);
        passage.set_type_ids(vec![1; n_passage]);
        let whole = self.tokenizer.post_process(query, Some(passage), true)?;
        let second = whole.get_type_ids().iter().position(|&kind| kind != 0).unwrap_or(whole.len());
        Ok(PairIds { ids: whole.get_ids().to_vec(), second, cut })
    }
}

/// Returns how much of two texts is kept within `room`: all of the shorter one if it takes no more than half.
fn kept(a: usize, b: usize, room: usize) -> (usize, usize) {
    if a + b <= room {
        return (a, b);
    }
    let half = room / 2;
    match (a.min(b) <= half, a <= b) {
        (true, true) => (a, room - a),
        (true, false) => (room - b, b),
        (false, true) => (half, room - half),
        (false, false) => (room - half, half),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_of_two_texts_is_cut_first() {
        assert_eq!(kept(3, 4, 7), (3, 4));
        assert_eq!([kept(3, 9, 7), kept(9, 3, 7)], [(3, 4), (4, 3)]);
        assert_eq!([kept(9, 9, 7), kept(8, 9, 7), kept(9, 8, 8)], [(3, 4), (3, 4), (4, 4)]);
        assert_eq!(kept(0, 9, 7), (0, 7));
    }
}
