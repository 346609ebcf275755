//! The core of closeread: text, passages, retrieval, methods, metrics and records.
//!
//! It does no I/O. Whatever it needs from outside it asks of a [`host::Host`]; whatever a run leaves behind is a
//! [`record`]. The same code is compiled natively for the command line and to WebAssembly for the page, and gives the
//! same numbers in both. `ARCHITECTURE.md` in the repository's root says where a line belongs.

#![forbid(unsafe_code)]

pub mod answer;
pub mod benchmark;
pub mod build;
pub mod chunk;
pub mod cluster;
pub mod embed;
pub mod hash;
pub mod host;
pub mod index;
pub mod judge;
pub mod listing;
pub mod method;
pub mod metric;
pub mod paper;
pub mod price;
pub mod prompt;
pub mod protocol;
pub mod provider;
pub mod random;
pub mod reader;
pub mod record;
pub mod report;
pub mod retrieve;
pub mod rows;
pub mod scoring;
pub mod stats;
pub mod table;
pub mod text;
pub mod work;
