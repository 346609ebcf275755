//! Runs as flat tables, row by row.

use crate::VERSION;
use anyhow::{Context as _, Result};
use closeread_export::tables::{Field, Schema, Tables};
use closeread_export::{About, CellTrials, Row};
use closeread_report::Arm;
use closeread_runner::finished::Streamed;
use std::collections::BTreeSet;

/// The tables of runs, in the order of [`schemas`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Table of cells: a row a cell and metric.
    Cells,
    /// Table of trials: a row a planned trial.
    Trials,
    /// Table of items: a row an item.
    Items,
    /// Table of calls: a row a call.
    Calls,
    /// Table of passages: a row a passage of a context.
    Passages,
}

/// Returns the columns of these runs' tables.
///
/// # Errors
/// If the records of a run cannot be read.
pub fn columns(runs: &mut [Streamed]) -> Result<Tables> {
    let (mut metrics, mut measures, mut labels) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for streamed in runs {
        for arm in streamed.run.plan.clone() {
            metrics.extend(trials(streamed, &arm)?.metrics());
        }
        measures.extend(streamed.measures.iter().cloned());
        labels.extend(streamed.run.items.iter().flat_map(|item| item.labels.keys().cloned()));
    }
    Ok(Tables::of(metrics, measures, labels))
}

/// The tables' names and columns, in the order of [`Table`].
pub fn schemas(tables: &Tables) -> [Schema; 5] {
    [
        Tables::cells_schema(),
        tables.trials_schema(),
        tables.items_schema(),
        Tables::calls_schema(),
        Tables::passages_schema(),
    ]
}

/// Hands over the rows of all tables, one record at a time; an item that several runs have stands there once.
///
/// # Errors
/// If the records cannot be read, or `push` fails.
pub fn rows(
    runs: &mut [Streamed],
    tables: &Tables,
    mut push: impl FnMut(Table, Vec<Field>) -> Result<()>,
) -> Result<()> {
    let mut known = BTreeSet::new();
    for streamed in runs {
        for item in &streamed.run.items {
            if known.insert(item.id.clone()) {
                push(Table::Items, tables.item(item))?;
            }
        }
        for arm in streamed.run.plan.clone() {
            let cell = trials(streamed, &arm)?;
            let Streamed { run, created, stored, .. } = &mut *streamed;
            let about = About { run, created: *created, version: VERSION };
            let of_cell = Tables::cells(run, &cell);
            of_cell.into_iter().try_for_each(|row| push(Table::Cells, row))?;
            for (place, trial) in cell.trials.iter().enumerate() {
                let Some(record) = trial.record else {
                    push(Table::Trials, tables.trial(about, &cell, place, None))?;
                    continue;
                };
                let record = stored.read(run, record)?;
                let row = Row { item: &run.items[trial.item], record: &record, trial };
                push(Table::Trials, tables.trial(about, &cell, place, Some(&row)))?;
                let (calls, passages) = (Tables::calls(run, &cell, &row), Tables::passages(run, &cell, &row));
                calls.into_iter().try_for_each(|row| push(Table::Calls, row))?;
                passages.into_iter().try_for_each(|row| push(Table::Passages, row))?;
            }
        }
    }
    Ok(())
}

/// The trials of a cell, whose records are loaded.
///
/// # Errors
/// If the records cannot be read.
pub fn trials(streamed: &mut Streamed, arm: &Arm) -> Result<CellTrials> {
    let of = |Streamed { run, scored, .. }: &Streamed| {
        CellTrials::of(run, arm, scored).with_context(|| format!("{} holds what no run has", run.name))
    };
    streamed.load(arm)?;
    let cell = of(streamed)?;
    if !cell.summary.metrics.is_empty() {
        return Ok(cell);
    }
    // Nothing of it was scored: which metrics it has is told by its neighbours.
    streamed.load_all()?;
    of(streamed)
}
