//! Questions that people write by forms: what the page offers, and what is read back as a benchmark of its own.

use super::dataset::{lines, write_check, write_documents};
use super::{BuildFolder, BuildOptions};
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_build::{Form, Sheet, Written};
use closeread_data::resolve_evidence;
use closeread_eval::{Content, Document, Item};
use closeread_files::{self as files, pretty, read_lines, write_atomically};
use closeread_text::Locator;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The sheet of a page, beside its questions.
const SHEET: &str = "sheet.json";
/// The folder of the benchmark that people wrote.
const WRITTEN: &str = "written";

/// The forms of `--forms`, or those that ship.
pub(crate) fn read_forms(path: Option<&Path>) -> Result<Vec<Form>> {
    let Some(path) = path else { return Ok(Form::built_in()) };
    let text =
        closeread_files::read_text_file(path).with_context(|| format!("cannot read --forms {}", path.display()))?;
    Form::read(&text).with_context(|| format!("cannot use --forms {}", path.display()))
}

/// The forms, to be filled in about `books`.
pub(crate) fn sheet_of<'a>(forms: Vec<Form>, books: impl IntoIterator<Item = &'a Arc<Book>>) -> Sheet {
    let named = |book: &Arc<Book>| {
        let title = if book.title.trim().is_empty() { &book.id } else { &book.title };
        (book.id.clone(), title.clone())
    };
    Sheet { forms, books: books.into_iter().map(named).collect() }
}

/// `--books` without a benchmark: nothing but the page, and the texts that what is written will be about.
pub(crate) fn write_sheet(
    options: &BuildOptions,
    pipeline: &str,
    books: &[Arc<Book>],
    forms: Vec<Form>,
) -> Result<ExitCode> {
    let out = &options.out;
    if out.join(BuildFolder::MANIFEST).exists() {
        bail!("{} holds a build: choose another folder with --out for a page of forms alone", out.display());
    }
    let sheet = sheet_of(forms, books);
    write_documents(out, books, books.iter().map(|book| book.id.as_str()))?;
    write_check(&out.join("check"), pipeline, books, &[], Some(&sheet))?;
    let (forms, page) = (sheet.forms.len(), out.join("check/check.html"));
    if options.json {
        outln!(
            "{}",
            json!({"pipeline": pipeline, "forms": forms, "books": books.len(), "page": page.display().to_string()})
        );
    } else {
        outln!("{forms} forms about {} books in {}", books.len(), page.display());
    }
    eprintln!("--checked FILE reads back what the page saves");
    Ok(ExitCode::SUCCESS)
}

/// Keeps the sheet of a page beside its questions; without one there is none from before either.
pub(super) fn keep_sheet(check: &Path, sheet: Option<&Sheet>) -> Result<()> {
    match sheet {
        Some(sheet) => write_atomically(&check.join(SHEET), &pretty(&json!(sheet))),
        None => files::remove(&check.join(SHEET)),
    }
}

/// The sheet of the page in `check`, if it has one.
pub(super) fn kept_sheet(check: &Path) -> Result<Option<Sheet>> {
    let path = check.join(SHEET);
    let Some(bytes) = files::read(&path)? else { return Ok(None) };
    let named = || format!("{} is damaged: make the page again", path.display());
    serde_json::from_slice(&bytes).map(Some).with_context(named)
}

/// What came of the forms that a person filled in.
pub(super) struct Collected {
    /// How many are questions now.
    pub(super) n: usize,
    /// How many the folder holds, of all files that were read back.
    pub(super) all: usize,
    /// Where they lie.
    pub(super) folder: PathBuf,
    /// What is wrong with the others, and quotations that are not in the book.
    pub(super) problems: Vec<String>,
}

/// Adds filled forms to the benchmark `written` in the build's folder; what is there already stays once.
pub(super) fn collect(out: &Path, sheet: &Sheet, written: &[Written]) -> Result<Collected> {
    let folder = out.join(WRITTEN);
    let (found, mut problems) = sheet.items(written);
    let n = found.len();
    let mut items: Vec<Item> = read_lines(&folder.join("items.jsonl"), "an item")?;
    items.retain(|item| found.iter().all(|new| new.id != item.id));
    items.extend(found.iter().cloned());
    if items.is_empty() {
        return Ok(Collected { n, all: 0, folder, problems });
    }
    let mut documents: Vec<Document> = read_lines(&out.join("documents.jsonl"), "a document")?;
    documents.retain(|document| items.iter().any(|item| item.documents.contains(&document.id)));
    fs::create_dir_all(folder.join("texts")).with_context(|| format!("cannot create {}", folder.display()))?;
    for document in &documents {
        let Content::Path(path) = &document.content else { continue };
        let named = || format!("cannot read {}: expected the folder of a finished build", out.join(path).display());
        let text = closeread_files::read_text_file(out.join(path)).with_context(named)?;
        let locator = Locator::new(&text);
        for item in found.iter().filter(|item| item.documents.contains(&document.id)) {
            let notes = resolve_evidence(item, &[&locator]).notes;
            problems.extend(notes.into_iter().map(|note| format!("`{}`: {note}", item.question)));
        }
        write_atomically(&folder.join(path), text.as_bytes())?;
    }
    lines(&folder.join("documents.jsonl"), &documents)?;
    lines(&folder.join("items.jsonl"), &items)?;
    Ok(Collected { n, all: items.len(), folder, problems })
}
