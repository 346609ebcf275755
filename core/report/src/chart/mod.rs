//! A chart as data, drawn as SVG: scores with their intervals over budgets, bins or labels.

mod plot;
mod svg;

pub use plot::{Chart, Place, Series, Shape, by_budget, by_evidence_position, by_label, by_length};
pub use svg::{Placement, STYLE, svg};
