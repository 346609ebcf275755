//! `closeread report`: tables, charts and a site from run folders.

use super::serve::page;
use crate::files::{self, write_atomically};
use crate::finished::{self, Texts};
use anyhow::{Context, Result, bail};
use closeread_core::report::site::site;
use closeread_core::report::{Report, Run, report};
use closeread_core::table::render::{csv, latex, text};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The folder of the elements in a built page, and beside a site's pages.
const ELEMENTS: &str = "elements";
/// What a leaderboard needs to be sorted and scored again.
const ELEMENT_FILES: [&str; 2] = ["closeread-leaderboard.js", "closeread_scorer_bg.wasm"];

/// The tables and charts of one run, or of several side by side.
///
/// Without options the tables are printed as text. Exits with 1 if a run is incomplete.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Run folders
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Write a site of static pages into this folder
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Write all tables as one list (a file that ends in .csv), or one file a table (a folder)
    #[arg(long, value_name = "FILE|DIR")]
    csv: Option<PathBuf>,
    /// Print the tables as LaTeX (booktabs)
    #[arg(long, conflicts_with = "json")]
    latex: bool,
    /// Print everything as JSON, scores from 0 to 1
    #[arg(long)]
    json: bool,
}

/// Reads the runs, writes and prints what was asked for.
pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let runs = finished::load_all(&args.runs, Texts::Count)?;
    if let Some(twice) = runs.iter().enumerate().find(|(idx, run)| runs[..*idx].iter().any(|r| r.name == run.name)) {
        bail!("{} is given twice: name each run folder once", twice.1.name);
    }
    let report = report(&runs);
    if let Some(folder) = &args.html {
        write_site(folder, &report, &runs)?;
    }
    if let Some(path) = &args.csv {
        write_csv(path, &report)?;
    }
    if args.json {
        outln!("{}", serde_json::to_string(&report)?);
    } else if args.latex {
        out!("{}", as_latex(&report));
    } else if args.html.is_none() && args.csv.is_none() {
        out!("{}", as_text(&report));
    }
    for note in &report.notes {
        eprintln!("{}", text::plain(note));
    }
    Ok(if report.complete { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn as_text(report: &Report) -> String {
    report.tables.iter().map(text::table).collect::<Vec<_>>().join("\n")
}

fn as_latex(report: &Report) -> String {
    let tables: Vec<String> = report.tables.iter().map(latex::table).collect();
    format!("{}\n{}", latex::PREAMBLE, tables.join("\n"))
}

fn write_csv(path: &Path, report: &Report) -> Result<()> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        write_atomically(path, csv::tidy(&report.tables, report.complete).as_bytes())?;
        eprintln!("{}: {} tables as one list", path.display(), report.tables.len());
        return Ok(());
    }
    std::fs::create_dir_all(path).with_context(|| format!("cannot create the folder {}", path.display()))?;
    for table in &report.tables {
        let name: String = table.id.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
        write_atomically(&path.join(format!("{name}.csv")), csv::wide(table, report.complete).as_bytes())?;
    }
    eprintln!("{}: {} tables, one file each", path.display(), report.tables.len());
    Ok(())
}

fn write_site(folder: &Path, report: &Report, runs: &[Run]) -> Result<()> {
    clear_site(folder)?;
    let files = site(report, runs);
    for file in &files {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).with_context(|| format!("cannot create the folder {}", parent.display()))?;
        write_atomically(&path, file.content.as_bytes())?;
    }
    eprintln!("{}: {} files", folder.join("index.html").display(), files.len());
    if files.iter().any(|file| file.path == "leaderboard.html") {
        match page::folder(None) {
            Ok(page) => copy_elements(&page.join(ELEMENTS), &folder.join(ELEMENTS))?,
            Err(error) => eprintln!("leaderboard.html is a plain table, which cannot score rows again: {error:#}"),
        }
    }
    Ok(())
}

/// Puts the leaderboard's element and what it scores with beside the site's pages.
fn copy_elements(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot create the folder {}", to.display()))?;
    for name in ELEMENT_FILES {
        let file = from.join(name);
        let bytes = std::fs::read(&file).with_context(|| {
            format!("cannot read {}: `cargo xtask web` writes it into the built page", file.display())
        })?;
        write_atomically(&to.join(name), &bytes)?;
    }
    Ok(())
}

/// Removes the pages of an earlier report, which this one may not have; refuses a folder with something else in it.
fn clear_site(folder: &Path) -> Result<()> {
    let mut ours = Vec::new();
    for path in files::entries(folder)? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_page = |prefix: &str| name.starts_with(prefix) && name.ends_with(".html");
        let inner = |wanted: fn(&str) -> bool| -> Result<Vec<PathBuf>> {
            let is_wanted = |path: &PathBuf| path.file_name().is_some_and(|name| wanted(&name.to_string_lossy()));
            Ok(files::entries(&path)?.into_iter().filter(is_wanted).collect())
        };
        match name.as_str() {
            "index.html" | "leaderboard.html" | "results.json" | "items.jsonl" | "style.css" => ours.push(path),
            "charts" if path.is_dir() => ours.extend(inner(|name| name.ends_with(".svg"))?),
            "predictions" if path.is_dir() => ours.extend(inner(|name| name.ends_with(".jsonl"))?),
            ELEMENTS if path.is_dir() => ours.extend(inner(|name| ELEMENT_FILES.contains(&name))?),
            _ if is_page("cell-") || is_page("items") => ours.push(path),
            _ => bail!(
                "{} holds `{name}`, which is no part of a report: name an empty or a new folder by --html",
                folder.display()
            ),
        }
    }
    for path in ours {
        std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}
