//! Line wraps: which line breaks only wrap, and which are meant.

use super::invisible::{SOFT_HYPHEN, is_invisible};
use crate::line::Line;
use closeread_text::language::is_han;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The decision on the line break after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineBreak {
    /// The line break is meant.
    Keep,
    /// The line break only wraps: text goes on from byte `upto` of this line to byte `from` of the next.
    Undo {
        /// End of this line's text, one past its last byte: white space at the line's end goes.
        upto: usize,
        /// First byte of the next line's text: its indentation goes.
        from: usize,
        /// True if a space takes the break's place.
        spaced: bool,
    },
}

/// Decides for every line of a body what its line break is, in the order of `lines`.
///
/// A file counts as hard-wrapped if one width explains most of its breaks inside paragraphs: the line fits that width,
/// and would not with the next line's first word. In such a file a line that had room for that word ends on purpose
/// (verse, headings, signatures), unless its paragraph is otherwise plainly prose. In six wrapped
/// novels and three filings one width explains 0.52 to 0.99 of the breaks; the thresholds for verse are chosen, not
/// measured.
pub(super) fn line_breaks(source: &str, lines: &[Line]) -> Vec<LineBreak> {
    let shapes: Vec<Shape> = lines.iter().map(|&line| Shape::of(source, line)).collect();
    let width = wrap_width(&shapes);
    let mut breaks = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        let n_lines = shapes[at..].iter().take_while(|s| !s.blank).count();
        if n_lines > 0 {
            let paragraph = Paragraph::new(&shapes[at..at + n_lines], width);
            let mut joined_before = false;
            for i in 0..n_lines - 1 {
                let (line, next) = (at + i, at + i + 1);
                joined_before = shapes[line].hyphenated || paragraph.wraps(i, joined_before);
                breaks.push(if joined_before {
                    undo(source, lines[line], lines[next], paragraph.spaceless)
                } else {
                    LineBreak::Keep
                });
            }
        }
        // The last line of a paragraph, or a blank one.
        breaks.push(LineBreak::Keep);
        at += n_lines.max(1);
    }
    breaks
}

/// Columns within which lines are wrapped in practice.
const WIDTHS: std::ops::RangeInclusive<usize> = 30..=140;

/// Columns that a full line may fall short by: people and paragraph formatters do not fill every line.
const SLACK: usize = 4;

/// The shape of a line, as it looks from outside.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// Columns, indentation included, trailing white space not; Han and Kana take two.
    width: usize,
    /// Columns of leading white space.
    indent: usize,
    /// Columns that its first word would need at the end of the line before.
    first_word: usize,
    blank: bool,
    /// Ends in a soft hyphen: the break is inside a word.
    hyphenated: bool,
    /// Whether most of the line's letters are Han or Kana.
    spaceless: bool,
    /// Begins with a lower-case letter.
    starts_lower: bool,
    /// Ends a sentence, closing quotes and brackets aside.
    ends_sentence: bool,
    /// Ends a clause in any way: no wrap at random does so often.
    ends_clause: bool,
    /// Whether the line is set apart by its very form: a rule, an ornament, a heading's mark, columns.
    apart: bool,
    /// Begins like an item of a list.
    item: bool,
}

static APART: LazyLock<Regex> = LazyLock::new(|| {
    let heading = r"第[0-9０-９〇零一二三四五六七八九十百千两兩廿卅]{1,9}[回章节節卷折出集部篇幕](?:[\s　:：].*)?$";
    let rule = r"[^\p{L}\p{N}]*$";
    let markdown = r"#{1,6}\s|\||```|~~~";
    let columns = r".*\S(?:\t| {4,})\s*\S";
    Regex::new(&format!(r"^[\s　]*(?:{heading}|{markdown}|{rule}|{columns})")).expect("a constant pattern")
});

static ITEM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*(?:[-*+•]|\(?[0-9]{1,3}[.)]|>)\s+\S").expect("a constant pattern"));

impl Shape {
    fn of(source: &str, line: Line) -> Self {
        let text = line.of(source);
        let trimmed = text.trim_end();
        let content = trimmed.trim_start();
        let indent = columns(&trimmed[..trimmed.len() - content.len()]);
        let wide = content.chars().filter(|&c| is_spaceless(c)).count();
        let letters = content.chars().filter(|c| c.is_alphabetic()).count();
        let last = content.trim_end_matches(is_closer).chars().next_back();
        Self {
            width: indent + columns(content),
            indent,
            first_word: first_word(content),
            blank: content.chars().all(is_invisible),
            hyphenated: trimmed.ends_with(SOFT_HYPHEN),
            spaceless: wide * 2 > letters,
            starts_lower: content.chars().find(|c| !is_closer(*c)).is_some_and(char::is_lowercase),
            ends_sentence: last.is_some_and(|c| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '．')),
            ends_clause: content.chars().next_back().is_some_and(|c| !c.is_alphanumeric()),
            apart: APART.is_match(text),
            item: ITEM.is_match(text),
        }
    }
}

