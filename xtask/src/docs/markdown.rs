//! Parts of Markdown files: links, anchors, prose.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// A link or an image.
pub(super) struct Link {
    pub(super) target: String,
    /// Range of the target in the file, in bytes.
    pub(super) at: Range<usize>,
}

impl Link {
    /// The target file, by its path from the repository's root, and the anchor; `None` for an address.
    pub(super) fn file(&self, page: &Path) -> Option<(PathBuf, Option<&str>)> {
        if self.target.contains("://") || self.target.starts_with("mailto:") {
            return None;
        }
        let (path, anchor) = match self.target.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (self.target.as_str(), None),
        };
        let file = if path.is_empty() { page.to_owned() } else { beside(page, path) };
        Some((file, anchor))
    }
}

/// The path of a file that `page` names relative to itself.
pub(super) fn beside(page: &Path, relative: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(relative).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// The line of a place in a text, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter()
}

/// Returns every link and image outside of code, in order.
pub(super) fn links(text: &str) -> Vec<Link> {
    let targets = events(text).filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            let from = range.start + text[range.clone()].rfind(&*dest_url)?;
            Some(Link { at: from..from + dest_url.len(), target: dest_url.into_string() })
        }
        _ => None,
    });
    targets.collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
pub(super) fn anchors(text: &str) -> Vec<String> {
    let (mut anchors, mut heading) = (Vec::<String>::new(), None::<String>);
    for (event, _) in events(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let anchor = slug(&heading.take().unwrap_or_default());
                let earlier = anchors.iter().filter(|other| **other == anchor).count();
                anchors.push(if earlier == 0 { anchor } else { format!("{anchor}-{earlier}") });
            }
            _ => {}
        }
    }
    anchors
}

pub(super) fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c => c.is_alphanumeric().then_some(c),
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Runs of prose, a paragraph, list entry, heading or cell each, with the line it begins on. Code in a line reads as `` ` ``.
pub(super) fn prose(text: &str) -> Vec<(usize, String)> {
    let (mut runs, mut run, mut from, mut in_code) = (vec![], String::new(), 0, false);
    for (event, range) in events(text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(words) if !in_code => {
                if run.is_empty() {
                    from = range.start;
                }
                run.push_str(&words);
            }
            Event::Code(_) => {
                if run.is_empty() {
                    from = range.start;
                }
                run.push('`');
            }
            Event::SoftBreak | Event::HardBreak => run.push(' '),
            Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::Item | Tag::TableCell)
            | Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell) => {
                if !run.trim().is_empty() {
                    runs.push((line_at(text, from), std::mem::take(&mut run)));
                }
                run.clear();
            }
            _ => {}
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code_only() {
        let text = "[a](x.md#y) `[b](no.md)` ![c](../p.png)\n\n    [d](no.md)\n\n<https://e.org>\n";
        let found = links(text);
        let targets: Vec<&str> = found.iter().map(|link| link.target.as_str()).collect();
        assert_eq!(targets, ["x.md#y", "../p.png", "https://e.org"]);
        assert!(found.iter().all(|link| text[link.at.clone()] == link.target));
        assert_eq!(found[0].file(Path::new("docs/page.md")), Some((PathBuf::from("docs/x.md"), Some("y"))));
        assert_eq!(found[1].file(Path::new("docs/page.md")), Some((PathBuf::from("p.png"), None)));
        assert_eq!(found[2].file(Path::new("docs/page.md")), None);
    }

    #[test]
    fn anchors_are_those_of_github() {
        let text = "# `closeread compare RUN_A RUN_B`\n\n## Naive, and agentic\n\n## Naive, and agentic\n";
        assert_eq!(anchors(text), ["closeread-compare-run_a-run_b", "naive-and-agentic", "naive-and-agentic-1"]);
    }

    #[test]
    fn prose_is_what_is_neither_code_nor_marks() {
        let text = "# Head\n\nOne `x`\ntwo.\n\n| a | b |\n| --- | --- |\n| c | d |\n\n```\ncode\n```\n- e\n";
        let runs = prose(text);
        let words: Vec<&str> = runs.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words, ["Head", "One ` two.", "a", "b", "c", "d", "e"]);
        assert_eq!(runs[1].0, 3);
    }
}
