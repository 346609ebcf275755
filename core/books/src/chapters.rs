//! Chapters of a book, found by the lines that name them.

use closeread_text::Span;
use closeread_text::numbers::{ONES, TENS};

/// A chapter of a book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// Heading of the chapter as it stands in the book.
    pub title: String,
    /// Span of the chapter from its heading to the next one, in bytes of the book's file; the first reaches back to the
    /// start of the text.
    pub span: Span,
}

/// Characters of a line that is still a heading, and of one in Chinese.
const LONGEST_HEADING: usize = 80;
const LONGEST_HEADING_ZH: usize = 30;
/// Bytes between two headings that make the first a line of a table of contents, or the name of a part.
const SHORTEST_CHAPTER: usize = 200;

const PARTS: [&str; 9] = ["chapter", "book", "part", "letter", "canto", "act", "volume", "stave", "section"];
const ALONE: [&str; 6] = ["prologue", "epilogue", "preface", "introduction", "conclusion", "postscript"];
const ALONE_ZH: [&str; 6] = ["楔子", "序章", "序", "引子", "尾声", "后记"];
/// Words that stand for a number beside the numbers themselves: `Chapter the Last`.
const ORDINALS: [&str; 8] = ["first", "second", "third", "fourth", "fifth", "sixth", "last", "the"];

/// The chapters of `source` within `body`: lines behind a blank one that read like a heading in English (`Chapter One`,
/// `XII.`, `Letter 3`, `Epilogue`) or in Chinese (`第三回 …`). Fewer than two are none.
///
/// This is for finding one's way in a picture of a book; no method and no score rests on it.
pub fn chapters(source: &str, body: Span) -> Vec<Chapter> {
    let (mut found, mut at, mut blank) = (Vec::<(usize, &str)>::new(), body.start, true);
    for line in source[body.range()].split_inclusive('\n') {
        let text = line.trim();
        if blank && is_heading(text) {
            found.push((at + line.len() - line.trim_start().len(), text));
        }
        (blank, at) = (text.is_empty(), at + line.len());
    }
    let next = |n: usize| found.get(n + 1).map_or(body.end, |(start, _)| *start);
    let mut headings: Vec<(usize, &str)> = found
        .iter()
        .enumerate()
        .filter(|(n, (start, title))| next(*n) - start - title.len() >= SHORTEST_CHAPTER)
        .map(|(_, heading)| *heading)
        .collect();
    if headings.len() < 2 {
        return Vec::new();
    }
    headings[0].0 = body.start;
    let ends: Vec<usize> = headings.iter().skip(1).map(|(start, _)| *start).chain([body.end]).collect();
    headings
        .iter()
        .zip(ends)
        .map(|((start, title), end)| Chapter { title: (*title).to_owned(), span: Span::new(*start, end) })
        .collect()
}

fn is_heading(line: &str) -> bool {
    if line.is_empty() || line.chars().count() > LONGEST_HEADING {
        return false;
    }
    is_chinese_heading(line) || is_english_heading(line)
}

/// True if a line is a Chinese heading: `第`, a number, `章` or the like.
fn is_chinese_heading(line: &str) -> bool {
    if ALONE_ZH.contains(&line) {
        return true;
    }
    // A sentence may begin like one: `第二回过河，他没带钱。`
    if line.chars().count() > LONGEST_HEADING_ZH || line.contains(['。', '，', '？', '！', '；']) {
        return false;
    }
    let Some(rest) = line.strip_prefix('第') else { return false };
    let number =
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || "零〇一二三四五六七八九十百千两廿卅".contains(c));
    number.len() < rest.len() && number.starts_with(|c: char| "章回节節卷部集篇".contains(c))
}

fn is_english_heading(line: &str) -> bool {
    let mut words = line.split(|c: char| c.is_whitespace() || ".,:;—–-".contains(c)).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return false };
    let (lower, second) = (first.to_ascii_lowercase(), words.next());
    if PARTS.contains(&lower.as_str()) {
        return second.is_some_and(is_number);
    }
    if ALONE.contains(&lower.as_str()) {
        return second.is_none();
    }
    let is_digits = first.len() <= 3 && first.bytes().all(|b| b.is_ascii_digit());
    let is_capitals = is_roman(first) && first.bytes().all(|b| b.is_ascii_uppercase());
    second.is_none() && (is_digits || is_capitals)
}

fn is_number(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_word = || [&ONES[..], &TENS, &ORDINALS].iter().any(|words| words.contains(&lower.as_str()));
    word.bytes().all(|b| b.is_ascii_digit()) || is_roman(word) || is_word()
}

fn is_roman(word: &str) -> bool {
    word.bytes().all(|b| b"IVXLCDMivxlcdm".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(source: &str) -> Vec<String> {
        let chapters = chapters(source, Span::new(0, source.len()));
        assert!(chapters.windows(2).all(|pair| pair[0].span.end == pair[1].span.start), "{chapters:?}");
        if let (Some(first), Some(last)) = (chapters.first(), chapters.last()) {
            assert_eq!((first.span.start, last.span.end), (0, source.len()));
        }
        chapters.into_iter().map(|chapter| chapter.title).collect()
    }

    #[test]
    fn headings_are_found_in_both_languages_and_a_table_of_contents_is_none() {
        let text = "The boats stayed in the harbour and nobody spoke of the journey. ".repeat(6);
        let book = format!(
            "A Book\n\nContents\n\nChapter One\n\nChapter Two\n\nCHAPTER ONE\nThe Sea\n\n{text}\n\nXII.\n\n{text}\n\nEpilogue\n\n{text}"
        );
        assert_eq!(titles(&book), ["CHAPTER ONE", "XII.", "Epilogue"]);
        let text = "船灯亮了，海很静。".repeat(20);
        assert_eq!(
            titles(&format!("第一章 莫慌\n\n{text}\n\n第十二回　三只脚的猪\n\n{text}")),
            ["第一章 莫慌", "第十二回　三只脚的猪"]
        );
    }

    #[test]
    fn sentences_that_begin_like_a_heading_are_none() {
        let text = "It rained. ".repeat(40);
        assert!(
            titles(&format!(
                "Part of it was true.\n\n{text}\n\nBook in hand, she left.\n\n{text}\n\n第二天下雨。\n\n{text}"
            ))
            .is_empty()
        );
        assert!(titles(&format!("Chapter One\n\n{text}")).is_empty(), "one alone is none");
        assert!(titles("").is_empty());
    }
}
