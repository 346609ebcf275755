//! The sources as mdBook takes them: one folder, in which links to other files lead to the repository.

use super::Page;
use super::markdown::{beside, links};
use crate::process::{program, root, stdout_of};
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Path of the table of contents.
pub(super) const SUMMARY: &str = "docs/SUMMARY.md";

/// The page above the help pages of the commands.
pub(super) const COMMANDS: &str = "docs/commands.md";

/// The pages that the table of contents names.
pub(super) fn chapters(pages: &[Page]) -> Result<Vec<&Page>> {
    let summary = pages.iter().find(|page| page.path == Path::new(SUMMARY)).context("docs/SUMMARY.md is missing")?;
    let named = links(&summary.text).into_iter().map(|link| beside(&summary.path, &link.target));
    named.map(|path| find(pages, &path).with_context(|| format!("{SUMMARY}: {} is missing", path.display()))).collect()
}

pub(super) fn find<'p>(pages: &'p [Page], path: &Path) -> Option<&'p Page> {
    pages.iter().find(|page| page.path == path)
}

/// Returns the place of a repository's file in the book: without `docs/`, a README as the index of its folder.
pub(super) fn in_book(path: &Path) -> PathBuf {
    let path = path.strip_prefix("docs").unwrap_or(path);
    if path.ends_with("README.md") { path.with_file_name("index.md") } else { path.to_owned() }
}

/// Writes `book.toml` and `src/` into `folder`.
pub(super) fn write(pages: &[Page], folder: &Path) -> Result<()> {
    let src = folder.join("src");
    let chapters: BTreeMap<&Path, &Page> =
        chapters(pages)?.into_iter().map(|page| (page.path.as_path(), page)).collect();
    let put = |path: &Path, text: &str| -> Result<()> {
        let path = src.join(in_book(path));
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    for page in chapters.values() {
        put(&page.path, &moved(page, &chapters, &src)?)?;
    }
    let summary = find(pages, Path::new(SUMMARY)).context("docs/SUMMARY.md is missing")?;
    let mut contents = String::new();
    for line in moved(summary, &chapters, &src)?.lines() {
        contents += &format!("{line}\n");
        if line.contains("(python.md)") {
            let text = stdout_of(program("python3").args(["xtask/src/docs/api.py", "cli/python/closeread"]))?;
            put(Path::new("docs/python-names.md"), &text)?;
            contents += "  - [Python, name by name](python-names.md)\n";
        }
        if line.contains("(elements.md)") {
            let text = stdout_of(program("python3").arg("xtask/src/docs/api_js.py").args(javascript_declarations()?))?;
            put(Path::new("docs/javascript-names.md"), &text)?;
            contents += "  - [JavaScript, name by name](javascript-names.md)\n";
        }
        if line.contains("(commands.md)") {
            for (name, text) in helps()? {
                let path = Path::new("docs/commands").join(name.replace(' ', "-")).with_extension("md");
                put(&path, &format!("# `{name}`\n\n```text\n{}\n```\n", text.trim_end()))?;
                contents += &format!("  - [{name}]({})\n", in_book(&path).display());
            }
        }
    }
    put(Path::new(SUMMARY), &contents)?;
    let book = root().join("docs/book.toml");
    fs::copy(&book, folder.join("book.toml")).with_context(|| format!("cannot copy {}", book.display()))?;
    Ok(())
}

/// The declarations of the page's module: functions and classes, then types, generated ones first.
fn javascript_declarations() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in ["wasm/types", "wasm/src"] {
        let entries = fs::read_dir(root().join(folder))?.map(|entry| Ok(entry?.path()));
        let mut declared = entries.collect::<Result<Vec<_>>>()?;
        declared.retain(|path| path.to_string_lossy().ends_with(".d.ts"));
        declared.sort();
        files.extend(declared);
    }
    Ok(files)
}

/// A page with its links as the book has them; the files that it shows are copied.
fn moved(page: &Page, chapters: &BTreeMap<&Path, &Page>, src: &Path) -> Result<String> {
    let mut text = page.text.clone();
    let depth = in_book(&page.path).components().count() - 1;
    for link in links(&page.text).into_iter().rev() {
        let Some((file, anchor)) = link.file(&page.path) else { continue };
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        let shown = file.starts_with("docs") && root().join(&file).is_file();
        let target = if chapters.contains_key(file.as_path()) || shown {
            if !chapters.contains_key(file.as_path()) {
                let copy = src.join(in_book(&file));
                fs::create_dir_all(copy.parent().context("a file has a folder")?)?;
                fs::copy(root().join(&file), &copy).with_context(|| format!("cannot copy {}", file.display()))?;
            }
            format!("{}{}", "../".repeat(depth), in_book(&file).display())
        } else {
            let kind = if root().join(&file).is_dir() { "tree" } else { "blob" };
            format!("{}/{kind}/main/{}", env!("CARGO_PKG_REPOSITORY"), file.display())
        };
        text.replace_range(link.at, &format!("{target}{anchor}"));
    }
    Ok(text)
}

/// Returns every command and topic with its help, as the files in `cli/help` hold it.
pub(super) fn helps() -> Result<Vec<(String, String)>> {
    let mut helps = vec![];
    for (folder, prefix) in [("cli/help/pages", ""), ("cli/help", "closeread help ")] {
        let mut files: Vec<PathBuf> = fs::read_dir(root().join(folder))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let long = text.split_once("$ --help\n").map(|(_, long)| long.to_owned());
            helps.push((format!("{prefix}{}", command_name(&stem)), long.unwrap_or(text)));
        }
    }
    Ok(helps)
}

/// `closeread-export-every-eval-ever` is `closeread export every-eval-ever`: only the first words are commands.
fn command_name(stem: &str) -> String {
    const GROUPS: [&str; 7] = ["build", "cache", "data", "export", "model", "people", "providers"];
    let Some(rest) = stem.strip_prefix("closeread-") else { return stem.to_owned() };
    match rest.split_once('-') {
        Some((group, command)) if GROUPS.contains(&group) => format!("closeread {group} {command}"),
        _ => format!("closeread {rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_help_page_has_its_commands_name() {
        assert_eq!(command_name("closeread-export-every-eval-ever"), "closeread export every-eval-ever");
        assert_eq!(command_name("closeread-run"), "closeread run");
        assert_eq!(command_name("closeread"), "closeread");
        assert_eq!(command_name("exit-codes"), "exit-codes");
    }

    #[test]
    fn links_follow_their_pages_into_the_book() {
        let page = |path: &str, text: &str| Page { path: path.into(), text: text.to_owned() };
        let pages =
            [page("docs/how-to/a.md", "[r](../../README.md#x) [c](../../core) [b](../b.md)"), page("README.md", "")];
        let chapters = pages.iter().map(|page| (page.path.as_path(), page)).collect();
        let text = moved(&pages[0], &chapters, Path::new("unused")).unwrap();
        let repository = env!("CARGO_PKG_REPOSITORY");
        let elsewhere = format!("{repository}/blob/main/docs/b.md");
        assert_eq!(text, format!("[r](../index.md#x) [c]({repository}/tree/main/core) [b]({elsewhere})"));
    }
}
