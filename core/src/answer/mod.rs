//! Reading an answer out of a model's reply.

use regex::Regex;
use std::sync::LazyLock;

/// What a reader writes when the context does not hold the answer (Stronger Baselines, figure A.2).
pub const NOT_FOUND: &str = "Not found in context.";

/// The option chosen by a reply that holds `[[n]]`, n from 1; the result counts from 0.
///
/// Several markers: the last one, for a model that weighs options names the chosen one last (Stronger Baselines leaves
/// it open). A number that no option has is no choice, and an earlier marker is not taken in its place.
pub fn choice_marker(reply: &str, n_options: usize) -> Option<usize> {
    static MARKER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[\[\s*(\d+)\s*\]\]").expect("a valid pattern"));
    let last = MARKER.captures_iter(reply).last()?;
    let number: usize = last[1].parse().ok()?;
    (1..=n_options).contains(&number).then(|| number - 1)
}

/// What a reply to an open question says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShortAnswer {
    /// An answer, white space at its ends removed.
    Text(String),
    /// The agreed words for "the context does not hold it", whatever their case, quotes and full stop.
    NotFound,
    /// Nothing at all.
    Empty,
}

/// Reads a reply to an open question.
pub fn short_answer(reply: &str) -> ShortAnswer {
    let text = reply.trim();
    let bare = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '"' | '\'' | '。'));
    if text.is_empty() {
        ShortAnswer::Empty
    } else if bare.eq_ignore_ascii_case(NOT_FOUND.trim_end_matches('.')) {
        ShortAnswer::NotFound
    } else {
        ShortAnswer::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_marker_decides() {
        assert_eq!(choice_marker("Not [[1]], rather [[ 3 ]].", 4), Some(2));
        assert_eq!(choice_marker("[[2]] or [[5]]", 4), None);
        assert_eq!(choice_marker("[[0]]", 4), None);
        assert_eq!(choice_marker("[[99999999999999999999999]]", 4), None);
        assert_eq!(choice_marker("Option 2", 4), None);
    }

    #[test]
    fn not_found_is_said_in_agreed_words() {
        assert_eq!(short_answer(" \"not found in context\". "), ShortAnswer::NotFound);
        assert_eq!(
            short_answer("It was not found in context."),
            ShortAnswer::Text("It was not found in context.".into())
        );
        assert_eq!(short_answer("\n"), ShortAnswer::Empty);
    }
}
