//! Runs the commands of README, tutorials and how-to pages as a reader would, each page in an empty folder.
//!
//! Fenced blocks `sh` are run whole. Of blocks `console` each line behind `$ ` is run, and what it prints is compared with the lines
//! below it; a line `...` stands for any lines. A comment before a block says more: `<!-- needs: a key -->` leaves it out,
//! `<!-- exit: 1 -->` expects that code, `<!-- file: NAME -->` saves it. `<!-- run: COMMAND -->` alone prepares the folder. Commands in other
//! blocks are counted as left out.

use super::Page;
use super::markdown::line_at;
use crate::process::root;
use anyhow::{Context as _, Result};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The results of the commands.
#[derive(Default)]
pub(crate) struct Ran {
    pub(crate) n: usize,
    /// Number of blocks that were left out, by what they need.
    pub(crate) left_out: BTreeMap<String, usize>,
    pub(super) problems: Vec<String>,
}

/// One step of a page.
#[derive(Debug, PartialEq)]
enum Step {
    Save { name: String, content: String },
    LeftOut { needs: String },
    Run { line: usize, script: String, exit: i32, expected: Option<String> },
}

fn has_examples(path: &Path) -> bool {
    let folders = ["docs/tutorial", "docs/how-to", "docs/understanding", "docs/zh"];
    ["README.md", "README.zh.md"].iter().any(|page| path == Path::new(page))
        || folders.iter().any(|folder| path.starts_with(folder))
}

/// The folders that the commands need.
pub(super) struct Installed<'a> {
    /// The folder of the program.
    pub(super) bin: &'a Path,
    /// The folder of the Python module.
    pub(super) python: &'a Path,
}

/// Runs the commands of all pages, each page in a folder of its own below `work`.
pub(super) fn run(pages: &[Page], installed: &Installed<'_>, work: &Path) -> Result<Ran> {
    let mut all = Ran::default();
    let pages: Vec<&Page> = pages.iter().filter(|page| has_examples(&page.path)).collect();
    let ran: Vec<Result<Ran>> = std::thread::scope(|scope| {
        let threads: Vec<_> = pages.iter().map(|page| scope.spawn(|| run_page(page, installed, work))).collect();
        threads.into_iter().map(|thread| thread.join().expect("running a page does not panic")).collect()
    });
    for ran in ran {
        let ran = ran?;
        all.n += ran.n;
        all.problems.extend(ran.problems);
        for (needs, n) in ran.left_out {
            *all.left_out.entry(needs).or_default() += n;
        }
    }
    Ok(all)
}

fn run_page(page: &Page, installed: &Installed<'_>, work: &Path) -> Result<Ran> {
    let mut ran = Ran::default();
    let folder = work.join(page.path.with_extension(""));
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([installed.bin.to_owned()].into_iter().chain(std::env::split_paths(&path)))?;
    for step in steps(&page.text) {
        match step {
            Step::Save { name, content } => {
                let file = folder.join(name);
                fs::create_dir_all(file.parent().context("a file has a folder")?)?;
                fs::write(&file, content).with_context(|| format!("cannot write {}", file.display()))?;
            }
            Step::LeftOut { needs } => *ran.left_out.entry(needs).or_default() += 1,
            Step::Run { line, script, exit, expected } => {
                let mut bash = Command::new("bash");
                bash.args(["-euo", "pipefail", "-c", &script]).current_dir(&folder).env("PATH", &path);
                bash.env("PYTHONPATH", installed.python).env("PYTHONDONTWRITEBYTECODE", "1");
                bash.env("REPOSITORY", root()).env("CLOSEREAD_CACHE", work.join("cache")).env("NO_COLOR", "1");
                bash.env("CLOSEREAD_CONFIG", work.join("config")).env("CLOSEREAD_MODELS", work.join("models"));
                let ended = bash.output().context("cannot start bash")?;
                ran.n += 1;
                let place = format!("{}:{line}", page.path.display());
                let printed = String::from_utf8_lossy(&ended.stdout);
                if ended.status.code() != Some(exit) {
                    let said = String::from_utf8_lossy(&ended.stderr);
                    ran.problems
                        .push(format!("{place}: `{script}` ended with {}, not {exit}:\n{printed}{said}", ended.status));
                } else if let Some(expected) = expected.filter(|expected| !matches(expected, &printed)) {
                    ran.problems.push(format!("{place}: `{script}` printed\n{printed}and the page says\n{expected}"));
                }
            }
        }
    }
    Ok(ran)
}

