//! The methods of the papers, one file each: parameters, passages, preparation, answer and cost under one trait,
//! [`Method`].
//!
//! A method is async code over a [`Session`] that reads like the paper's algorithm. To add one, write its file and put
//! its name into `methods!` below; a method of another crate implements the trait and is run by [`run`] and [`prepare`].

#![forbid(unsafe_code)]

mod agentic_rag;
mod closed_book;
pub mod cluster;
pub mod cost;
mod cuts;
mod full_document;
mod host;
pub mod listing;
mod memory_agent;
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
#[macro_use]
mod registry;
mod sections;
mod served;
mod session;
mod settings;
mod style;
mod trial;
mod whole;
pub mod work;

pub use agentic_rag::{AgenticRag, OnBoth, OnNeither};
pub use closed_book::ClosedBook;
pub use closeread_eval::reading::Answer;
pub use cuts::{OnTruncation, as_overflows, cuts};
pub use full_document::{FullDocument, Wording};
pub use host::Host;
pub use memory_agent::MemoryAgent;
pub use passages::{Passages, SAGASCALE_EMBEDDER};
pub use query_summary::QuerySummary;
pub use questions::Questions;
pub use rag::{CHUNKS, DOCUMENTS, DOCUMENTS_READ, FEWER_CHUNKS_THAN_DOCUMENTS, QueryForm, Rag, Select};
pub use raptor::{Leaf, Raptor, Summary, Tree, TreeSearch, node_text, traversal};
pub use read::{Shown, messages, prompt_tokens};
pub use read_agent::{LookUp, Page, PageLength, Pages, ReadAgent, Stretch, Unit, expand};
pub use recorded::{Shown as ShownOfBooks, recorded_scores};
pub use registry::{Entry, ParameterError, ParameterProblem, entry, prepare, run};
pub use sections::{Section, Sections};
pub use served::versions;
pub use session::{HostWorkers, Session};
pub use settings::{ResponseLimit, Settings};
pub use style::{Excerpt, Place, PromptStyle, View};
pub use trial::{MethodError, Stop, Trial};
pub use whole::OnOverflow;

use crate::record::CallTrace;
use closeread_eval::{Item, Outcome};
use cost::{Calls, Cost, Sizes};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

methods! { ClosedBook, FullDocument, Rag, AgenticRag, Raptor, ReadAgent, MemoryAgent, QuerySummary }

/// A way to answer questions on books: the value is its parameters.
#[allow(async_fn_in_trait, reason = "as the futures of `Host`, these are deliberately not Send")]
pub trait Method: Clone + Serialize + DeserializeOwned + 'static {
    /// The names it is known by, with the paper's parameters for each.
    const PRESETS: &'static [Preset<Self>];
    /// What [`Self::prepare`] makes; `()` where it makes nothing.
    type Prepared: Serialize + DeserializeOwned;

    /// Refuses parameters that do not go together, in words for whoever set them.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check(&self) -> Result<(), &'static str> {
        Ok(())
    }

    /// The passages it searches; `None` if it does not search.
    fn passages(&self) -> Option<&Passages> {
        None
    }

    /// Whether it is run once for every token budget.
    fn takes_budget(&self) -> bool {
        false
    }

    /// Why it does not answer an item of this kind; `None` if it does.
    fn declines(&self, _item: &Item) -> Option<&'static str> {
        None
    }

    /// Whether the questions on the same books go into one call for each task, see [`Questions::by_task`].
    fn asks_together(&self) -> bool {
        false
    }

    /// Whether the prompts of all questions on the same books begin alike, with the whole text or all its gists: once one
    /// was asked, a provider has that in its cache.
    fn shares_its_prompts(&self) -> bool {
        false
    }

    /// What [`Self::prepare`] depends on besides the books and the model that is asked; `None` if the method prepares
    /// nothing.
    fn preparation(&self) -> Option<PreparationInputs> {
        None
    }

    /// Makes of the books what all questions on them share, before the first is asked.
    ///
    /// # Errors
    /// [`Stop`]: a call that fails ends every question on these books.
    async fn prepare<H: Host>(&self, _session: &mut Session<'_, H>) -> Result<Option<Self::Prepared>, Stop> {
        Ok(None)
    }

    /// What [`Self::prepare`] asks of books of these sizes.
    ///
    /// # Errors
    /// [`MethodError::Prompt`] if a prompt cannot be filled.
    fn preparation_cost(&self, _sizes: &Sizes<'_>) -> Result<Vec<Calls>, MethodError> {
        Ok(Vec::new())
    }

    /// Answers the questions, one [`Answer`] each, in their order; they are several only if the method asks together.
    ///
    /// # Errors
    /// [`Stop`]: all the questions end so.
    async fn answer<H: Host>(
        &self,
        session: &mut Session<'_, H>,
        questions: &Questions<'_>,
        prepared: Option<&Self::Prepared>,
    ) -> Result<Vec<Answer>, Stop>;

    /// What [`Self::answer`] asks for the questions, on books of these sizes.
    ///
    /// # Errors
    /// [`MethodError::Prompt`] if a prompt cannot be filled.
    fn cost(&self, sizes: &Sizes<'_>, questions: &Questions<'_>) -> Result<Cost, MethodError>;
}

/// A name that a method is known by, and the parameters that it stands for.
#[derive(Debug, Clone, Copy)]
pub struct Preset<M> {
    /// Its name in options, records and tables.
    pub name: &'static str,
    /// Paper and section.
    pub paper: &'static str,
    /// What the reader gets, in a line.
    pub summary: &'static str,
    /// The paper's parameters.
    pub make: fn() -> M,
}

impl<M> Preset<M> {
    /// A preset.
    pub const fn new(name: &'static str, paper: &'static str, summary: &'static str, make: fn() -> M) -> Self {
        Self { name, paper, summary, make }
    }
}

/// What a preparation depends on besides the books, their embedding model and the model that is asked: what has all of
/// these in common is made once.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparationInputs {
    /// The parameters that are read.
    pub parameters: Value,
    /// Names of the prompts that are asked by.
    pub prompts: &'static [&'static str],
}

/// The work of a method on books before the first question, as a run keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preparation<P = AnyPrepared> {
    /// What was made; where a call failed, how every question on these books ends.
    pub prepared: Result<P, Outcome>,
    /// Tokens of all its prompts together by the run's tokenizer.
    pub prompt_tokens: usize,
    /// The calls, in order.
    pub calls: Vec<CallTrace>,
    /// Numbers worth reporting, such as `nodes`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
}
