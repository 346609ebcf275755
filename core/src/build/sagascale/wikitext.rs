//! Wikitext as plain text: what a reader of the page sees of its sentences.
//!
//! Templates, references, tables, files and categories are left out: what they say is not part of a section's sentences.
//! No crate fits; ARCHITECTURE.md says why. Tags and entities are HTML's.

use crate::text::html::{Layout, to_text};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The text of a page with its headings as they stand.
pub(super) fn plain(wikitext: &str) -> String {
    const ELEMENTS: &str = "ref|references|gallery|math|chem|ce|hiero|score|timeline|imagemap|graph|mapframe|maplink|\
        indicator|includeonly|templatestyles";
    static LEFT_OUT: LazyLock<Regex> = LazyLock::new(|| {
        let closed = |name: &str| format!(r"|<{name}(?:\s[^>]*)?>.*?</{name}\s*>");
        let closed: String = ELEMENTS.split('|').map(closed).collect();
        let pattern = format!(r"(?is)<!--.*?(?:-->|\z)|__[A-Z]+__|<(?:{ELEMENTS})(?:\s[^>]*)?/>{closed}");
        Regex::new(&pattern).expect("a valid pattern")
    });
    static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"</?[a-zA-Z][^<>]*>").expect("a valid pattern"));
    static NOTHING_IN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r" \([\s;,]*\)|（[\s；，、]*）").expect("a valid pattern"));
    let text = LEFT_OUT.replace_all(&literal(wikitext), "").into_owned();
    let text = without_tables(&without_templates(&text));
    let text = linked(&converted(&text));
    let text = TAG.replace_all(&text, |tag: &Captures<'_>| tag[0].replace('\n', " "));
    let lines = text.lines().map(|line| {
        let line = match line.trim_start_matches('-') {
            rest if line.len() - rest.len() >= 4 => rest,
            _ => line.trim_start_matches(['*', '#', ':', ';']),
        };
        let line = line.replace("'''''", "").replace("'''", "").replace("''", "");
        to_text(&NOTHING_IN.replace_all(&line, ""), Layout::Page)
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

/// The text with the marks in `<nowiki>` as numeric references, so that they mean nothing.
fn literal(text: &str) -> String {
    static NOWIKI: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?is)<nowiki>(.*?)</nowiki>|<nowiki\s*/>").expect("a valid pattern"));
    let coded = |c: char| match c {
        '[' | ']' | '{' | '}' | '|' | '\'' | '<' | '*' | ':' | '=' | '-' | '_' => format!("&#{};", u32::from(c)),
        c => c.to_string(),
    };
    // An empty one parts quotation marks; its tag goes with all others.
    let inside = |found: &Captures<'_>| match found.get(1) {
        Some(inside) => inside.as_str().chars().map(coded).collect::<String>(),
        None => found[0].to_owned(),
    };
    NOWIKI.replace_all(text, inside).into_owned()
}

/// The text without what stands between double braces, one inside another included; what is never closed stays.
fn without_templates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Where each open one begins in `out`.
    let mut starts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("}}")).min() {
        out.push_str(&rest[..at]);
        if rest[at..].starts_with('{') {
            starts.push(out.len());
            out.push_str("{{");
        } else if let Some(start) = starts.pop() {
            out.truncate(start);
        } else {
            out.push_str("}}");
        }
        rest = &rest[at + 2..];
    }
    out + rest
}

/// The text without tables, which begin and end at the beginning of a line; what is never closed stays.
fn without_tables(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut starts = Vec::new();
    for line in text.lines() {
        let inside = line.trim_start_matches([':', '*', '#', ' ', '\t']);
        if inside.starts_with("{|") {
            starts.push(lines.len());
        } else if let (Some(rest), Some(start)) = (inside.strip_prefix("|}"), starts.last()) {
            lines.truncate(*start);
            lines.push(rest);
            starts.pop();
            continue;
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// Chinese pages: of the words that differ by region those in simplified characters, else the first.
fn converted(text: &str) -> String {
    static MARKED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"-\{([^{}]*)\}-").expect("a valid pattern"));
    MARKED
        .replace_all(text, |found: &Captures<'_>| {
            let is_flag = |c: char| c.is_ascii_uppercase() || matches!(c, '+' | '-' | ';');
            let flagged = found[1].split_once('|').filter(|(flags, _)| flags.chars().all(is_flag));
            let (flags, words) = flagged.unwrap_or(("", &found[1]));
            if flags.contains(['H', 'T', '-']) {
                return String::new();
            }
            let rules: Vec<(&str, &str)> = words
                .split(';')
                .filter_map(|rule| rule.split_once(':'))
                .filter(|(code, _)| code.trim().starts_with("zh"))
                .collect();
            let of = |region: &str| rules.iter().find(|(code, _)| code.trim() == region);
            let chosen = ["zh-hans", "zh-cn", "zh"].iter().find_map(|region| of(region)).or(rules.first());
            chosen.map_or(words, |(_, word)| word).to_owned()
        })
        .into_owned()
}

