//! Protocols of the providers of chat and embedding models: requests, responses, streams, errors, as values.
//!
//! Nothing here sends anything. The command line sends a [`Request`] by reqwest, the page by fetch; both hand what came
//! back to the same functions. Shapes are those the providers document, and those that servers were seen to send where
//! the two differ.

mod anthropic;
mod attempts;
mod batch;
mod date;
mod dialect;
mod embeddings;
mod fault;
mod gemini;
mod http;
mod json;
mod message;
mod openai;
mod parameters;
mod protocol;
mod rerank;
mod secret;
mod sse;
mod stream;
mod wordings;

pub use attempts::{AccountState, Attempts, Limits, Notice, Step};
pub use batch::{BatchApi, BatchMessage, BatchPhase, BatchResult, BatchState};
pub use dialect::Dialect;
pub use embeddings::{EmbeddingProtocol, EmbeddingResponse, TeiInfo, told_tokens};
pub use fault::{Adjustment, Fault, ServerLoad, retry_after};
pub use http::{HttpResponse, Request, TokenLimit};
pub use parameters::Parameters;
pub use protocol::{MAX_ANSWER_BYTES, MAX_ERROR_BYTES, MAX_RESPONSE_BYTES, Protocol, merge, streams, with_path};
pub use rerank::{RerankProtocol, RerankResponse};
pub use secret::{Secret, likely_keys, without_likely_keys, words_like_keys};
pub use stream::StreamReader;
pub use wordings::says_text_is_too_long;

#[cfg(test)]
mod tests;
