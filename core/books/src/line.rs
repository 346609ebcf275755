//! Physical lines of a text, whatever ends them.

use closeread_text::Span;

/// One line: `text[start..end]` without its line end, which reaches to `next`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Start of the line: first byte.
    pub(super) start: usize,
    /// End of the line: one past the last byte before the line end.
    pub(super) end: usize,
    /// First byte of the next line, or the end of the text.
    pub(super) next: usize,
}

impl Line {
    /// The line's bytes, line end excluded.
    pub(super) fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}

/// The lines of `text` inside `span`: each ends with LF, CRLF or a lone CR, the last one perhaps with nothing.
pub(super) fn lines(text: &str, span: Span) -> impl Iterator<Item = Line> + '_ {
    let bytes = &text.as_bytes()[..span.end];
    let mut start = span.start;
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let end = bytes[start..].iter().position(|b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |n| start + n);
        let next = match bytes.get(end..) {
            Some([b'\r', b'\n', ..]) => end + 2,
            Some([_, ..]) => end + 1,
            _ => end,
        };
        let line = Line { start, end, next };
        start = next;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_ends_a_line() {
        let text = "a\r\nb\rc\n\nd";
        let found: Vec<&str> = lines(text, Span::new(0, text.len())).map(|l| l.of(text)).collect();
        assert_eq!(found, ["a", "b", "c", "", "d"]);
    }

    #[test]
    fn lines_stay_inside_the_span() {
        let text = "one\ntwo\nthree";
        let found: Vec<&str> = lines(text, Span::new(4, 9)).map(|l| l.of(text)).collect();
        assert_eq!(found, ["two", "t"]);
    }
}
