//! Resolving the quotes of an item to spans of its documents.

use closeread_eval::{ChunkPlace, Evidence, Item, KeyFacts};
use closeread_text::Span;
use closeread_text::{Folding, Locator};
use std::borrow::Borrow;

/// The places of an item's evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Places, one entry per piece of evidence, in its order: index into the item's documents, span of that text;
    /// `None` where the words were not found.
    pub places: Vec<Option<(usize, Span)>>,
    /// Notes that a user should know: quotes that were not found, stand there several times, or do not agree with their
    /// offsets.
    pub notes: Vec<String>,
}

impl Resolved {
    /// The pieces that were found, for [`recall_over`](closeread_eval::evidence::recall_over).
    pub fn spans(&self) -> Vec<(usize, Span)> {
        self.places.iter().flatten().copied().collect()
    }
}

/// The reason why a place in a text does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The offsets do not lie in the text.
    #[error(
        "bytes {start}..{end} of document `{document}`, which has {n_bytes}: expected 0 <= start <= end <= {n_bytes}"
    )]
    OutOfText {
        /// Id of the document.
        document: String,
        /// Start of the place: first byte.
        start: usize,
        /// End of the place: one past the last byte.
        end: usize,
        /// Length of the text in bytes.
        n_bytes: usize,
    },
    /// The offsets hold nothing that could be found.
    #[error("bytes {start}..{end} of document `{document}` hold no words: a piece of evidence has some")]
    NoWords {
        /// Id of the document.
        document: String,
        /// Start of the place: first byte.
        start: usize,
        /// End of the place: one past the last byte.
        end: usize,
    },
    /// An offset falls inside a character.
    #[error("byte {at} of document `{document}` is inside a character: offsets count bytes of the text as UTF-8")]
    InsideCharacter {
        /// Id of the document.
        document: String,
        /// Offset that does not exist.
        at: usize,
    },
    /// The words do not stand in the text.
    #[error("“{quote}” is not in document `{document}`: expected the exact words of the document")]
    NotFound {
        /// Id of the document, or ids of several.
        document: String,
        /// Words that were not found.
        quote: String,
    },
}

/// Finds the evidence of `item` in the texts of its documents, one per entry of `item.documents`, in their order.
///
/// Offsets are used as given, except where the quote beside them says something else and stands elsewhere. A quote is
/// looked up exactly, then with white space and typography folded; of several occurrences the first counts. Evidence
/// that names no document is looked for in all of them, in order.
pub fn resolve_evidence<'t, L: Borrow<Locator<'t>>>(item: &Item, texts: &[L]) -> Resolved {
    let mut resolved = Resolved::default();
    for (n, evidence) in item.evidence.iter().enumerate() {
        let mut note = |message: String| resolved.notes.push(format!("evidence {}: {message}", n + 1));
        let place = place(item, evidence, texts, &mut note);
        if let Err(error) = &place {
            note(error.to_string());
        }
        resolved.places.push(place.ok());
    }
    resolved
}

/// The bytes of the chunk that key facts are about, in the text of their document.
///
/// # Errors
/// [`ResolveError`] if the offsets do not lie in the text or a quote is not found, exactly or folded.
pub fn resolve_chunk(facts: &KeyFacts, text: &Locator<'_>) -> Result<Span, ResolveError> {
    match &facts.chunk {
        ChunkPlace::Offsets { start, end } => checked(&facts.document, text.text(), *start, *end),
        ChunkPlace::Quotes { first, last } => {
            let find = |from, quote: &str| {
                let missing = || ResolveError::NotFound { document: facts.document.clone(), quote: short(quote) };
                text.locate_from(from, quote, Folding::Typography).span().ok_or_else(missing)
            };
            let first = find(0, first)?;
            let last = find(first.start, last)?;
            Ok(first.cover(last))
        }
    }
}

fn place<'t, L: Borrow<Locator<'t>>>(
    item: &Item,
    evidence: &Evidence,
    texts: &[L],
    note: &mut impl FnMut(String),
) -> Result<(usize, Span), ResolveError> {
    let candidates: Vec<usize> = match &evidence.document {
        Some(name) => item.documents.iter().position(|document| document == name).into_iter().collect(),
        None => (0..item.documents.len()).collect(),
    };
    let candidates: Vec<usize> = candidates.into_iter().filter(|document| *document < texts.len()).collect();
    let quote = evidence.quote.trim();
    if let (Some(start), Some(end), [document, ..]) = (evidence.start, evidence.end, candidates.as_slice()) {
        let text = texts[*document].borrow().text();
        match checked(&item.documents[*document], text, start, end) {
            Ok(Span { start, end }) if quote.is_empty() && text[start..end].trim().is_empty() => {
                return Err(ResolveError::NoWords { document: item.documents[*document].clone(), start, end });
            }
            Ok(span) if quote.is_empty() || agrees(&text[span.range()], quote) => return Ok((*document, span)),
            Err(error) if quote.is_empty() => return Err(error),
            Ok(span) => note(format!(
                "bytes {start}..{end} read “{}” and not “{}”: the quote is looked up instead",
                short(&text[span.range()]),
                short(quote)
            )),
            Err(error) => note(format!("{error}; the quote is looked up instead")),
        }
    }
    for document in candidates {
        let located = texts[document].borrow().locate(quote, Folding::Typography);
        if let Some(span) = located.span() {
            if located.occurrences() > 1 {
                note(format!("“{}” stands there {} times: the first counts", short(quote), located.occurrences()));
            }
            return Ok((document, span));
        }
    }
    let document = evidence.document.clone().unwrap_or_else(|| item.documents.join("`, `"));
    Err(ResolveError::NotFound { document, quote: short(quote) })
}

