//! The one evaluation table: what was planned, how each trial ended, and one rule for what it counts for.
//!
//! [`Observations`] holds a row for every planned trial. [`FailurePolicy::counted`] says what a row counts for under a
//! metric; nothing else decides it. [`Observations::aggregate`] makes every mean from that, with its interval, the rows
//! that are out of it, and the ledger. Reports, tables, comparisons and scorecards are views of this table.

mod aggregate;
mod aggregation;
mod counting;
mod facts;
mod ledger;
mod mean;
mod metric;
mod observation;
mod orders;
mod paired;
mod rows;
mod table;
mod unit;

pub use aggregate::{Aggregate, Grouped, OverRepeats};
pub use aggregation::{Aggregation, Unit, Weighting};
pub use counting::{Counted, Counting, FailurePolicy, NotFoundAs, Out, Treatment};
pub use facts::{Applies, Cell, CellFacts, CellKey, ItemFacts};
pub use ledger::Ledger;
pub use mean::{Basis, GroupMean};
pub use metric::MetricName;
pub use observation::{CellId, Done, Ending, ItemId, Marks, Measure, Observation, Score, Spent};
pub use orders::{BothOrders, OrderEffect, order_effect};
pub use paired::{Common, Paired};
pub use rows::Rows;
pub use table::{Observations, PoolError};
pub use unit::{PAIR, Scored};

#[cfg(test)]
mod laws;
#[cfg(test)]
mod testing;
