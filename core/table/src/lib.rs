//! A table as data: what is computed once and shown as text, HTML, CSV, LaTeX or JSON.

#![forbid(unsafe_code)]

use closeread_metrics::stats::{Estimate, wilson};
use serde::{Deserialize, Serialize};

pub mod number;
pub mod render;

/// Note on the meaning of `*` behind an interval.
pub const OVER_ITEMS: &str = "* 95% interval over items: fewer than five books to cluster by, or scores all alike";

/// A table of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Stable name, e.g. `novelqa-complexity-aspect`.
    pub id: String,
    /// What the table shows.
    pub title: String,
    /// The paper's table or section it follows; empty for closeread's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Heads of the columns, each by itself: a column of a group says the group's head too, if it would not be told apart
    /// otherwise.
    pub columns: Vec<String>,
    /// Heads over several columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
    /// Number of last rows that sum up those above them, such as an average; a rule sets them apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub summary_rows: usize,
    /// Notes that a reader must know: policies, what was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A head over several columns side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The head.
    pub head: String,
    /// The first of its columns, from 0.
    pub first: usize,
    /// Number of columns that the head stands over, from 1.
    pub n: usize,
}

/// The mark by which a cell stands out in its column or row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The best: bold.
    Best,
    /// The second best: underlined.
    Second,
}

/// The value in one place of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Value {
    /// A name.
    Text {
        /// Text of the name, as shown.
        text: String,
    },
    /// A whole number.
    Count {
        /// The number.
        count: u64,
    },
    /// A score in 0..=1 with its interval, shown in percent.
    Score {
        /// Mean, interval, number of items.
        #[serde(flatten)]
        estimate: Estimate,
    },
    /// A difference of two scores in -1..=1 with its 95% interval, shown with its sign in percent points.
    Difference {
        /// The second minus the first.
        value: f64,
        /// Lower end of the interval.
        low: f64,
        /// Upper end of the interval.
        high: f64,
        /// Number of items that both sides were scored on.
        n: usize,
        /// True if the interval ignores that the questions about a book belong together.
        over_items: bool,
    },
    /// A difference or share in -1..=1 without interval, shown in percent points.
    Share {
        /// The number.
        value: f64,
        /// Number of items that it is taken over.
        n: usize,
    },
    /// Any other number, as a correlation, a p-value or minutes.
    Number {
        /// The number.
        value: f64,
        /// Number of digits behind the point.
        decimals: u8,
    },
    /// A number as a paper prints it: in the unit that the table's head names, without an interval.
    Printed {
        /// The number, unrounded.
        value: f64,
        /// Number of digits behind the point.
        decimals: u8,
        /// Standard deviation over repeats, where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sd: Option<f64>,
        /// Number of what it is taken over: items, trials, configurations, as the table's notes say.
        n: usize,
        /// Mark by which the number stands out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark: Option<Mark>,
        /// A footnote's sign behind it, which the table's notes explain.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        sign: String,
        /// Text that the paper prints in brackets behind the number.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        aside: String,
    },
    /// A place over which the cell at its left reaches.
    Spanned,
    /// A value that is not available: it never ranks.
    Missing {
        /// Reason why it is not available.
        reason: String,
    },
}

/// Returns each value of a row with the places that it takes.
fn spans(row: &[Value]) -> impl Iterator<Item = (&Value, usize)> {
    let n_spanned = |rest: &[Value]| rest.iter().take_while(|value| **value == Value::Spanned).count();
    let starts = row.iter().enumerate().filter(|(at, value)| *at == 0 || **value != Value::Spanned);
    starts.map(move |(at, value)| (value, 1 + n_spanned(&row[at + 1..])))
}

/// Returns a value that takes `n` places, as people read it: where there is none over several, the reason.
fn shown_over(value: &Value, n: usize) -> String {
    match value {
        Value::Missing { reason } if n > 1 => reason.clone(),
        value => value.shown(),
    }
}

fn in_brackets(aside: &str) -> String {
    if aside.is_empty() { String::new() } else { format!(" ({aside})") }
}

impl Mark {
    /// Returns what stands around the number where there is neither bold nor underlined.
    fn in_text(self) -> &'static str {
        match self {
            Self::Best => "**",
            Self::Second => "_",
        }
    }
}

impl Table {
    /// A table without rows and notes.
    pub fn new(id: impl Into<String>, title: impl Into<String>, columns: Vec<String>) -> Self {
        let (id, title) = (id.into(), title.into());
        let (source, groups, rows, notes) = (String::new(), Vec::new(), Vec::new(), Vec::new());
        Self { id, title, source, columns, groups, rows, summary_rows: 0, notes }
    }

