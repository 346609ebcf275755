//! `\boxed{…}` with balanced braces: SagaScale's verdicts, labels and pairs, MemAgent's answers.

use super::parsed::Parsed;
use super::thinking::after_thinking;

/// The result of a call for a question and its answer (SagaScale, figure 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QaPair<'a> {
    /// A question with its answer.
    Pair {
        /// The question.
        question: &'a str,
        /// The answer to the question.
        answer: &'a str,
    },
    /// `END`: there is no further pair in the context.
    End,
}

/// The contents of all boxes, in order, white space at the ends kept. Braces inside count, escaped ones too, as in the
/// reference implementations; a box inside another is part of that one; a box that is never closed is none, and boxes
/// inside it stand alone.
pub fn all_boxed(response: &str) -> Vec<&str> {
    const BOX: &[u8] = br"\boxed";
    let bytes = response.as_bytes();
    // Where each open brace's content begins, and whether it is a box.
    let mut open: Vec<(usize, bool)> = vec![];
    let mut boxes: Vec<(usize, usize)> = vec![];
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'{' => open.push((at + 1, bytes[..at].ends_with(BOX))),
            b'}' => {
                if let Some((start, true)) = open.pop() {
                    while boxes.last().is_some_and(|&(inner, _)| inner > start) {
                        boxes.pop();
                    }
                    boxes.push((start, at));
                }
            }
            _ => {}
        }
    }
    boxes.into_iter().map(|(start, end)| &response[start..end]).collect()
}

/// The content of the last box, white space at its ends removed.
pub fn last_boxed(response: &str) -> Parsed<&str> {
    all_boxed(response).last().map(|content| content.trim()).into()
}

/// Returns which of `labels` the last box names, from 0: `["CORRECT", "INCORRECT"]` for SagaScale's judge (figure 15),
/// `["YES", "NO"]`, `["PASS", "FAIL"]` for its filters, the ten types of question of figure 8.
///
/// The box must hold a label and nothing else, but for white space, case and TeX's marks of text (`\text{CORRECT}`); anything
/// else is unparsed rather than guessed. Reasoning up to `</think>` is not read.
pub fn boxed_label(response: &str, labels: &[&str]) -> Parsed<usize> {
    let label = last_boxed(after_thinking(response)).answer().map(unmarked);
    label.and_then(|label| labels.iter().position(|known| known.eq_ignore_ascii_case(label))).into()
}

/// The texts in all boxes, in order, without white space at their ends and without TeX's marks of text, such as
/// `\text{the mill}`. Reasoning up to `</think>` is not read.
pub fn boxed_texts(response: &str) -> Vec<&str> {
    all_boxed(after_thinking(response)).into_iter().map(|content| unmarked(content.trim())).collect()
}

/// A text without one of TeX's marks around all of it.
pub(super) fn unmarked(text: &str) -> &str {
    const MARKS: [&str; 6] = ["text", "textbf", "textit", "textrm", "mathrm", "mathbf"];
    let marked = || {
        let (mark, inside) = text.strip_prefix('\\')?.strip_suffix('}')?.split_once('{')?;
        (MARKS.contains(&mark) && !inside.contains(['{', '}'])).then(|| inside.trim())
    };
    marked().unwrap_or(text)
}

/// Reads a generated pair: question and answer in two boxes, or a single box `END`. Another number of boxes, or an
/// empty one, is unparsed. Reasoning up to `</think>` is not read.
pub fn qa_pair(response: &str) -> Parsed<QaPair<'_>> {
    let boxes = boxed_texts(response);
    match boxes.as_slice() {
        ["END"] => Parsed::Answer(QaPair::End),
        [question, answer] if !question.is_empty() && !answer.is_empty() => {
            Parsed::Answer(QaPair::Pair { question, answer })
        }
        _ => Parsed::Unparsed,
    }
}

