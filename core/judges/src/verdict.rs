//! Verdicts: how a judgement ended, and what the judge says.

use super::ruling::Ruling;
use serde::{Deserialize, Serialize};

/// The verdict of a judgement, which says how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Verdict {
    /// The judgement ended with a ruling.
    Ruled {
        /// Ruling of the judge.
        ruling: Ruling,
    },
    /// The response is not in the agreed form; the call's trace holds it.
    Unparsed,
    /// The prompt does not fit the model's window.
    Overflow,
    /// The provider refused the content.
    Blocked {
        /// The provider's words on the refusal.
        reason: String,
    },
    /// The call failed for good.
    Failed {
        /// Message of the error.
        error: String,
    },
}

impl Verdict {
    /// The ruling, if there is one.
    pub const fn ruling(&self) -> Option<&Ruling> {
        match self {
            Self::Ruled { ruling } => Some(ruling),
            _ => None,
        }
    }

    /// Returns the verdict's name in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ruled { .. } => "ruled",
            Self::Unparsed => "unparsed",
            Self::Overflow => "overflow",
            Self::Blocked { .. } => "blocked",
            Self::Failed { .. } => "failed",
        }
    }
}
