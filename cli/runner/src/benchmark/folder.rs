//! Folders of closeread's own format: `documents.jsonl` and `items.jsonl`, and files with texts beside them.

use super::SAMPLE;
use super::catalog::{Catalog, on_text};
use crate::input::{self, Books, InputOptions, Stamp};
use crate::texts::BookTexts;
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_data::{ADAPTERS, Dataset, jsonl};
use closeread_eval::saved::utf8;
use closeread_eval::{InputFile, Problem};
use closeread_text::names::meant;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use tracing::debug;

const DOCUMENTS: &str = "documents.jsonl";
const ITEMS: &str = "items.jsonl";

/// The folder that `--data` names, if it is one of closeread's own format.
pub(super) fn own(data: &[PathBuf]) -> Option<&Path> {
    let [folder] = data else { return None };
    [DOCUMENTS, ITEMS].iter().all(|name| folder.join(name).is_file()).then_some(folder)
}

/// The folder that `--benchmark` names, where it names no data set.
pub(super) fn named(name: &str) -> Result<&Path> {
    let folder = Path::new(name);
    if folder.is_file() {
        bail!("benchmark `{name}` is a file: expected the folder that holds documents.jsonl and items.jsonl");
    }
    if !folder.is_dir() {
        let known: Vec<&str> = ADAPTERS.iter().map(|adapter| adapter.name).collect();
        bail!(
            "there is no benchmark and no folder `{name}`{}: expected {SAMPLE}, {}, or a folder with documents.jsonl and \
             items.jsonl",
            meant(name, known.iter().copied().chain([SAMPLE])),
            known.join(", ")
        );
    }
    Ok(folder)
}

/// Whether `folder` is a benchmark of closeread's own format, and one of `files` is another there.
pub(super) fn is_other(folder: &Path, files: &[(&str, &[u8])]) -> bool {
    let differs =
        |(name, bytes): &(&str, &[u8])| closeread_files::read_file(folder.join(name)).is_ok_and(|b| b != *bytes);
    own(&[folder.to_owned()]).is_some() && files.iter().any(differs)
}

/// Reads a folder whole, and keeps its catalog if told to.
pub(super) fn read(folder: &Path, options: &InputOptions, is_kept: bool) -> Result<(Dataset, Vec<Book>, BookTexts)> {
    let path = folder.join(DOCUMENTS);
    let stamp = Stamp::of(&path);
    let files = [file(folder, DOCUMENTS)?, file(folder, ITEMS)?];
    let mut dataset = jsonl::read(&files);
    let (books, problems) = input::read_documents(&path, &files[0].bytes, options);
    // Both readers name a bad line of documents.jsonl, or count it: once is enough.
    let of_documents = || dataset.problems.iter().filter(|p| p.file.ends_with(DOCUMENTS));
    // A catalog holds places in the file.
    let is_utf8 = matches!(utf8(&files[0].bytes), Cow::Borrowed(_));
    if let Some(stamp) = stamp.filter(|_| is_kept && is_utf8 && problems.is_empty() && of_documents().next().is_none())
        && let Err(error) = Catalog::keep((&path, &files[0].bytes, stamp), options, &dataset.documents, &books)
    {
        debug!("no catalog is kept of {}: {error:#}", path.display());
    }
    let named: HashSet<Option<usize>> = of_documents().map(|p| p.line).collect();
    let are_counted = of_documents().any(|p| p.more > 0);
    let is_new = |p: &&input::Problem| if p.more > 0 { !are_counted } else { !named.contains(&p.line) };
    let told: HashSet<String> = of_documents().map(|p| p.message.clone()).collect();
    let unread: Vec<Problem> = problems.iter().filter(is_new).map(input::Problem::to_record).collect();
    dataset.problems.extend(unread);
    for (book, report) in &books {
        let on_text = |note: &String| on_text(&path, report.line, book, &report.path, note);
        dataset.problems.extend(report.notes.iter().filter(|note| !told.contains(*note)).map(on_text));
    }
    let texts = left_in(&books);
    Ok((dataset, books.into_iter().map(|(book, _)| book).collect(), texts))
}

/// Reads the items of a folder, and of its documents what the catalog says.
pub(super) fn read_items(folder: &Path, catalog: &Catalog) -> Result<(Dataset, Vec<Book>, BookTexts)> {
    let (documents, books) = catalog.claims();
    let mut dataset = Dataset { documents, ..Dataset::default() };
    jsonl::read_items_of(file(folder, ITEMS)?, &mut dataset);
    dataset.problems.extend(catalog.notes());
    Ok((dataset, books, BookTexts::default()))
}

/// Opens the catalog of a folder, if there is one that fits it.
pub(super) fn catalog(folder: &Path, options: &InputOptions) -> Option<Catalog> {
    Catalog::open(&folder.join(DOCUMENTS), options)
}

/// The files in which the texts of books were left.
pub(super) fn left_in(books: &Books) -> BookTexts {
    BookTexts::left_in(
        books.iter().filter_map(|(book, report)| Some((book.hash().to_owned(), report.left_in.clone()?))),
    )
}

/// The name of the folder's benchmark.
pub(super) fn name(folder: &Path) -> String {
    let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    path.file_name().map_or_else(|| "benchmark".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn file(folder: &Path, name: &str) -> Result<InputFile> {
    let path = folder.join(name);
    let bytes = closeread_files::read_file(&path).with_context(|| {
        format!(
            "cannot read {}: a benchmark folder holds {DOCUMENTS} and {ITEMS}, as `closeread help formats` shows",
            path.display()
        )
    })?;
    Ok(InputFile { name: path.display().to_string(), bytes })
}
