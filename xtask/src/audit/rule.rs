//! The rules by which a printed figure follows from a table.

use serde::Deserialize;
use std::fmt;

/// The rule by which a figure follows from numbers of the same paper.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Rule {
    /// The same figure, printed elsewhere.
    Identity,
    /// Unweighted means.
    Mean(Layout),
    /// Sums.
    Sum(Layout),
    /// The middle value, in units of `unit`.
    Median {
        /// Unit that the figure counts in: 1 or 1000.
        unit: f64,
    },
    /// Means of a table's rows, columns and of all its cells, weighted with a table of counts (NovelQA, Table 3).
    CountWeighted,
    /// First row (or number) minus the second, element by element; for a table of pairs, of each pair.
    Difference {
        /// True where the second comes first in the inputs.
        reversed: bool,
    },
    /// The last of several numbers minus each of the others.
    LastMinusOthers,
    /// The first number divided by the second.
    Ratio,
    /// Products of numbers.
    Products {
        /// Names of the factors of each product.
        factors: Vec<Vec<String>>,
    },
    /// Smallest and greatest of each row; for the last rows only the greatest, so that there are `n` figures.
    Extremes {
        /// Number of figures.
        n: usize,
    },
    /// Greatest minus smallest of each column (HAMLET, Table 4).
    Gap,
    /// Minus Spearman's rho between error rates and accuracies (SagaScale, section 4.2).
    RankCorrelation,
    /// Accuracy of agentic retrieval with constant step probabilities (SagaScale, A.1).
    TheoryCurve,
    /// Books and questions by length of the book.
    LengthBins {
        /// Upper edges in tokens, each outside its bin; the last bin is open.
        edges: Vec<f64>,
    },
    /// Means of `tokens_X` weighted by `questions_X`, for each X: the means, or 1 where the mean is over its threshold.
    QuestionWeighted {
        /// Thresholds in tokens, in order; none asks for the means.
        thresholds: Vec<f64>,
    },
    /// Percent of a total.
    Share {
        /// The total; the sum of the counts where none is given.
        total: Option<f64>,
    },
    /// Quotients rounded up: pieces of `size` that a text is cut into.
    CeilDivision {
        /// Size of a piece.
        size: f64,
    },
    /// The nearest k / n in percent, to one decimal.
    NearestFraction {
        /// Number of questions.
        n: f64,
    },
    /// 1 if every named number is above the threshold.
    AllAbove {
        /// The threshold.
        threshold: f64,
        /// Names to leave out.
        except: Vec<String>,
    },
    /// Smallest and greatest lead of the first row over the others, place by place.
    Leads,
    /// 1 if the first row exceeds every other row in every column by more than the threshold.
    LeadsAbove {
        /// Difference that a lead must exceed.
        threshold: f64,
    },
}

/// The layout of a mean or a sum: what it is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Layout {
    /// One figure over all numbers.
    All,
    /// One a row.
    EachRow,
    /// One a column; of tables, one a cell, over the tables.
    EachColumn,
    /// One a row, then one over all.
    EachRowAndAll,
    /// One a column, then one over all.
    EachColumnAndAll,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => f.write_str("the same figure elsewhere"),
            Self::Mean(layout) => write!(f, "unweighted mean{layout}"),
            Self::Sum(layout) => write!(f, "sum{layout}"),
            Self::Median { .. } => f.write_str("median"),
            Self::CountWeighted => f.write_str("means of rows, columns and all, weighted by the counts"),
            Self::Difference { reversed: false } => f.write_str("first minus second"),
            Self::Difference { reversed: true } => f.write_str("second minus first"),
            Self::LastMinusOthers => f.write_str("last minus each of the others"),
            Self::Ratio => f.write_str("first divided by second"),
            Self::Products { .. } => f.write_str("product"),
            Self::Extremes { .. } => f.write_str("smallest and greatest"),
            Self::Gap => f.write_str("greatest minus smallest of each column"),
            Self::RankCorrelation => f.write_str("minus Spearman's rho, ties sharing their mean rank"),
            Self::TheoryCurve => f.write_str("sum over i = 0..N of (1-a-e)^i a, and its limit a/(a+e)"),
            Self::LengthBins { .. } => f.write_str("books and questions counted by length of the book"),
            Self::QuestionWeighted { .. } => f.write_str("mean weighted by questions"),
            Self::Share { .. } => f.write_str("percent of the total"),
            Self::CeilDivision { size } => write!(f, "divided by {size}, rounded up"),
            Self::NearestFraction { n } => write!(f, "nearest k/{n} in percent"),
            Self::AllAbove { threshold, .. } => write!(f, "1 if all are above {threshold}"),
            Self::Leads => f.write_str("smallest and greatest lead over the others"),
            Self::LeadsAbove { threshold } => write!(f, "1 if it leads everywhere by more than {threshold}"),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "",
            Self::EachRow => " of each row",
            Self::EachColumn => " of each column",
            Self::EachRowAndAll => " of each row, and of all",
            Self::EachColumnAndAll => " of each column, and of all",
        })
    }
}
