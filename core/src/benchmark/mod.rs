//! What is asked about which texts: the public formats and one adapter per published data set.

mod dataset;
mod item;
pub mod jsonl;
mod resolve;
mod source;

pub use dataset::{Dataset, InputFile, JoinError, Problem};
pub use item::{ChunkPlace, Content, Document, Evidence, Item, KeyFact, KeyFacts, Task};
pub use resolve::{ResolveError, Resolved, resolve_chunk, resolve_evidence};
