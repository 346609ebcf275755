//! Reports of vector files: cases passed and failed.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The outcome of one vector file; `passed + failed` is the number of its cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReport {
    /// The file's name as given.
    pub file: String,
    /// Cases in which the core gave what the reference gave.
    pub passed: usize,
    /// All other cases, those of [`not_yet`](Self::not_yet) included.
    pub failed: usize,
    /// A line for each failed case that has code: the case's id, the expected value and ours.
    pub failures: Vec<String>,
    /// The parts of the file for which the core has no code.
    pub not_yet: Vec<NotYet>,
    /// Contents of the file that were not compared, each once.
    pub notes: Vec<String>,
    /// SHA-256 of everything that was computed, to the last digit: equal natively and under WebAssembly. Absent for
    /// schemas whose results are compared exactly anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// Cases that cannot pass because nothing in the core computes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotYet {
    /// The missing part, such as `retrieval: group tree_traversal has no code yet`.
    pub what: String,
    /// Number of cases that it affects.
    pub cases: usize,
}

impl FileReport {
    pub(crate) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            passed: 0,
            failed: 0,
            failures: vec![],
            not_yet: vec![],
            notes: vec![],
            digest: None,
        }
    }

    /// Runs `check` on each element of the list `field` of `file`, as one case each; a missing list has no cases.
    ///
    /// A case fails if `check` returns an error or panics.
    pub(crate) fn cases(&mut self, file: &Value, field: &str, check: impl Fn(&Value) -> Result<(), String>) {
        for (position, case) in list(file, field).enumerate() {
            self.case(&label(case, field, position), || check(case));
        }
    }

    /// Runs one case.
    pub(crate) fn case(&mut self, id: &str, check: impl FnOnce() -> Result<(), String>) {
        let outcome = catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(format!("panicked: {said}"))
        });
        match outcome {
            Ok(()) => self.passed += 1,
            Err(why) => {
                self.failed += 1;
                self.failures.push(format!("{id}: {why}"));
            }
        }
    }

    /// Counts `cases` cases as failed because `what` says that there is no code for them.
    pub(crate) fn not_yet(&mut self, what: &str, cases: usize) {
        self.failed += cases;
        match self.not_yet.iter_mut().find(|known| known.what == what) {
            Some(known) => known.cases += cases,
            None => self.not_yet.push(NotYet { what: what.to_owned(), cases }),
        }
    }

    /// Counts the file itself as one failed case.
    pub(crate) fn fail_file(&mut self, why: String) {
        self.failed += 1;
        self.failures.push(why);
    }

    /// Adds a note about the whole file; repeated notes are kept once.
    #[allow(dead_code, reason = "for schemas whose files hold more than is compared; there need not be one")]
    pub(crate) fn note(&mut self, note: &str) {
        if self.notes.iter().all(|known| known != note) {
            self.notes.push(note.to_owned());
        }
    }
}

/// The elements of the list `field`, none if there is no such list.
pub(crate) fn list<'a>(file: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    file.get(field).and_then(Value::as_array).into_iter().flatten()
}

/// The id of a case, or its place if it has none.
pub(crate) fn label(case: &Value, field: &str, position: usize) -> String {
    match case.get("id").and_then(Value::as_str) {
        Some(id) => id.to_owned(),
        None => format!("{field}[{position}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_panic_is_a_failure_of_its_case_alone() {
        let mut report = FileReport::new("f.json");
        report.cases(&json!({"cases": [{"id": "bad"}, {"id": "good"}]}), "cases", |case| {
            assert!(case["id"] != "bad", "as it should");
            Ok(())
        });
        assert_eq!((report.passed, report.failed), (1, 1));
        assert_eq!(report.failures, ["bad: panicked: as it should"]);
    }
}
