//! Errors of embedding: why a text could not be embedded or a model not be read.

/// An error between a model's files and its vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// A model description does not parse or contradicts itself.
    #[error("model description `{name}`: {problem}")]
    Spec {
        /// The model's name, or the file's where it could not be read so far.
        name: String,
        /// Problem, and what is expected.
        problem: String,
    },
    /// The tokenizer's file cannot be used.
    #[error("tokenizer.json of `{model}`: {problem}")]
    Tokenizer {
        /// The model it belongs to.
        model: String,
        /// The tokenizer library's words.
        problem: String,
    },
    /// One text could not be split into tokens.
    #[error("text {index} could not be split into tokens: {problem}")]
    Text {
        /// Number of the text among those handed in, from 0.
        index: usize,
        /// The tokenizer library's words.
        problem: String,
    },
    /// The model's file cannot be loaded by this backend.
    #[error("the model cannot be loaded: {0}")]
    Load(String),
    /// The backend failed on a batch.
    #[error("the model failed on a batch of {n_texts} texts of up to {n_tokens} tokens: {problem}")]
    Forward {
        /// Number of texts in the batch.
        n_texts: usize,
        /// Tokens of the longest of them.
        n_tokens: usize,
        /// Message of the backend.
        problem: String,
    },
    /// The device that computes failed or is gone, through no fault of the model or the texts: another backend may go on.
    #[error("{0}")]
    Device(String),
    /// The model answers vectors of another size than described.
    #[error("model `{model}` gives vectors of {found} numbers, its description says {expected}: correct `dimension`")]
    Dimension {
        /// Name of the model.
        model: String,
        /// Numbers in a vector by the description.
        expected: usize,
        /// Numbers in a vector as computed.
        found: usize,
    },
    /// A vector holds a number that is not finite, or only zeros where it is to be normalised.
    #[error("the vector of text {index} cannot be normalised (a number in it is not finite, or all are 0)")]
    NotFinite {
        /// Number of the text among those handed in, from 0.
        index: usize,
    },
}

/// Returns the problem of a text with a token that a model of `n_words` does not know.
pub fn unknown_token(id: u32, n_words: usize) -> String {
    format!("token id {id}, the model knows {n_words}: are tokenizer.json and the weights of one model?")
}
