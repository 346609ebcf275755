//! The text of an item's books as one, as far as it fits a window: what does not fit is counted and not held.

use super::style::heading;
use super::{Host, Session, Stop};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText};
use closeread_eval::PassageRef;
use closeread_text::FlowSpan;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// What to do with a prompt that exceeds the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnOverflow {
    /// The trial ends as an overflow, nothing is asked (SagaScale, section 4.1).
    #[default]
    Fail,
    /// The end of the text is cut off; questions and instructions stay whole (NovelQA, section 4.1).
    TruncateEnd,
    /// First and last half of what fits are kept, the middle is cut out (LongBench).
    TruncateMiddle,
}

/// Cutting a word in two can add a token, and so can joining two documents.
const MARGIN: usize = 4;

/// Stretches of the text of some books, in reading order.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// A single one where nothing is missing between them.
    pub stretches: Vec<String>,
    /// The books' passages that they are made of.
    pub references: Vec<PassageRef>,
}

/// The text does not fit; the number is the tokens of the whole text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong(pub usize);

/// Returns what the policy keeps of the books' text within `available` tokens (`None`: without limit).
///
/// The books stand one after the other, under headings as CorpusQA numbers them (appendix C) or without. They are read in
/// turn, and only what can be kept stays in memory; what does not fit is counted book by book.
pub(super) async fn keep<H: Host>(
    session: &Session<'_, H>,
    headed: bool,
    available: Option<usize>,
    policy: OnOverflow,
) -> Result<Result<Kept, TooLong>, Stop> {
    let (books, tokenizer) = (session.books(), session.settings().tokenizer);
    let part = async |idx: usize| Ok::<_, Stop>(Part::of(idx, &books[idx], session.text(&books[idx]).await?, headed));
    let Some(available) = available else {
        let mut parts = Vec::with_capacity(books.len());
        for idx in 0..books.len() {
            parts.push(part(idx).await?);
        }
        return Ok(Ok(Joined::of(parts).kept(&[WHOLE])));
    };
    let mut head = Head::default();
    for idx in 0..books.len() {
        let part = part(idx).await?;
        let n_tokens = part.n_tokens(tokenizer);
        head.add(part, n_tokens, available);
        if head.is_full && policy == OnOverflow::TruncateEnd {
            break;
        }
    }
    if !head.is_full {
        let whole = Joined::of(head.parts);
        let ends = tokenizer.token_ends(&whole.text);
        return Ok(match policy {
            _ if ends.len() <= available => Ok(whole.kept(&[WHOLE])),
            OnOverflow::Fail => Err(TooLong(ends.len())),
            OnOverflow::TruncateEnd => Ok(whole.kept(&[first(&ends, available.saturating_sub(MARGIN))])),
            OnOverflow::TruncateMiddle => {
                let available = available.saturating_sub(MARGIN);
                let tail = last(&ends, available - available / 2, whole.text.len());
                Ok(whole.kept(&[first(&ends, available / 2), tail]))
            }
        });
    }
    let n_tokens = head.n_tokens;
    let whole = Joined::of(head.parts);
    let ends = tokenizer.token_ends(&whole.text);
    let available = available.saturating_sub(MARGIN);
    Ok(match policy {
        OnOverflow::Fail => Err(TooLong(n_tokens)),
        OnOverflow::TruncateEnd => Ok(whole.kept(&[first(&ends, available)])),
        OnOverflow::TruncateMiddle => {
            let mut kept = whole.kept(&[first(&ends, available / 2)]);
            let wanted = available - available / 2;
            let (mut parts, mut n_tokens) = (Vec::new(), 0);
            for idx in (0..books.len()).rev() {
                let part = part(idx).await?;
                n_tokens += part.n_tokens(tokenizer);
                parts.insert(0, part);
                if n_tokens > wanted + MARGIN * parts.len() {
                    break;
                }
            }
            let rest = Joined::of(parts);
            let tail = rest.kept(&[last(&tokenizer.token_ends(&rest.text), wanted, rest.text.len())]);
            kept.stretches.extend(tail.stretches);
            kept.references.extend(tail.references);
            Ok(kept)
        }
    })
}

const WHOLE: Range<usize> = 0..usize::MAX;

/// The bytes of the first `n` tokens.
fn first(ends: &[usize], n: usize) -> Range<usize> {
    0..n.min(ends.len()).checked_sub(1).map_or(0, |idx| ends[idx])
}

/// The bytes of the last `n` tokens of a text of `len` bytes.
fn last(ends: &[usize], n: usize, len: usize) -> Range<usize> {
    ends.len().saturating_sub(n).checked_sub(1).map_or(0, |idx| ends[idx])..len
}

/// A book with what stands above it.
struct Part {
    heading: String,
    id: String,
    text: Arc<BookText>,
}

impl Part {
    fn of(idx: usize, book: &Book, text: Arc<BookText>, headed: bool) -> Self {
        let gap = if idx > 0 { "\n\n" } else { "" };
        let heading = if headed { heading(idx) } else { String::new() };
        Self { heading: format!("{gap}{heading}"), id: book.id.clone(), text }
    }

