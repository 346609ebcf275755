//! The text as it is read: wraps undone, every byte still traceable to its place in the file.

mod invisible;
mod wrap;

pub(super) use invisible::is_invisible;

use super::line::{Line, lines};
use closeread_text::{FlowSpan, Span};
use wrap::LineBreak;

/// The body of a book as running text, with a map to and from the file.
///
/// What differs from the file: CRLF and lone CR are LF; soft hyphens (U+00AD) and invisible marks (U+200B, U+2060,
/// U+FEFF) are gone; where the file is hard-wrapped, a line break that only wraps is one space between Latin words and
/// nothing between Han or Kana characters, after a hyphen or a dash, and after a soft hyphen. Blank lines and line
/// breaks made on purpose stay. Joiners (U+200C, U+200D) stay: they shape letters and emoji.
///
/// Each byte of the flow stems from exactly one byte of the file, in the same order; bytes are only dropped, never
/// invented (the space of an undone wrap is the file's line feed). That is why a list of runs is the whole map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    text: String,
    body: Span,
    /// Runs, ascending in both coordinates. A run reaches to the next run's `flow`.
    runs: Vec<Run>,
}

/// Bytes that stand side by side in both texts, from here to the start of the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    flow: usize,
    source: usize,
}

impl Flow {
    /// The running text of `source[body]`.
    ///
    /// Whether the file is hard-wrapped is decided once, from the lengths of its lines; then each line break by
    /// itself.
    ///
    /// # Panics
    /// If `body` does not lie inside `source` on character boundaries.
    pub fn of(source: &str, body: Span) -> Self {
        let lines: Vec<_> = lines(source, body).collect();
        let breaks = wrap::line_breaks(source, &lines);
        Self::write(source, body, &lines, breaks)
    }

    /// Makes a flow with every line break where it is: for a text that is no file but a field of a data set, whose line
    /// breaks are part of what is published.
    ///
    /// # Panics
    /// If `body` does not lie inside `source` on character boundaries.
    pub(crate) fn with_wraps(source: &str, body: Span) -> Self {
        let lines: Vec<_> = lines(source, body).collect();
        let breaks = lines.iter().map(|_| LineBreak::Keep).collect();
        Self::write(source, body, &lines, breaks)
    }

    fn write(source: &str, body: Span, lines: &[Line], breaks: Vec<LineBreak>) -> Self {
        let mut writer = Writer::new(source, body);
        let mut resume = body.start;
        for (line, line_break) in lines.iter().zip(breaks) {
            match line_break {
                LineBreak::Keep => {
                    writer.copy(resume.max(line.start), line.end);
                    if line.next > line.end {
                        writer.replace(line.next - 1, '\n');
                    }
                    resume = line.next;
                }
                LineBreak::Undo { upto, from, spaced } => {
                    writer.copy(resume.max(line.start), upto);
                    if spaced {
                        writer.replace(line.next - 1, ' ');
                    }
                    resume = from;
                }
            }
        }
        writer.finish()
    }

    /// The text as it is read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of the file that flows here.
    pub fn body(&self) -> Span {
        self.body
    }

    /// Returns the place of `span` in the file: from the first byte of its first character to the end of its last one.
    ///
    /// What was dropped inside is covered, what was dropped around it is not. An empty span maps to the empty span
    /// before the character it precedes.
    ///
    /// # Panics
    /// If `span` reaches beyond the text.
    pub fn to_source(&self, span: FlowSpan) -> Span {
        assert!(span.end <= self.text.len(), "{span:?} reaches beyond a flow of {} bytes", self.text.len());
        if span.is_empty() {
            let at = if span.start == self.text.len() { self.body.end } else { self.source_of(span.start) };
            return Span::new(at, at);
        }
        Span::new(self.source_of(span.start), self.source_of(span.end - 1) + 1)
    }

    /// The part of the flow that stems from `span` of the file; `None` if no character of it flows (frame, soft
    /// hyphens, an undone wrap's second half, an empty span).
    ///
    /// A span that cuts through characters takes them whole.
    pub fn from_source(&self, span: Span) -> Option<FlowSpan> {
        let mut start = self.first_at_or_after(span.start);
        let mut end = self.first_at_or_after(span.end);
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        (start < end && span.start < span.end).then(|| FlowSpan::new(start, end))
    }

    /// The file's byte that byte `at` of the flow stems from.
    fn source_of(&self, at: usize) -> usize {
        let run = self.runs[self.runs.partition_point(|r| r.flow <= at) - 1];
        run.source + (at - run.flow)
    }

