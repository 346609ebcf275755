//! From the bytes of a file to sentences whose place in that file is known.

pub mod sentence;
mod span;
pub mod tokens;

pub use span::{FlowSpan, Span};
