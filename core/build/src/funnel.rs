//! The funnel: how many units of each stage were kept and dropped.

use super::line::{End, Line};
use closeread_table::{Table, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The stages in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funnel {
    /// Rows of the funnel, one a stage.
    pub rows: Vec<FunnelRow>,
}

/// The units of a stage, kept and dropped; the two add up to `units`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunnelRow {
    /// Name of the stage.
    pub stage: String,
    /// Number of units that the stage worked on.
    pub units: usize,
    /// Number of units that were kept for the next stage.
    pub kept: usize,
    /// Number of units that were dropped, by reason.
    pub dropped: BTreeMap<String, usize>,
    /// Number of calls that the units took.
    pub calls: usize,
}

impl Funnel {
    /// Counts the lines of a finished stage.
    pub(super) fn count<T>(&mut self, stage: &str, lines: &[Line<T>]) {
        let mut row =
            FunnelRow { stage: stage.to_owned(), units: lines.len(), kept: 0, dropped: BTreeMap::new(), calls: 0 };
        for line in lines {
            row.calls += line.calls.len();
            match &line.end {
                End::Kept { .. } => row.kept += 1,
                End::Dropped { reason, .. } => *row.dropped.entry(reason.clone()).or_default() += 1,
                End::Failed { .. } => *row.dropped.entry("failed".to_owned()).or_default() += 1,
            }
        }
        self.rows.push(row);
    }

    /// The funnel as a table.
    pub fn table(&self) -> Table {
        let columns = ["stage", "units", "kept", "share", "calls", "dropped because of"];
        let mut table = Table::new("funnel", "What each stage kept", columns.map(str::to_owned).to_vec());
        for row in &self.rows {
            let share = match row.units {
                0 => Value::missing("nothing came here"),
                n => Value::Share { value: row.kept as f64 / n as f64, n },
            };
            let why: Vec<String> = row.dropped.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
            let why = if why.is_empty() { Value::missing("nothing was dropped") } else { Value::text(why.join(", ")) };
            table.rows.push(vec![
                Value::text(&row.stage),
                Value::count(row.units),
                Value::count(row.kept),
                share,
                Value::count(row.calls),
                why,
            ]);
        }
        table
    }
}
