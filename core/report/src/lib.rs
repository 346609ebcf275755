//! A report is a pure function of records: whatever it says can be said again from the run folder.

#![forbid(unsafe_code)]

mod books;
mod cells;
pub mod chart;
pub mod compare;
mod embeddings;
pub mod folder;
mod judging;
pub mod paper;
mod sent;
pub mod site;
mod tables;
#[cfg(test)]
mod testing;
mod trials;
mod usage;
mod whole;

pub use books::{TokenPlaces, cases};
pub use cells::{Cell, CellKey, cells, failures_left_out};
pub use embeddings::{EmbeddingUsage, embedding_usage};
pub use judging::{docket, judged_by, judging_tables};
pub use sent::{NotSent, sent};
pub use tables::{Line, MAX_LABEL_VALUES, label_tables, ledger_table, policy_table, score_table};
pub use trials::{MISSING, TrialFilter, TrialLine, TrialList, TrialTrace};
pub use usage::{PreparationCalls, Usage, usage, usage_table};
pub use whole::{CellReport, Report, Run, RunReport, report};

use closeread_eval::Item;
use closeread_methods::record::Record;
use closeread_metrics::Metric;
use std::collections::BTreeMap;

/// Name of the metric that says how much of the gold evidence stood in the context.
pub const EVIDENCE_RECALL: &str = Metric::EvidenceRecall.name();
/// Name of the metric that wants both claims of a pair right (NoCha).
pub const PAIR_ACCURACY: &str = Metric::PairAccuracy.name();
/// Name of the metric of choices.
const ACCURACY: &str = Metric::Accuracy.name();

/// A run as tables, charts and comparisons look at it.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    /// Name of the run, which no other run of the report has.
    pub name: &'a str,
    /// Its cells, finished or not.
    pub plan: &'a [CellKey],
    /// Its items.
    pub items: &'a [Item],
    /// Its records.
    pub records: &'a [Record],
    /// The tokens of its books by document; empty where the texts are not at hand.
    pub books: &'a BTreeMap<String, TokenPlaces>,
}