/// Links as the words that they show; files, categories and the page in other languages as nothing.
fn linked(text: &str) -> String {
    static EXTERNAL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\[(?:(?:https?|ftp):)?//\S+?(?:\s+([^\]\n]*))?\]").expect("a valid pattern"));
    let mut out = String::with_capacity(text.len());
    let mut starts: Vec<usize> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("[[").into_iter().chain(rest.find("]]")).min() {
        out.push_str(&rest[..at]);
        if rest[at..].starts_with("[[") {
            starts.push(out.len());
        } else if let Some(start) = starts.pop() {
            let link = out.split_off(start);
            let (target, shown) = link.split_once('|').unwrap_or((&link, link.trim_start_matches([':', ' '])));
            if !is_hidden(target) {
                out.push_str(shown);
            }
        }
        rest = &rest[at + 2..];
    }
    out.push_str(rest);
    EXTERNAL.replace_all(&out, "$1").into_owned()
}

/// True if a link to `target` is not shown where it stands. A colon before it makes it a link like any other.
fn is_hidden(target: &str) -> bool {
    static FILE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\.(?:jpe?g|png|gif|svg|tiff?|webp|xcf|og[agv]|web[mp]|mp[34]|wav|flac|midi?|pdf|djvu)\s*$")
            .expect("a valid pattern")
    });
    const HIDDEN: &str = "file image category 文件 图像 分类 檔案 圖像 分類 ファイル 画像 カテゴリ 파일 분류 файл категория datei \
        kategorie kategoria fichier catégorie categorie archivo categoría categoria";
    let Some((namespace, name)) = target.split_once(':') else { return false };
    let namespace = namespace.trim();
    let language = namespace.strip_prefix("zh-").unwrap_or(namespace);
    let is_language = matches!(language.len(), 2 | 3) && language.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_file = !namespace.is_empty() && FILE.is_match(name);
    is_file || is_language || HIDDEN.split(' ').any(|hidden| hidden == namespace.to_lowercase())
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
            ("Ana ({{lang-el|x}}; {{ipa}}) was late（{{x}}）, f()", "Ana was late, f()"),
            ("{| class=x\n| a {{y|}}\n:{|\n| b\n|}\n|-\n|}after", "after"),
            ("{|\n| never closed", "{|\n| never closed"),
            ("[[Category:Novels]][[分类:小说]]x [http://a.b the page] [https://c.d][//e.f g]", "x the page g"),
            ("[[File:a.png|thumb|[[A]] and [[B|b]].]]x[[Bestand:c d.JPG|left]][[:File:e.png]]", "xFile:e.png"),
            ("[[A|B]]s [[C (novel)#D|C]], [[:Category:E]] [[de:F]][[zh-yue:G]][[wikt:h|h]]", "Bs C, Category:E h"),
            ("* one\n** two\n:: three\n----\n---- four\n; five", "one\ntwo\nthree\n\nfour\nfive"),
            ("a<ref name=b/> c<!-- d --><br />e<ref group=\"f\">{{g}}</ref>.", "a c\ne."),
            ("<gallery mode=x>\nA.jpg|b\n</gallery>c<mapframe x />d <references />", "cd"),
            ("<nowiki>[[a]] ''b'' {{c}} &amp; <d></nowiki>, ''<nowiki/>''e", "[[a]] ''b'' {{c}} & <d>, e"),
            ("a&nbsp;b 1&ndash;2 &eacute; <span\nclass='c'>d</span> 1 < 2", "a b 1–2 é d 1 < 2"),
            (
                "-{zh-hant:電腦;zh-hans:计算机}-和-{文字}-，-{H|zh-cn:a;zh-tw:b}--{A|zh-tw:她;zh-hk:佢}-",
                "计算机和文字，她",
            ),
        ] {
            assert_eq!(plain(wiki), text, "{wiki}");
        }
        assert_eq!(heading(&plain("== The ''end'' ==<!-- c -->")).as_deref(), Some("The end"));
        assert_eq!((heading("a == b"), heading("====")), (None, None));
    }
}
