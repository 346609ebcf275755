//! Results on disk, of runs, predictions and other tools, read to be scored, compared and exported: for the command
//! line and for Python.

#![forbid(unsafe_code)]

pub mod files;
pub mod foreign;
pub mod scoring;
mod sides;
pub mod tables;

pub use sides::{Given, Sides};

/// The version of closeread.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
