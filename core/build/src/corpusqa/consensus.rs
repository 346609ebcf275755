//! Consensus of several extractions of a cell (section 3, step 2).
//!
//! The paper keeps a value that has "a clear majority" over all extraction results and does not define it. Here that is
//! more than half of all results, those that found nothing or could not be read included, and at least two.

use super::value::CellValue;
use serde::{Deserialize, Serialize};

/// One extraction of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// Name of the model that read the document.
    pub by: String,
    /// Value that was read; what could not be read is [`CellValue::Missing`] with a problem.
    pub value: CellValue,
    /// Value as it was stated, unit included.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stated: String,
    /// The reason why the value could not be read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub problem: String,
}

/// The result of a cell's extractions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Consensus {
    /// A value has the clear majority.
    Agreed {
        /// Value as the first of the extractions gave it.
        value: CellValue,
        /// Number of extractions that gave the value.
        votes: usize,
        /// Number of all extractions.
        of: usize,
    },
    /// The clear majority found nothing in the document.
    Absent {
        /// Number of extractions that found no value.
        votes: usize,
        /// Number of all extractions.
        of: usize,
    },
    /// No value has a majority.
    Split {
        /// Number of extractions that gave the most frequent value.
        most: usize,
        /// Number of all extractions.
        of: usize,
    },
}

/// True for a clear majority: more than half, and at least two.
pub fn is_clear(votes: usize, of: usize) -> bool {
    votes >= 2 && 2 * votes > of
}

/// The value that has the clear majority of `votes`. Of values with the same number of votes the first counts.
pub(crate) fn clear_majority(votes: &[Vote]) -> Consensus {
    let of = votes.len();
    let same = |value: &CellValue| votes.iter().filter(|vote| vote.value.is_same(value)).count();
    let most = votes.iter().fold(None, |best: Option<(&Vote, usize)>, vote| {
        let n = same(&vote.value);
        match best {
            Some((_, most)) if most >= n => best,
            _ => Some((vote, n)),
        }
    });
    let silent = votes.iter().filter(|vote| vote.value == CellValue::Missing && vote.problem.is_empty()).count();
    match most {
        Some((vote, n)) if is_clear(n, of) => Consensus::Agreed { value: vote.value.clone(), votes: n, of },
        _ if is_clear(silent, of) => Consensus::Absent { votes: silent, of },
        most => Consensus::Split { most: most.map_or(0, |(_, n)| n), of },
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::Column;
    use super::super::value::read_cell;
    use super::*;
    use crate::corpusqa::ValueType;
    use proptest::prelude::*;

    fn vote(raw: &str) -> Vote {
        let read = read_cell(raw, &Column::new("x", ValueType::Money, "USD"));
        let (value, problem) = match read {
            Ok(value) => (value, String::new()),
            Err(problem) => (CellValue::Missing, problem.to_string()),
        };
        Vote { by: "m".to_owned(), value, stated: raw.to_owned(), problem }
    }

    fn of(values: &[&str]) -> Consensus {
        clear_majority(&values.iter().map(|raw| vote(raw)).collect::<Vec<_>>())
    }

    #[test]
    fn more_than_half_of_all_results_decide() {
        let agreed = |votes, of| Consensus::Agreed { value: CellValue::Number { value: 1200.0 }, votes, of };
        assert_eq!(of(&["1,200", "1200", "1201"]), agreed(2, 3));
        assert_eq!(of(&["n/a", "1,200", "$1,200", "1.2 thousand"]), agreed(3, 4));
        assert_eq!(of(&["1,200", "1200", "7", "8"]), Consensus::Split { most: 2, of: 4 }, "half is not more than half");
        assert_eq!(of(&["1,200"]), Consensus::Split { most: 1, of: 1 }, "one model agrees with nobody");
        assert_eq!(of(&["n/a", "n/a", "5"]), Consensus::Absent { votes: 2, of: 3 });
        assert_eq!(
            of(&["many", "many", "5"]),
            Consensus::Split { most: 1, of: 3 },
            "what cannot be read is no silence"
        );
        assert_eq!(of(&[]), Consensus::Split { most: 0, of: 0 });
    }

    proptest! {
        /// The order of the votes does not matter for what is decided, and a majority is one.
        #[test]
        fn a_majority_is_one_whatever_the_order(numbers in prop::collection::vec(0u8..4, 0..9)) {
            let votes: Vec<Vote> = numbers.iter().map(|n| vote(&n.to_string())).collect();
            let turned: Vec<Vote> = votes.iter().rev().cloned().collect();
            prop_assert_eq!(clear_majority(&votes), clear_majority(&turned));
            if let Consensus::Agreed { value, votes: n, of } = clear_majority(&votes) {
                prop_assert!(2 * n > of && n >= 2 && of == votes.len());
                prop_assert_eq!(votes.iter().filter(|vote| vote.value.is_same(&value)).count(), n);
            }
        }
    }
}
