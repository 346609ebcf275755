//! An exhibit: a table or figure that a paper prints, and what some runs give of it.

use super::need::{Held, Need};
use super::number::Number;
use closeread_table::Table;

/// A table or figure of a paper, or numbers of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhibit {
    /// Number of the exhibit.
    pub number: Number,
    /// The section that it belongs to.
    pub section: &'static str,
    /// What the exhibit shows, in our words.
    pub title: &'static str,
    /// Where the exhibit is made.
    pub made: Made,
}

/// Where an exhibit is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// In a report, of runs that have all these needs.
    Runs(&'static [Need]),
    /// By another command, whose words this holds.
    By(&'static str),
    /// Never, since it has no numbers: what it is.
    Wordless(&'static str),
}

/// How much of an exhibit some runs give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// A table or more; what they lack for the paper's own reading.
    Available(Vec<String>),
    /// Nothing: the reason, and what to do.
    Lacking(String),
}

impl Exhibit {
    /// True if a table shows the exhibit, by what the table's source says.
    pub(crate) fn is_shown_by(&self, table: &Table) -> bool {
        self.number.is_cited_in(&table.source)
    }

    /// Returns what runs give of the exhibit, of which these tables were made.
    pub fn status(&self, held: &Held<'_>, tables: &[Table]) -> Status {
        let unmet = || match self.made {
            Made::Runs(needs) => needs.iter().filter_map(|need| need.unmet(held)).collect(),
            _ => Vec::new(),
        };
        if tables.iter().any(|table| self.is_shown_by(table)) {
            return Status::Available(unmet());
        }
        Status::Lacking(match self.made {
            Made::Runs(_) => match unmet() {
                unmet if unmet.is_empty() => "no trial of these runs has a number for it".to_owned(),
                unmet => unmet.join("; "),
            },
            Made::By(command) => format!("elsewhere: {command}"),
            Made::Wordless(what) => format!("no numbers: {what}"),
        })
    }
}
