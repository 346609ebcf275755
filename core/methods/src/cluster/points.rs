//! Points of a space of few dimensions.

use closeread_embed::rows::Rows;

/// Points of a space, one row a point.
pub type Points = Rows<f64>;

/// Square of the Euclidean distance.
pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}
