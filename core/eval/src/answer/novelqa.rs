//! NovelQA's answer lines and the responses of its judges (§4.1, table 11).
//!
//! The paper leaves open how missing or misnumbered lines are read. Here, for all three settings:
//! - a line is one that begins with `Answer` and a number, in whatever case, Markdown and a list mark before it and
//!   full-width colons allowed; the answer ends with its line;
//! - a number that comes twice: the last line counts, for models correct themselves downwards;
//! - a number beyond the questions is ignored; a question without a line, or with an empty one, is unparsed;
//! - a response that numbers its lines from 1 to the number of questions, and has no line 0, is shifted by one.

use super::parsed::Parsed;
use closeread_text::composed;
use closeread_text::pattern::pattern;
use regex_lite::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// An answer with its evidence (`Answer0: answer$ evidence`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidencedAnswer<'a> {
    /// The answer.
    pub answer: &'a str,
    /// Sentences cited, without the quotation marks around them; none if the line gives none.
    pub evidence: Vec<&'a str>,
}

/// Marks of the evidence judge (`C50R66S33`), each in 0..=100 (section 4.5, though the prompt says 1-100).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EvidenceMarks {
    /// Mark for correctness: is it the correct evidence, or of similar correct meaning?
    pub correctness: u8,
    /// Mark for relevance: is the evidence relevant to the answer?
    pub relevance: u8,
    /// Mark for sufficiency: does the evidence suffice to support the answer?
    pub sufficiency: u8,
}

impl EvidenceMarks {
    /// Mean of the three, in 0..=100: the evidence recall of one question.
    pub fn mean(&self) -> f64 {
        f64::from(u16::from(self.correctness) + u16::from(self.relevance) + u16::from(self.sufficiency)) / 3.0
    }
}

/// The answers of a response in the generative settings, one a question, white space at their ends removed.
pub fn answer_lines(response: &str, n_questions: usize) -> Vec<Parsed<&str>> {
    static LINE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?im)^[\s>*_#\-•`]*answer[ \t]*\[?([0-9]{1,9})\]?[*_`]*[ \t]*[:：][*_`]*(.*)$"));
    let mut lines: Vec<Option<&str>> = vec![None; n_questions + 1];
    for found in LINE.captures_iter(response) {
        let (_, [number, text]) = found.extract();
        if let Some(line) = number.parse::<usize>().ok().and_then(|number| lines.get_mut(number)) {
            *line = Some(text.trim());
        }
    }
    let from_one = n_questions > 0 && lines[0].is_none() && lines[n_questions].is_some();
    let lines = lines.into_iter().skip(usize::from(from_one)).take(n_questions);
    lines.map(|line| line.filter(|text| !text.is_empty()).into()).collect()
}

/// The options chosen by a response in the choice settings, one a question, counted from 0; `options` are those of each
/// question, in order.
///
/// A line holds the option's index from 0, as the prompt asks, with or without brackets or text behind it; or its
/// letter from A, as the public data name the options; or the option's text, if exactly one option has it when case
/// and marks at the ends do not count. An index that no option has is unparsed.
pub fn choice_lines<S: AsRef<str>>(response: &str, options: &[Vec<S>]) -> Vec<Parsed<usize>> {
    let lines = answer_lines(response, options.len());
    lines
        .into_iter()
        .zip(options)
        .map(|(line, options)| line.answer().and_then(|text| chosen(text, options, 0)).into())
        .collect()
}

/// The answers with evidence of a response, one a question.
///
/// The first `$` that no digit follows parts the answer from the evidence, so that "$5" stays whole; further ones part
/// sentences. A line without an answer before the `$` is unparsed.
pub fn evidence_lines(response: &str, n_questions: usize) -> Vec<Parsed<EvidencedAnswer<'_>>> {
    answer_lines(response, n_questions).into_iter().map(|line| line.answer().and_then(evidenced).into()).collect()
}

/// Returns whether the judge of answers finds one correct: its response is the single letter `C` or `N`, marks and
/// white space around it allowed. Words are unparsed.
pub fn judge_letter(response: &str) -> Parsed<bool> {
    let around = |c: char| c.is_whitespace() || matches!(c, '.' | '"' | '\'' | '`' | '*' | '(' | ')' | '。');
    match response.trim_matches(around) {
        "C" => Parsed::Answer(true),
        "N" => Parsed::Answer(false),
        _ => Parsed::Unparsed,
    }
}

