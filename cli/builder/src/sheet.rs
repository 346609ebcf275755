//! Questions that people write by forms: what the page offers, and what is read back as a benchmark of its own.

use crate::dataset::{copy_documents, write_documents};
use crate::folder::BuildFolder;
use crate::page::write_page;
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_build::{About, Form, Sheet, Written};
use closeread_data::resolve_evidence;
use closeread_eval::Item;
use closeread_files::{read_lines, write_lines};
use closeread_runner::texts::BookTexts;
use closeread_text::Locator;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of the benchmark that people wrote.
const WRITTEN: &str = "written";

/// The forms of `--forms`, or those that ship.
pub fn read_forms(path: Option<&Path>) -> Result<Vec<Form>> {
    let Some(path) = path else { return Ok(Form::built_in()) };
    let text =
        closeread_files::read_text_file(path).with_context(|| format!("cannot read --forms {}", path.display()))?;
    Form::read(&text).with_context(|| format!("cannot use --forms {}", path.display()))
}

/// The forms, to be filled in about `books`.
pub fn sheet_of<'a>(forms: Vec<Form>, books: impl IntoIterator<Item = &'a Arc<Book>>) -> Sheet {
    let named = |book: &Arc<Book>| {
        let title = if book.title.trim().is_empty() { &book.id } else { &book.title };
        (book.id.clone(), title.clone())
    };
    Sheet { forms, books: books.into_iter().map(named).collect() }
}

/// Writes nothing but a page of forms, and the texts that what is written will be about; returns where the page lies.
pub fn write_sheet(out: &Path, pipeline: &str, books: &[Arc<Book>], sheet: &Sheet) -> Result<PathBuf> {
    if out.join(BuildFolder::MANIFEST).exists() {
        bail!("{} holds a build: choose another folder with --out for a page of forms alone", out.display());
    }
    write_documents(out, books, &BookTexts::default(), books.iter().map(|book| book.id.as_str()), &About::default())?;
    write_page(&out.join("check"), pipeline, books, &[], Some(sheet))
}

/// The items that came of the forms that a person filled in.
#[derive(Debug)]
pub struct Collected {
    /// Number of forms that are questions now.
    pub n: usize,
    /// Number of questions that the folder holds, of all files that were read back.
    pub all: usize,
    /// Path of the folder.
    pub folder: PathBuf,
    /// Problems of the other forms, and quotations that are not in the book.
    pub problems: Vec<String>,
}

/// Adds filled forms to the benchmark `written` in the build's folder; what is there already stays once.
pub fn collect(out: &Path, sheet: &Sheet, written: &[Written]) -> Result<Collected> {
    let folder = out.join(WRITTEN);
    let (found, mut problems) = sheet.items(written);
    let n = found.len();
    let mut items: Vec<Item> = read_lines(&folder.join("items.jsonl"), "an item")?;
    items.retain(|item| found.iter().all(|new| new.id != item.id));
    items.extend(found.iter().cloned());
    if items.is_empty() {
        return Ok(Collected { n, all: 0, folder, problems });
    }
    let named = |id: &str| items.iter().any(|item| item.documents.iter().any(|own| own == id));
    for (document, text) in copy_documents(out, &folder, named)? {
        let locator = Locator::new(&text);
        for item in found.iter().filter(|item| item.documents.contains(&document.id)) {
            let notes = resolve_evidence(item, &[&locator]).notes;
            problems.extend(notes.into_iter().map(|note| format!("`{}`: {note}", item.question)));
        }
    }
    write_lines(&folder.join("items.jsonl"), &items)?;
    Ok(Collected { n, all: items.len(), folder, problems })
}
