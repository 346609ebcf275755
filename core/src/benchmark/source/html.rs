//! Stories that are published as web pages.

/// True if the text is a web page rather than a plain text with the odd tag in it.
pub(in crate::benchmark) fn is_page(text: &str) -> bool {
    let mut end = text.len().min(2_000);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text[..end].to_ascii_lowercase();
    ["<!doctype html", "<html", "<body", "<p>", "<p ", "<pre>"].iter().any(|tag| head.contains(tag))
}

/// The text of a page: paragraphs parted by a blank line, `<br>` as a line end, other tags left out, entities
/// decoded. White space inside a paragraph is one space, except in `<pre>`. Comments, scripts, styles and the head
/// are left out.
pub(crate) fn to_text(page: &str) -> String {
    written(page, Text::default())
}

/// The same as Markdown, as far as it matters for figures: a row of a table is a line of cells between bars, a heading stands
/// behind `#`.
pub(crate) fn to_markdown(page: &str) -> String {
    written(page, Text { is_markdown: true, ..Text::default() })
}

fn written(page: &str, mut out: Text) -> String {
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        out.push(&rest[..at]);
        rest = &rest[at..];
        match tag(rest) {
            Some((name, is_end, n_bytes)) => {
                rest = &rest[n_bytes..];
                if !is_end && matches!(name.as_str(), "script" | "style" | "head") {
                    rest = behind(rest, &name);
                }
                out.tag(&name, is_end);
            }
            None => {
                out.push("<");
                rest = &rest[1..];
            }
        }
    }
    out.push(rest);
    out.text.truncate(out.text.trim_end().len());
    out.text
}

/// Name, whether it closes, and length of the tag, comment or declaration at the start of `text`.
fn tag(text: &str) -> Option<(String, bool, usize)> {
    if text.starts_with("<!--") {
        return Some((String::new(), false, text.find("-->").map_or(text.len(), |at| at + 3)));
    }
    let is_end = text[1..].starts_with('/');
    let name = &text[1 + usize::from(is_end)..];
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
        return None;
    }
    let n_bytes = text.find('>')? + 1;
    let name: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
    Some((name.to_ascii_lowercase(), is_end, n_bytes))
}

/// What follows the end tag of the element whose start tag was just read; all of it if it is never closed.
fn behind<'t>(text: &'t str, name: &str) -> &'t str {
    let close = format!("</{name}");
    let at = text.to_ascii_lowercase().find(&close);
    at.and_then(|at| text[at..].find('>').map(|end| &text[at + end + 1..])).unwrap_or(text)
}

#[derive(Default)]
struct Text {
    text: String,
    /// Line ends due before the next word.
    n_line_ends: usize,
    is_space_due: bool,
    is_pre: bool,
    is_markdown: bool,
}

impl Text {
    fn tag(&mut self, name: &str, is_end: bool) {
        if self.is_markdown && !is_end {
            self.mark(name);
        }
        match name {
            "br" if self.is_pre => self.text.push('\n'),
            "br" => self.n_line_ends = self.n_line_ends.max(1),
            "td" | "th" => self.is_space_due = true,
            "tr" | "li" | "dt" | "dd" | "option" => self.n_line_ends = self.n_line_ends.max(1),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if self.is_markdown && !is_end => {}
            "p" | "div" if self.is_markdown && self.in_cell() => self.is_space_due = true,
            "p" | "div" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "hr" | "blockquote" | "pre" | "table" | "ul"
            | "ol" | "dl" | "section" | "article" | "header" | "footer" | "center" | "body" | "title" => {
                self.n_line_ends = 2
            }
            _ => {}
        }
        if name == "pre" {
            self.is_pre = !is_end;
        }
    }

    /// The line is a row of a table that has begun.
    fn in_cell(&self) -> bool {
        self.n_line_ends == 0 && self.text.rsplit('\n').next().is_some_and(|line| line.starts_with('|'))
    }

    /// The mark of Markdown that an element begins with.
    fn mark(&mut self, name: &str) {
        match name {
            "td" | "th" => {
                self.break_line();
                self.text.push_str(if self.text.is_empty() || self.text.ends_with('\n') { "|" } else { " |" });
                self.is_space_due = true;
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.n_line_ends = 2;
                self.break_line();
                let depth = name[1..].parse().unwrap_or(1);
                self.text.extend(std::iter::repeat_n('#', depth));
                self.is_space_due = true;
            }
            _ => {}
        }
    }