/// The marks of the judge of evidence: `C`, `R` and `S`, each with a whole number from 0 to 100, in this order, white
/// space or commas between them allowed. The last such group counts; a mark out of range makes it unparsed.
pub fn evidence_marks(response: &str) -> Parsed<EvidenceMarks> {
    static MARKS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\bC([0-9]{1,9})[\s,]{0,4}R([0-9]{1,9})[\s,]{0,4}S([0-9]{1,9})\b"));
    let marks = MARKS.captures_iter(response).last().and_then(|found| {
        let mark = |digits: &str| digits.parse().ok().filter(|mark| (0..=100).contains(mark));
        let (_, [c, r, s]) = found.extract();
        Some(EvidenceMarks { correctness: mark(c)?, relevance: mark(r)?, sufficiency: mark(s)? })
    });
    marks.into()
}

/// The option, from 0, that a text names as a line of [`choice_lines`] does; `None` if it names none. `first` is the number of
/// the first option: 0 as in NovelQA, or 1.
pub fn chosen<S: AsRef<str>>(text: &str, options: &[S], first: usize) -> Option<usize> {
    static INDEX: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^[(\[*]*(?:([0-9]{1,9})|([A-Z]))[)\]*]*(?:[.,:;)\s]|$)"));
    let bare = |text: &str| {
        let marks = |c: char| c.is_whitespace() || c.is_ascii_punctuation() || matches!(c, '“' | '”' | '‘' | '’');
        composed(text.trim_matches(marks)).to_lowercase()
    };
    let said = bare(text);
    let mut same = (0..options.len()).filter(|&idx| !said.is_empty() && bare(options[idx].as_ref()) == said);
    // An option's whole text first: it may itself be a number, as the answers to "how many times" are.
    let by_text = same.next().filter(|_| same.next().is_none());
    let by_index = || {
        let found = INDEX.captures(text)?;
        let letter = |letter: regex_lite::Match<'_>| usize::from(letter.as_str().as_bytes()[0] - b'A');
        // The mark or space behind it may have several bytes, as U+3000 has.
        let last = found[0].chars().next_back()?;
        let is_space = last == ' ' || last.is_whitespace() && !last.is_ascii();
        match found.get(1) {
            Some(_) if is_longer_number(&text[found[0].len() - last.len_utf8()..]) => None,
            Some(digits) => digits.as_str().parse::<usize>().ok()?.checked_sub(first),
            // "A man" is a text; a letter in front of one needs a mark, as in "(A) man".
            None => {
                let marked = |name: &regex_lite::Match<'_>| !text[name.end()..found[0].len()].trim_end().is_empty();
                let alone = found[0].len() > 1 && !is_space || text.len() == 1;
                found.get(2).filter(|name| alone || marked(name)).map(letter)
            }
        }
    };
    let digits_alone = said.bytes().all(|byte| byte.is_ascii_digit());
    // `50%` and `-5` may be an option; `5` is an index.
    let whole = || {
        let mut same = (0..options.len()).filter(|&idx| options[idx].as_ref().trim() == text.trim());
        same.next().filter(|idx| same.next().is_none() && options[*idx].as_ref().trim() != said)
    };
    let choice = if digits_alone { whole().or_else(by_index) } else { by_text.or_else(by_index) };
    choice.filter(|&idx| idx < options.len())
}

/// True of `.5`, `,500`, `:30`: what stands before goes on; `.0` changes nothing.
fn is_longer_number(behind: &str) -> bool {
    let digits = behind.strip_prefix([',', ':']).or_else(|| Some(behind.strip_prefix('.')?.trim_start_matches('0')));
    digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
}

