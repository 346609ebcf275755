//! Short answers as Stronger Baselines asks for them (figure A.2).

/// Answer of a reader when the context does not hold it (Stronger Baselines, figure A.2).
pub const NOT_FOUND: &str = "Not found in context.";

/// The content of a response to an open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShortAnswer {
    /// An answer, white space at its ends removed.
    Text(String),
    /// The agreed words for "the context does not hold it", whatever their case, quotes and full stop.
    NotFound,
    /// The response is empty.
    Empty,
}

/// Reads a response to an open question.
pub fn short_answer(response: &str) -> ShortAnswer {
    let text = response.trim();
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
    fn not_found_is_said_in_agreed_words() {
        assert_eq!(short_answer(" \"not found in context\". "), ShortAnswer::NotFound);
        assert_eq!(
            short_answer("It was not found in context."),
            ShortAnswer::Text("It was not found in context.".into())
        );
        assert_eq!(short_answer("\n"), ShortAnswer::Empty);
    }
}
