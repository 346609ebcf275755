//! Project Gutenberg's header and trailer, recognised so that they can be set aside.

use super::line::{Line, lines};
use closeread_text::Span;
use regex::Regex;
use std::sync::LazyLock;

/// Most lines that a book may have, and most bytes of one word, one stretch of white space or of marks: what is kept
/// for each line, and for each byte of a word while its tokens are counted, is many times as large.
pub(super) const MAX_LINES_AND_RUN: usize = 4 << 20;

/// The frame of a file: where the text of Project Gutenberg around the book ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// The book itself. Without a frame: everything but a byte order mark.
    pub body: Span,
    /// True if a header was set aside.
    pub has_header: bool,
    /// True if a trailer was set aside.
    pub has_trailer: bool,
}

impl Frame {
    /// The frame of `source`.
    ///
    /// A header ends at a line `*** START OF THE PROJECT GUTENBERG EBOOK ... ***` (THE or THIS, with or without spaces
    /// after the asterisks, the title perhaps running over several lines) or, in files before 2003, at `*END*THE SMALL
    /// PRINT...`; it counts only among the first 500 lines, with nothing before it or a header's usual content. The
    /// credits that follow it ("Produced by ...") belong to it. A trailer begins at `*** END OF THE PROJECT GUTENBERG
    /// EBOOK ... ***` or `End of (the) Project Gutenberg('s) ...`; it counts only if nothing or Project Gutenberg's own
    /// words follow it, or if it is the asterisked counterpart of a header and more stands before it than after. The line above the
    /// asterisks may wrap, and be in the book's language.
    /// Whatever is not certain stays in the body: a book that quotes these lines keeps its text.
    pub fn find(source: &str) -> Self {
        let whole = Self::none(source).body;
        // No book has so many; what is kept of each would be many times the text.
        if source.len() > MAX_LINES_AND_RUN && lines(source, whole).nth(MAX_LINES_AND_RUN).is_some() {
            return Self::none(source);
        }
        let lines: Vec<Line> = lines(source, whole).collect();
        let header = header_end(source, &lines);
        let first = header.unwrap_or(0);
        let trailer = trailer_start(source, &lines, header);
        let last = trailer.unwrap_or(lines.len());
        if header.is_none() && trailer.is_none() {
            return Self::none(source);
        }
        let inside = &lines[first.min(last)..last];
        let start = inside.iter().position(|l| !is_blank(l.of(source)));
        let end = inside.iter().rposition(|l| !is_blank(l.of(source)));
        let body = match (start, end) {
            (Some(a), Some(b)) => Span::new(
                if header.is_some() { inside[a].start } else { whole.start },
                if trailer.is_some() { inside[b].next } else { whole.end },
            ),
            _ => {
                let at = lines.get(first).map_or(whole.end, |l| l.start);
                Span::new(at, at)
            }
        };
        Self { body, has_header: header.is_some(), has_trailer: trailer.is_some() }
    }

    /// The title that the header gives, if one was set aside.
    pub fn title(&self, source: &str) -> Option<String> {
        if !self.has_header {
            return None;
        }
        let mut head = source[..self.body.start].lines().map(str::trim_end);
        let mut title = head.find_map(|l| l.strip_prefix("Title:"))?.trim().to_owned();
        // A long title goes on in indented lines.
        for more in head.take_while(|l| l.starts_with(' ')) {
            title.push(' ');
            title.push_str(more.trim());
        }
        (!title.is_empty()).then_some(title)
    }

    /// `source` taken whole, but for a byte order mark.
    pub fn none(source: &str) -> Self {
        let start = if source.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        Self { body: Span::new(start, source.len()), has_header: false, has_trailer: false }
    }
}

/// A header longer than this is none: the longest known, with the old small print, has some 400 lines.
const MAX_HEADER_LINES: usize = 500;

/// Lines that one marker may take: a long title wraps.
const MAX_MARKER_LINES: usize = 5;

fn pattern(regex: &str) -> Regex {
    Regex::new(regex).expect("a constant pattern")
}

static START: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\s*\*+\s*START OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)\b"));
static SMALL_PRINT_END: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)^\s*\*+\s*END\s*\*?\s*THE SMALL PRINT"));
static END: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\s*\*+\s*END OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)\b"));
static END_OF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*[\[(]?\**\s*(?:(?:the |this is the )?end of (?:the |this )?project gutenberg(?:'s|’s| e-?(?:book|text)\b)|end of (?:the |this )?project gutenberg\s*(?:e-?(?:book|text))?\s*\**\s*$)",
    )
});
/// The line above the marker of a book in another language.
static END_ELSEWHERE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\s*(?:fin|ende|fine|fim|einde|slut|loppu)\b.*\bpro\w+ gutenberg\b"));
static OWN_WORDS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)project gutenberg|gutenberg\.(?:org|net)|\bpg_?laf\b|e-?(?:book|text) ?#"));
static TRAILER_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)project gutenberg(?:-tm|™| license| literary archive)|this file should be named|updated editions will replace|\*{3} ?START: FULL LICENSE|gutenberg\.(?:org|net)/",
    )
});
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*\[?(?:title|release date|posting date|character set encoding|language|most recently updated)\s*:|use of anyone anywhere",
    )
});
static CREDIT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*[\[(]?(?:(?:this )?(?:e-?book|e-?text|book|file|html version)(?: was| is)?(?: first)? )?(?:produced|transcribed|prepared|scanned|created|typed|digitized|converted|proofed) (?:by|from|for)\b",
    )
});

