//! Reading files of labels: CSV with a head, or JSON Lines.

use super::labels::{CONSENSUS, Rated, RaterLabels, folded};
use crate::human::table;
use closeread_eval::InputFile;
use closeread_eval::rows::Row;
use std::collections::{BTreeMap, BTreeSet};

/// Most raters, labels and parts of a file: tables compare all with all.
const MOST: usize = 200;

/// The reason why a file of labels cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RaterError {
    /// A rater gave a unit two labels.
    #[error(
        "{file}:{line}: a second label of `{unit}` by {}, after line {first_line}: expected one a unit and rater; remove one",
        if rater.is_empty() { "the one rater".to_owned() } else { format!("`{rater}`") }
    )]
    SecondLabel {
        /// Name of the file.
        file: String,
        /// Line of the second label, from 1.
        line: usize,
        /// Number of the line that holds the first label.
        first_line: usize,
        /// Name of the unit.
        unit: String,
        /// Name of the rater.
        rater: String,
    },
    /// A row names no unit.
    #[error("{file}:{line}: no `unit`: expected the name of what was rated")]
    NoUnit {
        /// Name of the file.
        file: String,
        /// Line of the row, from 1.
        line: usize,
    },
    /// A row, or the head, cannot be read; says where and why.
    #[error("{0}")]
    Row(String),
    /// There are so many raters, labels or parts that no table of them could be made or read.
    #[error("{file}: {n} {what}: expected at most {MOST}")]
    TooMany {
        /// Name of the file.
        file: String,
        /// Number of what there is too many of.
        n: usize,
        /// Kind of what there is too many of, with what it is.
        what: &'static str,
    },
    /// No row has a label.
    #[error("{file}: no labels: expected columns `unit` and `label`, and a row a label")]
    Empty {
        /// Name of the file.
        file: String,
    },
}

impl RaterLabels {
    /// Reads `unit`, `label`, and where there are several `rater`, `group` and `criterion`. Rows without a label are passed
    /// over, and labels that differ in case or white space are one, as are `1` and `1.0`. `panel` is how many raters a majority is
    /// out of: as many as the file has, unless given.
    ///
    /// # Errors
    /// [`RaterError`].
    pub fn read(file: &InputFile, panel: Option<usize>) -> Result<Self, RaterError> {
        let mut units: BTreeMap<Rated, BTreeMap<String, String>> = BTreeMap::new();
        let mut consensus = BTreeMap::new();
        let mut spellings: BTreeMap<String, String> = BTreeMap::new();
        let mut lines: BTreeMap<(Rated, String), usize> = BTreeMap::new();
        for row in table(file, &["unit", "label"]) {
            let row = row.map_err(|problem| RaterError::Row(problem.to_string()))?;
            let text = |name: &str| Row::text(&row, name).unwrap_or_default().trim().to_owned();
            let (label, rater) = (text("label"), text("rater"));
            if label.is_empty() {
                continue;
            }
            let rated = Rated { group: text("group"), criterion: text("criterion"), unit: text("unit") };
            if rated.unit.is_empty() {
                return Err(RaterError::NoUnit { file: file.name.clone(), line: row.line });
            }
            if let Some(&first_line) = lines.get(&(rated.clone(), rater.clone())) {
                let (file, line, unit) = (file.name.clone(), row.line, rated.unit);
                return Err(RaterError::SecondLabel { file, line, first_line, unit, rater });
            }
            lines.insert((rated.clone(), rater.clone()), row.line);
            let label = spellings.entry(folded(&label)).or_insert(label).clone();
            let labels = units.entry(rated.clone()).or_default();
            if rater == CONSENSUS {
                consensus.insert(rated, label);
            } else {
                labels.insert(rater, label);
            }
        }
        if units.is_empty() {
            return Err(RaterError::Empty { file: file.name.clone() });
        }
        let raters: BTreeSet<String> = units.values().flat_map(BTreeMap::keys).cloned().collect();
        let labels: BTreeSet<&String> = units.values().flat_map(BTreeMap::values).chain(consensus.values()).collect();
        let parts: BTreeSet<(&String, &String)> = units.keys().map(|unit| (&unit.group, &unit.criterion)).collect();
        for (n, what) in [
            (raters.len(), "raters"),
            (labels.len(), "different labels, which are names of a few categories"),
            (parts.len(), "parts by `group` and `criterion`"),
        ] {
            if n > MOST {
                return Err(RaterError::TooMany { file: file.name.clone(), n, what });
            }
        }
        Ok(Self { panel: panel.unwrap_or(raters.len()), raters, units, consensus, spellings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RaterLabels, RaterError> {
        RaterLabels::read(&InputFile { name: "l.csv".into(), bytes: text.as_bytes().to_vec() }, None)
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            refused("unit,rater,label\nu,A,yes\nu,B,yes\nu,A,yes\n"),
            "l.csv:4: a second label of `u` by `A`, after line 2: expected one a unit and rater; remove one"
        );
        assert_eq!(refused("unit,label\n,yes\n"), "l.csv:2: no `unit`: expected the name of what was rated");
        assert!(refused("item,label\nu,yes\n").contains("expected columns `unit` and `label`"));
        assert!(refused("unit,label\nu,\n").starts_with("l.csv: no labels"));
    }

    #[test]
    fn finding_10_raters_labels_and_parts_without_end_are_counted_and_refused() {
        let of = |row: fn(usize) -> String| {
            let rows: String = (0..=MOST).map(row).collect();
            read(&format!("unit,rater,label,group\n{rows}")).unwrap_err().to_string()
        };
        assert_eq!(of(|n| format!("u,r{n},yes,\n")), "l.csv: 201 raters: expected at most 200");
        assert!(of(|n| format!("u{n},r,l{n},\n")).starts_with("l.csv: 201 different labels"));
        assert!(of(|n| format!("u{n},r,yes,g{n}\n")).starts_with("l.csv: 201 parts by `group`"));
    }

    #[test]
    fn json_lines_are_read_too() {
        let read = read("{\"unit\": \"u\", \"rater\": \"A\", \"label\": 1}\n").unwrap();
        assert_eq!((read.n_labels(), read.raters().next()), (1, Some("A")));
    }
}
