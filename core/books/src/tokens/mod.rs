//! Tokens as language models and embedding models count them.

mod byte_pairs;
mod counted;
mod encoding;

use byte_pairs::BytePairs;
use closeread_text::hash::sha256;
use counted::Counted;
pub use encoding::Encoding;
use std::fmt;
use std::sync::Arc;
#[cfg(feature = "vocabularies")]
use std::sync::LazyLock;

/// One of the tokenizers that texts are measured with. Cheap to clone.
#[derive(Clone)]
pub struct Tokenizer {
    name: Arc<str>,
    /// SHA-256 of the file that it was published as.
    fingerprint: Arc<str>,
    engine: Engine,
    counted: Arc<Counted>,
}

#[derive(Clone)]
enum Engine {
    BytePairs(Arc<BytePairs>),
    #[cfg(feature = "tokenizer-json")]
    HuggingFace(Arc<tokenizers::Tokenizer>),
}

/// The reason why a tokenizer could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerError {
    /// The bytes are no `tokenizer.json`.
    #[error(
        "tokenizer `{name}`: not a Hugging Face tokenizer.json ({reason}); give the file of that name of the model"
    )]
    Json {
        /// The name the caller gave.
        name: String,
        /// Message of the parser.
        reason: String,
    },
    /// The tokenizer fails on a character that is not in its vocabulary.
    #[error(
        "tokenizer `{name}` has no token for unknown characters ({reason}); add its unknown token to the vocabulary"
    )]
    Unknown {
        /// The name the caller gave.
        name: String,
        /// Message of the tokenizer.
        reason: String,
    },
    /// The bytes are not the vocabulary of a byte-pair encoding.
    #[error(
        "vocabulary of `{name}`: these {n_bytes} bytes are not {name}.bin (SHA-256 {sha256}); give that file of closeread's, \
         decompressed"
    )]
    Vocabulary {
        /// Name of the encoding.
        name: &'static str,
        /// Length of what was given.
        n_bytes: usize,
        /// Beginning of the file's hash.
        sha256: &'static str,
    },
}

impl Tokenizer {
    /// `cl100k_base`, the default everywhere. Text that looks like a special token (`<|endoftext|>`) is ordinary text.
    #[cfg(feature = "vocabularies")]
    pub fn cl100k() -> Self {
        static INSIDE: LazyLock<Arc<BytePairs>> = LazyLock::new(|| Arc::new(BytePairs::inside(Encoding::Cl100k)));
        Self::of_encoding(Encoding::Cl100k, Arc::clone(&INSIDE))
    }

    /// `o200k_base`. Text that looks like a special token is ordinary text.
    #[cfg(feature = "vocabularies")]
    pub fn o200k() -> Self {
        static INSIDE: LazyLock<Arc<BytePairs>> = LazyLock::new(|| Arc::new(BytePairs::inside(Encoding::O200k)));
        Self::of_encoding(Encoding::O200k, Arc::clone(&INSIDE))
    }

    /// An encoding whose vocabulary the caller brings, for builds that do not carry them: the file `cl100k_base.bin` or
    /// `o200k_base.bin`, decompressed (the format: `assets/README.md`).
    ///
    /// # Errors
    /// [`TokenizerError::Vocabulary`] if it is any other file.
    pub fn from_vocabulary(encoding: Encoding, file: &[u8]) -> Result<Self, TokenizerError> {
        let (name, expected) = (encoding.name(), encoding.sha256());
        let read = Some(file).filter(|file| sha256(file) == expected).and_then(|file| BytePairs::new(encoding, file));
        let wrong = || TokenizerError::Vocabulary { name, n_bytes: file.len(), sha256: &expected[..12] };
        Ok(Self::of_encoding(encoding, Arc::new(read.ok_or_else(wrong)?)))
    }

    /// A Hugging Face `tokenizer.json`. Its padding and truncation are switched off and no special tokens are added, so
    /// that counts are those of the text alone.
    ///
    /// A special token that is spelt out in the text (`[SEP]`) becomes that token, as the library does by default.
    ///
    /// # Errors
    /// [`TokenizerError::Json`] if `json` does not parse, [`TokenizerError::Unknown`] if it lacks its unknown token.
    #[cfg(feature = "tokenizer-json")]
    pub fn from_json(name: &str, json: &[u8]) -> Result<Self, TokenizerError> {
        let wrong = |e: tokenizers::Error| TokenizerError::Json { name: name.to_owned(), reason: e.to_string() };
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(json).map_err(wrong)?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(wrong)?;
        // Characters of several planes that no vocabulary is likely to hold; normalisers drop some of them.
        tokenizer
            .encode_fast("a \u{10fffd}\u{fdd0} \u{13080} \u{a66e} \u{16d40}", false)
            .map_err(|e| TokenizerError::Unknown { name: name.to_owned(), reason: e.to_string() })?;
        Ok(Self::of(name, &sha256(json), Engine::HuggingFace(Arc::new(tokenizer))))
    }

