//! Wikitext by section: what a reader of the page sees of its sentences.
//!
//! parse-wiki-text-2 reads it. Its tree is handed on as HTML, whose reader knows blocks, entities and white space. Templates,
//! references, tables, files and categories are left out: what they say is not part of a section's sentences.

use anyhow::{Result, anyhow, bail};
use closeread_books::html;
use closeread_books::html::Layout;
use parse_wiki_text_2::{Configuration, ConfigurationSource, Node, ParseError};
use regex::{Captures, Regex};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

/// Longest that a page may take. Wikipedia's longest take a tenth of a second; marks that are never closed double the time
/// each, and take half a gigabyte a second.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Elements whose content is no part of the text.
const LEFT_OUT: &str = "categorytree|ce|chem|gallery|graph|hiero|imagemap|includeonly|indicator|inputbox|mapframe|maplink|math|\
    ref|references|score|templatedata|templatestyles|timeline";
/// Elements whose content is text like any other.
const SHOWN: [&str; 5] = ["big", "noinclude", "nowiki", "onlyinclude", "section"];
/// Elements whose lines are kept.
const LINES: [&str; 4] = ["poem", "pre", "source", "syntaxhighlight"];

/// Words for categories in the larger Wikipedias.
const CATEGORY: &str = "category|categoria|categoría|categorie|catégorie|flokkur|kategori|kategoria|kategorie|kategorija|\
    kategorio|kategória|luokka|thể loại|κατηγορία|категория|категорија|категорія|קטגוריה|تصنيف|رده|श्रेणी|หมวดหมู่|カテゴリ|分类|\
    分類|분류";

/// Marks that mean something about a page and are not shown on it.
const MAGIC_WORDS: &str = "DISAMBIG|FORCETOC|HIDDENCAT|INDEX|NEWSECTIONLINK|NOCC|NOCONTENTCONVERT|NOEDITSECTION|NOGALLERY|\
    NOINDEX|NOTC|NOTITLECONVERT|NOTOC|STATICREDIRECT|TOC";

/// The text of `wikitext` by section: a heading and what follows it up to the next one, of any depth. What stands before the
/// first has an empty heading. Marks that are never closed are text.
///
/// # Errors
/// If so many marks are never closed that it takes longer than [`TIME_LIMIT`].
pub(super) fn sections(wikitext: &str) -> Result<Vec<(String, String)>> {
    static EMPTIED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r" \([\s;,]*\)|（[\s；，、]*）").expect("a valid pattern"));
    let without_emptied = |text: String| EMPTIED.replace_all(&text, "").into_owned();
    let sections = html::sections(&as_html(&readable(wikitext))?, Layout::Page);
    Ok(sections.into_iter().map(|(heading, text)| (without_emptied(heading), without_emptied(text))).collect())
}

/// Returns the text without what the library cannot read.
fn readable(wikitext: &str) -> String {
    static REPLACED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        [
            // To the library a heading with a comment behind it is none.
            (r"(?s)<!--.*?(?:-->|\z)", ""),
            // Nor is a table that is indented or inside a list.
            (r"(?m)^[:;*# \t]+\{\|", "{|"),
            // It loses the text before these two, unless something else ends it.
            (r"(?i)<(?:math|nowiki)[\s>]", "<!---->$0"),
            // It knows the namespace of files in one language; a wiki in another shows them by their endings.
            (
                concat!(
                    r"(?i)\[\[[^\[\]|:\n]+:([^\[\]|\n]+\.(?:jpe?g|png|gif|svg|tiff?|webp|xcf|og[agv]|web[mp]|mp[34]|wav|flac",
                    r"|midi?|pdf|djvu)\s*[|\]])",
                ),
                "[[File:$1",
            ),
        ]
        .map(|(pattern, with)| (Regex::new(pattern).expect("a valid pattern"), with))
        .to_vec()
    });
    let replace = |text: String, (pattern, with): &(Regex, &str)| pattern.replace_all(&text, *with).into_owned();
    one_script(&REPLACED.iter().fold(wikitext.to_owned(), replace))
}

