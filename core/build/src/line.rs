//! Lines of a stage's file, each the result of one unit.

use closeread_methods::record::CallTrace;
use serde::{Deserialize, Serialize};

/// The result of one unit of a stage: one line of its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line<T> {
    /// Name of the unit, unique in the stage.
    pub id: String,
    /// End of the unit's work.
    #[serde(flatten)]
    pub end: End<T>,
    /// The calls it took, in order.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallTrace>,
}

/// The end of a unit's work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum End<T> {
    /// The unit is kept for the next stage.
    Kept {
        /// Value that was made.
        value: T,
    },
    /// The unit is dropped.
    Dropped {
        /// Rule that dropped the unit, in a word or two: what the funnel counts by.
        reason: String,
        /// Detail of what was found.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        detail: String,
    },
    /// A call failed for good: it is made again when the build goes on.
    Failed {
        /// Message of the error.
        error: String,
    },
}

impl<T> End<T> {
    /// Makes the end of a unit that a rule dropped.
    pub fn dropped(reason: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Dropped { reason: reason.into(), detail: detail.into() }
    }
}