    fn push(&mut self, raw: &str) {
        let decoded = decode_entities(raw);
        if self.is_pre {
            if !decoded.trim().is_empty() {
                self.break_line();
            }
            self.text.push_str(&decoded);
            return;
        }
        for c in decoded.chars() {
            if c.is_whitespace() {
                self.is_space_due = true;
                continue;
            }
            self.break_line();
            if self.is_space_due && !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.is_space_due = false;
            self.text.push(c);
        }
    }

    fn break_line(&mut self) {
        if self.n_line_ends > 0 {
            self.text.truncate(self.text.trim_end().len());
            if !self.text.is_empty() {
                self.text.extend(std::iter::repeat_n('\n', self.n_line_ends));
            }
            (self.n_line_ends, self.is_space_due) = (0, false);
        }
    }
}

fn decode_entities(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest[1..].split_once(';').map(|(name, _)| name).filter(|name| name.len() <= 8);
        match name.and_then(|name| Some((name, entity(name)?))) {
            Some((name, c)) => {
                text.push(c);
                rest = &rest[name.len() + 2..];
            }
            None => {
                text.push('&');
                rest = &rest[1..];
            }
        }
    }
    text + rest
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        // Browsers read these numbers as Windows-1252, and so did who wrote them.
        return match code {
            0x80..=0x9f => encoding_rs::WINDOWS_1252.decode(&[code as u8]).0.chars().next(),
            code => char::from_u32(code),
        };
    }
    let other = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "bull" => '•',
        "dagger" => '†',
        "trade" => '™',
        "euro" => '€',
        "oelig" => 'œ',
        "OElig" => 'Œ',
        _ => {
            let code = LATIN_1.split(' ').position(|known| known == name)?;
            return char::from_u32(0xa0 + u32::try_from(code).ok()?);
        }
    };
    Some(other)
}

/// The names of U+00A0 to U+00FF in order (HTML 4.01, section 24.2.1).
const LATIN_1: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn \
sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml \
Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times \
Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute \
ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml \
yacute thorn yuml";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expected: &str) {
        assert_eq!(to_text(page), expected, "{page}");
    }

    #[test]
    fn a_page_becomes_its_paragraphs() {
        check(
            "<!DOCTYPE html\n  \"x\">\n<html lang=\"en\">\n <head><title>No</title></head><h1>\n  THE MILL\n </h1>\n<hr class=\"chap\"/>\n<p>\n By\n <br/>\n ANA\n</p>\n<p>It was <i>very</i>\nlate.</p></html>",
            "THE MILL\n\nBy\nANA\n\nIt was very late.",
        );
        check("<p>a</p><!-- <p>b</p> --><script>if (1 < 2) x</script><p>c", "a\n\nc");
        check("<p>x</p><pre>  INT. ROOM\n\n   <b>ANA</b>\n</pre><p>y  z", "x\n\n  INT. ROOM\n\n   ANA\n\ny z");
        check("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc");
    }

    #[test]
    fn tables_and_headings_stay_what_they_are_in_markdown() {
        let page = "<h2>Sales</h2><table><tr><th>Year</th><th><p>USD</p></th></tr><tr><td>2024</td><td> 1,200 </td></tr></table><p>End";
        assert_eq!(to_markdown(page), "## Sales\n\n| Year | USD\n| 2024 | 1,200\n\nEnd");
    }

    #[test]
    fn entities_are_decoded_and_stray_signs_stay() {
        check("caf&eacute; &amp;amp; &lt;b&gt; &#8212;&#x2014;&#151;", "café &amp; <b> ———");
        check("a &yuml;&nbsp;b &unknown; R&D; 1 < 2 & 3", "a ÿ b &unknown; R&D; 1 < 2 & 3");
        check("a <", "a <");
        check("", "");
    }

    #[test]
    fn pages_are_told_from_plain_texts() {
        assert!(is_page("\n<!DOCTYPE HTML PUBLIC \"x\">"));
        assert!(is_page("<p>a</p>"));
        assert!(!is_page("<!-- $Id: header.txt -->\n\nA story with <i>one</i> tag."));
        assert!(!is_page(""));
        assert!(!is_page(&"é".repeat(1_500)));
    }
}
