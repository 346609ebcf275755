//! From the bytes of a file to sentences whose place in that file is known.

mod book;
mod change;
mod decode;
#[cfg(feature = "epub")]
mod epub;
mod flow;
mod frame;
pub mod html;
mod language;
mod line;
mod locate;
pub(crate) mod pattern;
pub(crate) mod python;
pub mod sentence;
mod span;
pub mod tokens;

pub use book::{Book, FlowText, OpenBook, ReadOptions, SourceText, TextError, TextStore};
pub use change::{Change, ChangeKind, changes};
pub use decode::{DecodeError, Decoded, decode};
#[cfg(feature = "epub")]
pub use epub::{EpubError, EpubText, read_epub};
pub use flow::Flow;
pub use frame::Frame;
pub use language::{Language, UnknownLanguage};
pub(crate) use language::{east_asian, is_han};
pub use locate::{Folding, Located, Locator};
pub use span::{FlowSpan, Span};