fn is_blank(line: &str) -> bool {
    line.chars().all(char::is_whitespace)
}

/// Index of the first line after the header and its credits; `None` without a header.
fn header_end(source: &str, lines: &[Line]) -> Option<usize> {
    let head = &lines[..lines.len().min(MAX_HEADER_LINES)];
    let marker = head
        .iter()
        .position(|l| START.is_match(l.of(source)))
        .or_else(|| head.iter().rposition(|l| SMALL_PRINT_END.is_match(l.of(source))))?;
    let before: Vec<&str> = head[..marker].iter().map(|l| l.of(source)).filter(|l| !is_blank(l)).collect();
    if !is_header(&before, SMALL_PRINT_END.is_match(head[marker].of(source))) {
        return None;
    }
    let after = marker + 1 + marker_tail(source, &lines[marker..]);
    Some(after_credits(source, lines, after))
}

/// True if `before`, what stands above a header's marker, is nothing or what Project Gutenberg puts there.
fn is_header(before: &[&str], small_print: bool) -> bool {
    const MAX_LINES_WITHOUT_SMALL_PRINT: usize = 60;
    let n_own = before.iter().filter(|l| OWN_WORDS.is_match(l)).count();
    if small_print {
        return n_own >= 3;
    }
    match before {
        [] => true,
        [first, rest @ ..] if rest.len() < 3 => OWN_WORDS.is_match(first),
        _ => n_own >= 1 && before.len() <= MAX_LINES_WITHOUT_SMALL_PRINT && before.iter().any(|l| FIELD.is_match(l)),
    }
}

/// Returns how many lines after the first one a marker goes on: up to the line that closes it with asterisks.
fn marker_tail(source: &str, from_marker: &[Line]) -> usize {
    let closes = |l: &Line| l.of(source).trim_end().ends_with("***");
    let block = from_marker.iter().take(MAX_MARKER_LINES).take_while(|l| !is_blank(l.of(source)));
    let mut block = block.enumerate();
    match block.next() {
        Some((_, first)) if !closes(first) => block.find(|(_, l)| closes(l)).map_or(0, |(i, _)| i),
        _ => 0,
    }
}

/// Index of the line after the credit paragraphs that follow line `at`, if there are any.
fn after_credits(source: &str, lines: &[Line], mut at: usize) -> usize {
    const MAX_CREDIT_LINES: usize = 12;
    loop {
        let Some(start) = lines[at..].iter().position(|l| !is_blank(l.of(source))).map(|n| at + n) else { return at };
        let n_lines = lines[start..].iter().take_while(|l| !is_blank(l.of(source))).count();
        if n_lines > MAX_CREDIT_LINES || !CREDIT.is_match(lines[start].of(source)) {
            return at;
        }
        at = start + n_lines;
    }
}

/// Index of the trailer's first line, at or after line `from`; `None` without a trailer.
fn trailer_start(source: &str, lines: &[Line], header: Option<usize>) -> Option<usize> {
    let from = header.unwrap_or(0);
    let last_with = |marker: &Regex| {
        let at = lines[from..].iter().rposition(|l| marker.is_match(l.of(source))).map(|n| from + n)?;
        let after = at + 1 + marker_tail(source, &lines[at..]);
        is_trailer(source, &lines[after.min(lines.len())..]).then_some(at)
    };
    let counterpart = || {
        header?;
        let at = lines[from..].iter().rposition(|l| END.is_match(l.of(source))).map(|n| from + n)?;
        let (body, after) = (lines[at].start - lines[from.min(at)].start, source.len() - lines[at].end);
        (body > after).then_some(at)
    };
    let at = last_with(&END).or_else(|| last_with(&END_OF)).or_else(counterpart)?;
    // "End of Project Gutenberg's X" often stands above the marker, a long title over several lines.
    let above = lines[from..at].iter().rposition(|l| !is_blank(l.of(source))).map_or(from, |n| from + n + 1);
    let paragraph = (from..above).rev().take(MAX_MARKER_LINES).take_while(|n| !is_blank(lines[*n].of(source)));
    let ends = |n: &usize| END_OF.is_match(lines[*n].of(source)) || END_ELSEWHERE.is_match(lines[*n].of(source));
    Some(paragraph.filter(ends).last().unwrap_or(at))
}

/// True if `after`, what follows a trailer's marker, is nothing or begins and ends with Project Gutenberg's own words.
fn is_trailer(source: &str, after: &[Line]) -> bool {
    const FIRST_LINES: usize = 40;
    const LAST_LINES: usize = 12;
    let words: Vec<&str> = after.iter().map(|l| l.of(source)).filter(|l| !is_blank(l)).collect();
    let tail = &words[words.len().saturating_sub(LAST_LINES)..];
    words.is_empty()
        || words.iter().take(FIRST_LINES).any(|l| TRAILER_WORDS.is_match(l))
            && tail.iter().any(|l| OWN_WORDS.is_match(l) || l.contains("END: FULL LICENSE"))
}