fn steps(text: &str) -> Vec<Step> {
    let (mut steps, mut notes, mut block) =
        (vec![], BTreeMap::<String, String>::new(), None::<(String, usize, String)>);
    for (event, range) in Parser::new(text).into_offset_iter() {
        let line = || line_at(text, range.start);
        match event {
            Event::Html(html) => {
                let note =
                    html.trim().strip_prefix("<!-- ").and_then(|note| note.strip_suffix(" -->")?.split_once(": "));
                match note {
                    Some(("run", script)) => {
                        steps.push(Step::Run { line: line(), script: script.to_owned(), exit: 0, expected: None });
                    }
                    Some((key, value)) => drop(notes.insert(key.to_owned(), value.to_owned())),
                    None => {}
                }
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let kind = if let CodeBlockKind::Fenced(info) = kind { info.into_string() } else { String::new() };
                block = Some((kind, line(), String::new()));
            }
            Event::Text(words) => {
                if let Some((.., content)) = &mut block {
                    content.push_str(&words);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                let Some((kind, line, content)) = block.take() else { continue };
                let notes = std::mem::take(&mut notes);
                let exit = notes.get("exit").and_then(|code| code.parse().ok()).unwrap_or(0);
                if let Some(name) = notes.get("file") {
                    steps.push(Step::Save { name: name.clone(), content });
                } else if let Some(needs) = notes.get("needs") {
                    steps.push(Step::LeftOut { needs: needs.clone() });
                } else if kind == "sh" {
                    steps.push(Step::Run { line, script: content, exit, expected: None });
                } else if kind == "console" {
                    steps.extend(console(&content, line, exit));
                } else if content.lines().any(|line| line.trim_start_matches("$ ").starts_with("closeread ")) {
                    steps.push(Step::LeftOut { needs: "a fence, `sh` or `console`".to_owned() });
                }
            }
            _ => {}
        }
    }
    steps
}

/// The commands of a block, each with its expected output.
fn console(block: &str, line: usize, exit: i32) -> Vec<Step> {
    let mut steps = vec![];
    let mut lines = block.lines().peekable();
    while let Some(first) = lines.next() {
        let Some(command) = first.strip_prefix("$ ") else { continue };
        let mut script = command.to_owned();
        while script.ends_with('\\') {
            script = format!("{script}\n{}", lines.next().unwrap_or_default());
        }
        let mut expected = String::new();
        while let Some(printed) = lines.next_if(|line| !line.starts_with("$ ")) {
            expected += &format!("{printed}\n");
        }
        steps.push(Step::Run { line, script, exit, expected: Some(expected).filter(|expected| !expected.is_empty()) });
    }
    steps
}

/// Returns whether the output is the page's, except for times and the widths of columns.
fn matches(expected: &str, printed: &str) -> bool {
    let printed: Vec<String> = printed.lines().map(plain).collect();
    let parts: Vec<Vec<String>> =
        expected.lines().map(plain).collect::<Vec<_>>().split(|line| line == "...").map(<[String]>::to_vec).collect();
    let (Some((first, more)), n) = (parts.split_first(), printed.len()) else { return false };
    if !printed.starts_with(first) {
        return false;
    }
    let Some((last, middle)) = more.split_last() else { return first.len() == n };
    let mut at = first.len();
    for part in middle {
        match (at..=n).find(|&from| printed[from..].starts_with(part)) {
            Some(from) => at = from + part.len(),
            None => return false,
        }
    }
    n >= at + last.len() && printed.ends_with(last)
}

/// A line without runs of spaces, without the seconds at its end, and a rule of any length as three dashes.
fn plain(line: &str) -> String {
    let line = line.trim_end();
    if line.len() > 3 && line.bytes().all(|byte| byte == b'-') {
        return "---".to_owned();
    }
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let is_time = |word: &str| {
        word.trim_start_matches('<').split_once('.').is_some_and(|(whole, tenth)| {
            whole.parse::<u32>().is_ok() && tenth.len() == 1 && tenth.parse::<u8>().is_ok()
        })
    };
    if words.len() > 3 && words.last().is_some_and(|word| is_time(word)) {
        words.pop();
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_steps() {
        let text = "<!-- file: a/b.txt -->\n```json\n{}\n```\n\n<!-- needs: a key -->\n```sh\nx\n```\n\n<!-- run: y -->\n\n\
                    <!-- exit: 1 -->\n```console\n$ p \\\n  q\nout\n$ r\n```\n\n```text\nno\n```\n";
        let run = |line, script: &str, exit, expected: Option<&str>| Step::Run {
            line,
            script: script.to_owned(),
            exit,
            expected: expected.map(str::to_owned),
        };
        let expected = [
            Step::Save { name: "a/b.txt".to_owned(), content: "{}\n".to_owned() },
            Step::LeftOut { needs: "a key".to_owned() },
            run(11, "y", 0, None),
            run(14, "p \\\n  q", 1, Some("out\n")),
            run(14, "r", 1, None),
        ];
        assert_eq!(steps(text), expected);
    }

    #[test]
    fn what_is_printed_may_differ_in_times_alone() {
        let page = "a  n  b  seconds\n----------------\nx  8  2      0.1\n...\nend\n";
        assert!(matches(page, "a n b  seconds\n-----------------\nx 8 2  <0.9\nmore\nend\n"));
        assert!(matches("...\nend\n", "one\ntwo\nend\n"));
        assert!(matches("one\n...\n", "one\n"));
        assert!(!matches(page, "a n b seconds\n---\nx 8 3 0.1\nend\n"));
        assert!(!matches("one\n", "one\ntwo\n"));
    }
}
