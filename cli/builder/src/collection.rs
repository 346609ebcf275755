//! Books, and the documents of a collection: texts and Markdown as books are read, and besides HTML, PDF and CSV as Markdown.

use crate::pdf;
use anyhow::{Context, Result, bail};
use closeread_books::html::{Layout, to_text};
use closeread_books::{Book, ReadOptions, decode};
use closeread_build::About;
use closeread_build::corpusqa::csv_as_markdown;
use closeread_eval::Document;
use closeread_files::leads_outside;
use closeread_runner::input::{InputOptions, ProblemKind, is_build, outside, read_books};
use closeread_text::{Language, counted};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::{info, warn};

/// The documents in these files and folders. One that cannot be read is an error; in a folder, files of other kinds are
/// named and skipped. `language` is that of all documents that do not name theirs; links may lead out of a folder where
/// that is allowed.
pub fn documents(paths: &[PathBuf], language: Option<Language>, allow_outside: bool) -> Result<Vec<Arc<Book>>> {
    if paths.is_empty() {
        bail!("--documents is missing: name files or folders with the documents to build from");
    }
    let options = InputOptions { language, allow_outside, ..InputOptions::default() };
    let mut books: Vec<Arc<Book>> = Vec::new();
    let mut pdfs: Vec<PathBuf> = Vec::new();
    for path in paths {
        let to_convert = converted_files(path, path, allow_outside)?;
        if !path.is_file() || to_convert.is_empty() {
            let (found, problems) = read_books(path, &options);
            for problem in problems {
                let ours = to_convert.contains(&problem.path);
                let only_ours = problem.path == *path && !to_convert.is_empty();
                match problem.kind {
                    ProblemKind::Failed if !only_ours => bail!("{problem}"),
                    ProblemKind::Skipped if !ours => info!("{problem}"),
                    _ => {}
                }
            }
            for (book, report) in found {
                if !report.notes.is_empty() {
                    info!("{report}");
                }
                books.push(Arc::new(book));
            }
        }
        pdfs.extend(to_convert.iter().filter(|file| matches!(Kind::of(file), Some(Kind::Pdf))).cloned());
        for file in &to_convert {
            books.push(Arc::new(converted(file, path, language).with_context(|| file.display().to_string())?));
        }
    }
    let n_pdf = pdfs.len();
    if n_pdf > 0 {
        info!(
            "{n_pdf} PDF files: their text is read without tables; convert those to HTML or Markdown whose tables matter"
        );
    }
    books.sort_by(|a, b| a.id.cmp(&b.id));
    let mut ids = HashSet::new();
    if let Some(twice) = books.iter().find(|book| !ids.insert(book.id.as_str())) {
        bail!("two documents are called `{}`: rename a file, or name ids in a documents.jsonl", twice.id);
    }
    info!("{}", counted(books.len(), "document"));
    warn_of_copies(&books);
    Ok(books)
}

/// Warns of each book that has the text of another: what it asks is asked and paid twice.
fn warn_of_copies(books: &[Arc<Book>]) {
    let mut known: HashMap<&str, &str> = HashMap::new();
    for book in books {
        let first = *known.entry(book.hash()).or_insert(&book.id);
        if first != book.id {
            warn!("`{}` has the same text as `{first}`, and all is asked about both: leave one out", book.id);
        }
    }
}

/// The books in these files and folders; one that cannot be read is an error.
pub fn books(paths: &[PathBuf], options: &InputOptions) -> Result<Vec<Arc<Book>>> {
    if paths.is_empty() {
        bail!("--books is missing: name files or folders with the books to build from");
    }
    let mut books: Vec<Arc<Book>> = Vec::new();
    let mut ids = HashSet::new();
    for path in paths {
        let (found, problems) = read_books(path, options);
        if let Some(problem) = problems.iter().find(|problem| problem.kind == ProblemKind::Failed) {
            bail!("{problem}");
        }
        for (book, report) in found {
            info!("{report}");
            if !ids.insert(book.id.clone()) {
                bail!("two books are called `{}`: rename a file, or name ids in a documents.jsonl", book.id);
            }
            books.push(Arc::new(book));
        }
    }
    warn_of_copies(&books);
    Ok(books)
}

