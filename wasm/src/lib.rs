//! closeread-core for JavaScript: conversions, no algorithm.
//!
//! Every result is the JSON that the command line prints for the same input. Errors are JavaScript `Error`s whose
//! `name` is stable and whose `message` says what was expected and what to do.
//!
//! With feature `page` it is the module of the page, with `encoder` alone that of its embedding workers, without both the
//! scorer, which other pages embed.

#[cfg(feature = "page")]
mod assets;
#[cfg(feature = "page")]
mod audit;
#[cfg(feature = "page")]
mod books;
#[cfg(feature = "page")]
mod compare;
#[cfg(feature = "encoder")]
mod encoder;
mod error;
#[cfg(feature = "page")]
mod index;
#[cfg(feature = "page")]
mod model;
mod options;
#[cfg(feature = "page")]
mod run;
mod score;

#[cfg(feature = "page")]
pub use assets::{provide, provided};
#[cfg(feature = "page")]
pub use audit::audit_json;
#[cfg(feature = "page")]
pub use books::{chunk, search};
#[cfg(feature = "page")]
pub use compare::{compare_json, shown_comparison};
#[cfg(feature = "encoder")]
pub use encoder::TextEncoder;
#[cfg(feature = "page")]
pub use index::Index;
#[cfg(feature = "page")]
pub use model::model_facts;
#[cfg(feature = "page")]
pub use run::{OpenRun, chart_style};
pub use score::{score, score_format, score_format_json, score_json};