fn agrees(there: &str, quote: &str) -> bool {
    Locator::new(there).locate(quote, Folding::Typography).span().is_some_and(|span| {
        let there = Span::new(there.len() - there.trim_start().len(), there.trim_end().len());
        span == there
    })
}

fn checked(document: &str, text: &str, start: usize, end: usize) -> Result<Span, ResolveError> {
    let document = || document.to_owned();
    if start > end || end > text.len() {
        return Err(ResolveError::OutOfText { document: document(), start, end, n_bytes: text.len() });
    }
    match [start, end].into_iter().find(|at| !text.is_char_boundary(*at)) {
        Some(at) => Err(ResolveError::InsideCharacter { document: document(), at }),
        None => Ok(Span::new(start, end)),
    }
}

/// The beginning of a quote, for messages.
fn short(quote: &str) -> String {
    const MAX_CHARS: usize = 80;
    match quote.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &quote[..at]),
        None => quote.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;

    fn item(documents: &[&str], evidence: Vec<Evidence>) -> Item {
        Item {
            id: "q".into(),
            documents: documents.iter().map(ToString::to_string).collect(),
            question: "Who?".into(),
            task: Task::Generative,
            answers: vec!["Ana".into()],
            options: vec![],
            correct: None,
            evidence,
            key_facts: None,
            labels: Default::default(),
            other: Default::default(),
        }
    }

    fn evidence(document: Option<&str>, quote: &str, offsets: Option<(usize, usize)>) -> Evidence {
        let (start, end) = offsets.unzip();
        Evidence { document: document.map(Into::into), quote: quote.into(), start, end }
    }

    fn check(gold: Evidence, expected: Option<(usize, &str)>, notes: &[&str]) {
        let texts = ["Ana came. Bo\nleft. Ana came.", "Ana “slept” in Évora."];
        let locators = texts.map(Locator::new);
        let resolved = resolve_evidence(&item(&["one", "two"], vec![gold]), &locators);
        let found = resolved.places[0].map(|(document, span)| (document, &texts[document][span.range()]));
        assert_eq!(found, expected);
        assert_eq!(resolved.notes, notes);
    }

    #[test]
    fn evidence_is_found_by_offset_or_by_quote() {
        check(evidence(None, "Bo left.", None), Some((0, "Bo\nleft.")), &[]);
        check(evidence(None, "\"slept\"", None), Some((1, "“slept”")), &[]);
        check(evidence(Some("two"), "Ana", None), Some((1, "Ana")), &[]);
        check(evidence(Some("one"), "", Some((10, 12))), Some((0, "Bo")), &[]);
        check(evidence(Some("one"), "Ana came.", Some((19, 28))), Some((0, "Ana came.")), &[]);
        check(
            evidence(Some("one"), "Ana came.", None),
            Some((0, "Ana came.")),
            &["evidence 1: “Ana came.” stands there 2 times: the first counts"],
        );
    }

    #[test]
    fn offsets_that_disagree_with_their_quote_are_named() {
        check(
            evidence(Some("one"), "Bo left", Some((0, 3))),
            Some((0, "Bo\nleft")),
            &["evidence 1: bytes 0..3 read “Ana” and not “Bo left”: the quote is looked up instead"],
        );
        check(
            evidence(Some("one"), "", Some((5, 99))),
            None,
            &["evidence 1: bytes 5..99 of document `one`, which has 28: expected 0 <= start <= end <= 28"],
        );
        check(
            evidence(Some("one"), "", Some((0, 0))),
            None,
            &["evidence 1: bytes 0..0 of document `one` hold no words: a piece of evidence has some"],
        );
        check(
            evidence(Some("two"), "", Some((4, 5))),
            None,
            &["evidence 1: byte 5 of document `two` is inside a character: offsets count bytes of the text as UTF-8"],
        );
        check(
            evidence(None, "Cy", None),
            None,
            &["evidence 1: “Cy” is not in document `one`, `two`: expected the exact words of the document"],
        );
    }

    #[test]
    fn a_chunk_runs_from_its_first_words_to_the_next_last_words() {
        let text = Locator::new("End. Once there was\na mill. The End. More. The End.");
        let facts = |chunk| KeyFacts { document: "d".into(), chunk, roots: vec![] };
        let quotes = |first: &str, last: &str| ChunkPlace::Quotes { first: first.into(), last: last.into() };
        let chunk = |place| resolve_chunk(&facts(place), &text).map(|span| &text.text()[span.range()]);
        assert_eq!(chunk(quotes("Once there was a", "End.")), Ok("Once there was\na mill. The End."));
        assert_eq!(chunk(ChunkPlace::Offsets { start: 0, end: 4 }), Ok("End."));
        let error = chunk(quotes("Once", "Fin.")).unwrap_err();
        assert_eq!(error, ResolveError::NotFound { document: "d".into(), quote: "Fin.".into() });
    }
}
