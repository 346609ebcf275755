//! Texts, as every other crate knows them: places, languages, sentences, and what changed between two of them.

#![forbid(unsafe_code)]

mod change;
mod composed;
pub mod hash;
pub mod language;
mod locate;
pub mod names;
pub mod numbers;
pub mod pattern;
pub mod python;
pub mod sentence;
mod span;
mod thousands;

pub use change::{Change, ChangeKind, changes};
pub use composed::composed;
pub use language::{Language, UnknownLanguage};
pub use locate::{Folding, Located, Locator};
pub use span::{FlowSpan, Span};
pub use thousands::{counted, thousands};
