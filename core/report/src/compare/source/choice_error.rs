//! Why nothing can be compared as asked.

/// Why nothing can be compared as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// More than two values.
    #[error("{name} takes one value, or A's and B's: expected one or two, and there are {n}")]
    Values {
        /// What was chosen by.
        name: &'static str,
        /// How many values it was given.
        n: usize,
    },
    /// No cell is left.
    #[error("{path} has no cell of the method, model and budget that were asked for: expected one of\n  {}", .cells.join("\n  "))]
    NoCell {
        /// Where the run lies.
        path: String,
        /// The cells it has.
        cells: Vec<String>,
    },
    /// One cell with itself.
    #[error("{cell} is one cell: name a second run, or two methods, models or budgets")]
    OneCell {
        /// Its name.
        cell: String,
    },
    /// One run, and not said which of its cells.
    #[error(
        "one run was named, and it has several cells: name a second run, or two of its cells; there are\n  {}",
        .cells.join("\n  ")
    )]
    OneRun {
        /// Its cells.
        cells: Vec<String>,
    },
    /// No cell of A is one of B.
    #[error(
        "the two have no cell in common: name the method, model or budget of each\nA has\n  {}\nB has\n  {}",
        .a.join("\n  "), .b.join("\n  ")
    )]
    NoCommonCell {
        /// A's cells.
        a: Vec<String>,
        /// B's cells.
        b: Vec<String>,
    },
    /// A metric that not both have.
    #[error("not both have the metric `{metric}`: expected one of {}", .known.join(", "))]
    UnknownMetric {
        /// What was asked for.
        metric: String,
        /// What both have.
        known: Vec<String>,
    },
    /// No metric that both have.
    #[error("the two have no metric in common: A has {a}, B has {b}")]
    NoCommonMetric {
        /// A's metrics.
        a: String,
        /// B's metrics.
        b: String,
    },
}
