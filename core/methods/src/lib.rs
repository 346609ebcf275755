//! The methods of the papers, one file each: parameters, passages, preparation, answer and cost under one trait,
//! [`Method`].
//!
//! A method is async code over a [`Session`] that reads like the paper's algorithm. To add one, write its file and put
//! its name into `methods!` in `catalog.rs`; a method of another crate implements the trait and is run by [`run`] and [`prepare`].

#![forbid(unsafe_code)]

mod agentic_rag;
mod catalog;
mod closed_book;
pub mod cluster;
pub mod cost;
mod cuts;
mod full_document;
mod host;
pub mod listing;
mod memory_agent;
mod method;
mod parameters;
mod passages;
pub mod protocol;
mod query_summary;
mod questions;
mod rag;
mod raptor;
mod read;
mod read_agent;
pub mod reader;
pub mod record;
mod recorded;
mod run;
mod sections;
mod served;
mod session;
mod settings;
mod style;
mod trial;
mod whole;
mod words;
pub mod work;

pub use agentic_rag::{AgenticRag, OnBoth, OnNeither};
pub use catalog::{AnyMethod, AnyPrepared, Entry, METHODS, Preparation, entry};
pub use closed_book::ClosedBook;
pub use closeread_eval::reading::Answer;
pub use cuts::{OnTruncation, as_overflows, cuts};
pub use full_document::{FullDocument, Wording};
pub use host::Host;
pub use memory_agent::MemoryAgent;
pub use method::{Method, PreparationInputs, Preset};
pub use parameters::{ParameterError, ParameterProblem};
pub use passages::{Passages, SAGASCALE_EMBEDDER};
pub use query_summary::QuerySummary;
pub use questions::Questions;
pub use rag::{CHUNKS, DOCUMENTS, DOCUMENTS_READ, FEWER_CHUNKS_THAN_DOCUMENTS, QueryForm, Rag, Select};
pub use raptor::{Leaf, Raptor, Summary, Tree, TreeSearch, node_text, traversal};
pub use read::{Shown, messages, prompt_tokens, reply};
pub use read_agent::{LookUp, Page, PageLength, Pages, Pagination, ReadAgent, Stretch, Unit, expand};
pub use recorded::{Shown as ShownOfBooks, recorded_scores};
pub use run::{prepare, run};
pub use sections::{Section, Sections};
pub use served::versions;
pub use session::search::CUT_FOR_RERANKING;
pub use session::{HostWorkers, Session};
pub use settings::{ResponseLimit, Settings};
pub use style::{Excerpt, Place, PromptStyle, View};
pub use trial::{MethodError, Stop, Trial};
pub use whole::OnOverflow;
pub use words::{WordScores, said};
