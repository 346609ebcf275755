//! What runs need to stand in one table, where an id names one item.

use anyhow::{Result, bail};
use closeread_export::cell_name;
use closeread_report::Run;
use closeread_text::hash::sha256;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The runs that are in a table so far.
#[derive(Debug, Default)]
pub(super) struct OneTable {
    benchmark: Option<String>,
    cells: BTreeSet<String>,
    /// Hash of what is asked and expected, by id and task.
    items: BTreeMap<(String, String), String>,
}

impl OneTable {
    /// Adds a run.
    ///
    /// # Errors
    /// If it is of another benchmark, has other items of the same ids, or cells of the same names.
    pub(super) fn add(&mut self, run: &Run) -> Result<()> {
        let first = self.benchmark.get_or_insert_with(|| run.benchmark.clone());
        if *first != run.benchmark {
            bail!(
                "one run is of the benchmark `{first}`, another of `{}`, and both can have items of the same ids: export \
                 them into folders of their own",
                run.benchmark
            );
        }
        for arm in &run.plan {
            let cell = format!("{}: {}", run.name, cell_name(run, arm));
            if let Some(twice) = self.cells.replace(cell) {
                bail!("two runs hold the same cell, {twice}: give them different names, RUN=NAME");
            }
        }
        for item in &run.items {
            let asked = json!([item.question, item.options, item.correct, item.answers]).to_string();
            let asked = sha256(asked.as_bytes());
            let known =
                self.items.entry((item.id.clone(), format!("{:?}", item.task))).or_insert_with(|| asked.clone());
            if *known != asked {
                bail!(
                    "item `{}` has another question or gold answer in {} than in a run before it: export them into folders \
                     of their own",
                    item.id,
                    run.name
                );
            }
        }
        Ok(())
    }
}
