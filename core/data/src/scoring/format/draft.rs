//! A submission in the making: ids stay unique, every row is used, noted or counted as a problem.

use super::layout::{Format, FormatError, FormatInput};
use crate::scoring::{Attempt, Submission};
use closeread_eval::Outcome;
use closeread_eval::rows::Row;
use closeread_eval::{InputFile, Item, Problem};
use closeread_metrics::Metric;
use std::collections::{BTreeMap, HashMap};

/// A draft of a submission, see the module.
#[derive(Debug, Default)]
pub(super) struct Draft {
    submission: Submission,
    /// Place of each item, for look-ups alone.
    places: HashMap<String, usize>,
    /// True once a row, whatever it held, was a JSON object or a line of the format.
    has_read: bool,
}

impl Draft {
    /// An empty submission that its format scores by `metrics`, the main one first.
    pub(super) fn new(metrics: &[Metric]) -> Self {
        Self { submission: Submission { metrics: metrics.to_vec(), ..Submission::default() }, ..Self::default() }
    }

    /// The rows that could be read; the others are kept as malformed, notes as notes.
    pub(super) fn keep<T>(&mut self, rows: Vec<Result<T, Problem>>) -> Vec<T> {
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            match row {
                Ok(row) => kept.push(row),
                Err(problem) if problem.dropped => self.submission.problems.malformed_rows.push(problem),
                Err(problem) => self.submission.notes.push(problem),
            }
        }
        self.has_read |= !kept.is_empty();
        kept
    }

    /// The rows of a gold file; what is wrong with it is noted, for it is no fault of the predictions.
    pub(super) fn keep_gold(&mut self, rows: Vec<Result<Row, Problem>>) -> Vec<Row> {
        rows.into_iter().filter_map(|row| row.map_err(|problem| self.submission.notes.push(problem)).ok()).collect()
    }

    /// Adds an item unless its id is taken; returns whether it was added.
    pub(super) fn item(&mut self, item: Item) -> bool {
        if self.places.contains_key(&item.id) {
            return false;
        }
        self.places.insert(item.id.clone(), self.submission.items.len());
        self.submission.items.push(item);
        true
    }

    /// Adds the items of a gold file; a second one of the same id is noted and left out.
    pub(super) fn gold_item(&mut self, file: &str, line: Option<usize>, item: Item) {
        let id = item.id.clone();
        if !self.item(item) {
            let message = "the gold file has this item twice: the first counts";
            self.submission.notes.push(Problem::dropped(file, line, Some(&id), message));
        }
    }

    /// Says which scores of the format the item has nothing for.
    pub(super) fn inapplicable(&mut self, id: &str, names: Vec<String>) {
        self.submission.inapplicable.insert(id.to_owned(), names);
    }

    /// Returns the items so far.
    pub(super) fn items(&self) -> &[Item] {
        &self.submission.items
    }

    /// The item of that id.
    pub(super) fn item_of(&self, id: &str) -> Option<&Item> {
        self.places.get(id).map(|at| &self.submission.items[*at])
    }

    /// True if the item has an attempt, which is the one that counts.
    pub(super) fn has_attempt(&self, id: &str) -> bool {
        self.submission.attempts.contains_key(id)
    }

    /// Adds an attempt, or counts its row as a duplicate or as unknown.
    pub(super) fn attempt(&mut self, file: &InputFile, line: Option<usize>, id: &str, attempt: Attempt) {
        self.has_read = true;
        if !self.places.contains_key(id) {
            return self.unknown(file, line, id);
        }
        if self.has_attempt(id) {
            return self.duplicate(file, line, id);
        }
        self.submission.attempts.insert(id.to_owned(), attempt);
    }

    /// Counts a further row of an item.
    pub(super) fn duplicate(&mut self, file: &InputFile, line: Option<usize>, id: &str) {
        let message = "a second prediction for this item: the first counts";
        self.submission.problems.duplicate_ids.push(Problem::dropped(&file.name, line, Some(id), message));
    }

    /// Counts a row of an item that the gold file does not have.
    pub(super) fn unknown(&mut self, file: &InputFile, line: Option<usize>, id: &str) {
        let message = format!("the gold has no such item: expected one of its {} ids", self.submission.items.len());
        self.submission.problems.unknown_ids.push(Problem::dropped(&file.name, line, Some(id), message));
    }

    /// Counts a row that is no prediction.
    pub(super) fn malformed(
        &mut self,
        file: &InputFile,
        line: Option<usize>,
        item: Option<&str>,
        why: impl Into<String>,
    ) {
        self.submission.problems.malformed_rows.push(Problem::dropped(&file.name, line, item, why));
    }

    /// Notes a row that is used all the same, or something about a whole file.
    pub(super) fn note(&mut self, file: &InputFile, line: Option<usize>, item: Option<&str>, what: impl Into<String>) {
        self.submission.notes.push(Problem::note(&file.name, line, item, what));
    }

    /// Returns the submission that was found.
    ///
    /// # Errors
    /// [`FormatError::Unreadable`] if there is no item, or if there is text but no row in it.
    pub(super) fn finish(self, format: &Format, input: &FormatInput<'_>) -> Result<Submission, FormatError> {
        let Submission { items, problems, notes, .. } = &self.submission;
        let is_noise = !self.has_read && !problems.malformed_rows.is_empty();
        if !items.is_empty() && !is_noise {
            return Ok(self.submission);
        }
        let first = problems.iter().chain(notes.iter()).next();
        let file = first.map_or_else(|| input.files.first().map_or("", |file| &file.name), |first| &first.file);
        let problem = first.map_or_else(
            || "it is empty".to_owned(),
            |first| match first.line {
                Some(line) => format!("line {line}: {}", first.message),
                None => first.message.clone(),
            },
        );
        let (format, wants) = (format.name, format.wants);
        Err(FormatError::Unreadable { file: file.to_owned(), format, problem, wants })
    }
}

/// An attempt that ended so, with no evidence and nothing given.
pub(super) fn ended(outcome: Outcome) -> Attempt {
    Attempt { outcome, evidence: Vec::new(), given: BTreeMap::new() }
}

/// An attempt at a free answer: what was written, or no answer at all if that is white space.
pub(super) fn answered(text: String) -> Attempt {
    ended(match text.trim() {
        "" => Outcome::Unparsed { response: text },
        _ => Outcome::Answered { answer: text, choice: None },
    })
}

/// Returns 1 for what is right, 0 for what is not.
pub(super) fn share(is_right: bool) -> f64 {
    f64::from(u8::from(is_right))
}
