//! The table at the end of a run.

use closeread_report::{Cell, score_table};
use closeread_table::render::text;

/// The cells as text, one line each, scores in percent with their 95% interval.
pub(crate) fn render(cells: &[Cell]) -> String {
    text::body(&score_table(cells))
}
