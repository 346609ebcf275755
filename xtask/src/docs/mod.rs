//! `cargo xtask docs`: the documentation as a site, by mdBook, from `docs/SUMMARY.md` and the pages that it names.

mod checks;
mod examples;
mod markdown;
mod measurements;
mod prose;
mod stage;

use crate::machine::{MDBOOK, NODE};
use crate::process::{program, root, run as run_program, target_dir};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only check the sources: links, anchors, images, SUMMARY.md, the words. mdBook is not needed.
    #[arg(long)]
    check: bool,
    /// Only draw the tables of measurements anew, from docs/measurements.
    #[arg(long)]
    tables: bool,
    /// Only run the commands of README, tutorials and how-to pages, with the program in this folder.
    #[arg(long, value_name = "DIR")]
    examples: Option<PathBuf>,
}

/// Builds the site into the target folder, or checks its sources; false if a check found something.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let pages = read_pages()?;
    if let Some(bin) = &args.examples {
        let ran = run_examples(bin)?;
        println!("{} commands ran; blocks left out: {:?}", ran.n, ran.left_out);
        return Ok(true);
    }
    if args.tables {
        for path in measurements::write(&pages)? {
            println!("drawn anew: {}", path.display());
        }
        return Ok(true);
    }
    let problems: Vec<String> =
        checks::all(&pages).into_iter().chain(prose::all(&pages)?).chain(measurements::problems(&pages)).collect();
    for problem in &problems {
        eprintln!("{problem}");
    }
    if args.check {
        println!("{} pages, {} problems", pages.len(), problems.len());
        return Ok(problems.is_empty());
    }
    let site = build(&pages)?;
    search(&pages, &site)?;
    println!("the documentation is ready: {}", site.join("index.html").display());
    Ok(problems.is_empty())
}

/// Builds the site and searches it for newcomers' questions; returns the numbers of pages and of answered questions.
pub(crate) fn build_and_search() -> Result<(usize, usize)> {
    let pages = read_pages()?;
    let site = build(&pages)?;
    Ok((stage::chapters(&pages)?.len(), search(&pages, &site)?))
}

/// Searches the site as its own search box does; returns the number of answered questions.
fn search(pages: &[Page], site: &Path) -> Result<usize> {
    NODE.require()?;
    let questions = checks::questions(pages)?;
    let asked = serde_json::to_string(&questions)?;
    run_program(program("node").arg("xtask/src/docs/search.mjs").arg(site).arg(asked))?;
    Ok(questions.len())
}

/// Runs the commands of README, tutorials and how-to pages with the program in `bin`.
///
/// # Errors
/// If one ends otherwise, or prints something else, than its page says.
pub(crate) fn run_examples(bin: &Path) -> Result<examples::Ran> {
    let work = target_dir()?.join("docs-examples");
    if work.exists() {
        std::fs::remove_dir_all(&work).with_context(|| format!("cannot empty {}", work.display()))?;
    }
    let installed = examples::Installed { bin, python: &crate::python::development()? };
    let ran = examples::run(&read_pages()?, &installed, &work)?;
    ensure!(ran.problems.is_empty(), "{}", ran.problems.join("\n\n"));
    Ok(ran)
}

/// A Markdown file of the repository.
pub(crate) struct Page {
    /// Path from the repository's root.
    path: PathBuf,
    text: String,
}

/// Reads every Markdown file of the repository, sorted.
fn read_pages() -> Result<Vec<Page>> {
    let mut paths = vec![];
    walk(root(), &mut paths)?;
    paths.sort();
    let page = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Page { path: path.strip_prefix(root())?.to_owned(), text })
    };
    paths.into_iter().map(page).collect()
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules", "dist", "runs"].contains(&&*name) {
                walk(&path, found)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    Ok(())
}

fn build(pages: &[Page]) -> Result<PathBuf> {
    MDBOOK.require()?;
    let folder = target_dir()?.join("docs");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    stage::write(pages, &folder)?;
    run_program(program("mdbook").arg("build").arg(&folder))?;
    let site = folder.join("site");
    let broken = checks::site(&site)?;
    ensure!(broken.is_empty(), "{}", broken.join("\n"));
    Ok(site)
}
