//! How far a number can be trusted.

mod distribution;
mod interval;

pub use distribution::{normal_quantile, student_quantile};
pub use interval::{Estimate, IntervalMethod, Observation, estimate, wilson};