/// MemAgent's `extract_boxed_answer`: the last box, white space kept.
///
/// Odd: if `\boxed ` with a space occurs anywhere, the answer is what follows its last occurrence up to the next `$`,
/// and boxes with braces are not looked at. Where the reference raises an error (`\fbox`, or something between `\boxed`
/// and its brace) the response is unparsed.
pub fn memagent_boxed(response: &str) -> Parsed<&str> {
    if let Some((_, text)) = response.rsplit_once(r"\boxed ") {
        return Parsed::Answer(text.split('$').next().unwrap_or(text));
    }
    let Some((_, text)) = response.rsplit_once(r"\boxed") else {
        return Parsed::Unparsed;
    };
    let Some(content) = text.strip_prefix('{') else {
        return Parsed::Unparsed;
    };
    let mut n_open = 1usize;
    for (at, byte) in content.bytes().enumerate() {
        match byte {
            b'{' => n_open += 1,
            b'}' => n_open -= 1,
            _ => {}
        }
        if n_open == 0 {
            return Parsed::Answer(&content[..at]);
        }
    }
    Parsed::Unparsed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_balance() {
        assert_eq!(all_boxed(r"\boxed{\frac{1}{2}} } { \boxed{b}"), [r"\frac{1}{2}", "b"]);
        assert_eq!(all_boxed(r"\boxed{a \boxed{b}} \boxed{c"), [r"a \boxed{b}"]);
        assert_eq!(all_boxed(r"\boxed{a \boxed{b} \boxed{c}"), ["b", "c"]);
        assert_eq!(last_boxed("no box"), Parsed::Unparsed);
    }

    #[test]
    fn labels_are_not_guessed() {
        let verdict = |response| boxed_label(response, &["CORRECT", "INCORRECT"]);
        assert_eq!(verdict(r"\boxed{CORRECT} or rather \boxed{ Incorrect }"), Parsed::Answer(1));
        assert_eq!(verdict(r"\boxed{CORRECT?}"), Parsed::Unparsed);
        assert_eq!(verdict(r"\boxed{\text{CORRECT}}"), Parsed::Answer(0));
        assert_eq!(verdict(r"\boxed{\mathbf{ incorrect }}"), Parsed::Answer(1));
        assert_eq!(verdict(r"\boxed{\text{CORRECT} or \text{INCORRECT}}"), Parsed::Unparsed);
        assert_eq!(verdict(r"\boxed{\frac{CORRECT}}"), Parsed::Unparsed);
        assert_eq!(verdict("CORRECT"), Parsed::Unparsed);
    }

    #[test]
    fn a_pair_is_two_boxes() {
        let pair = QaPair::Pair { question: "谁？", answer: "孔乙己" };
        assert_eq!(qa_pair(r"\boxed{谁？} \boxed{孔乙己}"), Parsed::Answer(pair));
        assert_eq!(qa_pair(r"\boxed{END}"), Parsed::Answer(QaPair::End));
        assert_eq!(
            qa_pair(r"\boxed{\text{谁？}} \boxed{\textbf{ 孔乙己 }}"),
            Parsed::Answer(pair),
            "no TeX in gold answers"
        );
        assert_eq!(qa_pair(r"\boxed{\text{END}}"), Parsed::Answer(QaPair::End));
        assert_eq!(qa_pair(r"\boxed{a} \boxed{\text{}}"), Parsed::Unparsed);
        assert_eq!(qa_pair(r"\boxed{a}"), Parsed::Unparsed);
    }

    #[test]
    fn texts_of_boxes_have_no_marks() {
        assert_eq!(
            boxed_texts(r"<think>\boxed{x}</think> \boxed{ bell } \boxed{\text{the mill}}"),
            ["bell", "the mill"]
        );
    }

    #[test]
    fn memagent_prefers_the_box_without_braces() {
        assert_eq!(memagent_boxed(r"\boxed{7} $\boxed 5$ x"), Parsed::Answer("5"));
        assert_eq!(memagent_boxed(r"\boxed{a} \boxed{ b{c} }"), Parsed::Answer(" b{c} "));
        assert_eq!(memagent_boxed(r"\boxed{open"), Parsed::Unparsed);
        assert_eq!(memagent_boxed(r"\fbox{x}"), Parsed::Unparsed);
    }
}