    /// The heads of the columns as they stand below those of their groups.
    fn heads(&self) -> Vec<&str> {
        let below = |(column, name)| {
            let group = self.groups.iter().find(|group| (group.first..group.first + group.n).contains(&column));
            let own = group.and_then(|group| str::strip_prefix(name, group.head.as_str())?.strip_prefix(' '));
            own.unwrap_or(name)
        };
        self.columns.iter().map(String::as_str).enumerate().map(below).collect()
    }

    /// The row of heads over groups: each head with the columns that it stands over, without one for columns of no group.
    fn group_row(&self) -> Vec<(Option<&str>, usize)> {
        let (mut row, mut column) = (Vec::new(), 0);
        while column < self.columns.len() {
            let group = self.groups.iter().find(|group| group.first == column && group.n > 0);
            let n = group.map_or(1, |group| group.n);
            row.push((group.map(|group| group.head.as_str()), n));
            column += n;
        }
        row
    }

    /// True for a column of names, which is set flush left; numbers are set flush right.
    pub(crate) fn is_text_column(&self, column: usize) -> bool {
        let mut values = self.rows.iter().filter_map(|row| row.get(column)).peekable();
        let is_text = |value: &Value| matches!(value, Value::Text { .. } | Value::Missing { .. } | Value::Spanned);
        let mut some = false;
        values.all(|value| {
            some |= matches!(value, Value::Text { .. });
            is_text(value)
        }) && some
    }

    /// Adds the line that explains `*` where it stands.
    pub fn explain_marks(&mut self) {
        if self.has_marks() {
            self.notes.push(OVER_ITEMS.to_owned());
        }
    }

    /// True if an interval in the table ignores that the questions about a book belong together, which `*` marks.
    pub fn has_marks(&self) -> bool {
        self.rows.iter().flatten().any(|value| match value {
            Value::Score { estimate } => number::is_over_items(estimate.interval),
            Value::Difference { over_items, .. } => *over_items,
            _ => false,
        })
    }
}

impl Value {
    /// A name.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A whole number.
    pub fn count(count: usize) -> Self {
        Self::Count { count: count as u64 }
    }

    /// A score, or why there is none.
    pub fn score(estimate: Option<&Estimate>, reason: &str) -> Self {
        match estimate {
            Some(estimate) => Self::Score { estimate: estimate.clone() },
            None => Self::missing(reason),
        }
    }

    /// Makes a value that is not available.
    pub fn missing(reason: impl Into<String>) -> Self {
        Self::Missing { reason: reason.into() }
    }

    /// A share of `n` counted things and Wilson's 95% interval, in two places; `reason` in both where there are none.
    pub fn share_and_interval(hits: usize, n: usize, reason: &str) -> [Self; 2] {
        if n == 0 {
            return [Self::missing(reason), Self::missing(reason)];
        }
        let (low, high) = wilson(hits, n, 0.95);
        let interval = format!("[{:.1}, {:.1}]", 100.0 * low, 100.0 * high);
        [Self::Share { value: hits as f64 / n as f64, n }, Self::text(interval)]
    }

    /// A number as a paper prints it, with what it is taken over.
    pub fn printed(value: f64, decimals: u8, n: usize) -> Self {
        Self::Printed { value, decimals, sd: None, n, mark: None, sign: String::new(), aside: String::new() }
    }

    /// Returns the value as people read it: scores in percent with their interval, `-` for what is not there.
    pub fn shown(&self) -> String {
        match self {
            Self::Text { text } => text.clone(),
            Self::Count { count } => number::thousands(*count),
            Self::Score { estimate } => number::score(estimate),
            Self::Difference { value, low, high, over_items, .. } => {
                let mark = if *over_items { "*" } else { "" };
                format!("{} [{}, {}]{mark}", number::points(*value), number::points(*low), number::points(*high))
            }
            Self::Share { value, .. } => number::percent(*value),
            Self::Number { value, decimals } => number::number(*value, *decimals),
            Self::Printed { value, decimals, sd, mark, sign, aside, .. } => {
                let around = mark.map_or("", Mark::in_text);
                let number = number::with_deviation(*value, *sd, *decimals, " ± ");
                format!("{around}{number}{around}{sign}{}", in_brackets(aside))
            }
            Self::Spanned => String::new(),
            Self::Missing { .. } => number::NOT_AVAILABLE.to_owned(),
        }
    }
}
