//! The text of an XHTML document, as a reader sees it.

use encoding_rs::WINDOWS_1252;
use quick_xml::escape::resolve_html5_entity;

/// The text of `html`: paragraphs, headings and other blocks separated by a blank line; list items, table rows and `<br>`
/// by a line feed; table cells by a tab.
///
/// White space is one space, except in `<pre>`; inline tags neither add nor take any. Left out: the head, scripts,
/// styles, navigation, drawings, page numbers of the print edition and the readings of ruby. Broken markup is read as
/// far as it goes: this never fails.
pub(super) fn html_to_text(html: &str) -> String {
    let mut text = Text::default();
    let mut skipping: Option<Skipped> = None;
    for token in Tokens(html) {
        match token {
            Token::Open { name, attributes, empty } => {
                if let Some(skipped) = &mut skipping {
                    skipped.depth += usize::from(!empty && name == skipped.name);
                } else if is_skipped(&name, attributes) {
                    skipping = (!empty && !is_void(&name)).then_some(Skipped { name, depth: 1 });
                } else {
                    text.open(&name, empty);
                }
            }
            Token::Close { name } => match &mut skipping {
                Some(skipped) if skipped.name == name => {
                    skipped.depth -= 1;
                    if skipped.depth == 0 {
                        skipping = None;
                    }
                }
                Some(_) => {}
                None => text.close(&name),
            },
            Token::Text(raw) if skipping.is_none() => text.push_escaped(raw),
            Token::Data(raw) if skipping.is_none() => raw.chars().for_each(|c| text.push(c)),
            Token::Text(_) | Token::Data(_) => {}
        }
    }
    text.out.truncate(text.out.trim_end().len());
    text.out
}

/// An element whose content is left out, and how often its name is open.
struct Skipped {
    name: String,
    depth: usize,
}

fn is_skipped(name: &str, attributes: &str) -> bool {
    matches!(
        name,
        "head" | "script" | "style" | "nav" | "template" | "svg" | "audio" | "video" | "iframe" | "rt" | "rp"
    ) || attributes.contains("pagebreak")
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area" | "base" | "br" | "col" | "embed" | "hr" | "img" | "input" | "link" | "meta" | "source" | "wbr"
    )
}

/// Line feeds around an element: two make a paragraph.
fn breaks_around(name: &str) -> usize {
    match name {
        "p" | "div" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "section" | "article" | "aside" | "header"
        | "footer" | "main" | "blockquote" | "figure" | "figcaption" | "ul" | "ol" | "dl" | "table" | "address"
        | "hr" | "pre" | "body" | "hgroup" | "details" | "summary" | "center" | "form" | "fieldset" => 2,
        "li" | "dt" | "dd" | "tr" | "caption" => 1,
        _ => 0,
    }
}

/// The text so far, and what must come before the next visible character.
#[derive(Default)]
struct Text {
    out: String,
    breaks: usize,
    space: bool,
    /// `<pre>` elements that are open.
    preformatted: usize,
}

impl Text {
    fn open(&mut self, name: &str, empty: bool) {
        match name {
            "br" => self.breaks = (self.breaks + 1).min(2),
            "td" | "th" if self.breaks == 0 && !self.out.is_empty() => {
                self.out.push('\t');
                self.space = false;
            }
            _ => self.breaks = self.breaks.max(breaks_around(name)),
        }
        self.preformatted += usize::from(name == "pre" && !empty);
    }

    fn close(&mut self, name: &str) {
        self.breaks = self.breaks.max(breaks_around(name));
        if name == "pre" {
            self.preformatted = self.preformatted.saturating_sub(1);
        }
    }

    /// Appends text in which entities stand for characters.
    fn push_escaped(&mut self, raw: &str) {
        let mut rest = raw;
        while let Some(at) = rest.find('&') {
            rest[..at].chars().for_each(|c| self.push(c));
            rest = &rest[at..];
            match entity(rest) {
                Some((value, n_bytes)) => {
                    value.chars().for_each(|c| self.push(c));
                    rest = &rest[n_bytes..];
                }
                None => {
                    self.push('&');
                    rest = &rest[1..];
                }
            }
        }
        rest.chars().for_each(|c| self.push(c));
    }

    fn push(&mut self, c: char) {
        let is_space = matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C');
        if is_space && self.preformatted == 0 {
            self.space = true;
            return;
        }
        if self.breaks > 0 {
            self.out.truncate(self.out.trim_end_matches([' ', '\t']).len());
            if !self.out.is_empty() {
                (0..self.breaks).for_each(|_| self.out.push('\n'));
            }
            self.breaks = 0;
        } else if self.space && !self.out.is_empty() && !self.out.ends_with(['\n', '\t']) {
            self.out.push(' ');
        }
        self.space = false;
        if c != '\r' {
            self.out.push(c);
        }
    }
}

/// What the entity at the start of `text` stands for, and its length in bytes.
fn entity(text: &str) -> Option<(String, usize)> {
    const LONGEST: usize = 40;
    let end = text.bytes().take(LONGEST).position(|b| b == b';')?;
    let name = &text[1..end];
    let value = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            numbered(code.ok()?)?.to_string()
        }
        None => resolve_html5_entity(name)?.to_owned(),
    };
    Some((value, end + 1))
}

/// The character of a numeric reference. As HTML prescribes, 128 to 159 mean what windows-1252 has there.
fn numbered(code: u32) -> Option<char> {
    match code {
        0 => None,
        128..=159 => {
            let byte = u8::try_from(code).expect("at most 159");
            WINDOWS_1252.decode_without_bom_handling(&[byte]).0.chars().next()
        }
        _ => char::from_u32(code),
    }
}

