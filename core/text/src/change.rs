//! Changes between two texts: sentences that stayed, went and came.

use super::sentence::{Rules, split};
use serde::Serialize;

/// Sentences one after the other that had the same fate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "TextChange"))]
pub struct Change {
    /// Fate of the sentences.
    pub kind: ChangeKind,
    /// The sentences, with the white space that stands between them.
    pub text: String,
}

/// The fate of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// The sentence stands in both texts.
    Kept,
    /// The sentence stands in the first text alone.
    Gone,
    /// The sentence stands in the second text alone.
    New,
}

/// Sentences that are compared one with another; of longer texts all that is between a common beginning and end counts as
/// replaced.
const MOST_COMPARED: usize = 4_000_000;

/// The two texts as one: a longest common subsequence of their sentences is kept, what went stands before what came.
/// The texts of what was kept or gone, joined, are `before`; those of what was kept or new are `after`, where white space
/// between kept sentences did not change.
///
/// Sentences are the same if their words are, whatever white space stands around them.
pub fn changes(before: &str, after: &str, rules: Rules) -> Vec<Change> {
    let (old, new) = (sentences(before, rules), sentences(after, rules));
    let same = |a: usize, b: usize| old[a].trim() == new[b].trim();
    let shorter = old.len().min(new.len());
    let head = (0..shorter).take_while(|&i| same(i, i)).count();
    let tail = (0..shorter - head).take_while(|&i| same(old.len() - 1 - i, new.len() - 1 - i)).count();
    let (rows, columns) = (old.len() - head - tail, new.len() - head - tail);

    // Lengths of the longest common subsequences of what is left from a row and a column on.
    let width = columns + 1;
    let compared = rows.saturating_mul(columns) <= MOST_COMPARED;
    let mut common = vec![0u32; if compared { (rows + 1) * width } else { 0 }];
    if compared {
        for row in (0..rows).rev() {
            for column in (0..columns).rev() {
                common[row * width + column] = match same(head + row, head + column) {
                    true => common[(row + 1) * width + column + 1] + 1,
                    false => common[(row + 1) * width + column].max(common[row * width + column + 1]),
                };
            }
        }
    }

    let mut told = Told::default();
    (0..head).for_each(|i| told.push(ChangeKind::Kept, new[i]));
    let (mut row, mut column) = (0, 0);
    while row < rows || column < columns {
        let left = |row: usize, column: usize| if compared { common[row * width + column] } else { 0 };
        if compared && row < rows && column < columns && same(head + row, head + column) {
            told.push(ChangeKind::Kept, new[head + column]);
            (row, column) = (row + 1, column + 1);
        } else if row < rows && (column == columns || left(row + 1, column) >= left(row, column + 1)) {
            told.push(ChangeKind::Gone, old[head + row]);
            row += 1;
        } else {
            told.push(ChangeKind::New, new[head + column]);
            column += 1;
        }
    }
    (new.len() - tail..new.len()).for_each(|i| told.push(ChangeKind::Kept, new[i]));
    told.0
}

/// The text cut behind each sentence and the white space that follows it.
fn sentences(text: &str, rules: Rules) -> Vec<&str> {
    let mut starts: Vec<usize> = split(text, rules).iter().map(|span| span.start).collect();
    if starts.is_empty() {
        return if text.is_empty() { Vec::new() } else { vec![text] };
    }
    starts[0] = 0;
    let ends = starts[1..].iter().copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| &text[start..end]).collect()
}

#[derive(Default)]
struct Told(Vec<Change>);

impl Told {
    fn push(&mut self, kind: ChangeKind, text: &str) {
        match self.0.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(text),
            _ => self.0.push(Change { kind, text: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(before: &str, after: &str) -> Vec<(ChangeKind, String)> {
        let changes = changes(before, after, Rules::English);
        changes.into_iter().map(|change| (change.kind, change.text.trim().to_owned())).collect()
    }

    #[test]
    fn a_memory_shows_what_it_forgot_and_learnt() {
        let before = "Agnes lent the bell. It rained. Tom has the key.";
        let after = "Agnes lent the bell. Tom has the key. The bell is cracked.";
        let piece = |kind, text: &str| (kind, text.to_owned());
        assert_eq!(
            told(before, after),
            [
                piece(ChangeKind::Kept, "Agnes lent the bell."),
                piece(ChangeKind::Gone, "It rained."),
                piece(ChangeKind::Kept, "Tom has the key."),
                piece(ChangeKind::New, "The bell is cracked."),
            ]
        );
        assert_eq!(told("", "It rained."), [piece(ChangeKind::New, "It rained.")]);
        assert_eq!(told("", ""), []);
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_off(
            before in prop::collection::vec(0..6usize, 0..12), after in prop::collection::vec(0..6usize, 0..12),
        ) {
            let text = |of: &[usize]| of.iter().map(|n| format!("Sentence number {n} stands here. ")).collect::<String>();
            let (before, after) = (text(&before), text(&after));
            let changes = changes(&before, &after, Rules::English);
            let without = |kind| changes.iter().filter(|c| c.kind != kind).map(|c| c.text.as_str()).collect::<String>();
            prop_assert_eq!(without(ChangeKind::New), before);
            prop_assert_eq!(without(ChangeKind::Gone), after);
        }
    }
}
