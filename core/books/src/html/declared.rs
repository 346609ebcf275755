//! Entities that a document declares for itself, which no browser's list has.

use regex::{Captures, Regex};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Most bytes that the texts of entities may add to a document: each may be named without end, inside others too.
const MAX_ADDED: usize = 1 << 20;

/// The document behind its document type, where that has declarations of its own in brackets: those are XML's, and HTML ends
/// the document type in the middle of them. The entities that they declare are replaced by their texts.
pub(super) fn resolved(html: &str) -> Cow<'_, str> {
    static SUBSET: LazyLock<Regex> = LazyLock::new(|| {
        let before = r"\A(?:\s|\u{feff}|<\?.*?\?>|<!--.*?-->)*<!doctype[^>\[]*\[";
        // What stands in quotation marks or in a comment does not end it.
        let within = r#"((?:<!--.*?-->|"[^"]*"|'[^']*'|.)*?)\]\s*>"#;
        Regex::new(&format!("(?is){before}{within}")).expect("a valid pattern")
    });
    let Some(subset) = SUBSET.captures(html) else { return Cow::Borrowed(html) };
    let body = &html[subset.get_match().end()..];
    let (declared, mut left) = (entities(&subset[1]), MAX_ADDED);
    if declared.is_empty() { Cow::Borrowed(body) } else { replaced(body, &declared, &mut left) }
}

/// The texts of general entities by their names; of several declarations of a name the first counts, as in XML, whose own
/// five keep their meaning.
fn entities(subset: &str) -> HashMap<&str, String> {
    static ENTITY: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r#"(?s)<!--.*?-->|<!ENTITY\s+([^\s%"'<>&;]+)\s+(?:"([^"]*)"|'([^']*)')\s*>"#;
        Regex::new(pattern).expect("a valid pattern")
    });
    let (mut declared, mut left) = (HashMap::new(), MAX_ADDED);
    for found in ENTITY.captures_iter(subset) {
        let (Some(name), Some(text)) = (found.get(1), found.get(2).or(found.get(3))) else { continue };
        let is_of_xml = matches!(name.as_str(), "amp" | "lt" | "gt" | "quot" | "apos");
        if !is_of_xml && !declared.contains_key(name.as_str()) {
            let text = replaced(text.as_str(), &declared, &mut left).into_owned();
            declared.insert(name.as_str(), text);
        }
    }
    declared
}

/// The text with these entities replaced, as long as there are bytes `left` to add.
fn replaced<'t>(text: &'t str, declared: &HashMap<&str, String>, left: &mut usize) -> Cow<'t, str> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"&([^\s&;#<>]{1,100});").expect("a valid pattern"));
    NAMED.replace_all(text, |found: &Captures<'_>| match declared.get(&found[1]) {
        Some(text) if text.len() <= *left => {
            *left -= text.len();
            text.clone()
        }
        _ => found[0].to_owned(),
    })
}
