//! Which of the files are about one task: published files say theirs in their names.

use super::FORMAT;
use crate::scoring::format::draft::Draft;
use crate::scoring::format::layout::{FormatError, FormatInput};
use closeread_eval::InputFile;

/// The task that is meant, by name or by the first file that shows one.
pub(super) fn task(input: &FormatInput<'_>) -> Result<&'static str, FormatError> {
    FORMAT.check_task(input)?;
    let first = FORMAT.first(input)?;
    let named = input.task.and_then(|task| FORMAT.tasks.iter().copied().find(|known| *known == task));
    let task = named.or_else(|| input.files.iter().find_map(shown));
    task.ok_or_else(|| FormatError::NoTask { file: first.name.clone(), tasks: FORMAT.tasks })
}

/// The files of `task`, by their names: else those that show none, else all. Those of other tasks are noted.
pub(super) fn of_task<'a>(draft: &mut Draft, files: &'a [InputFile], task: &str) -> Vec<&'a InputFile> {
    let with = |wanted: Option<&str>| files.iter().filter(|file| shown(file) == wanted).collect::<Vec<_>>();
    let found = [with(Some(task)), with(None)].into_iter().find(|found| !found.is_empty());
    let Some(found) = found else { return files.iter().collect() };
    for file in files {
        if let Some(other) = shown(file).filter(|other| *other != task) {
            draft.note(file, None, None, format!("not read: it is of {other}, and this is {task}"));
        }
    }
    found
}

/// The task that a file's name shows, or else its path.
fn shown(file: &InputFile) -> Option<&'static str> {
    let base = file.name.rsplit('/').next().unwrap_or(&file.name);
    let named = |name: &str| FORMAT.tasks.iter().copied().find(|task| name.contains(task));
    named(base).or_else(|| named(&file.name))
}

#[cfg(test)]
mod tests {
    use super::super::FORMAT;
    use crate::scoring::format::testing::{check, file, notes, read, read_with};

    fn row(id: &str, gold: &str) -> String {
        format!("{{{id}\"prediction\": \"p\", \"ground_truth\": [\"{gold}\"]}}\n")
    }

    #[test]
    fn all_files_of_a_task_are_read_and_those_of_others_named() {
        let files = [
            file("a/longbook_qa_eng.jsonl", &(row("\"id\": 1, ", "a") + &row("", "b"))),
            file("a/longbook_choice_eng.jsonl", &row("\"id\": 1, ", "A")),
            file("b/longbook_qa_eng.jsonl", &(row("\"id\": 1, ", "a") + &row("", "c"))),
        ];
        let submission = read(&FORMAT, None, &files).unwrap();
        check(
            &submission,
            &["1", "a/longbook_qa_eng.jsonl/line-2", "b/longbook_qa_eng.jsonl/line-2"],
            &["b/longbook_qa_eng.jsonl:1 (1): a second prediction for this item: the first counts [left out]"],
        );
        assert_eq!(submission.attempts.len(), 3);
        let other = "a/longbook_choice_eng.jsonl: not read: it is of longbook_choice_eng, and this is longbook_qa_eng";
        assert_eq!(notes(&submission), [other]);
    }

    #[test]
    fn a_folder_of_all_tasks_is_gold_for_its_own() {
        let gold = [
            file("g/longbook_qa_chn.jsonl", &row("\"id\": 2, ", "x")),
            file("g/longbook_qa_eng.jsonl", &row("\"id\": 1, ", "a")),
        ];
        let predictions = [file("p/longbook_qa_eng.jsonl", "{\"id\": 1, \"prediction\": \"a\"}")];
        check(&read_with(&FORMAT, &predictions, &gold).unwrap(), &["1"], &[]);
    }
}
