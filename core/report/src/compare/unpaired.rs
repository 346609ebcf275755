//! Items that two runs do not share.

use closeread_metrics::stats::IntervalMethod;
use closeread_metrics::stats::paired::Comparison;
use serde::{Deserialize, Serialize};

/// Ids of the items that are not compared, in alphabetical order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Unpaired {
    /// Items that only A has.
    pub only_a: Vec<String>,
    /// Items that only B has.
    pub only_b: Vec<String>,
    /// Ids of items that both have, but with another question or gold answer: not the same item.
    pub other_gold: Vec<String>,
    /// Items that A has no score of: this metric does not apply, or no judge gave a verdict.
    pub unscored_a: Vec<String>,
    /// Items that B has no score of.
    pub unscored_b: Vec<String>,
}

impl Unpaired {
    /// True if every item of both runs is compared.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// True if the interval respects that the questions about a book belong together.
pub(super) fn is_clustered(comparison: &Comparison) -> bool {
    comparison.interval == IntervalMethod::ClusteredByBook
}
