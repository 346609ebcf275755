//! HAMLET: its tables; the numbers are `closeread-eval`'s.

mod tables;

pub use closeread_eval::hamlet::*;
pub use tables::tables;
