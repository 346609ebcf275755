//! A table as data: what is computed once and shown as text, HTML, CSV, LaTeX or JSON.

use crate::stats::Estimate;
use serde::{Deserialize, Serialize};

/// A table of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Stable name, e.g. `novelqa-complexity-aspect`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The paper's table or section it follows; empty for closeread's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
    /// What must be known to read it: policies, what was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What stands in one place of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Value {
    /// A name.
    Text {
        /// As shown.
        text: String,
    },
    /// A whole number.
    Count {
        /// The number.
        count: u64,
    },
    /// A score in 0..=1 with its interval, shown in percent.
    Score {
        /// Mean, interval, number of items.
        #[serde(flatten)]
        estimate: Estimate,
    },
    /// A difference or share in -1..=1 without interval, shown in percent points.
    Share {
        /// The number.
        value: f64,
        /// Items it is taken over.
        n: usize,
    },
    /// Any other number, as a correlation, a p-value or minutes.
    Number {
        /// The number.
        value: f64,
        /// Digits behind the point.
        decimals: u8,
    },
    /// Not available: never ranks.
    Missing {
        /// Why.
        reason: String,
    },
}
