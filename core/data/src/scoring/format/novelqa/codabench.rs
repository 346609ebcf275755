//! NovelQA as a submission to Codabench (competition 2727): checked and written.
//!
//! The layout is described on the competition's own page, which is not public text; what is here is what two submitters
//! publish independently (HazyResearch's capsules and a `pilot.codabench` package, both writing
//! `res_mc/res_mc.json`), to which NovelQA's README points (NovelQA/novelqa.github.io@12ce9067eb55, "Evaluation &
//! Submission Procedure"): an archive with `res_mc/res_mc.json`, `res_gen/res_gen.json` or both, each one JSON object with
//! a list of answers by novel, in the order of the novel's questions; beside the second, `res_gen/key` with the key for
//! the judge.

use super::files::{fold, lies_at, lists};
use super::setting::Setting;
use crate::scoring::Submission;
use closeread_eval::Outcome;
use closeread_eval::{InputFile, Item};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The key for the judge; it is the submitter's own, and neither read nor written here.
const KEY: &str = "res_gen/key";

/// The reason why files are no submission, or cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodabenchError {
    /// Files, novels or answers are not those that the leaderboard wants.
    #[error("not a Codabench submission of NovelQA: missing {}; unexpected {}", named(missing), named(unexpected))]
    Layout {
        /// Names of what is missing.
        missing: Vec<String>,
        /// Names of what is there and should not be.
        unexpected: Vec<String>,
    },
    /// Questions without an answer that can be written.
    #[error(
        "{n} of {n_items} questions have no answer to submit, the first {}: answer them, or name a letter to fill in",
        named(first)
    )]
    Unanswered {
        /// Number of such questions.
        n: usize,
        /// Number of all questions.
        n_items: usize,
        /// Ids of the first of them.
        first: Vec<String>,
    },
    /// There are no items to write.
    #[error("no question with a novel: expected items whose first document is the novel")]
    NoItems,
    /// A letter that is no option.
    #[error("`{letter}` cannot be filled in: expected A, B, C or D")]
    NoLetter {
        /// Letter that was asked for.
        letter: char,
    },
}

fn named(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        names => format!("`{}`", names.join("`, `")),
    }
}

/// Holds files to the layout; `items` are the questions in their order, empty where they are not known.
///
/// A folder in front of the archive's own is skipped. With items, every novel of them must be there once with as many
/// answers as it has questions, and no other novel; titles are compared without case, blanks and punctuation, since
/// submitters write them in several ways. Answers in the choice setting must be letters among A-D.
///
/// # Errors
/// [`CodabenchError::Layout`] with everything that is missing and everything that is not expected.
pub fn check_codabench(files: &[InputFile], items: &[Item]) -> Result<(), CodabenchError> {
    let (mut missing, mut unexpected) = (Vec::new(), Vec::new());
    let mut found = BTreeSet::new();
    for file in files {
        match Setting::ALL.into_iter().find(|setting| lies_at(&file.name, setting.path())) {
            Some(setting) if !found.insert(setting.path()) => unexpected.push(format!("{} (a second time)", file.name)),
            Some(setting) => check_file(file, setting, items, &mut missing, &mut unexpected),
            None if lies_at(&file.name, KEY) => {}
            None => unexpected.push(file.name.clone()),
        }
    }
    if found.is_empty() {
        missing.push(format!("{} or {}", Setting::MultipleChoice.path(), Setting::Generative.path()));
    }
    if missing.is_empty() && unexpected.is_empty() {
        return Ok(());
    }
    Err(CodabenchError::Layout { missing, unexpected })
}

