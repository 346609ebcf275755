//! Locating the words of a quote in a text.

use super::Span;
use std::cell::OnceCell;

/// The place of a quote in a text, and how it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Located {
    /// The quote stands there byte for byte.
    Exact {
        /// Span of the first occurrence.
        span: Span,
        /// Number of times that it stands in the text; the first one counts where it is more than one.
        occurrences: usize,
    },
    /// The quote stands there once white space (and, if allowed, typography) is folded; the span is that of the raw
    /// text.
    Folded {
        /// Span of the first occurrence.
        span: Span,
        /// Number of times that it stands in the folded text.
        occurrences: usize,
    },
    /// The quote does not stand in the text, or is empty.
    NotFound,
}

impl Located {
    /// Returns the first occurrence in the raw text.
    pub fn span(self) -> Option<Span> {
        match self {
            Self::Exact { span, .. } | Self::Folded { span, .. } => Some(span),
            Self::NotFound => None,
        }
    }

    /// Returns how often the quote occurs, 0 if not at all.
    pub fn occurrences(self) -> usize {
        match self {
            Self::Exact { occurrences, .. } | Self::Folded { occurrences, .. } => occurrences,
            Self::NotFound => 0,
        }
    }
}

/// The differences that are allowed between a quote and the text it was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folding {
    /// White space: any run counts as one space, and as nothing between two Chinese characters, where a line end is
    /// no word end. This is the rule of the reference values for LooGLE.
    Space,
    /// White space, and where that does not suffice also curly against straight quotation marks, and soft hyphens.
    Typography,
}

/// A text in which quotes are looked up; the folded copies are made once, when first needed.
#[derive(Debug)]
pub struct Locator<'t> {
    text: &'t str,
    space: OnceCell<Folded>,
    typography: OnceCell<Folded>,
}

impl<'t> Locator<'t> {
    /// A locator for `text`. Costs nothing until a quote is not found byte for byte.
    pub fn new(text: &'t str) -> Self {
        Self { text, space: OnceCell::new(), typography: OnceCell::new() }
    }

    /// The text that is searched.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Looks `quote` up from the start of the text: exactly, else after folding.
    pub fn locate(&self, quote: &str, folding: Folding) -> Located {
        self.locate_from(0, quote, folding)
    }

    /// Looks `quote` up among the occurrences that begin at byte `from` or later.
    pub fn locate_from(&self, from: usize, quote: &str, folding: Folding) -> Located {
        let quote = quote.trim();
        if quote.is_empty() {
            return Located::NotFound;
        }
        let from = self.text.ceil_char_boundary(from);
        let mut exact = self.text[from..].match_indices(quote);
        if let Some((at, _)) = exact.next() {
            let start = from + at;
            return Located::Exact { span: Span::new(start, start + quote.len()), occurrences: 1 + exact.count() };
        }
        let space = self.space.get_or_init(|| Folded::new(self.text, false)).find(self.text, from, &fold(quote, false));
        if space != Located::NotFound || folding == Folding::Space {
            return space;
        }
        self.typography.get_or_init(|| Folded::new(self.text, true)).find(self.text, from, &fold(quote, true))
    }
}

/// A folded text with the way back to the raw one.
#[derive(Debug)]
struct Folded {
    text: String,
    /// Steps, `(offset in the folded text, offset in the raw text)` wherever the distance between the two changes.
    steps: Vec<(usize, usize)>,
}

impl Folded {
    fn new(raw: &str, typography: bool) -> Self {
        let mut folded = Self { text: String::with_capacity(raw.len()), steps: Vec::new() };
        let mut distance = usize::MAX;
        for_each_folded(raw, typography, |at, c| {
            if at - folded.text.len() != distance {
                distance = at - folded.text.len();
                folded.steps.push((folded.text.len(), at));
            }
            folded.text.push(c);
        });
        folded
    }

    /// The raw offset of the character at `at` in the folded text.
    fn raw(&self, at: usize) -> usize {
        let step = self.steps.partition_point(|(folded, _)| *folded <= at) - 1;
        let (folded, raw) = self.steps[step];
        raw + (at - folded)
    }

