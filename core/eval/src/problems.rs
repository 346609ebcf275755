//! Problems in any number, of which the first are listed.

use crate::Problem;
use serde::{Deserialize, Serialize};

/// Most problems to list of those that left a row out, and of notes: a file may have a million wrong rows.
pub const LISTED: usize = 1000;

/// Problems: the first [`LISTED`] of each kind, then one that says how many more there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Problem>", into = "Vec<Problem>")]
pub struct ProblemList {
    listed: Vec<Problem>,
    /// Notes and rows left out that are listed.
    n: [usize; 2],
    /// The problems that stand for all that are not listed.
    rest: [Option<Problem>; 2],
}

impl ProblemList {
    /// Adds one, which is counted alone where as many are listed.
    pub fn push(&mut self, problem: Problem) {
        if let Some(problem) = self.listable(problem) {
            self.listed.push(problem);
        }
    }

    /// The problem again if it is to be listed; if not it is counted.
    pub(crate) fn listable(&mut self, problem: Problem) -> Option<Problem> {
        let kind = usize::from(problem.dropped);
        if problem.more == 0 && self.n[kind] < LISTED {
            self.n[kind] += 1;
            return Some(problem);
        }
        let n = problem.more.max(1);
        let rest = self.rest[kind].get_or_insert(Problem { item: None, more: 0, ..problem });
        rest.more = rest.more.saturating_add(n);
        rest.message = match kind {
            0 => format!("{} more notes, from here on, are not listed", rest.more),
            _ => format!("{} more rows, from here on, are left out and not listed", rest.more),
        };
        None
    }

    /// Takes the problem that stands for those that were counted alone.
    pub(crate) fn take_rest(&mut self) -> Option<Problem> {
        self.rest.iter_mut().find_map(Option::take)
    }

    /// Returns the listed problems, then those that stand for the others.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.listed.iter().chain(self.rest.iter().flatten())
    }

    /// Returns the number of problems, listed or not.
    pub fn len(&self) -> usize {
        self.count(false).saturating_add(self.count(true))
    }

    /// Returns how many problems left a row out (`dropped`), or did not.
    pub fn count(&self, dropped: bool) -> usize {
        let kind = usize::from(dropped);
        self.n[kind].saturating_add(self.rest[kind].as_ref().map_or(0, |rest| rest.more))
    }

    /// True if there is no problem.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<Vec<Problem>> for ProblemList {
    fn from(problems: Vec<Problem>) -> Self {
        problems.into_iter().collect()
    }
}

impl From<ProblemList> for Vec<Problem> {
    fn from(problems: ProblemList) -> Self {
        problems.into_iter().collect()
    }
}

impl FromIterator<Problem> for ProblemList {
    fn from_iter<I: IntoIterator<Item = Problem>>(problems: I) -> Self {
        let mut all = Self::default();
        all.extend(problems);
        all
    }
}

impl Extend<Problem> for ProblemList {
    fn extend<I: IntoIterator<Item = Problem>>(&mut self, problems: I) {
        problems.into_iter().for_each(|problem| self.push(problem));
    }
}

impl IntoIterator for ProblemList {
    type Item = Problem;
    type IntoIter =
        std::iter::Chain<std::vec::IntoIter<Problem>, std::iter::Flatten<std::array::IntoIter<Option<Problem>, 2>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.listed.into_iter().chain(self.rest.into_iter().flatten())
    }
}

impl std::ops::Index<usize> for ProblemList {
    type Output = Problem;

    fn index(&self, at: usize) -> &Problem {
        &self.listed[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_09_a_million_problems_are_counted_and_the_first_listed() {
        let mut problems = ProblemList::default();
        for line in 1..=1_000_000 {
            problems.push(Problem::dropped("f", Some(line), Some("a"), "wrong"));
        }
        problems.push(Problem::note("f", Some(7), None, "odd"));
        assert_eq!((problems.len(), problems.count(true), problems.iter().count()), (1_000_001, 1_000_000, LISTED + 2));
        let last = problems.iter().last().unwrap().to_string();
        assert_eq!(last, "f:1001: 999000 more rows, from here on, are left out and not listed [left out]");

        let json = serde_json::to_string(&problems).unwrap();
        assert_eq!(serde_json::from_str::<ProblemList>(&json).unwrap(), problems);
        let mut twice = problems.clone();
        twice.extend(problems);
        assert_eq!((twice.len(), twice.iter().count()), (2_000_002, LISTED + 3));
    }

    #[test]
    fn finding_09_a_problem_repeats_no_whole_row() {
        let long = "é".repeat(1 << 20);
        let problem = Problem::dropped("f", None, Some(&long), long.clone());
        assert!(problem.to_string().len() < 3000);
    }
}
