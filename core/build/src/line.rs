//! What came of one unit of a stage: a line of its file.

use closeread_methods::record::CallTrace;
use serde::{Deserialize, Serialize};

/// What came of one unit of a stage: one line of its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line<T> {
    /// Name of the unit, unique in the stage.
    pub id: String,
    /// What came of it.
    #[serde(flatten)]
    pub end: End<T>,
    /// The calls it took, in order.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallTrace>,
}

/// How a unit of work ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum End<T> {
    /// It goes on to the next stage.
    Kept {
        /// What was made.
        value: T,
    },
    /// It goes no further.
    Dropped {
        /// Which rule dropped it, in a word or two: what the funnel counts by.
        reason: String,
        /// What was found.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        detail: String,
    },
    /// A call failed for good: it is made again when the build goes on.
    Failed {
        /// What went wrong.
        error: String,
    },
}

impl<T> End<T> {
    /// Dropped by a rule.
    pub fn dropped(reason: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Dropped { reason: reason.into(), detail: detail.into() }
    }
}
