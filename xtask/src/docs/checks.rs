//! Checks of the documentation: links lead somewhere, every page is in the table of contents, pictures have words.

use super::Page;
use super::markdown::{anchors, line_at, links};
use super::stage::{COMMANDS, SUMMARY, chapters, find, helps, in_book};
use crate::process::root;
use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Returns every problem, one line each.
pub(super) fn all(pages: &[Page]) -> Vec<String> {
    let mut problems: Vec<String> = pages.iter().flat_map(|page| broken_links(page, pages)).collect();
    match chapters(pages) {
        Ok(chapters) => {
            let unnamed = pages.iter().filter(|page| page.path.starts_with("docs") && page.path != Path::new(SUMMARY));
            let unnamed = unnamed.filter(|page| !chapters.iter().any(|chapter| chapter.path == page.path));
            problems.extend(unnamed.map(|page| format!("{SUMMARY} does not name {}", page.path.display())));
        }
        Err(error) => problems.push(format!("{error:#}")),
    }
    match helps() {
        Ok(helps) => {
            problems.extend(helps.iter().flat_map(|(name, text)| missing_pages(name, text, pages)));
            problems.extend(helps.iter().filter_map(|(name, _)| unlisted(name, pages)));
        }
        Err(error) => problems.push(format!("{error:#}")),
    }
    problems
}

/// Pages that a help text names, such as `docs/costs.md`, and that do not exist.
fn missing_pages(name: &str, text: &str, pages: &[Page]) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || ",;()".contains(c));
    let named = words
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(|word| word.starts_with("docs/") && word.ends_with(".md"));
    let missing = named.filter(|word| find(pages, Path::new(word)).is_none());
    missing.map(|word| format!("the help of {name} names {word}, which does not exist")).collect()
}

fn broken_links(page: &Page, pages: &[Page]) -> Vec<String> {
    let mut problems = vec![];
    for link in links(&page.text) {
        let place = format!("{}:{}", page.path.display(), line_at(&page.text, link.at.start));
        let Some((file, anchor)) = link.file(&page.path) else { continue };
        if !root().join(&file).exists() && find(pages, &file).is_none() {
            problems.push(format!("{place}: the link leads to {}, which does not exist", file.display()));
        } else if let (Some(anchor), Some(target)) = (anchor, find(pages, &file))
            && !anchors(&target.text).iter().any(|known| known == anchor)
        {
            problems.push(format!("{place}: {} has no heading `#{anchor}`", file.display()));
        }
        if page.text[..link.at.start].ends_with("![](") {
            problems.push(format!("{place}: the picture has no description in words"));
        }
    }
    problems
}

/// A command that docs/commands.md leaves out.
fn unlisted(name: &str, pages: &[Page]) -> Option<String> {
    let command = name.strip_prefix("closeread ")?.split(' ').next()?;
    let listed = find(pages, Path::new(COMMANDS)).is_some_and(|page| page.text.contains(&format!("`{command}`")));
    (!listed).then(|| format!("{COMMANDS} does not list `{command}`"))
}

/// Returns newcomers' questions and the pages that answer them, from docs/questions.md: the question, and the
/// page's address in the site.
pub(super) fn questions(pages: &[Page]) -> Result<Vec<(String, String)>> {
    let page = find(pages, Path::new("docs/questions.md")).context("docs/questions.md is missing")?;
    let rows: Vec<&str> = page.text.lines().filter(|line| line.starts_with("| ") && line.contains("](")).collect();
    ensure!(rows.len() >= 10, "docs/questions.md has {} questions, expected ten or more", rows.len());
    let row = |line: &str| {
        let question = line.trim_matches(['|', ' ']).split(" | ").next().unwrap_or_default().to_owned();
        let link = links(line).into_iter().next().context("a row has a link")?;
        let (file, _) = link.file(&page.path).context("a row links to a page")?;
        Ok((question, in_book(&file).with_extension("html").display().to_string()))
    };
    rows.into_iter().map(row).collect()
}

/// Links of the built site that lead nowhere within it.
pub(super) fn site(site: &Path) -> Result<Vec<String>> {
    let mut files = vec![];
    html(site, &mut files)?;
    let mut read = BTreeMap::new();
    for file in &files {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let ids: BTreeSet<String> = values(&text, " id=\"").map(str::to_owned).collect();
        read.insert(file.clone(), (ids, text));
    }
    let mut broken = vec![];
    for (file, (_, text)) in &read {
        if file.ends_with("print.html") || file.ends_with("404.html") || file.ends_with("toc.html") {
            continue;
        }
        for target in values(text, " href=\"").chain(values(text, " src=\"")) {
            if target.contains(':') || target.starts_with('/') {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let there = if path.is_empty() { file.clone() } else { super::markdown::beside(file, path) };
            let known = read.get(&there).is_none_or(|(ids, _)| anchor.is_empty() || ids.contains(anchor));
            if !there.exists() || !known {
                broken.push(format!("{}: leads to {target}, which the site does not have", file.display()));
            }
        }
    }
    Ok(broken)
}

fn html(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            html(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            found.push(path);
        }
    }
    Ok(())
}

/// The values of an attribute of tags, given with its beginning, such as ` href="`.
fn values<'t>(text: &'t str, attribute: &'t str) -> impl Iterator<Item = &'t str> {
    let tags = text.split('<').filter_map(|part| Some(part.split_once('>')?.0));
    tags.flat_map(move |tag| tag.split(attribute).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_no_broken_links_and_every_page_a_place() {
        let problems = all(&super::super::read_pages().unwrap());
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn a_help_that_names_no_page_is_found() {
        let pages = [Page { path: "docs/costs.md".into(), text: String::new() }];
        let text = "More: docs/costs.md, docs/prices.md.";
        assert_eq!(missing_pages("x", text, &pages), ["the help of x names docs/prices.md, which does not exist"]);
    }

    #[test]
    fn a_broken_link_is_named_with_its_line() {
        let page = |path: &str, text: &str| Page { path: path.into(), text: text.to_owned() };
        let pages =
            [page("a.md", "# A\n\n[x](b.md#nope)\n[y](none.md) [z](b.md#b) ![](Cargo.toml)\n"), page("b.md", "# B\n")];
        assert_eq!(
            broken_links(&pages[0], &pages),
            [
                "a.md:3: b.md has no heading `#nope`",
                "a.md:4: the link leads to none.md, which does not exist",
                "a.md:4: the picture has no description in words",
            ]
        );
    }
}
