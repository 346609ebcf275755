//! Two runs on the same items: paired differences, overall and by label, and what can be concluded from them.

mod cells;
mod comparison;
mod source;
mod unpaired;
mod words;

pub use cells::{cell_comparisons, comparison_tables};
pub use comparison::{Flip, LabelComparison, Labels, RunComparison, Side, compare};
pub use source::{Choice, ChoiceError, Compared, Entry, ScoreFileItem, Source, Two, listed};
pub use unpaired::Unpaired;
