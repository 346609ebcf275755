//! closeread's core for JavaScript: conversions, no algorithm.
//!
//! Every result is the JSON that the command line prints for the same input. Errors are JavaScript `Error`s whose
//! `name` is stable and whose `message` says what was expected and what to do.
//!
//! Each feature is a module of its own: `page` has everything but models, `books` books and their index, `embed` embedding
//! models on the processor and by WebGPU, `tract` those of any ONNX file, `scorer` what other pages embed.

#[cfg(feature = "books")]
mod assets;
#[cfg(any(feature = "embed", feature = "tract"))]
mod backend;
#[cfg(feature = "books")]
mod books;
#[cfg(feature = "page")]
mod compare;
#[cfg(any(feature = "embed", feature = "tract"))]
mod embedding_model;
mod error;
#[cfg(feature = "books")]
mod index;
#[cfg(feature = "page")]
mod method;
#[cfg(feature = "books")]
mod model;
#[cfg(any(feature = "books", feature = "scorer"))]
mod options;
#[cfg(feature = "page")]
mod orders;
#[cfg(feature = "page")]
mod provider;
#[cfg(any(feature = "embed", feature = "tract"))]
mod role;
#[cfg(feature = "page")]
mod run;
#[cfg(feature = "scorer")]
mod score;
#[cfg(feature = "typescript")]
pub mod typescript;

#[cfg(feature = "scorer")]
#[wasm_bindgen::prelude::wasm_bindgen(typescript_custom_section)]
const SCORER_TYPES: &str = include_str!("../types/scorer.d.ts");
#[cfg(feature = "books")]
#[wasm_bindgen::prelude::wasm_bindgen(typescript_custom_section)]
const BOOKS_TYPES: &str = include_str!("../types/books.d.ts");
#[cfg(feature = "page")]
#[wasm_bindgen::prelude::wasm_bindgen(typescript_custom_section)]
const PAGE_TYPES: &str = include_str!("../types/page.d.ts");

#[cfg(feature = "books")]
pub use assets::{provide, provided};
#[cfg(feature = "page")]
pub use compare::{compare_json, shown_comparison};
#[cfg(any(feature = "embed", feature = "tract"))]
pub use embedding_model::EmbeddingModel;
#[cfg(feature = "books")]
pub use index::Index;
#[cfg(feature = "books")]
pub use index::one_book::{chunk, search};
#[cfg(feature = "page")]
pub use method::{MethodRun, changes, methods};
#[cfg(feature = "books")]
pub use model::model_facts;
#[cfg(feature = "page")]
pub use orders::order_effect_of;
#[cfg(feature = "page")]
pub use provider::ChatModel;
#[cfg(feature = "page")]
pub use run::{OpenRun, chart_style};
#[cfg(feature = "scorer")]
pub use score::{score, score_format, score_format_json, score_json};
