//! A chart as data, drawn as SVG: scores with their intervals over budgets, bins or labels, and the papers' figures.

mod figure;
mod plot;
mod svg;

pub use figure::figures;
pub(crate) use plot::by_evidence_position;
pub use plot::{Chart, Place, Point, Series, Shape, Unit, by_budget, by_label, by_length};
pub use svg::{Placement, STYLE, svg};