fn check_file(
    file: &InputFile,
    setting: Setting,
    items: &[Item],
    missing: &mut Vec<String>,
    unexpected: &mut Vec<String>,
) {
    let Some(answers) = lists(file) else {
        missing.push(format!("one JSON object of novels with their lists of answers in {}", file.name));
        return;
    };
    let novels = novels(items);
    let mut seen = BTreeSet::new();
    for (novel, answers) in &answers {
        let place = format!("{novel} in {}", file.name);
        let known = novels.iter().find(|(title, _)| fold(title) == fold(novel));
        match known {
            None if !items.is_empty() => unexpected.push(place.clone()),
            _ if !seen.insert(fold(novel)) => unexpected.push(format!("{place} (a second time)")),
            Some((_, questions)) if questions.len() > answers.len() => {
                missing.push(format!(
                    "{} answers to {place} ({} of {})",
                    questions.len() - answers.len(),
                    answers.len(),
                    questions.len()
                ));
            }
            Some((_, questions)) if questions.len() < answers.len() => {
                unexpected.push(format!(
                    "{} answers to {place} ({} of {})",
                    answers.len() - questions.len(),
                    answers.len(),
                    questions.len()
                ));
            }
            _ => {}
        }
        let is_wrong = |answer: &Value| match (setting, answer) {
            (Setting::MultipleChoice, Value::String(letter)) => !matches!(letter.as_str(), "A" | "B" | "C" | "D"),
            (Setting::Generative, answer) => !answer.is_string(),
            _ => true,
        };
        unexpected
            .extend(answers.iter().find(|answer| is_wrong(answer)).map(|answer| format!("answer {answer} to {place}")));
    }
    let absent = novels.iter().filter(|(title, _)| !seen.contains(&fold(title)));
    missing.extend(absent.map(|(title, _)| format!("{title} in {}", file.name)));
}

/// The items by novel, in the order of first use; the name is the title, where the item has one.
pub(super) fn novels(items: &[Item]) -> Vec<(String, Vec<&Item>)> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut novels: Vec<(String, Vec<&Item>)> = Vec::new();
    for item in items {
        let title = item.other.get("title").and_then(Value::as_str).map(str::to_owned);
        let Some(title) = title.or_else(|| item.documents.first().cloned()) else { continue };
        let place = *places.entry(title.clone()).or_insert(novels.len());
        match novels.get_mut(place) {
            Some((_, items)) => items.push(item),
            None => novels.push((title, vec![item])),
        }
    }
    novels
}

/// The file of an archive for `setting`, named by its place in it: the caller zips it.
///
/// Items are grouped by their first document, which is the novel, or by the field `title` where they have one, and
/// written in their order, which must be that of the data set's files. The choice setting takes the option chosen,
/// whose place in the item's options is its letter; the generative setting the answer's text. Where there is no such
/// answer (missing, overflow, unparsed, ...) `fill` is written, which the leaderboard then scores like any letter; in the
/// generative setting the empty text.
///
/// # Errors
/// [`CodabenchError::Unanswered`] if a choice is missing and there is no `fill`; [`CodabenchError::NoLetter`] if `fill`
/// is no letter of an option; [`CodabenchError::NoItems`] if no item has a novel.
pub fn write_codabench(
    submission: &Submission,
    setting: Setting,
    fill: Option<char>,
) -> Result<InputFile, CodabenchError> {
    if let Some(letter) = fill.filter(|letter| !matches!(letter, 'A'..='D')) {
        return Err(CodabenchError::NoLetter { letter });
    }
    let (mut answers, mut unanswered) = (Map::new(), Vec::new());
    for (title, items) in novels(&submission.items) {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            let answer = match (setting, submission.attempts.get(&item.id).map(|attempt| &attempt.outcome)) {
                (Setting::MultipleChoice, Some(Outcome::Answered { choice: Some(choice @ 0..=3), .. })) => {
                    char::from(b"ABCD"[*choice]).to_string()
                }
                (Setting::MultipleChoice, _) => {
                    unanswered.push(item.id.clone());
                    fill.map(String::from).unwrap_or_default()
                }
                (Setting::Generative, Some(Outcome::Answered { answer, .. })) => answer.clone(),
                (Setting::Generative, _) => String::new(),
            };
            list.push(Value::String(answer));
        }
        answers.insert(title, Value::Array(list));
    }
    if answers.is_empty() {
        return Err(CodabenchError::NoItems);
    }
    if !unanswered.is_empty() && fill.is_none() {
        let (n, n_items) = (unanswered.len(), submission.items.len());
        unanswered.truncate(5);
        return Err(CodabenchError::Unanswered { n, n_items, first: unanswered });
    }
    Ok(InputFile { name: setting.path().to_owned(), bytes: Value::Object(answers).to_string().into_bytes() })
}

