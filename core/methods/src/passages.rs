//! Passages that a method searches: how the books are cut, and what embeds them.

use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText};
use closeread_retrieve::PassageIndex;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The embedding model of SagaScale's experiments (§4.1).
pub const SAGASCALE_EMBEDDER: &str = "multilingual-e5-large";

/// The passages of a method that searches.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Passages {
    /// Chunker that cuts a text.
    pub split: Chunker,
    /// Most tokens that a passage may have, by the run's tokenizer.
    pub max_tokens: usize,
    /// The embedding model; `None`: the run's. The paper's own, where it is not installed, gives way to the run's.
    pub embedder: Option<String>,
}

impl Passages {
    /// Passages of sentences packed up to `max_tokens` tokens (Stronger Baselines 2.3, A.4).
    pub fn sentences(max_tokens: usize) -> Self {
        Self { split: Chunker::Dos, max_tokens, embedder: None }
    }

    /// Passages that are windows of `max_tokens` tokens without overlap (SagaScale 4.1).
    pub fn windows(max_tokens: usize) -> Self {
        Self { split: Chunker::Window, max_tokens, embedder: None }
    }

    /// Returns the passages, embedded by the model of that name.
    #[must_use]
    pub fn embedded_by(self, embedder: &str) -> Self {
        Self { embedder: Some(embedder.to_owned()), ..self }
    }

    /// The books cut into these passages and indexed by their words; vectors come later. `open` as in
    /// [`PassageIndex::new`].
    ///
    /// # Errors
    /// What `open` fails with.
    pub fn index<E>(
        &self,
        books: &[Arc<Book>],
        tokenizer: &Tokenizer,
        open: impl FnMut(&Book) -> Result<Arc<BookText>, E>,
    ) -> Result<PassageIndex, E> {
        PassageIndex::new(books.to_vec(), self.split, self.max_tokens, tokenizer, open)
    }
}
