//! Evidence recall: how much of the gold evidence a method retrieved.

use closeread_text::Span;
use std::collections::BTreeMap;

/// Share of the evidence inside the retrieved passages of one text, 0..=1; `None` if there is no evidence.
///
/// Counted are the characters of the union of `evidence` that are not white space, and of them those inside the union
/// of `retrieved`: a passage and the text it was cut from differ in white space alone. A character belongs to the span
/// that holds its first byte; what lies past the end of the text counts for nothing. Spans may overlap and come in any
/// order.
pub fn recall(evidence: &[Span], retrieved: &[Span], text: &str) -> Option<f64> {
    share(std::iter::once((text, evidence.to_vec(), retrieved.to_vec())))
}

/// [`recall`] over several documents: each span comes with the index of its text in `texts`.
///
/// Characters of all documents weigh alike. A span of a document that is not in `texts` counts for nothing.
pub fn recall_over(evidence: &[(usize, Span)], retrieved: &[(usize, Span)], texts: &[&str]) -> Option<f64> {
    let gold = by_document(evidence);
    let mut found = by_document(retrieved);
    share(gold.into_iter().filter_map(|(document, spans)| {
        let text = texts.get(document)?;
        Some((*text, spans, found.remove(&document).unwrap_or_default()))
    }))
}

fn by_document(spans: &[(usize, Span)]) -> BTreeMap<usize, Vec<Span>> {
    let mut documents: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    for (document, span) in spans {
        documents.entry(*document).or_default().push(*span);
    }
    documents
}

fn share<'t>(documents: impl Iterator<Item = (&'t str, Vec<Span>, Vec<Span>)>) -> Option<f64> {
    let (mut all, mut inside) = (0, 0);
    for (text, evidence, retrieved) in documents {
        let evidence = union(evidence);
        let retrieved = union(retrieved);
        all += evidence.iter().map(|span| n_visible_chars(text, *span)).sum::<usize>();
        inside += intersection(&evidence, &retrieved).map(|span| n_visible_chars(text, span)).sum::<usize>();
    }
    (all > 0).then(|| inside as f64 / all as f64)
}

/// Spans that overlap or touch as one, ascending.
pub(crate) fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// Returns the spans that lie in both of two unions.
pub(crate) fn intersection<'s>(left: &'s [Span], right: &'s [Span]) -> impl Iterator<Item = Span> + 's {
    left.iter().flat_map(move |a| {
        right.iter().filter_map(move |b| {
            let (start, end) = (a.start.max(b.start), a.end.min(b.end));
            (start < end).then(|| Span::new(start, end))
        })
    })
}

fn n_visible_chars(text: &str, span: Span) -> usize {
    // Both ends move up to a boundary, so a character is inside exactly if its first byte is.
    let (start, end) = (text.ceil_char_boundary(span.start), text.ceil_char_boundary(span.end));
    text[start..end].chars().filter(|c| !c.is_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn recall_counts_visible_characters_of_the_unions() {
        let text = "ab cd ef";
        let span = |start, end| Span::new(start, end);
        assert_eq!(recall(&[], &[span(0, 8)], text), None);
        assert_eq!(recall(&[span(2, 3)], &[span(0, 8)], text), None, "white space is no evidence");
        assert_eq!(recall(&[span(0, 5)], &[], text), Some(0.0));
        assert_eq!(recall(&[span(0, 5), span(3, 5)], &[span(3, 8), span(4, 6)], text), Some(0.5));
        assert_eq!(recall(&[span(0, 8)], &[span(0, 2), span(3, 5), span(6, 8)], text), Some(1.0));
        assert_eq!(recall(&[span(6, 99)], &[span(0, 7)], text), Some(0.5), "clipped at the end of the text");
    }

    #[test]
    fn recall_cuts_no_character_in_two() {
        // Three bytes a character: 1..4 holds the first byte of the second character alone.
        assert_eq!(recall(&[Span::new(0, 9)], &[Span::new(1, 4)], "老殘遊"), Some(1.0 / 3.0));
    }

    #[test]
    fn recall_pools_the_characters_of_all_documents() {
        let texts = ["abcdef", "xy"];
        let gold = [(0, Span::new(0, 6)), (1, Span::new(0, 2))];
        assert_eq!(recall_over(&gold, &[(1, Span::new(0, 2))], &texts), Some(0.25));
        assert_eq!(recall_over(&gold, &[(0, Span::new(0, 6)), (7, Span::new(0, 2))], &texts), Some(0.75));
        assert_eq!(recall_over(&[(9, Span::new(0, 1))], &[], &texts), None);
    }

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        prop::collection::vec((0_usize..60, 0_usize..20).prop_map(|(start, n)| Span::new(start, start + n)), 0..6)
    }

    proptest! {
        #[test]
        fn recall_is_a_share_and_grows_with_what_is_retrieved(
            text in "[ab老\u{e9} \n]{0,40}", gold in spans(), some in spans(), more in spans()
        ) {
            let both: Vec<Span> = some.iter().chain(&more).copied().collect();
            match (recall(&gold, &some, &text), recall(&gold, &both, &text)) {
                (Some(less), Some(grown)) => {
                    prop_assert!((0.0..=1.0).contains(&less));
                    prop_assert!(less <= grown && grown <= 1.0);
                    prop_assert_eq!(recall(&gold, &gold, &text), Some(1.0));
                }
                (less, grown) => prop_assert_eq!((less, grown), (None, None)),
            }
        }
    }
}
