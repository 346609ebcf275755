//! Shared parts of the formats' tests.

use super::layout::{Format, FormatError, FormatInput};
use crate::scoring::Submission;
use closeread_eval::InputFile;

pub(super) fn file(name: &str, text: &str) -> InputFile {
    InputFile { name: name.into(), bytes: text.as_bytes().to_vec() }
}

pub(super) fn read(format: &Format, task: Option<&str>, files: &[InputFile]) -> Result<Submission, FormatError> {
    (format.read)(&FormatInput { files, task, ..FormatInput::default() })
}

pub(super) fn read_with(format: &Format, files: &[InputFile], gold: &[InputFile]) -> Result<Submission, FormatError> {
    (format.read)(&FormatInput { files, gold, ..FormatInput::default() })
}

pub(super) fn read_system(format: &Format, files: &[InputFile], system: &str) -> Result<Submission, FormatError> {
    (format.read)(&FormatInput { files, system: Some(system), ..FormatInput::default() })
}

pub(super) fn notes(submission: &Submission) -> Vec<String> {
    submission.notes.iter().map(ToString::to_string).collect()
}

/// Holds the ids of the items and every problem to what is expected, and ids to the rules of a submission.
#[track_caller]
pub(super) fn check(submission: &Submission, ids: &[&str], problems: &[&str]) {
    let found: Vec<String> = submission.problems.iter().map(ToString::to_string).collect();
    assert_eq!(found, problems);
    let items: Vec<&str> = submission.items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(items, ids);
    for id in submission.attempts.keys() {
        assert!(items.contains(&id.as_str()), "{id} is no item");
    }
}
