//! A report is a pure function of records: whatever it says can be said again from the run folder.

#![forbid(unsafe_code)]

mod answerers;
mod asked;
mod beyond;
mod books;
mod cells;
pub mod chart;
pub mod compare;
pub mod folder;
mod gaps;
pub mod gate;
mod judging;
mod observed;
mod opinions;
pub mod paper;
mod plan;
mod run;
mod sent;
mod served;
pub mod site;
mod tables;
#[cfg(test)]
mod testing;
mod trials;
mod usage;
mod view;
mod whole;

pub use asked::HowAsked;
pub(crate) use beyond::beyond_closed_book;
pub use books::TokenPlaces;
pub use cells::{Cell, cells};
pub use gaps::records_left_out;
pub use judging::{judged_by, judging_tables, subjects_of};
pub use observed::{PASSAGES, Scored, WORDS};
pub use opinions::LabelFile;
pub use plan::{Arm, LineKey};
pub use run::{PreparationCalls, Run};
pub use sent::{NotSent, sent};
pub use served::{ServedUsage, served_usage};
pub use tables::{MAX_LABEL_VALUES, score_table};
pub(crate) use tables::{label_tables, ledger_table, policy_table};
pub use trials::{MISSING, Sort, TrialFilter, TrialLine, TrialList, TrialTrace, Verdict, Wanted};
pub(crate) use usage::usage_table;
pub use usage::{Usage, blocked_call, usage};
pub use view::RunView;
pub use whole::{AskedOfPaper, PaperReport, Report, RunReport, paper_list, paper_report, report};
