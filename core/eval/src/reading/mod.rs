//! A call as data, for readers that are no language model, and what its response is to hold.

mod answer;
mod expected;
mod parsed;
mod shape;

pub use answer::Answer;
pub use expected::{Expected, ExtractiveInput, Question};
pub use parsed::Parsed;
pub use shape::Shape;
