//! HTML and XHTML as a reader sees them: chapters of EPUB, published stories, articles, documents, results of a search.
//!
//! Markup is cut by html5ever, so tags, entities and broken markup mean what they mean in a browser. Nothing here fails: what
//! cannot be understood is read as far as it goes.

mod attributes;
mod declared;
mod layout;
mod markup;
mod page;
mod quotes;
mod spans;
#[cfg(test)]
mod tests;

use html5ever::{Attribute, LocalName};
pub use layout::Layout;
use markup::{Piece, read};
pub use page::raised;
use page::{Page, heading_depth};

/// The text of `html`, without white space at its ends.
///
/// Left out is what is no part of the text or is not shown: the head, scripts, styles, navigation, links for editing,
/// numbers of notes in a wiki's articles, drawings, what is hidden, page numbers of the print edition, and the readings of
/// ruby. Raised digits and marks of notes behind or before a number stay raised, as in `10⁶` and `¹1,234`: they would make another one.
/// A quotation `<q>` has its marks, and what was inserted where something was deleted is a word of its own behind it.
pub fn to_text(html: &str, layout: Layout) -> String {
    let mut page = Page::new(layout);
    visible(html, |piece| page.push(piece));
    page.into_text()
}

/// The text of `html` by section: a heading and what follows it up to the next one, of any depth. What stands before the
/// first has an empty heading. Each text is as [`to_text`] gives it.
pub fn sections(html: &str, layout: Layout) -> Vec<(String, String)> {
    let (mut sections, mut heading) = (Vec::new(), String::new());
    let (mut page, mut is_heading) = (Page::new(layout), false);
    visible(html, |piece| {
        let begins = matches!(piece, Piece::Open { name, .. } if heading_depth(name).is_some());
        let ends = match piece {
            Piece::Open { name, .. } => begins || name == "p",
            Piece::Close { name } => heading_depth(name).is_some(),
            Piece::Text(_) => false,
        };
        if is_heading && ends {
            heading = std::mem::replace(&mut page, Page::new(layout)).into_text();
            is_heading = false;
        }
        if begins {
            let text = std::mem::replace(&mut page, Page::new(layout)).into_text();
            sections.push((std::mem::take(&mut heading), text));
            is_heading = true;
        } else {
            page.push(piece);
        }
    });
    sections.push(if is_heading { (page.into_text(), String::new()) } else { (heading, page.into_text()) });
    sections
}

/// Returns what a reader sees of a file that is a web page as a whole; `None` for every other text.
///
/// Only a document type or `<html>` at its start makes it one: a text with a tag in its first lines stays as it is.
pub fn whole_page(text: &str) -> Option<String> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let start = text[..text.floor_char_boundary(200)].to_ascii_lowercase();
    let declared = start.starts_with("<?xml") && start.contains("<html");
    (declared || ["<!doctype html", "<html"].iter().any(|tag| start.starts_with(tag)))
        .then(|| to_text(text, Layout::Page))
}

/// Returns what a reader sees of a text that may be a web page.
pub fn without_markup(text: &str) -> String {
    if is_page(text) { to_text(text, Layout::Page) } else { text.to_owned() }
}

/// True if the text is a web page rather than a plain text with the odd tag in it.
pub fn is_page(text: &str) -> bool {
    let head = text[..text.floor_char_boundary(2_000)].to_ascii_lowercase();
    ["<!doctype html", "<html", "<body", "<p>", "<p ", "<pre>"].iter().any(|tag| head.contains(tag))
}

/// The words of a drawing (SVG): a line for each `<text>`, and for each part of one that has a place of its own.
pub fn drawn(svg: &str) -> String {
    let (mut lines, mut depth) = (vec![String::new()], 0_usize);
    read(svg, |piece| match piece {
        Piece::Open { name: "text", empty: false, .. } => {
            depth += 1;
            lines.push(String::new());
        }
        Piece::Open { name: "tspan", attributes, .. } if begins_line(attributes) => lines.push(String::new()),
        Piece::Close { name: "text" } => depth = depth.saturating_sub(1),
        Piece::Text(text) if depth > 0 => lines.last_mut().into_iter().for_each(|line| line.push_str(text)),
        _ => {}
    });
    let words = lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    words.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn begins_line(attributes: &[Attribute]) -> bool {
    let has = |name: &str| attributes.iter().any(|attribute| &*attribute.name.local == name);
    has("y") || has("x") && has("dy")
}

/// Hands on the pieces that a reader sees.
fn visible(html: &str, mut each: impl FnMut(Piece<'_>)) {
    // Names of the elements that are open within one that is left out, that one first.
    let mut left_out: Vec<LocalName> = Vec::new();
    let mut is_blank = true;
    read(html, |piece| {
        match piece {
            Piece::Open { name, .. } if left_out.first().is_some_and(|out| ends_before(out, name)) => left_out.clear(),
            Piece::Close { name } if !left_out.is_empty() => match left_out.iter().rposition(|open| &**open == name) {
                Some(idx) => return left_out.truncate(idx),
                // What ends is around the element that is left out, whose own end tag is missing.
                None => left_out.clear(),
            },
            _ => {}
        }
        let is_out = match piece {
            Piece::Open { name, attributes, .. } => !left_out.is_empty() || is_left_out(name, attributes, is_blank),
            _ => !left_out.is_empty(),
        };
        match piece {
            Piece::Open { name, empty: false, .. } if is_out && !is_void(name) => left_out.push(LocalName::from(name)),
            _ if is_out => {}
            _ => {
                is_blank &= !matches!(piece, Piece::Text(text) if !text.trim().is_empty());
                each(piece);
            }
        }
    });
}

/// True if an element is left out, its content included. A title before all text is the document's, not one of the text.
fn is_left_out(name: &str, attributes: &[Attribute], is_blank: bool) -> bool {
    match name {
        "head" | "script" | "style" | "nav" | "template" | "svg" | "audio" | "video" | "iframe" | "noembed"
        | "noframes" | "rt" | "rp" | "annotation" | "pagenum" => return true,
        "title" => return is_blank,
        "html" | "body" => return false,
        _ => {}
    }
    attributes.iter().any(|attribute| {
        let has = |word: &str| attribute.value.split_ascii_whitespace().any(|known| known == word);
        match &*attribute.name.local {
            "hidden" => true,
            "style" => attribute.value.replace(char::is_whitespace, "").contains("display:none"),
            "epub:type" => has("pagebreak"),
            "role" => has("doc-pagebreak") || has("navigation"),
            "class" => has("pagenum") || has("pageno") || has("mw-editsection") || name == "sup" && has("reference"),
            _ => false,
        }
    })
}

/// True if an element that is left out ends where an element called `name` begins: tags that HTML lets one leave away.
fn ends_before(left_out: &str, name: &str) -> bool {
    match left_out {
        "head" => !matches!(
            name,
            "base"
                | "basefont"
                | "bgsound"
                | "link"
                | "meta"
                | "noscript"
                | "object"
                | "script"
                | "style"
                | "template"
                | "title"
        ),
        "rt" | "rp" => matches!(name, "rb" | "rt" | "rp" | "rtc"),
        _ => false,
    }
}

/// True for an element that has no content.
fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}
