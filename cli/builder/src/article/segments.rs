//! Articles: wikitext, HTML or plain text, as segments by section.

use super::wikitext;
use anyhow::Result;
use closeread_books::html;
use closeread_books::html::Layout;
use closeread_build::sagascale::Segment;

/// The markup that an article is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArticleKind {
    /// Wikipedia's markup: headings between `==`.
    Wikitext,
    /// Headings from `h1` to `h6`.
    Html,
    /// Headings behind `#`, as in Markdown; without one the whole text is a segment.
    Text,
}

impl ArticleKind {
    /// Returns the kind by the ending of a file's name.
    pub(super) fn of_name(name: &str) -> Self {
        match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
            Some("wiki" | "wikitext" | "mediawiki") => Self::Wikitext,
            Some("html" | "htm" | "xhtml") => Self::Html,
            _ => Self::Text,
        }
    }
}

/// The sections of an article that have text, in its order.
///
/// # Errors
/// If the article is wikitext that cannot be read.
pub(super) fn segments(article: &str, kind: ArticleKind) -> Result<Vec<Segment>> {
    let article = article.replace("\r\n", "\n");
    let sections = match kind {
        ArticleKind::Wikitext => wikitext::sections(&article)?,
        ArticleKind::Html => without_edit_links(html::sections(&article, Layout::Page)),
        ArticleKind::Text => by_lines(&article),
    };
    let segments = sections.into_iter().map(|(heading, text)| Segment { heading, text });
    Ok(segments.filter(|segment| !segment.text.is_empty()).collect())
}

/// Removes links for editing where a saved page has lost the class that tells them from the heading that they stand in.
fn without_edit_links(mut sections: Vec<(String, String)>) -> Vec<(String, String)> {
    for (heading, _) in &mut sections {
        heading.truncate(heading.trim_end_matches("[edit]").trim_end().len());
    }
    sections
}

fn by_lines(text: &str) -> Vec<(String, String)> {
    let mut sections = vec![(String::new(), Vec::new())];
    for line in text.lines() {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            sections.push((heading.trim().to_owned(), Vec::new()));
        } else {
            sections.last_mut().expect("there is always one").1.push(line);
        }
    }
    sections.into_iter().map(|(heading, lines)| (heading, lines.join("\n").trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(article: &str, kind: ArticleKind) -> Vec<String> {
        let segments = segments(article, kind).unwrap().into_iter();
        segments.map(|segment| format!("{}: {}", segment.heading, segment.text.replace('\n', " | "))).collect()
    }

    #[test]
    fn articles_are_cut_at_their_headings() {
        let expected = ["Lead.", "Plot: Ana hides a key.", "End: Ben finds it."];
        let expected: Vec<String> =
            expected.iter().map(|s| if *s == "Lead." { ": Lead.".into() } else { (*s).into() }).collect();
        let wiki = "Lead.\n\n== Plot ==\n'''Ana''' hides a [[key (device)|key]].{{Citation needed|date={{date}}}}<ref>x</ref>\n=== End ===\n[[File:a.png|thumb|A [[key]]]]Ben finds it.\n== See also ==\n";
        assert_eq!(read(wiki, ArticleKind::Wikitext), expected);
        let html = "<html><head><title>T</title></head><body><p>Lead.</p><div class='mw-heading'><h2 id=a>Plot</h2><span class='mw-editsection'>[<a>edit</a>]</span></div><p>Ana hides a <a>key</a>.</p><h3>End</h3><p>Ben finds it.</p><h2>See also</h2></body></html>";
        assert_eq!(read(html, ArticleKind::Html), expected);
        let saved = "<html><head><title>T</title></head><body><p>Lead.</p><h2 id=a>Plot<span>[edit]</span></h2><p>Ana hides a <a>key</a>.</p><h3>End</h3><p>Ben finds it.</p><h2>See also</h2></body></html>";
        assert_eq!(read(saved, ArticleKind::Html), expected);
        let text = "Lead.\r\n\r\n# Plot\r\nAna hides a key.\n## End\nBen finds it.\n## See also";
        assert_eq!(read(text, ArticleKind::Text), expected);
        assert_eq!(read("#hashtag stays", ArticleKind::Text), [": #hashtag stays"]);
    }
}
