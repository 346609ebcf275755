//! Mistyped names: finding the one that was meant.

/// Least likeness of two names, in 0..=1, at which one is taken for a mistyped other.
const LIKE: f64 = 0.6;

/// The known name that is most like `name`; `None` where none is like it.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = plain(name);
    let likeness = |known: &str| {
        let known = plain(known);
        // The beginning of a name is as good as the name.
        let begins = name.len() > 2 && known.starts_with(&name);
        if begins { 1.0 } else { strsim::normalized_damerau_levenshtein(&name, &known) }
    };
    let rated = known.into_iter().map(|known| (likeness(known), known)).filter(|(likeness, _)| *likeness >= LIKE);
    // Of names that are equally like it, the first.
    rated.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, known)| known)
}

/// Returns ` (did you mean X?)` with the nearest name, or nothing: to stand behind the unknown name in a message.
pub fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |known| format!(" (did you mean `{known}`?)"))
}

/// Lower case, with one separator.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', ' '], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_gets_the_nearest_and_another_none() {
        let known = ["closed-book", "full-document", "vanilla-rag", "dos-rag", "read-agent"];
        for (typed, expected) in [
            ("dos-rga", Some("dos-rag")),
            ("DOS_RAG", Some("dos-rag")),
            ("vanilla-rac", Some("vanilla-rag")),
            ("clo", Some("closed-book")),
            ("full document", Some("full-document")),
            ("graph", None),
            ("", None),
            ("李", None),
        ] {
            assert_eq!(nearest(typed, known), expected, "{typed}");
        }
        assert_eq!(meant("dosrag", known), " (did you mean `dos-rag`?)");
        assert_eq!(meant("x", known), "");
    }
}
