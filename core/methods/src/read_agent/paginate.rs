//! Pagination: where a page ends, by ReadAgent's episode pagination.

use closeread_books::Flow;
use closeread_retrieve::sentences;
use closeread_text::{FlowSpan, Language};
use serde::{Deserialize, Serialize};

/// The units that labels stand between, and so where pages may end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Sentences (Stronger Baselines, appendix A.6).
    #[default]
    Sentence,
    /// Lines with something on them (ReadAgent's notebook, which takes blank lines for paragraphs too).
    Paragraph,
}

impl Unit {
    /// The units of a text in their order, none of them blank.
    pub(super) fn of(self, flow: &Flow, language: Language) -> Vec<FlowSpan> {
        match self {
            Self::Sentence => sentences(flow, language),
            Self::Paragraph => {
                let lines = flow.text().split_inclusive('\n').scan(0, |end, line| {
                    let start = *end;
                    *end += line.len();
                    let from = start + (line.len() - line.trim_start().len());
                    Some(FlowSpan::new(from, from + line.trim().len()))
                });
                lines.filter(|line| !line.is_empty()).collect()
            }
        }
    }
}

/// The length of pages, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLength {
    /// Number of words at which a page takes no further units.
    pub word_limit: usize,
    /// Number of words from the page's start to the end of the unit that the first label stands before.
    pub start_threshold: usize,
    /// Least number of words with which a break is asked for: with fewer, all the rest of the text is the last page.
    pub min_words: usize,
}

/// Units from which the next page is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// First unit.
    pub start: usize,
    /// One past the last unit.
    pub end: usize,
    /// Labels, where the page may end: before these units, ascending; the last one is `end`.
    pub labels: Vec<usize>,
    /// Whether no break is asked for: the units are the rest of the text.
    pub is_rest: bool,
}

impl PageLength {
    /// The units from `start` on, one of the units that have `words` words each, from which the next page is cut.
    ///
    /// # Panics
    /// If there is no unit `start`.
    pub fn stretch(self, words: &[usize], start: usize) -> Stretch {
        let mut n_words = words[start];
        let mut end = start + 1;
        let mut labels = Vec::new();
        while n_words < self.word_limit && end < words.len() {
            n_words += words[end];
            if n_words >= self.start_threshold {
                labels.push(end);
            }
            end += 1;
        }
        labels.push(end);
        if n_words < self.min_words {
            return Stretch { start, end: words.len(), labels: Vec::new(), is_rest: true };
        }
        Stretch { start, end, labels, is_rest: false }
    }
}

impl Stretch {
    /// Returns one past the page's last unit, as a response wants it by its [break
    /// point](closeread_eval::answer::break_point): any unit of the stretch, a label before it or not. What does not
    /// parse or lies outside is taken for the last label.
    pub fn cut(&self, label: Option<usize>) -> usize {
        label.filter(|&unit| self.start < unit && unit <= self.end).unwrap_or(self.end)
    }

    /// The units with the labels between them, one a line.
    pub(super) fn labelled(&self, text: &str, units: &[FlowSpan]) -> String {
        let mut lines = Vec::new();
        for unit in self.start..self.end {
            if self.labels.contains(&unit) {
                lines.push(format!("<{unit}>"));
            }
            lines.push(text[units[unit].range()].to_owned());
        }
        lines.push(format!("<{}>", self.end));
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_books::{Book, ReadOptions};
    use closeread_eval::answer::break_point;
    use proptest::prelude::*;

    const LENGTH: PageLength = PageLength { word_limit: 600, start_threshold: 280, min_words: 350 };

    #[test]
    fn paragraphs_are_lines_with_something_on_them() {
        let options = ReadOptions { keep_wraps: true, ..ReadOptions::default() };
        let book = Book::new("b", "", "One.\n\n  Two two. \n \nThree.".to_owned(), &options).unwrap();
        let text = book.text().unwrap();
        let units = Unit::Paragraph.of(text.flow(), book.language);
        let units: Vec<&str> = units.iter().map(|span| &text.flow().text()[span.range()]).collect();
        assert_eq!(units, ["One.", "Two two.", "Three."]);
    }

    #[test]
    fn a_response_may_name_a_unit_without_a_label_but_none_outside() {
        let stretch = LENGTH.stretch(&[100; 10], 2);
        assert_eq!((stretch.end, &stretch.labels[..]), (8, &[4, 5, 6, 7, 8][..]));
        for (response, end) in [("<5>", 5), ("<3>", 3), ("<8>", 8), ("<9>", 8), ("<2>", 8), ("<0>", 8), ("5", 8)] {
            assert_eq!(stretch.cut(break_point(response)), end, "{response}");
        }
    }

    #[test]
    fn a_short_rest_is_one_page() {
        let stretch = LENGTH.stretch(&[100, 100, 149], 0);
        assert!(stretch.is_rest && stretch.end == 3);
        assert!(!LENGTH.stretch(&[100, 100, 150], 0).is_rest);
    }

    proptest! {
        #[test]
        fn pages_tile_the_units_whatever_is_replied(
            words in prop::collection::vec(0usize..400, 1..80),
            responses in prop::collection::vec("Break point: <[0-9]{1,2}>|[a-z]*", 80),
        ) {
            let mut start = 0;
            for response in &responses {
                if start == words.len() {
                    break;
                }
                let stretch = LENGTH.stretch(&words, start);
                let end = if stretch.is_rest { stretch.end } else { stretch.cut(break_point(response)) };
                prop_assert!(start < end && end <= words.len());
                prop_assert!(stretch.is_rest || stretch.labels.last() == Some(&stretch.end));
                start = end;
            }
            prop_assert_eq!(start, words.len());
        }
    }
}