/// The width that the file's lines are wrapped at, in columns; `None` if they are not.
fn wrap_width(shapes: &[Shape]) -> Option<usize> {
    let goes_on: Vec<(&Shape, &Shape)> =
        shapes.iter().zip(&shapes[1.min(shapes.len())..]).filter(|(a, b)| !a.blank && !b.blank).collect();
    let (width, n_explained) = best_width(&goes_on)?;
    let share = |n: usize| n as f64 / goes_on.len() as f64;
    let count = |test: fn(&Shape, &Shape) -> bool| share(goes_on.iter().filter(|(a, b)| test(a, b)).count());
    let explained = share(n_explained);
    let sentence_ends = count(|a, _| a.ends_sentence);
    // Signs that breaks fall inside sentences, whatever the widths: verse and lists show neither.
    let mid_sentence = count(|a, b| !a.ends_sentence && b.starts_lower);
    let mid_clause = count(|a, b| a.spaceless && b.spaceless && !a.ends_clause);

    // Text in lines far beyond the width is one paragraph a line; then its few short lines say nothing.
    let total: usize = shapes.iter().map(|s| s.width).sum();
    let beyond: usize = shapes.iter().map(|s| s.width).filter(|&w| w > width + width / 4).sum();
    if beyond * 10 > total * 3 || sentence_ends > 0.5 {
        return None;
    }
    let wrapped = if goes_on.len() < 3 {
        width >= 40 && explained == 1.0 && (mid_sentence > 0.0 || mid_clause > 0.0)
    } else {
        let cased_prose = mid_sentence >= 0.3;
        let caseless_prose = mid_clause >= 0.3;
        explained >= 0.85
            || (explained >= 0.4 && (cased_prose || caseless_prose))
            || (mid_sentence >= 0.6 && width >= 50)
    };
    wrapped.then_some(width)
}

/// The width that explains most breaks, and how many: the line fits it, and would not with the next line's first word.
/// Of equals the greatest.
fn best_width(goes_on: &[(&Shape, &Shape)]) -> Option<(usize, usize)> {
    let mut changes: BTreeMap<usize, isize> = BTreeMap::new();
    for (line, next) in goes_on {
        let beyond = line.width + gap(line, next) + next.first_word;
        *changes.entry(line.width).or_default() += 1;
        *changes.entry(beyond).or_default() -= 1;
    }
    let mut n = 0isize;
    let mut best = None;
    let mut from = 0;
    for (at, change) in changes {
        // Between two changes the count is constant; the least width of a stretch is where a line ends.
        if from <= *WIDTHS.end() && at > *WIDTHS.start() && n > 0 && best.is_none_or(|(_, most)| n >= most) {
            best = Some((from.max(*WIDTHS.start()), n));
        }
        n += change;
        from = at;
    }
    best.map(|(width, n)| (width, n.unsigned_abs()))
}

/// Columns of the space that an undone wrap would leave.
fn gap(line: &Shape, next: &Shape) -> usize {
    usize::from(!(line.spaceless && next.spaceless))
}

/// Lines without a blank one between them.
struct Paragraph<'s> {
    lines: &'s [Shape],
    width: Option<usize>,
    /// Share of its breaks that come at a full line, 0..=1.
    full: f64,
    spaceless: bool,
}

impl<'s> Paragraph<'s> {
    fn new(lines: &'s [Shape], width: Option<usize>) -> Self {
        let spaceless = lines.iter().filter(|l| l.spaceless).count() * 2 > lines.len();
        let mut paragraph = Self { lines, width, full: 0.0, spaceless };
        let n_breaks = lines.len() - 1;
        if n_breaks > 0 {
            paragraph.full = (0..n_breaks).filter(|&i| paragraph.is_full(i)).count() as f64 / n_breaks as f64;
        }
        paragraph
    }

    /// True if line `i` had no room for the first word of the next.
    fn is_full(&self, i: usize) -> bool {
        let (line, next) = (&self.lines[i], &self.lines[i + 1]);
        self.width.is_some_and(|width| line.width + gap(line, next) + next.first_word + SLACK > width)
    }

    /// True if the break after line `i` only wraps the text; `joined_before` says whether the break before the line
    /// does.
    fn wraps(&self, i: usize, joined_before: bool) -> bool {
        let Some(width) = self.width else { return false };
        let (line, next) = (&self.lines[i], &self.lines[i + 1]);
        if line.apart || next.apart || (next.item && (self.lines[0].item || line.ends_clause)) {
            return false;
        }
        if next.indent > line.indent + 1 && line.ends_sentence {
            return false;
        }
        if line.spaceless && next.spaceless {
            self.wraps_spaceless(i, width, joined_before)
        } else {
            self.wraps_spaced(i, width)
        }
    }

