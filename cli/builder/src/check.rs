//! What people said on the page for people, against what the pipeline says.

use crate::page::{QUESTIONS, kept_sheet, name_of};
use crate::sheet::{Collected, collect};
use anyhow::{Context, Result, bail};
use closeread_build::{AgainstFilter, CheckAnswers, Question, Sheet, against_filter};
use closeread_files::read_lines;
use std::path::Path;

/// What a person ticked against what the pipeline says, how many questions there are, and the forms that the person filled
/// in as items, where the page had forms.
pub fn checked(out: &Path, file: &Path) -> Result<(AgainstFilter, usize, Option<Collected>)> {
    let (check, questions, sheet) = asked_on_the_page(out)?;
    let named = || format!("cannot use {}", file.display());
    let bytes = closeread_files::read_file(file).with_context(|| format!("cannot read {}", file.display()))?;
    let answers = CheckAnswers::read(&bytes).with_context(named)?;
    let found = against_filter(&check, &questions, &answers).with_context(named)?;
    let collected = sheet.map(|sheet| collect(out, &sheet, &answers.written)).transpose()?;
    Ok((found, questions.len(), collected))
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
