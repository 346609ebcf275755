//! Share of the gold evidence that an answer cites, where passages are texts and no places in a book.

use super::evidence::recall;
use crate::Item;
use closeread_text::Span;
use closeread_text::{Folding, Locator};

/// Share of an item's gold evidence that the cited passages hold, in 0..=1; `None` if the item has no quoted evidence.
///
/// Every gold quote weighs alike. A quote that stands inside a cited passage counts whole; of any other, the share of
/// its visible characters that stand in cited passages which are part of it. White space and typography are folded as
/// everywhere (see [`Folding::Typography`]); a passage that only overlaps a quote counts for nothing, for without the
/// book nobody can tell where it lies. Evidence that is given by offsets alone is left out.
pub fn citation_recall(item: &Item, cited: &[String]) -> Option<f64> {
    let quotes: Vec<&str> = item.evidence.iter().map(|gold| gold.quote.trim()).filter(|q| !q.is_empty()).collect();
    if quotes.is_empty() {
        return None;
    }
    let passages: Vec<Locator<'_>> = cited.iter().map(|passage| Locator::new(passage)).collect();
    let sum: f64 = quotes.iter().map(|quote| share_cited(quote, &passages)).sum();
    Some(sum / quotes.len() as f64)
}

fn share_cited(quote: &str, passages: &[Locator<'_>]) -> f64 {
    if passages.iter().any(|passage| passage.locate(quote, Folding::Typography).span().is_some()) {
        return 1.0;
    }
    let gold = Locator::new(quote);
    let inside: Vec<Span> =
        passages.iter().filter_map(|passage| gold.locate(passage.text(), Folding::Typography).span()).collect();
    recall(&[Span::new(0, quote.len())], &inside, quote).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evidence, Task};

    fn check(quotes: &[&str], cited: &[&str], expected: Option<f64>) {
        let mut item = Item::new("q", "d", "Who?", Task::Generative);
        let quote = |quote: &&str| Evidence { document: None, quote: (*quote).into(), start: None, end: None };
        item.evidence = quotes.iter().map(quote).collect();
        let cited: Vec<String> = cited.iter().map(ToString::to_string).collect();
        assert_eq!(citation_recall(&item, &cited), expected, "{quotes:?} {cited:?}");
    }

    #[test]
    fn quotes_weigh_alike_and_parts_count_by_their_letters() {
        check(&[], &["x"], None);
        check(&[" "], &["x"], None);
        check(&["Ana came."], &[], Some(0.0));
        check(&["Ana came."], &["Then “Ana\ncame.” And went"], Some(1.0));
        check(&["Ana came.", "Bo left a long, long time ago."], &["Ana came."], Some(0.5));
        check(&["ab cd"], &["ab", "b cd", "ab"], Some(1.0));
        check(&["ab cd"], &["cd", ""], Some(0.5));
        check(&["ab cd"], &["cd and on"], Some(0.0));
        check(&["他走了。又回来"], &["又回来"], Some(3.0 / 7.0));
    }
}
