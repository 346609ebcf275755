//! From the bytes of a file to sentences whose place in that file is known.

pub mod sentence;
mod span;
pub mod tokens;

pub use book::{Book, ReadOptions, TextError};
pub use decode::{DecodeError, Decoded, decode};
pub use flow::Flow;
pub use frame::Frame;
pub use language::{Language, UnknownLanguage, detect as detect_language};
pub use span::{FlowSpan, Span};