    fn n_tokens(&self, tokenizer: &Tokenizer) -> usize {
        tokenizer.count(&self.heading) + tokenizer.count(self.text.flow().text())
    }
}

/// The first books, as long as they can be part of what is kept.
#[derive(Default)]
struct Head {
    parts: Vec<Part>,
    n_tokens: usize,
    /// Whether the books certainly exceed what is available.
    is_full: bool,
}

impl Head {
    fn add(&mut self, part: Part, n_tokens: usize, available: usize) {
        self.n_tokens += n_tokens;
        if !self.is_full {
            self.parts.push(part);
            self.is_full = self.n_tokens > available + MARGIN * self.parts.len();
        }
    }
}

/// Books that follow each other, as one text with the way back.
struct Joined {
    text: String,
    /// Where each book's flow starts in `text`.
    parts: Vec<(usize, Part)>,
}

impl Joined {
    fn of(parts: Vec<Part>) -> Self {
        let mut text = String::with_capacity(parts.iter().map(|p| p.heading.len() + p.text.flow().text().len()).sum());
        let mut joined = Vec::with_capacity(parts.len());
        for part in parts {
            text.push_str(&part.heading);
            joined.push((text.len(), part));
            text.push_str(joined.last().expect("one was pushed").1.text.flow().text());
        }
        Self { text, parts: joined }
    }

    fn kept(&self, ranges: &[Range<usize>]) -> Kept {
        let ranges = ranges.iter().map(|range| range.start..range.end.min(self.text.len()));
        let mut kept = Kept::default();
        for range in ranges {
            kept.references.extend(self.references(&range));
            kept.stretches.push(self.text[range].to_owned());
        }
        kept
    }

    /// The books' passages inside `range` of the text.
    fn references<'a>(&'a self, range: &Range<usize>) -> impl Iterator<Item = PassageRef> + 'a {
        let range = range.clone();
        self.parts.iter().filter_map(move |(offset, Part { id, text, .. })| {
            let flow = text.flow();
            let start = range.start.max(*offset);
            let end = range.end.min(offset + flow.text().len());
            (start < end).then(|| {
                let span = flow.to_source(FlowSpan::new(start - offset, end - offset));
                PassageRef { document: id.clone(), start: span.start, end: span.end, score: None }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use closeread_books::ReadOptions;
    use closeread_llm::{Call, HostError, Response};
    use closeread_prompts::Prompts;
    use proptest::prelude::*;

    struct NoModel;

    impl Host for NoModel {
        async fn chat(&self, _: Call) -> Result<Response, HostError> {
            Err(HostError::Failed("nobody is asked here".to_owned()))
        }
    }

    fn books(n: usize) -> Vec<Arc<Book>> {
        let text = |i: usize| format!("Report {i} counts {} beds. {}", i * 37, "Nothing else happened. ".repeat(i % 5));
        let book = |i| Book::new(format!("d{i}"), "", text(i), &ReadOptions::default()).expect("text");
        (0..n).map(|i| Arc::new(book(i))).collect()
    }

    /// Applies the rule to the text as a whole.
    fn by_hand(books: &[Arc<Book>], available: usize, policy: OnOverflow) -> Result<Vec<String>, TooLong> {
        let part = |(idx, book): (usize, &Arc<Book>)| Part::of(idx, book, book.text().expect("held"), true);
        let parts = books.iter().enumerate().map(part).collect();
        let text = Joined::of(parts).text;
        let ends = Tokenizer::cl100k().token_ends(&text);
        let kept = available.saturating_sub(MARGIN);
        match policy {
            _ if ends.len() <= available => Ok(vec![text]),
            OnOverflow::Fail => Err(TooLong(ends.len())),
            OnOverflow::TruncateEnd => Ok(vec![text[first(&ends, kept)].to_owned()]),
            OnOverflow::TruncateMiddle => {
                let tail = last(&ends, kept - kept / 2, text.len());
                Ok([first(&ends, kept / 2), tail].map(|range| text[range].to_owned()).to_vec())
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_read_piece_by_piece_is_what_would_be_kept_of_the_whole(n in 1usize..20, available in 8usize..700) {
            let (books, prompts, tokenizer) = (books(n), Prompts::built_in(), Tokenizer::cl100k());
            let session = Session::new(&NoModel, Settings::new(&prompts, &tokenizer)).about(&books);
            for policy in [OnOverflow::Fail, OnOverflow::TruncateEnd, OnOverflow::TruncateMiddle] {
                let found = pollster::block_on(keep(&session, true, Some(available), policy));
                match (found.expect("all texts are held"), by_hand(&books, available, policy)) {
                    (Ok(found), Ok(expected)) => {
                        prop_assert_eq!(found.stretches, expected);
                    }
                    (Err(TooLong(found)), Err(TooLong(expected))) => {
                        prop_assert!(found.abs_diff(expected) <= n, "{found} for {expected} tokens");
                    }
                    (found, expected) => prop_assert!(false, "{found:?} instead of {expected:?}"),
                }
            }
        }
    }
}