    fn find(&self, raw: &str, from: usize, quote: &str) -> Located {
        let Some(last) = quote.chars().next_back() else { return Located::NotFound };
        let mut hits = self.text.match_indices(quote).map(|(at, _)| at).filter(|at| self.raw(*at) >= from);
        let Some(at) = hits.next() else { return Located::NotFound };
        let last = self.raw(at + quote.len() - last.len_utf8());
        let last_len = raw[last..].chars().next().map_or(0, char::len_utf8);
        Located::Folded { span: Span::new(self.raw(at), last + last_len), occurrences: 1 + hits.count() }
    }
}

fn fold(quote: &str, typography: bool) -> String {
    let mut folded = String::with_capacity(quote.len());
    for_each_folded(quote, typography, |_, c| folded.push(c));
    folded
}

/// Calls `push` with every character of the folded text and the offset of what it stands for; white space at the
/// start and at the end is left out.
fn for_each_folded(raw: &str, typography: bool, mut push: impl FnMut(usize, char)) {
    let mut before: Option<char> = None;
    let mut space_at: Option<usize> = None;
    for (at, c) in raw.char_indices() {
        if c.is_whitespace() {
            space_at = space_at.or(Some(at));
            continue;
        }
        if typography && c == '\u{ad}' {
            continue;
        }
        let space = space_at.take();
        if let (Some(space_at), Some(before)) = (space, before)
            && !(is_chinese(before) && is_chinese(c))
        {
            push(space_at, ' ');
        }
        before = Some(c);
        push(at, if typography { straight(c) } else { c });
    }
}

fn straight(c: char) -> char {
    match c {
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' => '"',
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' => '\'',
        _ => c,
    }
}

/// Han characters and the punctuation that goes with them.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{3000}'..='\u{303f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, quote: &str, expected: Option<&str>, occurrences: usize) {
        let located = Locator::new(text).locate(quote, Folding::Typography);
        assert_eq!(located.span().map(|span| &text[span.range()]), expected, "{quote:?} in {text:?}");
        assert_eq!(located.occurrences(), occurrences, "{quote:?} in {text:?}");
    }

    #[test]
    fn quotes_are_found_exactly_or_after_folding() {
        check("a cat, a cat", "a cat", Some("a cat"), 2);
        check("the  old\r\n   man", "the old man", Some("the  old\r\n   man"), 1);
        check("the old man", " the\told \n man\n", Some("the old man"), 1);
        check("an old\nman and an old\n man", "old man", Some("old\nman"), 2);
        check("“It’s here”", "\"It's here\"", Some("“It’s here”"), 1);
        check("un\u{ad}believ\u{ad}able", "unbelievable", Some("un\u{ad}believ\u{ad}able"), 1);
        check("卻說老\n殘遊記。\n　　次日", "老殘遊記。次日", Some("老\n殘遊記。\n　　次日"), 1);
        check("the old man", "the old men", None, 0);
        check("the old man", "  ", None, 0);
        check("", "x", None, 0);
        check("  \n ", "x", None, 0);
    }

    #[test]
    fn folding_of_white_space_alone_keeps_quotation_marks_apart() {
        let text = "He said “no”\nand left";
        let locator = Locator::new(text);
        assert_eq!(locator.locate("said \"no\" and", Folding::Space), Located::NotFound);
        let Located::Folded { span, .. } = locator.locate("said \"no\" and", Folding::Typography) else { panic!() };
        assert_eq!(&text[span.range()], "said “no”\nand");
    }

    #[test]
    fn a_search_can_begin_behind_an_earlier_occurrence() {
        let locator = Locator::new("so it was. And so it\nwas.");
        let first = locator.locate("it was.", Folding::Space);
        assert_eq!(first, Located::Exact { span: Span::new(3, 10), occurrences: 1 });
        let second = locator.locate_from(4, "it was.", Folding::Space);
        assert_eq!(second, Located::Folded { span: Span::new(18, 25), occurrences: 1 });
    }

    proptest! {
        #[test]
        fn what_is_found_folds_to_the_quote(text in "[ab老“\" \n\u{ad}]{0,30}", from in 0_usize..30, n in 1_usize..12) {
            let quote: String = text.chars().skip(from).take(n).collect::<String>().replace('\n', "  ");
            let visible = quote.chars().any(|c| !c.is_whitespace() && c != '\u{ad}');
            let located = Locator::new(&text).locate(&quote, Folding::Typography);
            prop_assert!(located.span().is_some() || !visible, "{quote:?} of {text:?} is lost");
            if let Some(span) = located.span() {
                prop_assert_eq!(fold(&text[span.range()], true), fold(&quote, true));
            }
        }
    }
}
