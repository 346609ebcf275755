//! Books: from the bytes of a file to sentences and passages whose place in that file is known.

#![forbid(unsafe_code)]

mod book;
mod chapters;
pub mod chunk;
mod decode;
#[cfg(feature = "epub")]
mod epub;
mod flow;
mod frame;
pub mod html;
pub mod language;
mod line;
pub mod tokens;

pub use book::{Book, BookText, MAX_BOOK_BYTES, ReadOptions, TextError};
pub use chapters::{Chapter, chapters};
pub use decode::{DecodeError, Decoded, decode};
#[cfg(feature = "epub")]
pub use epub::{EpubError, EpubText, read_epub};
pub use flow::Flow;
pub use frame::Frame;
