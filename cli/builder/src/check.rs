//! Answers of people on the page for people, against what the pipeline says.

use crate::page::{QUESTIONS, kept_sheet, name_of};
use crate::sheet::{Collected, collect};
use anyhow::{Context, Result, bail};
use closeread_build::{AgainstFilter, CheckAnswers, Question, Sheet, against_filter, checkers};
use closeread_files::read_lines;
use std::path::{Path, PathBuf};

/// Compares what a person ticked with what the pipeline says; returns also how many questions there are, and the forms
/// that the person filled in as items, where the page had forms.
pub fn checked(out: &Path, file: &Path) -> Result<(AgainstFilter, usize, Option<Collected>)> {
    let (check, questions, sheet) = asked_on_the_page(out)?;
    let named = || format!("cannot use {}", file.display());
    let answers = answers_of(file)?;
    let found = against_filter(&check, &questions, &answers).with_context(named)?;
    let collected = sheet.map(|sheet| collect(out, &sheet, &answers.written)).transpose()?;
    Ok((found, questions.len(), collected))
}

/// Reads the file that a person saved.
pub(crate) fn answers_of(file: &Path) -> Result<CheckAnswers> {
    let bytes = closeread_files::read_file(file).with_context(|| format!("cannot read {}", file.display()))?;
    CheckAnswers::read(&bytes).with_context(|| format!("cannot use {}", file.display()))
}

/// Rows of a file of labels, its head first.
pub type LabelRows = Vec<Vec<String>>;

/// Returns what several people ticked as labels, and what the pipeline says of the same, each as rows of a file of
/// labels; beside them answers that cannot be used (HAMLET, Table 2). Where the pipeline labels some of what is asked about,
/// what it just made has no label of its own.
pub fn checked_by_several(out: &Path, files: &[PathBuf]) -> Result<(LabelRows, LabelRows, Vec<String>)> {
    let (check, questions, _) = asked_on_the_page(out)?;
    let label = |passes: bool| if passes { "PASS" } else { "FAIL" }.to_owned();
    let names = |question: &Question| [question.unit(), question.criterion()].map(str::to_owned);
    let mut people = vec![["unit", "criterion", "rater", "label"].map(str::to_owned).to_vec()];
    let mut problems = Vec::new();
    let all = files.iter().map(|file| answers_of(file)).collect::<Result<Vec<_>>>()?;
    for ((answers, rater), file) in all.iter().zip(checkers(&all)?).zip(files) {
        let named = || format!("cannot use {}", file.display());
        problems.extend(against_filter(&check, &questions, answers).with_context(named)?.problems);
        for question in &questions {
            let said = answers.answers.get(&question.id).filter(|said| ["yes", "no"].contains(&said.as_str()));
            let [unit, criterion] = names(question);
            people.extend(said.map(|said| vec![unit, criterion, rater.clone(), label(said == "yes")]));
        }
    }
    let mut pipeline = vec![["unit", "criterion", "label"].map(str::to_owned).to_vec()];
    let some_are_labelled = questions.iter().any(Question::is_of_label);
    let labelled = questions.iter().filter(|question| question.is_of_label() || !some_are_labelled);
    pipeline.extend(labelled.map(|question| {
        let [unit, criterion] = names(question);
        vec![unit, criterion, label(question.expected)]
    }));
    Ok((people, pipeline, problems))
}

/// The name of the page's check, its questions and its sheet.
pub(crate) fn asked_on_the_page(out: &Path) -> Result<(String, Vec<Question>, Option<Sheet>)> {
    let check = out.join("check");
    let path = check.join(QUESTIONS);
    if !path.is_file() {
        bail!("cannot read {}: expected the folder of a finished build", path.display());
    }
    let questions: Vec<Question> = read_lines(&path, "a question")?;
    let sheet = kept_sheet(&check)?;
    Ok((name_of(&questions, sheet.as_ref()), questions, sheet))
}