/// A piece of markup.
enum Token<'h> {
    Open {
        name: String,
        attributes: &'h str,
        empty: bool,
    },
    Close {
        name: String,
    },
    /// Text with entities.
    Text(&'h str),
    /// Text as it stands: a CDATA section.
    Data(&'h str),
}

/// Cuts markup into tokens; holds what is left.
struct Tokens<'h>(&'h str);

impl<'h> Iterator for Tokens<'h> {
    type Item = Token<'h>;

    fn next(&mut self) -> Option<Token<'h>> {
        loop {
            let html = self.0;
            let first = html.chars().next()?;
            if first != '<' {
                return Some(Token::Text(self.take(html.find('<').unwrap_or(html.len()))));
            }
            if html.starts_with("<!--") {
                self.take_past("-->", 4);
            } else if html.starts_with("<![CDATA[") {
                let data = self.take_past("]]>", 9);
                return Some(Token::Data(data.strip_suffix("]]>").unwrap_or(data).get(9..).unwrap_or_default()));
            } else if html.starts_with("<?") {
                self.take_past("?>", 2);
            } else if html.starts_with("<!") {
                // A document type may hold declarations of its own in brackets.
                let end = html.find(['>', '[']).filter(|&i| html.as_bytes()[i] == b'[');
                self.take_past(if end.is_some() { "]>" } else { ">" }, 2);
            } else if html[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
                return Some(self.tag());
            } else {
                return Some(Token::Text(self.take(1)));
            }
        }
    }
}

impl<'h> Tokens<'h> {
    fn take(&mut self, n_bytes: usize) -> &'h str {
        let (taken, rest) = self.0.split_at(n_bytes);
        self.0 = rest;
        taken
    }

    /// Takes everything up to and with `end`, searched from byte `from`; all that is left if it does not come.
    fn take_past(&mut self, end: &str, from: usize) -> &'h str {
        let n_bytes = self.0.get(from..).and_then(|rest| rest.find(end)).map_or(self.0.len(), |i| from + i + end.len());
        self.take(n_bytes)
    }

    /// Takes the tag that begins here; a script or style goes with all its content.
    fn tag(&mut self) -> Token<'h> {
        let mut quote = None;
        let end = self.0.char_indices().find(|&(_, c)| match (quote, c) {
            (Some(open), c) => {
                quote = (c != open).then_some(open);
                false
            }
            (None, '"' | '\'') => {
                quote = Some(c);
                false
            }
            (None, c) => c == '>',
        });
        let tag = self.take(end.map_or(self.0.len(), |(i, _)| i + 1));
        let inner = tag[1..].trim_end_matches('>');
        let (inner, closing) = inner.strip_prefix('/').map_or((inner, false), |rest| (rest, true));
        let empty = inner.ends_with('/');
        let name_end = inner.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(inner.len());
        let name = inner[..name_end].to_ascii_lowercase();
        if closing {
            return Token::Close { name };
        }
        if !empty && matches!(name.as_str(), "script" | "style") {
            let close = format!("</{name}");
            let n_bytes = self.0.to_ascii_lowercase().find(&close).unwrap_or(self.0.len());
            self.take(n_bytes);
        }
        Token::Open { name, attributes: &inner[name_end..], empty }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, text: &str) {
        assert_eq!(html_to_text(html), text, "{html}");
    }

    #[test]
    fn blocks_are_paragraphs() {
        check("<h1>I</h1><p>One.</p>\n  <p>Two.</p><div><div>Three.</div></div>", "I\n\nOne.\n\nTwo.\n\nThree.");
        check("<ul><li>a</li><li>b</li></ul>after", "a\nb\n\nafter");
        check("<table><tr><td>1</td><td>2</td></tr><tr><th>3</th><td>4</td></tr></table>", "1\t2\n3\t4");
    }

    #[test]
    fn inline_tags_neither_add_nor_take_spaces() {
        check("<p>un<em>believ</em>able, <b>quite</b> <i>so</i>!</p>", "unbelievable, quite so!");
        check("<p>\n  a<span> b </span>\n  c </p>", "a b c");
        check("<p>the <a href=\"x>y\">a</a>, b</p>", "the a, b");
    }

    #[test]
    fn line_breaks_break_lines() {
        check("<p>one<br/>two<br>\n  three</p><p>four<br/><br/>five</p>", "one\ntwo\nthree\n\nfour\n\nfive");
        check("<pre>a  b\n  c</pre>", "a  b\n  c");
    }

    #[test]
    fn entities_are_characters() {
        check(
            "<p>Caf&eacute; &amp; &#8220;th&#xe9;&#x201D;&nbsp;&mdash; it&#146;s &lt;b&gt; AT&T &unknown; &#0;</p>",
            "Café & “thé”\u{A0}— it’s <b> AT&T &unknown; &#0;",
        );
        check("<p>&</p>", "&");
    }

    #[test]
    fn what_is_not_read_is_left_out() {
        check(
            "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY x \"<y>\">]><html><head><title>T</title></head><body>\
            <script>if (a < b) { \"<p>no</p>\" }</script><style>p > a {}</style><!-- <p>no</p> --><nav><ol><li>no</li></ol></nav>\
            <p>yes</p></body></html>",
            "yes",
        );
        check("<p>a<script/>b<svg><text>no</text></svg>c</p>", "abc");
        check("<p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby></p>", "漢字");
        check("<p>the <span epub:type=\"pagebreak\" id=\"p12\">12</span>end</p>", "the end");
    }

    #[test]
    fn broken_markup_is_read_as_far_as_it_goes() {
        check("<p>a < b, 1<2 <b>bold", "a < b, 1<2 bold");
        check("<p>open <a href=\"", "open");
        check("text <!-- never closed", "text");
        check("<![CDATA[raw & <b>]]> text", "raw & <b> text");
        check("<![CDATA[", "");
        check("", "");
    }
}
