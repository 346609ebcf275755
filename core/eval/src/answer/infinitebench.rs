//! Choices of InfiniteBench's En.MC and names of its En.Dia, as its scorer reads them, and a stricter reader of choices
//! beside it.

use super::parsed::Parsed;
use super::thinking::after_thinking;
use closeread_text::pattern::pattern;
use closeread_text::python;
use regex_lite::Regex;
use std::sync::LazyLock;

/// Returns whether a response counts as right in En.MC (`get_score_one_longbook_choice_eng` of `src/compute_scores.py`
/// at 88b3daa6989d). `gold` holds the right option's text and its letter.
///
/// Odd: a response whose first character is one of ABCD is read as that letter, so "Both" chooses B and "A man" A; a
/// response that repeats the text of the option with a full stop is wrong; after "answer:" exactly one character is
/// skipped, whatever it is, so "answer:C" is wrong; without such words the first word that is part of "ABCD", BC say,
/// decides. There is no unparsed: what the scorer cannot read is wrong.
pub fn infinitebench_choice<S: AsRef<str>>(prediction: &str, gold: &[S]) -> bool {
    let is_gold = |text: &str| gold.iter().any(|gold| gold.as_ref() == text);
    let prediction = python::strip(prediction);
    let Some(first) = prediction.get(..1) else {
        return !prediction.is_empty() && reads_gold(prediction, gold, is_gold);
    };
    if "ABCD".contains(first) {
        return is_gold(first);
    }
    reads_gold(prediction, gold, is_gold)
}

fn reads_gold<S: AsRef<str>>(prediction: &str, gold: &[S], is_gold: impl Fn(&str) -> bool) -> bool {
    if is_gold(prediction) {
        return true;
    }
    let mut text = String::with_capacity(prediction.len());
    for c in prediction.chars() {
        let c = if matches!(c, '\n' | '"' | '\'' | '.' | ',' | '?' | '!' | '{' | '}') { ' ' } else { c };
        if c != ' ' || !text.ends_with(' ') {
            text.push(c);
        }
    }
    for prefix in ["answer is:", "answer:", "answer is", "option is"] {
        if let Some((_, rest)) = text.split_once(prefix) {
            let mut rest = rest.chars();
            return rest.next().is_some() && gold.iter().any(|gold| rest.as_str().starts_with(gold.as_ref()));
        }
    }
    python::split(&text).find(|word| "ABCD".contains(word)).is_some_and(is_gold)
}

/// The letter that a response to a question with four options chooses, from 0, read strictly.
///
/// A letter counts only where it stands for an option: at the start of the response, followed by a full stop, colon,
/// bracket, line end or nothing; or after "answer", "option" or "choice", where the last such place decides. Markdown,
/// quotes and brackets around the letter do not matter. "Both B and C", "A man" and "BC" are unparsed. Reasoning up to
/// `</think>` is not read.
pub fn strict_letter(response: &str) -> Parsed<usize> {
    static START: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^[\s:"'“*_(\[]*([A-D])["'”*_]*(?:[.:)\]\n]|\s*$)"#));
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"(?i:\b(?:answer|option|choice)\b)(?:\s+(?i:is|would\s+be))?(?:\s+(?i:option|choice))?";
        pattern(&format!(r#"{words}\s*[:：]?\s*["'“*_(\[]*([A-D])["'”*_]*(?:[.,;:)\]!。，\n]|\s*$)"#))
    });
    let response = after_thinking(response);
    let letter = |found: regex_lite::Captures<'_>| usize::from(found[1].as_bytes()[0] - b'A');
    START.captures(response).or_else(|| NAMED.captures_iter(response).last()).map(letter).into()
}

/// Returns whether a response to an En.MC question is right, read strictly: by [`strict_letter`], or else by the text
/// of the right option alone, whatever its case and closing full stop.
///
/// `gold` holds the option's text and its letter. A response that names another option by its text alone cannot be told
/// from one that names none, since published predictions come without the options: both are unparsed.
pub fn strict_choice<S: AsRef<str>>(response: &str, gold: &[S]) -> Parsed<bool> {
    let letter = |text: &str| matches!(text, "A" | "B" | "C" | "D");
    if let Parsed::Answer(chosen) = strict_letter(response) {
        let chosen = ["A", "B", "C", "D"][chosen];
        return Parsed::Answer(gold.iter().any(|gold| gold.as_ref() == chosen));
    }
    let bare = |text: &str| {
        let quote = |c: char| c.is_whitespace() || matches!(c, '.' | '"' | '\'' | '“' | '”' | '*');
        text.trim_matches(quote).to_lowercase()
    };
    let said = bare(after_thinking(response));
    let right = gold.iter().map(AsRef::as_ref).any(|gold| !letter(gold) && !said.is_empty() && bare(gold) == said);
    if right { Parsed::Answer(true) } else { Parsed::Unparsed }
}

/// Returns whether a response counts as right in En.Dia (`get_score_one_longdialogue_qa_eng`): the first gold name must
/// be among the words of the response in capitals.
///
/// Odd: only the first gold name counts, and one of two words can never be found.
pub fn infinitebench_dialogue<S: AsRef<str>>(prediction: &str, gold: &[S]) -> bool {
    let Some(gold) = gold.first().map(AsRef::as_ref) else {
        return false;
    };
    let mark = |c: char| matches!(c, '\n' | ':' | '"' | '\'' | '.' | ',' | '?' | '!' | '{' | '}');
    let words = prediction.split(|c: char| mark(c) || python::is_space(c)).filter(|word| !word.is_empty());
    words.map(str::to_uppercase).any(|word| word == gold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scorer_is_as_odd_as_it_is() {
        let right = |response| infinitebench_choice(response, &["Snowfield", "C"]);
        for response in ["C", "Cats", "Snowfield", " : C", "my answer: Snowfield!", "it is a C", "answer is, C"] {
            assert!(right(response), "{response}");
        }
        for response in ["", "Both B and C", "Snowfield.", "answer:C", "the answer is:", "BC", "答案是C", "孔 BC C"]
        {
            assert!(!right(response), "{response}");
        }
    }

    #[test]
    fn the_strict_reader_wants_a_letter_that_stands_for_an_option() {
        for response in
            ["C", "C.", "(C) snow", "**C**: snow", ": C\n\nQuestion: A", "The answer is (C).", "option C, for A is not"]
        {
            assert_eq!(strict_letter(response), Parsed::Answer(2), "{response}");
        }
        for response in ["", "Both B and C", "A man", "BC", "I think C is right", "Cats", "the answer is A man"] {
            assert_eq!(strict_letter(response), Parsed::Unparsed, "{response}");
        }
        assert_eq!(strict_choice("snowfield.", &["Snowfield", "C"]), Parsed::Answer(true));
        assert_eq!(strict_choice("Rain", &["Snowfield", "C"]), Parsed::Unparsed);
        assert_eq!(strict_choice("B", &["Snowfield", "C"]), Parsed::Answer(false));
    }

    #[test]
    fn a_name_must_be_one_word() {
        assert!(infinitebench_dialogue("Frank: Lucas", &["FRANK"]));
        assert!(!infinitebench_dialogue("Harvey Pekar", &["HARVEY PEKAR", "PEKAR"]));
    }
}