/// Returns Chinese pages in one script: of the words that differ by region those in simplified characters, else the
/// first.
fn one_script(text: &str) -> String {
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

/// Returns what is seen of the page, as HTML.
fn as_html(wikitext: &str) -> Result<String> {
    // The tree is taken down level by level: each begins with one of these, and takes 2.4 kB of stack at most, unoptimised.
    let marks = wikitext.matches(['*', '#', ':', ';', '{', '[', '<']).count();
    let reader = thread::Builder::new().stack_size((1 << 20) + marks * 4096);
    let read = || match configuration().parse_with_timeout(wikitext, TIME_LIMIT) {
        Ok(page) => {
            let mut html = String::with_capacity(wikitext.len());
            push(&page.nodes, wikitext, &mut html);
            Ok(html)
        }
        Err(ParseError::TimedOut { .. }) => bail!(
            "its wikitext takes longer than {} seconds to read, as it does where many `{{{{`, `{{|` or `<ref>` are never closed: \
             close them, or give the article as HTML by --article",
            TIME_LIMIT.as_secs()
        ),
    };
    let broken = |why: &str| anyhow!("its wikitext cannot be read ({why}): give the article as HTML by --article");
    thread::scope(|scope| match reader.spawn_scoped(scope, read) {
        Ok(reader) => reader.join().unwrap_or_else(|_| Err(broken("the library for it broke down"))),
        Err(error) => Err(broken(&error.to_string())),
    })
}

fn configuration() -> &'static Configuration {
    static CONFIGURATION: LazyLock<Configuration> = LazyLock::new(|| {
        let elements: Vec<&str> = LEFT_OUT.split('|').chain(SHOWN).chain(LINES).collect();
        let categories: Vec<&str> = CATEGORY.split('|').collect();
        let magic_words: Vec<&str> = MAGIC_WORDS.split('|').collect();
        Configuration::new(&ConfigurationSource {
            category_namespaces: &categories,
            extension_tags: &elements,
            file_namespaces: &["file", "image"],
            // Letters right behind a link are text either way.
            link_trail: "",
            magic_words: &magic_words,
            protocols: &["//", "ftp://", "http://", "https://", "mailto:"],
            redirect_magic_words: &["REDIRECT"],
        })
    });
    &CONFIGURATION
}

