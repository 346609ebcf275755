//! Reading, from bytes to passages that know their place: books, tokens, data sets, embedding models, rankings.

pub use closeread_books::chunk::{Chunker, Pieces};
pub use closeread_books::html;
pub use closeread_books::tokens::{Encoding, Tokenizer, TokenizerError};
pub use closeread_books::{Book, BookText, DecodeError, Decoded, ReadOptions, TextError, decode};
#[cfg(feature = "epub")]
pub use closeread_books::{EpubError, EpubText, read_epub};
pub use closeread_data::{ADAPTERS, Adapter, Dataset, adapter, jsonl, resolve_evidence};
#[cfg(feature = "encoder")]
pub use closeread_embed::encoder::{BertBackend, EncoderOptions, Precision};
#[cfg(feature = "tokenizer-json")]
pub use closeread_embed::{Backend, EmbedError, EmbeddingModel};
pub use closeread_embed::{ModelSpec, Role, Vectors};
pub use closeread_eval::{Document, InputFile, Problem};
pub use closeread_methods::Passages;
pub use closeread_retrieve::context::{PassageOrder, Selection, fill};
pub use closeread_retrieve::{IndexError, Passage, PassageIndex, Ranked, Ranking, Retriever};
pub use closeread_text::{FlowSpan, Folding, Language, Located, Locator, Span};
#[cfg(feature = "tract")]
pub use closeread_tract::TractBackend;