/// Returns what the files `documents.jsonl` among these paths say of their documents besides what closeread knows.
pub fn about(paths: &[PathBuf]) -> Result<About> {
    let mut found = About::new();
    for path in paths {
        let file = if path.is_dir() { path.join("documents.jsonl") } else { path.clone() };
        if file.file_name().is_some_and(|name| name == "documents.jsonl") && file.is_file() {
            let documents: Vec<Document> = closeread_files::read_lines(&file, "a document")?;
            found.extend(documents.into_iter().map(|document| (document.id, document.other)));
        }
    }
    Ok(found)
}

fn converted(file: &Path, root: &Path, language: Option<Language>) -> Result<Book> {
    let bytes = closeread_files::read_file(file).context("cannot read it")?;
    let text = || {
        let decoded = decode(&bytes, None).context("expected text")?;
        decoded.notes.iter().for_each(|note| info!("{}: {}; {note}", file.display(), decoded.encoding));
        anyhow::Ok(decoded.text)
    };
    let markdown = match Kind::of(file) {
        Some(Kind::Page) => to_text(&text()?, Layout::Markdown),
        Some(Kind::Csv) => csv_as_markdown(&text()?).map_err(anyhow::Error::msg)?,
        _ => pdf::text(&bytes, file)?,
    };
    let relative = file.strip_prefix(root).ok().filter(|path| !path.as_os_str().is_empty());
    let name = relative.unwrap_or(Path::new(file.file_name().unwrap_or_default())).with_extension("");
    let id = name.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    let title = name.file_name().unwrap_or_default().to_string_lossy().replace(['-', '_'], " ");
    let options = ReadOptions { language, keep_wraps: true, ..ReadOptions::default() };
    Ok(Book::new(id, title, markdown, &options)?)
}

/// Kinds of files that become Markdown here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Page,
    Pdf,
    Csv,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_string_lossy().to_ascii_lowercase().as_str() {
            "html" | "htm" | "xhtml" => Some(Self::Page),
            "pdf" => Some(Self::Pdf),
            "csv" | "tsv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// The files below `path` that become Markdown, in the order of their names; none where a documents.jsonl says what there is.
fn converted_files(root: &Path, path: &Path, allow_outside: bool) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(if Kind::of(path).is_some() { vec![path.to_owned()] } else { Vec::new() });
    }
    if !path.is_dir() || path.join("documents.jsonl").is_file() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in closeread_files::entries(path)? {
        let hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let linked = entry.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if entry.is_dir() && !hidden && !linked && !is_build(&entry) {
            files.extend(converted_files(root, &entry, allow_outside)?);
        } else if !hidden && Kind::of(&entry).is_some() {
            if linked && !allow_outside && leads_outside(root, &entry) {
                bail!("{}: {}", entry.display(), outside(root));
            }
            files.push(entry);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_every_kind_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        write("a.md", b"# A\n\nNet sales were 5.");
        write("deep/b.html", b"<html><h1>B</h1><table><tr><td>Sales</td><td>7</td></tr></table></html>");
        write("c.csv", b"year,sales\n2024,9\n");
        let read = |path: PathBuf| documents(&[path], None, false);
        let books = read(dir.path().to_owned()).unwrap();
        let texts: Vec<(String, String)> =
            books.iter().map(|b| (b.id.clone(), b.text().unwrap().source().trim().to_owned())).collect();
        let of = |id: &str, text: &str| (id.to_owned(), text.to_owned());
        assert_eq!(
            texts,
            [
                of("a", "# A\n\nNet sales were 5."),
                of("c", "| year | sales |\n| --- | --- |\n| 2024 | 9 |"),
                of("deep/b", "# B\n\n| Sales | 7"),
            ]
        );
        write("e.pdf", b"%PDF-1.4 nothing");
        let refused = format!("{:#}", read(dir.path().join("e.pdf")).unwrap_err());
        let needed = if cfg!(feature = "pdf") { "expected a PDF with text" } else { "--features pdf`" };
        assert!(refused.contains("e.pdf") && refused.contains(needed), "{refused}");
    }
}
