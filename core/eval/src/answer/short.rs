//! Short answers as Stronger Baselines asks for them (figure A.2).

/// What a reader writes when the context does not hold the answer (Stronger Baselines, figure A.2).
pub const NOT_FOUND: &str = "Not found in context.";

/// What a response to an open question says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShortAnswer {
    /// An answer, white space at its ends removed.
    Text(String),
    /// The agreed words for "the context does not hold it", whatever their case, quotes and full stop.
    NotFound,
    /// Nothing at all.
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
