//! What comes out of a build: a benchmark folder, a report, a page for people.

use super::sheet::{Collected, collect, keep_sheet, kept_sheet};
use super::{BuildFolder, BuildOptions};
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_build::{Built, CheckAnswers, Question, Sheet, against_filter, check_page, documents_of, sample};
use closeread_eval::Content;
use closeread_files::{read_lines, write_atomically};
use closeread_table::Table;
use closeread_table::render::text;
use closeread_text::hash::short_hash;
use serde::Serialize;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Questions of the page, with what the pipeline says of each.
const QUESTIONS: &str = "questions.jsonl";

/// Writes documents, texts, items, report and page, and prints the report. Exits with 1 if nothing came out.
pub(crate) fn write(
    folder: &BuildFolder,
    options: &BuildOptions,
    pipeline: &str,
    books: &[Arc<Book>],
    built: &Built,
) -> Result<ExitCode> {
    let out = folder.path();
    let n_documents = write_documents(out, books, used(&built.items))?;
    lines(&out.join("items.jsonl"), &built.items)?;
    let questions = sample(&built.questions, options.check, options.seed);
    write_check(&out.join("check"), pipeline, books, &questions, built.sheet.as_ref())?;
    let mut tables = vec![built.funnel.table()];
    tables.extend(built.tables.iter().cloned());
    let report = json!({
        "pipeline": pipeline, "documents": n_documents, "items": built.items.len(), "funnel": built.funnel.rows,
        "tables": tables, "questions": questions.len(),
    });
    write_atomically(&out.join("report.json"), format!("{report:#}\n").as_bytes())?;
    if options.json {
        outln!("{report}");
    } else {
        print_tables(&tables)?;
    }
    let n = built.items.len();
    eprintln!("{n} items on {n_documents} documents in {}", out.display());
    if n == 0 {
        eprintln!("nothing came out: the lines in {} say what dropped what", out.join("stages").display());
        return Ok(ExitCode::from(1));
    }
    eprintln!(
        "closeread run --benchmark {} runs it; {} is for people",
        out.display(),
        out.join("check/check.html").display()
    );
    Ok(ExitCode::SUCCESS)
}

/// The documents that items are about.
fn used(items: &[closeread_eval::Item]) -> impl Iterator<Item = &str> {
    items.iter().flat_map(|item| &item.documents).map(String::as_str)
}

/// Writes `documents.jsonl` and the texts of those books that are named; returns how many.
pub(super) fn write_documents<'a>(
    out: &Path,
    books: &[Arc<Book>],
    named: impl Iterator<Item = &'a str>,
) -> Result<usize> {
    let documents = documents_of(books, named);
    fs::create_dir_all(out.join("texts")).with_context(|| format!("cannot create {}", out.join("texts").display()))?;
    for document in &documents {
        let Content::Path(path) = &document.content else { continue };
        let book = books.iter().find(|book| book.id == document.id).context("a document is one of the books")?;
        write_atomically(&out.join(path), book.open()?.source().as_bytes())?;
    }
    lines(&out.join("documents.jsonl"), &documents)?;
    Ok(documents.len())
}

/// Writes the page for people, its questions and its sheet.
pub(super) fn write_check(
    folder: &Path,
    pipeline: &str,
    books: &[Arc<Book>],
    questions: &[Question],
    sheet: Option<&Sheet>,
) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    lines(&folder.join(QUESTIONS), questions)?;
    keep_sheet(folder, sheet)?;
    let languages: Vec<&str> = books.iter().map(|book| book.language.code()).collect();
    let language = languages.first().copied().filter(|one| languages.iter().all(|other| other == one)).unwrap_or("");
    let title = format!("closeread build {pipeline}: a check by people");
    let page = check_page(&title, &name_of(questions, sheet), language, questions, sheet);
    write_atomically(&folder.join("check.html"), page.as_bytes())
}

/// What names a check: it changes with every question and every form.
fn name_of(questions: &[Question], sheet: Option<&Sheet>) -> String {
    match sheet {
        None => short_hash(&json!(questions)),
        Some(sheet) => short_hash(&json!([questions, sheet])),
    }
}

/// `--checked`: what a person ticked against what the pipeline says, and the forms that the person filled in as items.
/// Exits with 1 if answers could not be used.
pub(crate) fn checked(options: &BuildOptions, file: &Path) -> Result<ExitCode> {
    let check = options.out.join("check");
    let path = check.join(QUESTIONS);
    if !path.is_file() {
        bail!("cannot read {}: expected the folder of a finished build", path.display());
    }
    let questions: Vec<Question> = read_lines(&path, "a question")?;
    let sheet = kept_sheet(&check)?;
    let named = || format!("cannot use {}", file.display());
    let bytes = closeread_files::read_file(file).with_context(|| format!("cannot read {}", file.display()))?;
    let answers = CheckAnswers::read(&bytes).with_context(named)?;
    let found = against_filter(&name_of(&questions, sheet.as_ref()), &questions, &answers).with_context(named)?;
    let collected = sheet.map(|sheet| collect(&options.out, &sheet, &answers.written)).transpose()?;
    if options.json {
        let mut said = json!(found);
        if let Some(Collected { n, all, folder, problems }) = &collected {
            said["written"] =
                json!({"items": n, "all": all, "folder": folder.display().to_string(), "problems": problems});
        }
        outln!("{said}");
    } else if !questions.is_empty() {
        print_tables(std::slice::from_ref(&found.table))?;
    }
    if found.open > 0 {
        eprintln!("{} of {} questions are not answered", found.open, questions.len());
    }
    let mut problems = found.problems;
    if let Some(mut collected) = collected.filter(|collected| collected.all > 0 || !collected.problems.is_empty()) {
        let folder = collected.folder.display();
        eprintln!(
            "{} questions were written, {} lie in {folder}: a benchmark for `run` and `build options`",
            collected.n, collected.all
        );
        problems.append(&mut collected.problems);
    }
    for problem in &problems {
        eprintln!("{}: {}", file.display(), text::plain(problem));
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Prints tables one after the other.
pub(super) fn print_tables(tables: &[Table]) -> Result<()> {
    for table in tables {
        outln!("{}", text::table(table));
    }
    Ok(())
}

/// Writes a value a line.
pub(super) fn lines(path: &Path, values: &[impl Serialize]) -> Result<()> {
    let mut bytes = Vec::new();
    for value in values {
        serde_json::to_writer(&mut bytes, value)?;
        bytes.push(b'\n');
    }
    write_atomically(path, &bytes)
}
