//! A report is a pure function of records: whatever it says can be said again from the run folder.

mod cells;
pub mod chart;
pub mod number;
pub mod render;
mod table;
mod tables;
#[cfg(test)]
mod testing;

pub use cells::{Cell, CellKey, cells, failures_left_out};
pub use table::{Table, Value};
pub use tables::{LabelledRun, Line, MAX_LABEL_VALUES, label_tables, ledger_table, policy_table, score_table};

/// Name of the metric that says how much of the gold evidence stood in the context.
pub const EVIDENCE_RECALL: &str = "evidence_recall";
/// Name of the metric that wants both claims of a pair right (NoCha).
pub const PAIR_ACCURACY: &str = "pair_accuracy";
/// Name of the metric of choices.
const ACCURACY: &str = "accuracy";
