//! Cells by their names, and where the pages of a site lie.

use crate::tables::Naming;
use crate::{Arm, Cell, Report};

/// A file of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteFile {
    /// Path inside the site, `/` between the parts.
    pub path: String,
    /// Text of the cell.
    pub content: String,
}

/// A cell with its name in the report.
pub(super) struct NamedCell<'a> {
    pub(super) run: usize,
    pub(super) cell: &'a Cell,
    pub(super) name: String,
}

impl NamedCell<'_> {
    pub(super) fn arm(&self) -> &Arm {
        &self.cell.key.arm
    }
}

pub(super) fn named_cells(report: &Report) -> Vec<NamedCell<'_>> {
    let all = || report.runs.iter().enumerate().flat_map(|(run, r)| r.cells.iter().map(move |cell| (run, cell)));
    let naming = Naming::of(all().map(|(_, cell)| &cell.key));
    all().map(|(run, cell)| NamedCell { run, cell, name: naming.full_name(&cell.key) }).collect()
}

pub(super) fn cell_path(number: usize) -> String {
    format!("cell-{}.html", number + 1)
}
