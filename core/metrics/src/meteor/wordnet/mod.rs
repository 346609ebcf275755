//! WordNet's synonyms: a reader of the compact asset that `cargo xtask wordnet` makes, and NLTK's way to look a word up.
//!
//! Of WordNet (Princeton University, version 3.0) the asset keeps which words share a synset and which forms are
//! irregular; `core/metrics/assets/wordnet/README.md` gives its format and its licence.

mod asset;
mod data;
mod look_up;

pub use data::{WordNet, WordNetError};
