//! Review by several people who check the same questions: which are kept, and how many (NovelQA, section 3).

use super::question::{CheckAnswers, CheckError, Question};
use closeread_table::{Table, Value};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The result of a review: what checkers keep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reviewed {
    /// Table with one row a checker, one for most of them and one for all.
    pub table: Table,
    /// Names, as in [`Question::about`], of what most of its checkers keep.
    pub kept: BTreeSet<String>,
    /// Names, as in [`Question::about`], of what somebody checked.
    pub checked: BTreeSet<String>,
    /// Answers to questions that there are not, and answers that are none.
    pub problems: Vec<String>,
}

/// Returns the names of those who filled in the files; one without a name is called by place.
///
/// # Errors
/// [`CheckError::Twice`] if two have the same name.
pub fn checkers(files: &[CheckAnswers]) -> Result<Vec<String>, CheckError> {
    let mut names: Vec<String> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let who = file.who.trim();
        let name = if who.is_empty() { format!("checker {}", at + 1) } else { who.to_owned() };
        if names.contains(&name) {
            return Err(CheckError::Twice(name));
        }
        names.push(name);
    }
    Ok(names)
}

/// A checker keeps what all of their answers about it are `yes`; `unsure` counts as `no`. Kept is what more than half of those
/// who checked it keep.
///
/// # Errors
/// [`CheckError::Other`] if answers are of another check than `check`, [`CheckError::Twice`] if two files are by the same person.
pub fn reviewed(check: &str, questions: &[Question], files: &[CheckAnswers]) -> Result<Reviewed, CheckError> {
    let about: BTreeMap<&str, &str> = questions.iter().map(|q| (q.id.as_str(), q.about.as_str())).collect();
    let mut votes: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    let mut problems = Vec::new();
    let columns = ["checker", "checked", "kept", "keep rate"].map(str::to_owned).to_vec();
    let mut table = Table::new("reviewed", "What checkers keep", columns);
    table.source = "NovelQA, section 3".to_owned();
    table.notes.push("kept: every answer about it is yes; the paper's three checkers kept 79.4%".to_owned());
    let mut row = |name: String, all: usize, kept: usize| {
        let share = match all {
            0 => Value::missing("nothing was checked"),
            n => Value::Share { value: kept as f64 / n as f64, n },
        };
        table.rows.push(vec![Value::text(name), Value::count(all), Value::count(kept), share]);
    };
    for (name, answers) in checkers(files)?.into_iter().zip(files) {
        if answers.check != check {
            return Err(CheckError::Other { there: answers.check.clone(), here: check.to_owned() });
        }
        let mut own: BTreeMap<&str, bool> = BTreeMap::new();
        for (id, answer) in &answers.answers {
            let Some(&unit) = about.get(id.as_str()) else {
                problems.push(format!("{name}, `{id}`: there is no such question in the check"));
                continue;
            };
            if !["yes", "no", "unsure"].contains(&answer.as_str()) {
                problems.push(format!("{name}, `{id}`: the answer is `{answer}`, expected yes, no or unsure"));
                continue;
            }
            *own.entry(unit).or_insert(true) &= answer == "yes";
        }
        row(name, own.len(), own.values().filter(|keeps| **keeps).count());
        own.into_iter().for_each(|(unit, keeps)| votes.entry(unit).or_default().push(keeps));
    }
    let most = |votes: &[bool]| 2 * votes.iter().filter(|keeps| **keeps).count() > votes.len();
    let kept: BTreeSet<String> =
        votes.iter().filter(|(_, votes)| most(votes)).map(|(unit, _)| (*unit).to_owned()).collect();
    let n_by_all = votes.values().filter(|votes| votes.iter().all(|keeps| *keeps)).count();
    row("most of them".to_owned(), votes.len(), kept.len());
    row("all of them".to_owned(), votes.len(), n_by_all);
    table.summary_rows = 2;
    let checked = votes.keys().map(|unit| (*unit).to_owned()).collect();
    Ok(Reviewed { table, kept, checked, problems })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, about: &str) -> Question {
        let (id, about) = (id.to_owned(), about.to_owned());
        let text = String::new;
        Question { id, group: text(), about, context: text(), shows: Vec::new(), asks: text(), expected: true }
    }

    fn file(who: &str, answers: &[(&str, &str)]) -> CheckAnswers {
        let answers = answers.iter().map(|(id, answer)| ((*id).to_owned(), (*answer).to_owned())).collect();
        CheckAnswers { check: "c".to_owned(), who: who.to_owned(), answers, ..CheckAnswers::default() }
    }

    #[test]
    fn a_question_stays_where_most_checkers_keep_all_of_it() {
        let questions = [question("a/1", "a"), question("a/2", "a"), question("b/1", "b"), question("c/1", "c")];
        let files = [
            file("Ana", &[("a/1", "yes"), ("a/2", "yes"), ("b/1", "no")]),
            file("", &[("a/1", "yes"), ("a/2", "unsure"), ("b/1", "yes"), ("z", "yes")]),
            file("Cy", &[("a/1", "yes"), ("a/2", "yes"), ("b/1", "no"), ("c/1", "perhaps")]),
        ];
        let found = reviewed("c", &questions, &files).unwrap();
        let shown: Vec<String> =
            found.table.rows.iter().map(|row| row.iter().map(Value::shown).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            shown,
            ["Ana 2 1 50.0", "checker 2 2 1 50.0", "Cy 2 1 50.0", "most of them 2 1 50.0", "all of them 2 0 0.0"]
        );
        assert_eq!((found.kept, found.checked.len()), (BTreeSet::from(["a".to_owned()]), 2));
        assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
        assert!(reviewed("d", &questions, &files).is_err());
    }

    #[test]
    fn nobody_counts_twice() {
        let questions = [question("a/1", "a")];
        let files = ["Ana", "Bo", "Ana "].map(|who| file(who, &[("a/1", "yes")]));
        let problem = reviewed("c", &questions, &files).unwrap_err().to_string();
        assert_eq!(problem, "two files are by `Ana`: write another `who` into one of them");
        assert!(reviewed("c", &questions, &files[..2]).is_ok());
        assert!(checkers(&["checker 2", ""].map(|who| file(who, &[]))).is_err());
    }
}
