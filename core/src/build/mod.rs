//! One file per way of making a benchmark.

pub mod corpus;
