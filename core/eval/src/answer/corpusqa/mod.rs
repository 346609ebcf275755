//! CorpusQA's answers and verdicts (`src/eval.py` at f5b57644142b), and its typed answers (appendix C).

mod value;

pub use value::month_of;
pub use value::{Reading, Value, agrees, value};

use super::parsed::Parsed;
use closeread_text::python;

/// The domains of CorpusQA, as they begin the ids of its questions.
pub const DOMAINS: [&str; 4] = ["financial_zh", "financial_en", "education_en", "real_estate_en"];

/// The domain of a question, by the beginning of its id; none of the four: the question counts overall only.
pub fn domain(id: &str) -> Option<&'static str> {
    DOMAINS.into_iter().find(|domain| id.starts_with(domain))
}

/// Returns whether the reference counts a record of results: one without an id is skipped, and in no denominator.
pub fn counts(id: Option<&str>) -> bool {
    id.is_some_and(|id| !id.is_empty())
}

/// Text that an answer follows.
pub(crate) const ANNOUNCEMENT: &str = "The answer is: ";

/// The answer of a response: what follows the first `The answer is: ` on its line, white space at its ends removed.
///
/// Odd: without these very words (one space after the colon, this case, no full-width colon) the whole response is the
/// answer; Markdown stays; a line ends at `\n` alone. May be empty.
pub fn answer(response: &str) -> &str {
    let answer =
        response.split_once(ANNOUNCEMENT).map_or(response, |(_, rest)| rest.split('\n').next().unwrap_or(rest));
    python::strip(answer)
}

/// Returns whether the judge finds an answer correct: its response holds `[[YES]]` and not `[[NO]]`.
///
/// The reference counts everything else as incorrect; here a response with both or neither is unparsed, so that it can be
/// told apart. Score unparsed as incorrect to get the reference's numbers.
pub fn verdict(response: &str) -> Parsed<bool> {
    match (response.contains("[[YES]]"), response.contains("[[NO]]")) {
        (true, false) => Parsed::Answer(true),
        (false, true) => Parsed::Answer(false),
        _ => Parsed::Unparsed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_announcement_counts_to_the_end_of_its_line() {
        assert_eq!(answer("x\nThe answer is: 3.10\r\nThe answer is: 4"), "3.10");
        assert_eq!(answer("the answer is: 42 "), "the answer is: 42");
        assert_eq!(answer("The answer is: "), "");
    }

    #[test]
    fn a_verdict_is_one_of_two_markers() {
        assert_eq!(verdict("[[YES]]"), Parsed::Answer(true));
        assert_eq!(verdict("[[NO]]"), Parsed::Answer(false));
        assert_eq!(verdict("[[NO]] [[YES]]"), Parsed::Unparsed);
        assert_eq!(verdict("[[yes]]"), Parsed::Unparsed);
    }

    #[test]
    fn ids_begin_with_their_domain() {
        assert_eq!(domain("financial_zh_set1_3"), Some("financial_zh"));
        assert_eq!(domain("real_estate_zh_1"), None);
    }
}
