//! Full document, also called long context: the whole text in one prompt.

use super::ask::{Asking, End};
use super::dress::{Dress, View, heading};
use super::read::{Shown, read_all, title_of};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::host::Host;
use crate::record::{Context, Outcome, PassageRef};
use crate::text::tokens::Tokenizer;
use crate::text::{Book, FlowSpan};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of [`full_document`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FullDocument {
    /// What happens to a prompt that exceeds the window.
    pub overflow: WindowPolicy,
    /// Whose prompt and answer form.
    pub dress: Dress,
    /// All questions on a book go into one call, as NovelQA does; in its dress alone.
    pub together: bool,
    /// The sentences that hold the answer are asked for as well (NovelQA's evidence recall); in its dress alone.
    pub evidence: bool,
}

/// What is done with a prompt that exceeds the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowPolicy {
    /// The trial ends as an overflow, nothing is asked (SagaScale, section 4.1).
    #[default]
    Fail,
    /// The end of the text is cut off; questions and instructions stay whole (NovelQA, section 4.1).
    TruncateEnd,
    /// First and last half of what fits are kept, the middle is cut out (LongBench).
    TruncateMiddle,
}

/// Hands the reader the whole text of the items' books; `items` are several only where they go into one call, and then of
/// one task.
///
/// # Errors
/// [`MethodError::Prompt`] if the prompt cannot be filled.
pub async fn full_document<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    items: &[&Item],
    parameters: &FullDocument,
) -> Result<Vec<Trial>, MethodError> {
    let setting = setting.for_questions(items.len(), parameters.evidence);
    let mut asking = Asking::new(host, setting);
    let end = async {
        let title = title_of(material.books);
        let mut shown = Shown {
            dress: parameters.dress,
            view: View::Whole,
            title: &title,
            passages: Vec::new(),
            context: None,
            language: material.language(),
            evidence: parameters.evidence,
        };
        let whole = Whole::new(material.books, material.books.len() > 1 || parameters.dress.heads_documents());
        // The prompt with nothing in the place of the text.
        let around = setting.tokenizer.count(&shown.render(setting.prompts, items, "\n\n")?);
        let available = available(setting, around, &whole, parameters.overflow)?;
        let kept = keep(&whole.text, setting.tokenizer, available, parameters.overflow);
        shown.passages = kept.iter().map(|range| whole.text[range.clone()].to_owned().into()).collect();
        shown.context = Some(Context {
            retriever: None,
            n_tokens: shown.passages.iter().map(|excerpt| setting.tokenizer.count(&excerpt.text)).sum(),
            passages: kept.iter().flat_map(|range| whole.references(range)).collect(),
        });
        read_all(&mut asking, items, shown).await
    }
    .await;
    asking.finish_all(items, end)
}

/// Tokens that the text may have beside the prompt `around` it and the reply.
fn available(setting: Setting<'_>, around: usize, whole: &Whole<'_>, policy: WindowPolicy) -> Result<usize, End> {
    let Some(window) = setting.window else { return Ok(usize::MAX) };
    let reply = setting.max_output_tokens as usize;
    let needed = around + reply + setting.tokenizer.count(&whole.text);
    if needed > window && (policy == WindowPolicy::Fail || around + reply >= window) {
        return Err(End::Outcome(Outcome::Overflow { needed: Some(needed), window: Some(window) }));
    }
    Ok(window.saturating_sub(around + reply))
}

/// The ranges of `text` that stay, at most `available` tokens together.
fn keep(text: &str, tokenizer: &Tokenizer, available: usize, policy: WindowPolicy) -> Vec<Range<usize>> {
    if available == usize::MAX {
        return std::iter::once(0..text.len()).collect();
    }
    let ends = tokenizer.token_ends(text);
    let n = ends.len();
    if n <= available {
        return std::iter::once(0..text.len()).collect();
    }
    // Byte at which the token number `k` starts. Cutting words in two can add a token at each cut, hence the margin.
    let start = |k: usize| if k == 0 { 0 } else { ends[k - 1] };
    let available = available.saturating_sub(4);
    match policy {
        WindowPolicy::Fail | WindowPolicy::TruncateEnd => std::iter::once(0..start(available)).collect(),
        WindowPolicy::TruncateMiddle => {
            let head = available / 2;
            vec![0..start(head), start(n - (available - head))..text.len()]
        }
    }
}

/// The text of several books as one, with the way back.
struct Whole<'a> {
    text: String,
    /// Where each book's flow starts in `text`.
    parts: Vec<(usize, &'a Book)>,
}

impl<'a> Whole<'a> {
    /// The books one after the other, under headings as CorpusQA numbers them (appendix C) or without.
    fn new(books: &'a [impl AsRef<Book>], headed: bool) -> Self {
        let mut text = String::new();
        let mut parts = Vec::new();
        for (idx, book) in books.iter().map(AsRef::as_ref).enumerate() {
            if idx > 0 {
                text.push_str("\n\n");
            }
            if headed {
                text.push_str(&heading(idx));
            }
            parts.push((text.len(), book));
            text.push_str(book.flow().text());
        }
        Self { text, parts }
    }

    /// The books' passages inside `range` of the text.
    fn references(&self, range: &Range<usize>) -> Vec<PassageRef> {
        let inside = |&(offset, book): &(usize, &Book)| {
            let start = range.start.max(offset);
            let end = range.end.min(offset + book.flow().text().len());
            (start < end).then(|| {
                let span = book.flow().to_source(FlowSpan::new(start - offset, end - offset));
                PassageRef { document: book.id.clone(), start: span.start, end: span.end, score: None }
            })
        };
        self.parts.iter().filter_map(inside).collect()
    }
}
