//! Reasons why nothing can be compared as asked.

/// The reason why nothing can be compared as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// More than two values were given for one choice.
    #[error("{name} takes one value, or A's and B's: expected one or two, and there are {n}")]
    Values {
        /// Name of what was chosen by, such as the model.
        name: &'static str,
        /// Number of values given.
        n: usize,
    },
    /// No cell of the run is left by the choice.
    #[error("{path} has no cell of the method, model and budget that were asked for: expected one of\n  {}", .cells.join("\n  "))]
    NoCell {
        /// Path of the run.
        path: String,
        /// The cells that the run has.
        cells: Vec<String>,
    },
    /// The choice leaves one cell, which would be compared with itself.
    #[error("{cell} is one cell: name a second run, or two methods, models or budgets")]
    OneCell {
        /// Name of the cell.
        cell: String,
    },
    /// One run was given, without saying which of its cells to compare.
    #[error(
        "one run was named, and it has several cells: name a second run, or two of its cells; there are\n  {}",
        .cells.join("\n  ")
    )]
    OneRun {
        /// The cells of the run.
        cells: Vec<String>,
    },
    /// There is no cell that A and B have in common.
    #[error(
        "the two have no cell in common: name the method, model or budget of each; A has\n  {}\n  and B has\n  {}",
        .a.join("\n  "), .b.join("\n  ")
    )]
    NoCommonCell {
        /// Cells of A.
        a: Vec<String>,
        /// Cells of B.
        b: Vec<String>,
    },
    /// A metric that not both have.
    #[error("not both have the metric `{metric}`: expected one of {}", .known.join(", "))]
    UnknownMetric {
        /// Name of the metric that was asked for.
        metric: String,
        /// Metrics that both have.
        known: Vec<String>,
    },
    /// There is no metric that both have.
    #[error("the two have no metric in common: A has {a}, B has {b}")]
    NoCommonMetric {
        /// Metrics of A.
        a: String,
        /// Metrics of B.
        b: String,
    },
}
