//! Finished runs as tables, charts and a site.

pub use closeread_report::compare::{RunComparison, cell_comparisons, compare, comparison_tables};
pub use closeread_report::folder::{FolderError, RunFiles, RunManifest, read_records, read_run};
pub use closeread_report::site::{SiteFile, site};
pub use closeread_report::{Arm, Cell, Report, Run, RunReport, RunView, TokenPlaces, cells, paper, report};
pub use closeread_table::{Table, Value, render};
