//! The page for people: its questions, with what the pipeline says of each, and the forms that it offers.

use anyhow::{Context, Result};
use closeread_books::Book;
use closeread_build::{Form, Question, Sheet};
use closeread_data::novelqa::COMPLEXITIES;
use closeread_files::{pretty, write_atomically, write_lines};
use closeread_people::{Check, CheckForm, CheckQuestion, CheckSheet, check_page};
use closeread_text::hash::short_hash;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the file with the questions of the page.
pub(crate) const QUESTIONS: &str = "questions.jsonl";
/// The sheet of the page, beside its questions.
const SHEET: &str = "sheet.json";

/// Writes the page for people, its questions and its sheet; returns where it lies.
pub(crate) fn write_page(
    folder: &Path,
    pipeline: &str,
    books: &[Arc<Book>],
    questions: &[Question],
    sheet: Option<&Sheet>,
) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    write_lines(&folder.join(QUESTIONS), questions)?;
    match sheet {
        Some(sheet) => write_atomically(&folder.join(SHEET), &pretty(&json!(sheet)))?,
        // None from before either.
        None => closeread_files::remove(&folder.join(SHEET))?,
    }
    let languages: Vec<&str> = books.iter().map(|book| book.language.code()).collect();
    let language = languages.first().copied().filter(|one| languages.iter().all(|other| other == one)).unwrap_or("");
    let title = format!("closeread build {pipeline}: a check by people");
    let id = name_of(questions, sheet);
    let questions = questions.iter().map(shown).collect();
    let page = check_page(&Check { id: &id, title: &title, language, questions, sheet: sheet.map(offered) })?;
    let path = folder.join("check.html");
    write_atomically(&path, page.as_bytes())?;
    Ok(path)
}

fn shown(question: &Question) -> CheckQuestion<'_> {
    let Question { id, about, context, shows, asks, .. } = question;
    CheckQuestion { id, about, context, shows, asks }
}

fn offered(sheet: &Sheet) -> CheckSheet<'_> {
    CheckSheet { forms: sheet.forms.iter().map(form).collect(), books: &sheet.books, complexities: &COMPLEXITIES }
}

fn form(form: &Form) -> CheckForm<'_> {
    CheckForm {
        id: &form.id,
        shown: form.shown(),
        slots: form.slots(),
        aspect: &form.aspect,
        complexity: &form.complexity,
        format: &form.format,
    }
}

/// Returns the name of a check, which changes with every question and every form.
pub(crate) fn name_of(questions: &[Question], sheet: Option<&Sheet>) -> String {
    match sheet {
        None => short_hash(&json!(questions)),
        Some(sheet) => short_hash(&json!([questions, sheet])),
    }
}

/// The sheet of the page in `check`, if it has one.
pub(crate) fn kept_sheet(check: &Path) -> Result<Option<Sheet>> {
    let path = check.join(SHEET);
    let Some(bytes) = closeread_files::read(&path)? else { return Ok(None) };
    let named = || format!("{} is damaged: make the page again", path.display());
    serde_json::from_slice(&bytes).map(Some).with_context(named)
}