    fn of_encoding(encoding: Encoding, byte_pairs: Arc<BytePairs>) -> Self {
        Self::of(encoding.name(), encoding.published_sha256(), Engine::BytePairs(byte_pairs))
    }

    fn of(name: &str, fingerprint: &str, engine: Engine) -> Self {
        Self { name: name.into(), fingerprint: fingerprint.into(), engine, counted: Arc::default() }
    }

    /// Returns the tokenizer's name in reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of its vocabulary's file as it is published, in hex: what tells it from others that are called alike.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Number of tokens of `text`, special tokens excluded. Long stretches that were counted before are not counted again.
    pub fn count(&self, text: &str) -> usize {
        match &self.engine {
            Engine::BytePairs(encoding) => self.counted.sum(text, |text| {
                let mut n_tokens = 0;
                encoding.each_token(text, |_, _| n_tokens += 1);
                n_tokens
            }),
            #[cfg(feature = "tokenizer-json")]
            Engine::HuggingFace(tokenizer) => tokenizer.encode_fast(text, false).expect(PROBED).len(),
        }
    }

    /// The ids of the tokens of `text`, special tokens excluded.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        match &self.engine {
            Engine::BytePairs(encoding) => {
                let mut ids = Vec::new();
                encoding.each_token(text, |id, _| ids.push(id));
                ids
            }
            #[cfg(feature = "tokenizer-json")]
            Engine::HuggingFace(tokenizer) => tokenizer.encode_fast(text, false).expect(PROBED).get_ids().to_vec(),
        }
    }

    /// The byte of `text` at which each token ends, one entry a token, ascending but not strictly.
    ///
    /// A token that ends inside a character is taken to end behind it, so every entry can cut a string. White space
    /// that a tokenizer drops lies between the tokens; after the last entry there may be some left.
    pub fn token_ends(&self, text: &str) -> Vec<usize> {
        let mut ends: Vec<usize> = match &self.engine {
            Engine::BytePairs(encoding) => {
                let (mut ends, mut end) = (Vec::new(), 0);
                encoding.each_token(text, |_, n_bytes| {
                    end += n_bytes;
                    ends.push(end);
                });
                ends
            }
            #[cfg(feature = "tokenizer-json")]
            Engine::HuggingFace(tokenizer) => {
                let encoding = tokenizer.encode(text, false).expect(PROBED);
                encoding.get_offsets().iter().map(|&(_, end)| end).collect()
            }
        };
        let mut last = 0;
        for end in &mut ends {
            *end = text.ceil_char_boundary((*end).max(last));
            last = *end;
        }
        ends
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tokenizer").field(&self.name).finish()
    }
}

#[cfg(feature = "tokenizer-json")]
const PROBED: &str = "an unknown character was tried when the tokenizer was made, and nothing else can fail";

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_STANDARD, Engine as _};

    #[test]
    fn a_vocabulary_from_outside_counts_like_the_one_inside() {
        let text = "  It's 12345 o'clock…\r\n\t\n  <|endoftext|> 他走了 \u{1f469}\u{200d}\u{1f680}  ";
        for (encoding, inside) in [(Encoding::Cl100k, Tokenizer::cl100k()), (Encoding::O200k, Tokenizer::o200k())] {
            let outside =
                Tokenizer::from_vocabulary(encoding, &encoding.vocabulary()).expect("the file that is inside");
            assert_eq!(outside.encode(text), inside.encode(text));
            assert_eq!(outside.name(), inside.name());
        }
    }

    #[test]
    fn the_vocabularies_inside_are_the_published_ones() {
        for encoding in [Encoding::Cl100k, Encoding::O200k] {
            let inside = BytePairs::inside(encoding);
            let line = |rank| format!("{} {rank}\n", BASE64_STANDARD.encode(inside.token(rank)));
            let published: String = (0..encoding.n_tokens()).map(line).collect();
            assert_eq!(sha256(published.as_bytes()), encoding.published_sha256());
        }
    }

    #[test]
    fn wrong_bytes_are_named() {
        let message = Tokenizer::from_vocabulary(Encoding::O200k, b"IQ== 0\n").unwrap_err().to_string();
        assert!(message.starts_with("vocabulary of `o200k_base`: these 7 bytes are not o200k_base.bin"), "{message}");
        let message = Tokenizer::from_json("mine", b"{}").unwrap_err().to_string();
        assert!(message.starts_with("tokenizer `mine`: not a Hugging Face tokenizer.json"), "{message}");
    }

    #[test]
    fn a_token_inside_a_character_ends_behind_it() {
        let text = "a\u{10a7f}b";
        let ends = Tokenizer::cl100k().token_ends(text);
        assert!(ends.len() > 3, "the character takes several tokens");
        assert_eq!(ends.first(), Some(&1));
        assert!(ends[1..ends.len() - 1].iter().all(|&end| end == 5), "{ends:?}");
        assert_eq!(ends.last(), Some(&6));
    }
}