/// Adds what is seen of `nodes`. Tags and entities are HTML's and stay as the page has them.
fn push(nodes: &[Node<'_>], page: &str, html: &mut String) {
    let element = |name: &str, content: &[Node<'_>], html: &mut String| {
        html.push_str(&format!("<{name}>"));
        push(content, page, html);
        html.push_str(&format!("</{name}>"));
    };
    for node in nodes {
        match node {
            Node::Text { value, .. } => html.push_str(&text(value)),
            Node::StartTag { start, end, .. }
            | Node::EndTag { start, end, .. }
            | Node::CharacterEntity { start, end, .. } => html.push_str(&page[*start..*end]),
            Node::Link { target, .. } if is_language(target) => {}
            Node::Link { target, text: shown, .. } => match shown.as_slice() {
                [Node::Text { value, .. }] if value.trim_end() == *target => {
                    html.push_str(&text(value.trim_start_matches([':', ' '])));
                }
                shown => push(shown, page, html),
            },
            Node::ExternalLink { nodes, .. } => {
                // The address ends at the first space.
                let label = nodes.iter().enumerate().find_map(|(idx, node)| match node {
                    Node::Text { value, .. } => Some((value.split_once(char::is_whitespace)?.1, &nodes[idx + 1..])),
                    _ => None,
                });
                if let Some((first, rest)) = label {
                    html.push_str(&text(first));
                    push(rest, page, html);
                }
            }
            Node::Tag { name, nodes, .. } if LINES.contains(&&**name) => element("pre", nodes, html),
            Node::Tag { name, nodes, .. } if SHOWN.contains(&&**name) => push(nodes, page, html),
            Node::Heading { level, nodes, .. } => element(&format!("h{level}"), nodes, html),
            Node::Preformatted { nodes, .. } => element("pre", nodes, html),
            Node::OrderedList { items, .. } | Node::UnorderedList { items, .. } => {
                items.iter().for_each(|item| element("li", &item.nodes, html));
            }
            Node::DefinitionList { items, .. } => items.iter().for_each(|item| element("li", &item.nodes, html)),
            Node::ParagraphBreak { .. } | Node::Table { .. } => html.push_str("<p>"),
            Node::HorizontalDivider { .. } => html.push_str("<hr>"),
            Node::Bold { .. }
            | Node::BoldItalic { .. }
            | Node::Category { .. }
            | Node::Comment { .. }
            | Node::Image { .. }
            | Node::Italic { .. }
            | Node::MagicWord { .. }
            | Node::Parameter { .. }
            | Node::Redirect { .. }
            | Node::Tag { .. }
            | Node::Template { .. } => {}
        }
    }
}

/// A text, in which no tag begins.
fn text(value: &str) -> String {
    value.replace('<', "&lt;")
}

/// True for a link to the page in another language, which is not shown where it stands.
fn is_language(target: &str) -> bool {
    let Some((namespace, _)) = target.split_once(':') else { return false };
    let language = namespace.strip_prefix("zh-").unwrap_or(namespace);
    matches!(language.len(), 2 | 3) && language.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sections, a heading before each but the first.
    fn read(wikitext: &str) -> String {
        let of = |(heading, text): (String, String)| match heading.is_empty() {
            true => text,
            false => format!("{heading}: {text}"),
        };
        sections(wikitext).unwrap().into_iter().map(of).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" | ")
    }

    fn reads(cases: &[(&str, &str)]) {
        for (wikitext, text) in cases {
            assert_eq!(read(wikitext), *text, "{wikitext}");
        }
    }

    /// Pieces of marks in any order: what comes out is not much longer than what went in, or there is one message.
    #[test]
    fn whatever_stands_in_an_article_is_read() {
        const PIECES: [&str; 40] = [
            "a ",
            "''",
            "[[x|",
            "{{",
            "}}",
            "{{x|",
            "[[",
            "]]",
            "[[File:a.png|",
            "[http://b ",
            "{|",
            "|}",
            "\n| ",
            "|-",
            "!!",
            "== H ==\n",
            "=",
            "\n* ",
            "\n:",
            "\n;",
            "<ref>",
            "</ref>",
            "<ref name=c/>",
            "<nowiki>",
            "</nowiki>",
            "<math>",
            "<!--",
            "-->",
            "-{",
            "}-",
            "&nbsp;",
            "&#x41;",
            "<br",
            "<table>",
            "<td>",
            "__TOC__",
            "\n\n",
            "文。",
            "<gallery>",
            "#REDIRECT ",
        ];
        bolero::check!().with_iterations(300).for_each(|choices: &[u8]| {
            let wikitext: String = choices.iter().map(|&byte| PIECES[usize::from(byte) % PIECES.len()]).collect();
            match sections(&wikitext) {
                Ok(sections) => {
                    let n: usize = sections.iter().map(|(heading, text)| heading.len() + text.len()).sum();
                    assert!(n <= 4 * wikitext.len() + 64, "{n} bytes of {wikitext:?}");
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        });
    }

    #[test]
    fn what_a_reader_sees_is_left() {
        reads(&[
            ("'''''Ana''''' and ''Ben''", "Ana and Ben"),
            ("a {{x|{{y}}|z}}b", "a b"),
            ("Ana ({{lang-el|x}}; {{ipa}}) was late（{{x}}）, f()", "Ana was late, f()"),
            ("{| class=x\n| a {{y|}}\n:{|\n| b\n|}\n|-\n|}after", "after"),
            (
                "[[Category:Novels]][[分类:小说]]x [http://a.b the page] [https://c.d][//e.f?g=&amp;{{h}} ''i'' j]",
                "x the page i j",
            ),
            ("[[File:a.png|thumb|[[A]] and [[B|b]].]]x[[Bestand:c d.JPG|left|[[e]]]][[:File:f.png]]", "xFile:f.png"),
            ("[[A|B]]s [[C (novel)#D|C]], [[:Category:E]] [[de:F]][[zh-yue:G]][[wikt:h|h]]", "Bs C, Category:E h"),
            ("* one\n** two\n:: three\n----\n---- four\n; five", "one\ntwo\nthree\n\nfour\nfive"),
            ("a<ref name=b/> c<!-- d --><br />e<ref group=\"f\">{{g}}</ref>.", "a c\ne."),
            ("<gallery mode=x>\nA.jpg|b\n</gallery>c<mapframe x />d <references /> e <math>{{f}}</math>g", "cd e g"),
            ("z <nowiki>[[a]] ''b'' {{c}} &amp; <d></nowiki>, ''<nowiki/>''e", "z [[a]] ''b'' {{c}} & <d>, e"),
            ("a&nbsp;b 1&ndash;2 &eacute; <span\nclass='c'>d</span> 1 < 2", "a b 1–2 é d 1 < 2"),
            (
                "-{zh-hant:電腦;zh-hans:计算机}-和-{文字}-，-{H|zh-cn:a;zh-tw:b}--{A|zh-tw:她;zh-hk:佢}-",
                "计算机和文字，她",
            ),
            ("One\nparagraph.\n\nAnother.\n{|\n| a\n|}\nA third.", "One paragraph.\n\nAnother.\n\nA third."),
            ("<poem>\nAna\nBen\n</poem>\n set\n apart", "Ana\nBen\n\nset\napart"),
            ("== The ''end'' ==<!-- c -->\n__NOTOC__a == b\n=== {{c}}D ===\ne", "The end: a == b | D: e"),
            ("#REDIRECT [[A]]", ""),
        ]);
    }

    #[test]
    fn what_is_never_closed_is_text_and_hides_nothing_behind_it() {
        reads(&[
            ("a {{b\n== C ==\nd {{e}}f", "a {{b | C: d f"),
            ("a <ref>b\n== C ==\nd <ref>e</ref>f", "a <ref>b | C: d f"),
            ("{|\n| a\n== C ==\nd", "{| | a | C: d"),
            ("a [[b|c {{d|e]] f}} g [h <i [[j", "a [[b|c g [h <i [[j"),
            ("a <script>b <nowiki>c", "a <script>b <nowiki>c"),
        ]);
    }

    #[test]
    fn hostile_pages_are_read_or_refused() {
        let error = sections(&("{{ ".repeat(30) + &"A [[b]]. ".repeat(5_000))).unwrap_err().to_string();
        assert!(error.contains("longer than 2 seconds") && error.contains("never closed"), "{error}");
        let closed = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
        for page in [
            "[[".repeat(100_000),
            "*".repeat(100_000),
            closed("{{a|", "}}"),
            closed("{|\n|\n", "|}\n"),
            closed("<b>", ""),
        ] {
            assert!(sections(&page).is_ok(), "{}", &page[..5]);
        }
    }
}