    /// Returns the first byte of the flow that stems from byte `at` of the file or a later one.
    fn first_at_or_after(&self, at: usize) -> usize {
        let after = self.runs.partition_point(|r| r.source <= at);
        let end = self.runs.get(after).map_or(self.text.len(), |r| r.flow);
        match after.checked_sub(1).map(|i| self.runs[i]) {
            Some(run) => (run.flow + (at - run.source)).min(end),
            None => 0,
        }
    }
}

/// Builds the text and the runs, left to right.
struct Writer<'s> {
    source: &'s str,
    flow: Flow,
}

impl<'s> Writer<'s> {
    fn new(source: &'s str, body: Span) -> Self {
        let text = String::with_capacity(body.len());
        Self { source, flow: Flow { text, body, runs: Vec::new() } }
    }

    /// Appends `source[start..end]` without its invisible characters.
    fn copy(&mut self, start: usize, end: usize) {
        if start >= end {
            return;
        }
        let mut verbatim = start;
        for (i, c) in self.source[start..end].char_indices() {
            if is_invisible(c) {
                self.append(verbatim, start + i);
                verbatim = start + i + c.len_utf8();
            }
        }
        self.append(verbatim, end);
    }

    fn append(&mut self, start: usize, end: usize) {
        if start < end {
            self.mark(start);
            self.flow.text.push_str(&self.source[start..end]);
        }
    }

    /// Appends `c` in place of the one byte of the file at `at`.
    fn replace(&mut self, at: usize, c: char) {
        debug_assert_eq!(c.len_utf8(), 1, "a run maps byte by byte");
        self.mark(at);
        self.flow.text.push(c);
    }

    /// Opens a run unless the last one reaches just here.
    fn mark(&mut self, source: usize) {
        let flow = self.flow.text.len();
        if self.flow.runs.last().is_none_or(|r| r.source + (flow - r.flow) != source) {
            self.flow.runs.push(Run { flow, source });
        }
    }

    fn finish(mut self) -> Flow {
        self.flow.text.shrink_to_fit();
        self.flow.runs.shrink_to_fit();
        self.flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(source: &str) -> Flow {
        Flow::of(source, Span::new(0, source.len()))
    }

    #[test]
    fn line_ends_become_line_feeds() {
        assert_eq!(flow("a\r\nb\rc\n").text(), "a\nb\nc\n");
    }

    #[test]
    fn invisible_characters_go_and_joiners_stay() {
        assert_eq!(flow("\u{FEFF}co\u{AD}oper\u{200B}ate\u{2060} 👩\u{200D}🚀").text(), "cooperate 👩\u{200D}🚀");
    }

    #[test]
    fn a_word_broken_at_a_soft_hyphen_is_whole_again() {
        let source = "an extra\u{AD}\r\nordinary day";
        let f = flow(source);
        assert_eq!(f.text(), "an extraordinary day");
        assert_eq!(&source[f.to_source(FlowSpan::new(3, 16)).range()], "extra\u{AD}\r\nordinary");
    }

    #[test]
    fn spans_map_both_ways_and_stay_tight() {
        let source = "\u{FEFF}ab\u{AD}\r\n\r\ncd";
        let f = Flow::of(source, Span::new(3, source.len()));
        assert_eq!(f.text(), "ab\n\ncd");
        assert_eq!(f.to_source(FlowSpan::new(0, 2)), Span::new(3, 5));
        assert_eq!(f.to_source(FlowSpan::new(4, 6)), Span::new(11, 13));
        assert_eq!(f.to_source(FlowSpan::new(6, 6)), Span::new(13, 13));
        assert_eq!(f.from_source(Span::new(0, 3)), None, "the byte order mark does not flow");
        assert_eq!(f.from_source(Span::new(5, 7)), None, "neither does a soft hyphen");
        assert_eq!(f.from_source(Span::new(4, 12)), Some(FlowSpan::new(1, 5)));
        assert_eq!(f.from_source(Span::new(0, 100)), Some(FlowSpan::new(0, 6)));
    }

    #[test]
    fn a_source_span_through_a_character_takes_it_whole() {
        let f = flow("a水b");
        assert_eq!(f.from_source(Span::new(2, 3)), Some(FlowSpan::new(1, 4)));
    }

    #[test]
    fn an_empty_body_is_an_empty_flow() {
        let f = Flow::of("abc", Span::new(2, 2));
        assert_eq!((f.text(), f.to_source(FlowSpan::new(0, 0))), ("", Span::new(2, 2)));
        assert_eq!(f.from_source(Span::new(0, 3)), None);
    }
}