fn evidenced(line: &str) -> Option<EvidencedAnswer<'_>> {
    let digit_after = |at: usize| line[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let cut = line.match_indices('$').map(|(at, _)| at).find(|&at| !digit_after(at)).unwrap_or(line.len());
    let answer = line[..cut].trim();
    let quotes = |c: char| c.is_whitespace() || matches!(c, '"' | '“' | '”');
    let evidence = line[cut..].split('$').map(|text| text.trim_matches(quotes)).filter(|text| !text.is_empty());
    (!answer.is_empty()).then(|| EvidencedAnswer { answer, evidence: evidence.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Parsed::{Answer, Unparsed};

    #[test]
    fn lines_are_found_by_their_number() {
        let response = "Sure!\nAnswer1: b\n**Answer0:** a\nanswer 3 ： d\r\nAnswer2:\nAnswer0: c: d\nAnswer9: x";
        assert_eq!(answer_lines(response, 4), [Answer("c: d"), Answer("b"), Unparsed, Answer("d")]);
        assert_eq!(answer_lines("no lines", 1), [Unparsed]);
        assert_eq!(answer_lines("Answer0: a", 0), []);
    }

    #[test]
    fn a_response_that_counts_from_one_is_shifted() {
        assert_eq!(answer_lines("Answer1: a\nAnswer2: b", 2), [Answer("a"), Answer("b")]);
        assert_eq!(answer_lines("Answer1: b", 2), [Unparsed, Answer("b")]);
    }

    #[test]
    fn choices_come_as_index_letter_or_text() {
        let options = || vec!["Rain", "A man", "Snow.", "3"];
        let choose = |line: &str| choice_lines(&format!("Answer0: {line}"), &[options()])[0];
        for (line, chosen) in [
            ("2", 2),
            ("(2)", 2),
            ("2. Snow", 2),
            ("C", 2),
            ("C. Snow", 2),
            ("2.0", 2),
            ("(C) Snow", 2),
            ("C) Snow, perhaps", 2),
            ("[C] Snow", 2),
            ("**C** Snow", 2),
            ("snow", 2),
            ("A man", 1),
            ("3", 3),
            ("0", 0),
            ("2\u{a0}Snow", 2),
            ("2\u{3000}Snow", 2),
            ("(C)\u{3000}Snow", 2),
        ] {
            assert_eq!(choose(line), Answer(chosen), "{line}");
        }
        for line in
            ["4", "E", "Hail", "A dog", "A\u{a0}dog", "(A dog)", "", "-1", "99999999999", "1.5 m", "1,500", "2:30"]
        {
            assert_eq!(choose(line), Unparsed, "{line}");
        }
    }

    #[test]
    fn an_option_of_digits_and_a_sign_is_chosen_by_its_whole_text() {
        let options = ["50%", "-5", "$7", "5"];
        for (text, expected) in [("50%", Some(0)), ("-5", Some(1)), ("$7", Some(2)), ("2", Some(2)), ("(3)", Some(3))] {
            assert_eq!(chosen(text, &options, 0), expected, "{text}");
        }
        for text in ["5%", "-50", "$5", "50", "7"] {
            assert_eq!(chosen(text, &options, 0), None, "{text}");
        }
    }

    #[test]
    fn evidence_follows_the_dollar() {
        let lines = evidence_lines("Answer0: $5 a day$ \"He paid.\" $ “She took it.”\nAnswer1: yes\nAnswer2: $ x", 3);
        assert_eq!(
            lines[0],
            Answer(EvidencedAnswer { answer: "$5 a day", evidence: vec!["He paid.", "She took it."] })
        );
        assert_eq!(lines[1], Answer(EvidencedAnswer { answer: "yes", evidence: vec![] }));
        assert_eq!(lines[2], Unparsed);
    }

    #[test]
    fn judges_response_in_one_form() {
        assert_eq!(judge_letter(" **C**.\n"), Answer(true));
        assert_eq!(judge_letter("N"), Answer(false));
        assert_eq!(judge_letter("Correct"), Unparsed);
        let marks = EvidenceMarks { correctness: 50, relevance: 66, sufficiency: 33 };
        assert_eq!(evidence_marks("So: C50R66S33."), Answer(marks));
        assert_eq!(marks.mean(), 149.0 / 3.0);
        for response in ["C50R101S33", "C50R66", "XC50R66S33", "C50.5R66S33", "C50R66S33x"] {
            assert_eq!(evidence_marks(response), Unparsed, "{response}");
        }
    }
}
