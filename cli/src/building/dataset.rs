//! What comes out of a build: a benchmark folder, a report, a page for people.

use super::{BuildFolder, BuildOptions};
use crate::files::write_atomically;
use anyhow::{Context, Result};
use closeread_core::benchmark::Content;
use closeread_core::build::{Built, CheckAnswers, Question, against_filter, check_page, documents, sample};
use closeread_core::hash::short_hash;
use closeread_core::table::Table;
use closeread_core::table::render::text;
use closeread_core::text::Book;
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
    let documents = documents(books, &built.items);
    fs::create_dir_all(out.join("texts")).with_context(|| format!("cannot create {}", out.join("texts").display()))?;
    for document in &documents {
        let Content::Path(path) = &document.content else { continue };
        let book = books.iter().find(|book| book.id == document.id).context("a document is one of the books")?;
        write_atomically(&out.join(path), book.open()?.source().as_bytes())?;
    }
    lines(&out.join("documents.jsonl"), &documents)?;
    lines(&out.join("items.jsonl"), &built.items)?;
    let questions = sample(&built.questions, options.check, options.seed);
    write_check(&out.join("check"), pipeline, books, &questions)?;
    let mut tables = vec![built.funnel.table()];
    tables.extend(built.tables.iter().cloned());
    let report = json!({
        "pipeline": pipeline, "documents": documents.len(), "items": built.items.len(), "funnel": built.funnel.rows,
        "tables": tables, "questions": questions.len(),
    });
    write_atomically(&out.join("report.json"), format!("{report:#}\n").as_bytes())?;
    if options.json {
        outln!("{report}");
    } else {
        print_tables(&tables)?;
    }
    let n = built.items.len();
    eprintln!("{n} items on {} documents in {}", documents.len(), out.display());
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

fn write_check(folder: &Path, pipeline: &str, books: &[Arc<Book>], questions: &[Question]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    lines(&folder.join(QUESTIONS), questions)?;
    let languages: Vec<&str> = books.iter().map(|book| book.language.code()).collect();
    let language = languages.first().copied().filter(|one| languages.iter().all(|other| other == one)).unwrap_or("");
    let title = format!("closeread build {pipeline}: a check by people");
    let page = check_page(&title, &name_of(questions), language, questions);
    write_atomically(&folder.join("check.html"), page.as_bytes())
}

/// What names a check: it changes with every question.
fn name_of(questions: &[Question]) -> String {
    short_hash(&json!(questions))
}

/// `--checked`: what a person ticked against what the pipeline says. Exits with 1 if answers could not be used.
pub(crate) fn checked(options: &BuildOptions, file: &Path) -> Result<ExitCode> {
    let path = options.out.join("check").join(QUESTIONS);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}: expected the folder of a finished build", path.display()))?;
    let mut questions: Vec<Question> = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let named = || format!("{}:{}: expected a question", path.display(), idx + 1);
        questions.push(serde_json::from_str(line).with_context(named)?);
    }
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let answers = CheckAnswers::read(&bytes).with_context(|| format!("cannot use {}", file.display()))?;
    let found = against_filter(&name_of(&questions), &questions, &answers)
        .with_context(|| format!("cannot use {}", file.display()))?;
    if options.json {
        outln!("{}", json!(found));
    } else {
        print_tables(std::slice::from_ref(&found.table))?;
    }
    if found.open > 0 {
        eprintln!("{} of {} questions are not answered", found.open, questions.len());
    }
    for problem in &found.problems {
        eprintln!("{}: {}", file.display(), text::plain(problem));
    }
    Ok(if found.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Prints tables one after the other.
pub(super) fn print_tables(tables: &[Table]) -> Result<()> {
    for table in tables {
        outln!("{}", text::table(table));
    }
    Ok(())
}

fn lines(path: &Path, values: &[impl Serialize]) -> Result<()> {
    let mut bytes = Vec::new();
    for value in values {
        serde_json::to_writer(&mut bytes, value)?;
        bytes.push(b'\n');
    }
    write_atomically(path, &bytes)
}
