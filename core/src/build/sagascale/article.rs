//! Articles: wikitext, HTML or plain text, as segments by section.

use super::wikitext;
use crate::benchmark::source::html::to_text;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A section of an article.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Its heading; empty for what stands before the first.
    pub heading: String,
    /// Its text, without those of its subsections, which are segments of their own.
    pub text: String,
}

/// How an article is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArticleKind {
    /// Wikipedia's markup: headings between `==`.
    Wikitext,
    /// Headings from `h1` to `h6`.
    Html,
    /// Headings behind `#`, as in Markdown; without one the whole text is a segment.
    Text,
}

impl ArticleKind {
    /// By the ending of a file's name.
    pub fn of_name(name: &str) -> Self {
        match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
            Some("wiki" | "wikitext" | "mediawiki") => Self::Wikitext,
            Some("html" | "htm" | "xhtml") => Self::Html,
            _ => Self::Text,
        }
    }
}

/// The sections of an article that have text, in its order.
pub fn segments(article: &str, kind: ArticleKind) -> Vec<Segment> {
    let article = article.replace("\r\n", "\n");
    let sections = match kind {
        ArticleKind::Wikitext => by_lines(&wikitext::plain(&article), wikitext::heading),
        ArticleKind::Html => by_tags(&article),
        ArticleKind::Text => by_lines(&article, |line| {
            let heading = line.trim_start_matches('#');
            let is_heading = heading.len() < line.len() && heading.starts_with(' ');
            is_heading.then(|| heading.trim().to_owned())
        }),
    };
    sections.into_iter().filter(|segment| !segment.text.is_empty()).collect()
}

fn by_lines(text: &str, heading: impl Fn(&str) -> Option<String>) -> Vec<Segment> {
    let mut sections = vec![(String::new(), Vec::new())];
    for line in text.lines() {
        match heading(line) {
            Some(heading) => sections.push((heading, Vec::new())),
            None => sections.last_mut().expect("there is always one").1.push(line),
        }
    }
    let of = |(heading, lines): (String, Vec<&str>)| Segment { heading, text: lines.join("\n").trim().to_owned() };
    sections.into_iter().map(of).collect()
}

fn by_tags(page: &str) -> Vec<Segment> {
    static HEADING: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?is)<h[1-6]\b[^>]*>(.*?)</h[1-6]\s*>").expect("a valid pattern"));
    let mut sections = Vec::new();
    let (mut heading, mut start) = (String::new(), 0);
    for found in HEADING.captures_iter(page) {
        let whole = found.get(0).expect("a match has a whole");
        sections.push(Segment { heading, text: to_text(&page[start..whole.start()]) });
        heading = to_text(&found[1]).trim_end_matches("[edit]").trim().to_owned();
        start = whole.end();
    }
    sections.push(Segment { heading, text: to_text(&page[start..]) });
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(article: &str, kind: ArticleKind) -> Vec<String> {
        segments(article, kind).into_iter().map(|s| format!("{}: {}", s.heading, s.text.replace('\n', " | "))).collect()
    }

    #[test]
    fn articles_are_cut_at_their_headings() {
        let expected = ["Lead.", "Plot: Ana hides a key.", "End: Ben finds it."];
        let expected: Vec<String> =
            expected.iter().map(|s| if *s == "Lead." { ": Lead.".into() } else { (*s).into() }).collect();
        let wiki = "Lead.\n\n== Plot ==\n'''Ana''' hides a [[key (device)|key]].{{Citation needed|date={{date}}}}<ref>x</ref>\n=== End ===\n[[File:a.png|thumb|A [[key]]]]Ben finds it.\n== See also ==\n";
        assert_eq!(read(wiki, ArticleKind::Wikitext), expected);
        let html = "<html><head><title>T</title></head><body><p>Lead.</p><h2 id=a>Plot<span>[edit]</span></h2><p>Ana hides a <a>key</a>.</p><h3>End</h3><p>Ben finds it.</p><h2>See also</h2></body></html>";
        assert_eq!(read(html, ArticleKind::Html), expected);
        let text = "Lead.\r\n\r\n# Plot\r\nAna hides a key.\n## End\nBen finds it.\n## See also";
        assert_eq!(read(text, ArticleKind::Text), expected);
        assert_eq!(read("#hashtag stays", ArticleKind::Text), [": #hashtag stays"]);
    }
}
