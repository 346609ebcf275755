//! Output of a build: a benchmark folder, a report, a page for people.

use crate::folder::BuildFolder;
use crate::page::write_page;
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_build::{About, Built, documents_of, sample};
use closeread_eval::{Content, Document, Item};
use closeread_files::{leads_outside, read_lines, write_atomically, write_lines};
use closeread_runner::texts::BookTexts;
use closeread_table::Table;
use serde_json::{Value, json};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The files that were written.
#[derive(Debug)]
pub struct Written {
    /// Content of `report.json`.
    pub report: Value,
    /// Tables of the report: the funnel first.
    pub tables: Vec<Table>,
    /// Number of items of the benchmark.
    pub items: usize,
    /// Documents that they are about.
    pub documents: usize,
    /// Path of the page for people.
    pub page: PathBuf,
}

/// Writes documents, texts (`texts` has those that books do not hold), items, report and the page for people, which asks at most `check` questions of each kind.
pub fn write(
    folder: &BuildFolder,
    pipeline: &str,
    (books, texts): (&[Arc<Book>], &BookTexts),
    built: &Built,
    check: usize,
    seed: u64,
) -> Result<Written> {
    let out = folder.path();
    let documents = write_documents(out, books, texts, used(&built.items), &built.about)?;
    let marked = built.items.iter().cloned().map(|mut item| {
        // One that the item came with stays: it is of the set that it was published in.
        item.other.entry(CANARY).or_insert_with(|| json!(folder.canary()));
        item
    });
    write_lines(&out.join("items.jsonl"), &marked.collect::<Vec<Item>>())?;
    write_atomically(&out.join("README.md"), readme(pipeline, folder.canary()).as_bytes())?;
    let questions = sample(&built.questions, check, seed);
    let page = write_page(&out.join("check"), pipeline, books, &questions, built.sheet.as_ref())?;
    let mut tables = vec![built.funnel.table()];
    tables.extend(built.tables.iter().cloned());
    let items = built.items.len();
    let report = json!({
        "pipeline": pipeline, "canary": folder.canary(), "documents": documents, "items": items, "funnel": built.funnel.rows,
        "tables": tables, "questions": questions.len(),
    });
    write_atomically(&out.join("report.json"), format!("{report:#}\n").as_bytes())?;
    Ok(Written { report, tables, items, documents, page })
}

/// The field of an item with the canary string of its set.
const CANARY: &str = "canary";

fn readme(pipeline: &str, canary: &str) -> String {
    format!(
        "# A benchmark built by `closeread build {pipeline}`\n\n{canary}\n\nLeave this line where it is, here and in \
         `items.jsonl`: who trains a model finds the data by it and can leave them out. `build.json` says what they were \
         made from, `report.json` what was kept.\n"
    )
}

/// The documents that items are about.
fn used(items: &[Item]) -> impl Iterator<Item = &str> {
    items.iter().flat_map(|item| &item.documents).map(String::as_str)
}

/// Copies the named documents of the benchmark `from` into the folder `to`; returns them with their texts.
pub(crate) fn copy_documents(
    from: &Path,
    to: &Path,
    is_named: impl Fn(&str) -> bool,
) -> Result<Vec<(Document, String)>> {
    let mut documents: Vec<Document> = read_lines(&from.join("documents.jsonl"), "a document")?;
    documents.retain(|document| is_named(&document.id));
    fs::create_dir_all(to.join("texts")).with_context(|| format!("cannot create {}", to.display()))?;
    let mut copied = Vec::new();
    for document in documents {
        let text = match &document.content {
            Content::Text(text) => text.clone(),
            Content::Path(path) => {
                let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
                let (path, copy) = (from.join(path), to.join(path));
                if !inside || leads_outside(from, &path) || leads_outside(to, copy.parent().unwrap_or(to)) {
                    bail!("document `{}`: `path` leads out of {}: put the file there", document.id, from.display());
                }
                let named = || format!("cannot read {}: expected the folder of a finished build", path.display());
                closeread_files::read_text_file(&path).with_context(named)?
            }
        };
        if let Content::Path(path) = &document.content {
            write_atomically(&to.join(path), text.as_bytes())?;
        }
        copied.push((document, text));
    }
    let documents: Vec<&Document> = copied.iter().map(|(document, _)| document).collect();
    write_lines(&to.join("documents.jsonl"), &documents)?;
    Ok(copied)
}

/// Writes `documents.jsonl` and the texts of those books that are named; returns how many.
pub(crate) fn write_documents<'a>(
    out: &Path,
    books: &[Arc<Book>],
    texts: &BookTexts,
    named: impl Iterator<Item = &'a str>,
    about: &About,
) -> Result<usize> {
    let documents = documents_of(books, named, about);
    fs::create_dir_all(out.join("texts")).with_context(|| format!("cannot create {}", out.join("texts").display()))?;
    for document in &documents {
        let Content::Path(path) = &document.content else { continue };
        let book = books.iter().find(|book| book.id == document.id).context("a document is one of the books")?;
        write_atomically(&out.join(path), texts.open(book)?.source().as_bytes())?;
    }
    write_lines(&out.join("documents.jsonl"), &documents)?;
    Ok(documents.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_03_documents_of_a_build_stay_in_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("a/b/build"), dir.path().join("c/kept"));
        fs::create_dir_all(from.join("texts")).unwrap();
        fs::write(from.join("texts/a.txt"), "A text.").unwrap();
        fs::write(dir.path().join("a/mine.txt"), "mine").unwrap();
        let absolute = dir.path().join("a/mine.txt").display().to_string();
        let copied = |path: &str| {
            let document = json!({"id": "d", "path": path});
            fs::write(from.join("documents.jsonl"), format!("{document}\n")).unwrap();
            copy_documents(&from, &to, |_| true)
        };
        for path in ["../../mine.txt", absolute.as_str(), "texts/../../../mine.txt", "."] {
            let error = copied(path).unwrap_err().to_string();
            assert!(error.contains("document `d`: `path` leads out of"), "{path}: {error}");
        }
        assert!(!dir.path().join("mine.txt").exists() && !dir.path().join("c/mine.txt").exists());
        assert_eq!(copied("texts/a.txt").unwrap()[0].1, "A text.");
        assert_eq!(fs::read_to_string(to.join("texts/a.txt")).unwrap(), "A text.");
    }
}
