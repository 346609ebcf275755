//! How a judgement ended, and what the judge says.

use super::ruling::Ruling;
use serde::{Deserialize, Serialize};

/// How a judgement ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Verdict {
    /// With a ruling.
    Ruled {
        /// What the judge says.
        ruling: Ruling,
    },
    /// The response is not in the agreed form; the call's trace holds it.
    Unparsed,
    /// The prompt does not fit the model's window.
    Overflow,
    /// The provider refused the content.
    Blocked {
        /// The provider's words.
        reason: String,
    },
    /// The call failed for good.
    Failed {
        /// What went wrong.
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

    /// Its name in JSON.
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