    fn wraps_spaced(&self, i: usize, width: usize) -> bool {
        let (line, next) = (&self.lines[i], &self.lines[i + 1]);
        let verse = self.lines.len() > 2 && self.full < 0.5;
        if self.is_full(i) {
            return !verse || next.starts_lower;
        }
        let nearly = |percent: usize| line.width * 100 >= width * percent;
        let plainly_prose = self.lines.len() > 4 && self.full >= 0.8 && nearly(75);
        let same_indent = next.indent <= line.indent + 1;
        let mid_phrase = self.lines.len() > 2 && !line.ends_clause && next.starts_lower;
        !verse
            && !line.ends_sentence
            && same_indent
            && (plainly_prose || mid_phrase || (next.starts_lower && nearly(60)))
    }

    /// Chinese is broken anywhere, and files are found that were wrapped twice, so that a full line and its rest
    /// alternate: a rest that does not end its sentence goes on, whatever its width. A line that starts afresh and ends
    /// short is a heading, a line of verse or the like.
    fn wraps_spaceless(&self, i: usize, width: usize, joined_before: bool) -> bool {
        let line = &self.lines[i];
        if line.ends_sentence {
            let whole = if joined_before && i > 0 { self.lines[i - 1].width + line.width } else { 0 };
            return line.width + 2 > width || whole.abs_diff(width) <= 2;
        }
        joined_before || line.width * 100 >= width * 85
    }
}

/// The break between two lines, undone. `spaceless` is the writing of their paragraph.
fn undo(source: &str, line: Line, next: Line, spaceless: bool) -> LineBreak {
    let (text, after) = (line.of(source), next.of(source));
    let kept = text.trim_end();
    let hyphenated = kept.ends_with(SOFT_HYPHEN);
    let shown = kept.trim_end_matches(is_invisible);
    let upto = line.start + kept.len();
    let from = next.start + (after.len() - after.trim_start().len());
    let spaced = !hyphenated && !ends_in_dash(shown) && needs_space(shown, after.trim_start(), spaceless);
    LineBreak::Undo { upto, from, spaced }
}

/// True if `line` ends in a hyphen or dash that clings to the word before it.
fn ends_in_dash(line: &str) -> bool {
    let before = line.trim_end_matches(['-', '\u{2010}', '\u{2011}', '\u{2012}', '–', '—', '―']);
    before.len() < line.len() && before.ends_with(|c: char| !c.is_whitespace())
}

/// True if the words on both sides of a wrap are written apart.
fn needs_space(line: &str, next: &str, spaceless: bool) -> bool {
    let last = line.chars().next_back().is_some_and(is_spaceless);
    let first = next.chars().find(|&c| !is_invisible(c)).is_some_and(is_spaceless);
    match (last, first) {
        (true, true) => false,
        // A quotation mark or a number between Han characters, or a foreign word: the paragraph decides.
        (true, false) | (false, true) => !spaceless,
        (false, false) => !spaceless || both_alphanumeric(line, next),
    }
}

fn both_alphanumeric(line: &str, next: &str) -> bool {
    line.ends_with(char::is_alphanumeric) && next.starts_with(char::is_alphanumeric)
}

/// True for characters of writings that put no space between words: Han, Kana, and their punctuation.
fn is_spaceless(c: char) -> bool {
    is_han(c)
        || matches!(c, '\u{3001}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{FF01}'..='\u{FF60}' | '\u{FE30}'..='\u{FE4F}')
}

fn is_closer(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '”'
            | '’'
            | '»'
            | ')'
            | ']'
            | '}'
            | '_'
            | '*'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '〉'
            | '“'
            | '‘'
            | '('
            | '['
    ) || is_invisible(c)
}

/// Columns that `text` takes on a screen.
fn columns(text: &str) -> usize {
    text.chars()
        .map(|c| {
            if is_invisible(c) {
                0
            } else if is_spaceless(c) || c == '\u{3000}' {
                2
            } else {
                1
            }
        })
        .sum()
}

/// Columns of the shortest beginning of a line that could have stood on the line before. Long words count as 20: an
/// address may be as long as a line, and says nothing about the width.
fn first_word(content: &str) -> usize {
    const LONGEST: usize = 20;
    let mut chars = content.chars().filter(|&c| !is_invisible(c)).peekable();
    match chars.peek() {
        Some(&c) if is_spaceless(c) => 2 + columns(&chars.skip(1).take_while(|&c| is_clinging(c)).collect::<String>()),
        _ => columns(&chars.take_while(|&c| !c.is_whitespace() && !is_spaceless(c)).take(LONGEST).collect::<String>()),
    }
}

/// True for punctuation that may not begin a line of Chinese or Japanese.
fn is_clinging(c: char) -> bool {
    matches!(c, '，' | '。' | '、' | '；' | '：' | '？' | '！' | '）' | '」' | '』' | '》' | '】' | '…' | '”' | '’')
}