#[cfg(test)]
mod tests {
    use super::super::super::draft::ended;
    use super::super::super::testing::file;
    use super::*;
    use closeread_eval::Task;

    fn items() -> Vec<Item> {
        let item = |id: &str, novel: &str| {
            let mut item = Item::new(id, novel, "Who?", Task::Choice);
            item.options = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
            item
        };
        vec![item("The Mill/Q1", "The Mill"), item("Emma/Q1", "Emma"), item("The Mill/Q2", "The Mill")]
    }

    #[track_caller]
    fn check(files: &[InputFile], expected: &str) {
        let found = check_codabench(files, &items()).map_or_else(|error| error.to_string(), |()| "fine".into());
        assert_eq!(found, expected);
    }

    #[test]
    fn layouts_are_checked() {
        let good = r#"{"themill": ["A", "B"], "Emma": ["C"]}"#;
        check(&[file("res_mc/res_mc.json", good), file("res_gen/key", "sk")], "fine");
        check(&[file("out/res_gen/res_gen.json", r#"{"The Mill": ["Ana", ""], "Emma": ["Bo"]}"#)], "fine");
        check(
            &[file("res_mc.json", good), file("x/readme.md", "")],
            "not a Codabench submission of NovelQA: missing `res_mc/res_mc.json or res_gen/res_gen.json`; unexpected `res_mc.json`, `x/readme.md`",
        );
        check(
            &[file("res_mc/res_mc.json", r#"{"The Mill": ["A"], "Ivanhoe": ["A"], "the mill": ["A", "a"]}"#)],
            "not a Codabench submission of NovelQA: missing `1 answers to The Mill in res_mc/res_mc.json (1 of 2)`, `Emma in res_mc/res_mc.json`; unexpected `Ivanhoe in res_mc/res_mc.json`, `the mill in res_mc/res_mc.json (a second time)`, `answer \"a\" to the mill in res_mc/res_mc.json`",
        );
        check(
            &[file("res_mc/res_mc.json", "[1]")],
            "not a Codabench submission of NovelQA: missing `one JSON object of novels with their lists of answers in res_mc/res_mc.json`; unexpected nothing",
        );
        assert_eq!(check_codabench(&[file("res_mc/res_mc.json", r#"{"any": ["D"]}"#)], &[]), Ok(()));
    }

    #[test]
    fn what_is_written_passes_the_check() {
        let mut submission = Submission { items: items(), ..Submission::default() };
        let chosen = |choice| ended(Outcome::Answered { answer: "x".into(), choice: Some(choice) });
        submission.attempts.insert("The Mill/Q1".into(), chosen(1));
        submission.attempts.insert("Emma/Q1".into(), chosen(3));
        let error = write_codabench(&submission, Setting::MultipleChoice, None).unwrap_err().to_string();
        assert_eq!(
            error,
            "1 of 3 questions have no answer to submit, the first `The Mill/Q2`: answer them, or name a letter to fill in"
        );
        let written = write_codabench(&submission, Setting::MultipleChoice, Some('A')).unwrap();
        assert_eq!(written.name, "res_mc/res_mc.json");
        assert_eq!(String::from_utf8_lossy(&written.bytes), r#"{"The Mill":["B","A"],"Emma":["D"]}"#);
        assert_eq!(check_codabench(&[written], &submission.items), Ok(()));
        let written = write_codabench(&submission, Setting::Generative, None).unwrap();
        assert_eq!(String::from_utf8_lossy(&written.bytes), r#"{"The Mill":["x",""],"Emma":["x"]}"#);
        assert!(write_codabench(&submission, Setting::MultipleChoice, Some('E')).is_err());
        let empty = Submission::default();
        assert_eq!(write_codabench(&empty, Setting::Generative, None), Err(CodabenchError::NoItems));
    }
}
