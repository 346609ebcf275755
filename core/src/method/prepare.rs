//! What a method makes of books once, for all questions on them: a tree of summaries, pages with their gists.

use super::{Pages, Tree};
use crate::record::{CallTrace, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The work of a method on books before the first question, as a run keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// What was made; where a call failed, how every question on these books ends.
    pub prepared: Result<Prepared, Outcome>,
    /// Tokens of all its prompts together by the run's tokenizer.
    pub prompt_tokens: usize,
    /// The calls, in order.
    pub calls: Vec<CallTrace>,
    /// Numbers worth reporting, such as `nodes`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
}

/// What was made of the books.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "made", rename_all = "snake_case")]
pub enum Prepared {
    /// A tree of summaries.
    Tree(Tree),
    /// Pages with their gists.
    Pages(Pages),
}
