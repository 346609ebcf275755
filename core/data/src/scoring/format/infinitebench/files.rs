//! Which of the files are about one task and one model: published files say the task in their names, the model in those of
//! their folders.

use super::FORMAT;
use crate::scoring::format::draft::Draft;
use crate::scoring::format::layout::{FormatError, FormatInput};
use closeread_eval::InputFile;
use std::collections::{BTreeMap, BTreeSet};

/// The task that is meant, by name or by the first file that shows one.
pub(super) fn task(input: &FormatInput<'_>) -> Result<&'static str, FormatError> {
    FORMAT.check_task(input)?;
    let first = FORMAT.first(input)?;
    let named = input.task.and_then(|task| FORMAT.tasks.iter().copied().find(|known| *known == task));
    let task = named.or_else(|| input.files.iter().find_map(shown));
    task.ok_or_else(|| FormatError::NoTask { file: first.name.clone(), tasks: FORMAT.tasks })
}

/// The models of the files: the names of their folders, where several hold a file of the same name for the task.
pub(super) fn systems(input: &FormatInput<'_>) -> Vec<String> {
    folders(input).into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// All files, or those of the model that is meant where there are several.
pub(super) fn of_system<'a>(input: &FormatInput<'a>) -> Result<Vec<&'a InputFile>, FormatError> {
    let folders = folders(input);
    if folders.is_empty() {
        return Ok(input.files.iter().collect());
    }
    let system = FORMAT.system(input)?;
    let own = |file: &&InputFile| folders.contains(&(system.as_str(), place(file).0));
    Ok(input.files.iter().filter(own).collect())
}

/// The files of `task`, by their names: else those that show none, else all. Those of other tasks are noted.
pub(super) fn of_task<'a>(draft: &mut Draft, files: &[&'a InputFile], task: &str) -> Vec<&'a InputFile> {
    let Some(found) = about(files, task) else { return files.to_vec() };
    for file in files {
        if let Some(other) = shown(file).filter(|other| *other != task) {
            draft.note(file, None, None, format!("not read: it is of {other}, and this is {task}"));
        }
    }
    found
}

fn about<'a>(files: &[&'a InputFile], task: &str) -> Option<Vec<&'a InputFile>> {
    let with = |wanted: Option<&str>| files.iter().copied().filter(|file| shown(file) == wanted).collect::<Vec<_>>();
    [with(Some(task)), with(None)].into_iter().find(|found| !found.is_empty())
}

/// Name and path of the folder of each model; none where the files are one model's.
fn folders<'a>(input: &FormatInput<'a>) -> Vec<(&'a str, &'a str)> {
    let Ok(task) = task(input) else { return Vec::new() };
    let all: Vec<&InputFile> = input.files.iter().collect();
    let places: Vec<(&str, &str)> = about(&all, task).unwrap_or(all).into_iter().map(place).collect();
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    if places.iter().all(|&(folder, base)| *first.entry(base).or_insert(folder) == folder) {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let folders: Vec<&str> =
        places.into_iter().map(|(folder, _)| folder).filter(|folder| seen.insert(*folder)).collect();
    let named = |n| folders.iter().map(|folder| (tail(folder, n), *folder)).collect::<Vec<_>>();
    let is_told_apart =
        |n: &usize| folders.iter().map(|folder| tail(folder, *n)).collect::<BTreeSet<_>>().len() == folders.len();
    (1..).find(is_told_apart).map_or_else(Vec::new, named)
}

/// Folder and name of a file.
fn place(file: &InputFile) -> (&str, &str) {
    file.name.rsplit_once('/').unwrap_or((".", &file.name))
}

/// The last `n` parts of a path.
fn tail(path: &str, n: usize) -> &str {
    path.rmatch_indices('/').nth(n - 1).map_or(path, |(at, _)| &path[at + 1..])
}

/// The task that a file's name shows, or else its path.
fn shown(file: &InputFile) -> Option<&'static str> {
    let named = |name: &str| FORMAT.tasks.iter().copied().find(|task| name.contains(task));
    named(place(file).1).or_else(|| named(&file.name))
}

#[cfg(test)]
mod tests {
    use super::super::FORMAT;
    use crate::scoring::format::layout::FormatInput;
    use crate::scoring::format::testing::{check, file, notes, read, read_system, read_with};

    fn row(id: &str, gold: &str) -> String {
        format!("{{{id}\"prediction\": \"p\", \"ground_truth\": [\"{gold}\"]}}\n")
    }

    #[test]
    fn all_files_of_a_task_are_read_and_those_of_others_named() {
        let files = [
            file("a/longbook_qa_eng.jsonl", &(row("\"id\": 1, ", "a") + &row("", "b"))),
            file("a/longbook_choice_eng.jsonl", &row("\"id\": 1, ", "A")),
            file("b/more_longbook_qa_eng.jsonl", &(row("\"id\": 1, ", "a") + &row("", "c"))),
        ];
        let submission = read(&FORMAT, None, &files).unwrap();
        check(
            &submission,
            &["1", "a/longbook_qa_eng.jsonl/line-2", "b/more_longbook_qa_eng.jsonl/line-2"],
            &["b/more_longbook_qa_eng.jsonl:1 (1): a second prediction for this item: the first counts [left out]"],
        );
        assert_eq!(submission.attempts.len(), 3);
        let other = "a/longbook_choice_eng.jsonl: not read: it is of longbook_choice_eng, and this is longbook_qa_eng";
        assert_eq!(notes(&submission), [other]);
    }

    #[test]
    fn each_folder_is_a_model() {
        let systems = |files: &[_]| super::systems(&FormatInput { files, ..FormatInput::default() });
        let one = |folder: &str, gold: &str| {
            file(&format!("{folder}/preds_longbook_qa_eng.jsonl"), &row("\"id\": 1, ", gold))
        };
        let files = [one("r/gpt4", "a"), file("r/gpt4/preds_longbook_qa_chn.jsonl", ""), one("r/yi", "b")];
        assert_eq!(systems(&files), ["gpt4", "yi"]);
        assert!(systems(&files[..2]).is_empty());
        for (system, gold, n_notes) in [("gpt4", "a", 1), ("yi", "b", 0)] {
            let submission = read_system(&FORMAT, &files, system).unwrap();
            check(&submission, &["1"], &[]);
            assert_eq!(submission.items[0].answers, [gold]);
            assert_eq!(notes(&submission).len(), n_notes, "{system}");
        }
        let error = read(&FORMAT, None, &files).unwrap_err().to_string();
        assert_eq!(error, "r/gpt4/preds_longbook_qa_eng.jsonl holds 2 systems: name one of gpt4, yi");
        assert_eq!(systems(&[one("r/gpt4/out", "a"), one("r/yi/out", "b")]), ["gpt4/out", "yi/out"]);
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
