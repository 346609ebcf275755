//! Wikitext as plain text: what a reader of the page sees of its sentences.
//!
//! Templates, references, tables, files and categories are left out: what they say is not part of a section's sentences.
//! No crate fits; ARCHITECTURE.md says why.

use regex::Regex;
use std::sync::LazyLock;

/// The text of a page with its headings as they stand.
pub(super) fn plain(wikitext: &str) -> String {
    static LEFT_OUT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?is)<!--.*?-->|<ref\b[^>]*/>|<ref\b.*?</ref\s*>|<(gallery|math|timeline|imagemap)\b.*?</(gallery|math|timeline|imagemap)\s*>|__[A-Z]+__")
            .expect("a valid pattern")
    });
    static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"</?[a-zA-Z][^>]*>").expect("a valid pattern"));
    let text = LEFT_OUT.replace_all(wikitext, "");
    let text = without(&text, "{|", "|}");
    let text = without(&text, "{{", "}}");
    let text = linked(&text);
    let text = TAG.replace_all(&text, "");
    let lines = text.lines().map(|line| {
        let line = line.trim_start_matches(['*', '#', ':', ';']).trim();
        line.replace("'''''", "").replace("'''", "").replace("''", "").replace("&nbsp;", " ").replace("&ndash;", "–")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The heading that a line is, between equal signs.
pub(super) fn heading(line: &str) -> Option<String> {
    let line = line.trim();
    let inside = line.strip_prefix("==")?.strip_suffix("==")?;
    let heading = inside.trim_matches('=').trim();
    (!heading.is_empty()).then(|| heading.to_owned())
}

/// The text without what stands between `open` and `close`, one inside another included; what is never closed stays.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Where each open one begins in `out`.
    let mut starts = Vec::new();
    let mut rest = text;
    loop {
        let (next_open, next_close) = (rest.find(open), rest.find(close));
        let at = match (next_open, next_close) {
            (Some(a), Some(b)) => a.min(b),
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => break,
        };
        out.push_str(&rest[..at]);
        if next_open == Some(at) {
            starts.push(out.len());
            out.push_str(open);
            rest = &rest[at + open.len()..];
        } else {
            match starts.pop() {
                Some(start) => out.truncate(start),
                None => out.push_str(close),
            }
            rest = &rest[at + close.len()..];
        }
    }
    out.push_str(rest);
    out
}

/// Links as the words that they show; files, images and categories as nothing.
fn linked(text: &str) -> String {
    static EXTERNAL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\[(?:https?:)?//\S+(?: ([^\]]*))?\]").expect("a valid pattern"));
    let mut out = String::with_capacity(text.len());
    let mut starts: Vec<usize> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("[[").into_iter().chain(rest.find("]]")).min() {
        out.push_str(&rest[..at]);
        if rest[at..].starts_with("[[") {
            starts.push(out.len());
        } else if let Some(start) = starts.pop() {
            let link = out.split_off(start);
            let target = link.split('|').next().unwrap_or_default();
            let namespace = target.split_once(':').map(|(name, _)| name.trim().to_lowercase()).unwrap_or_default();
            let hidden = ["file", "image", "category", "文件", "图像", "分类", "檔案", "分類"];
            if !hidden.contains(&namespace.as_str()) {
                out.push_str(link.rsplit('|').next().unwrap_or_default());
            }
        }
        rest = &rest[at + 2..];
    }
    out.push_str(rest);
    EXTERNAL.replace_all(&out, "$1").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_sees_is_left() {
        for (wiki, text) in [
            ("'''''Ana''''' and ''Ben''", "Ana and Ben"),
            ("a {{x|{{y}}|z}}b", "a b"),
            ("a {{never closed", "a {{never closed"),
            ("{| class=x\n| a {{y}}\n|}after", "after"),
            ("[[Category:Novels]][[分类:小说]]x [http://a.b the page] [https://c.d]", "x the page"),
            ("* one\n** two", "one\ntwo"),
            ("a<ref name=b/> c<!-- d --><br />", "a c"),
        ] {
            assert_eq!(plain(wiki), text, "{wiki}");
        }
        assert_eq!(heading("=== The ''end'' === ").as_deref(), Some("The ''end''"));
        assert_eq!((heading("a == b"), heading("====")), (None, None));
    }
}
