//! ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum (package rouge_score 0.1.2, no stemming; Lin 2004).

mod lcs;
mod summary;

use super::prf::overlap;
use super::tokens::{Numbering, Tokens};
use super::words::{is_spaceless, narrow};
use super::{Prf, Words};
use closeread_text::python;
use std::ops::Range;

/// A kind of ROUGE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rouge {
    /// ROUGE-1: words in common.
    One,
    /// Pairs of adjacent words in common; a text of one word has none and scores 0, against itself too.
    Two,
    /// Longest common subsequence of the whole texts; line breaks do not matter.
    L,
    /// ROUGE-Lsum: for each line of the reference the union of its longest common subsequences with every line of the
    /// prediction. Lines are what newlines separate: a text without them is one line. A word counts no oftener than it
    /// stands in either text, as rouge_score does and Lin's paper does not.
    Lsum,
}

/// ROUGE of a prediction against one reference, each number in 0..=1.
///
/// Words are the runs of `[a-z0-9]` of the text in lower case, so accents cut words in two and Chinese text has none:
/// it scores 0, even against itself, as in rouge_score; [`Words::ChineseCharacters`] counts its characters. A side
/// without words scores 0.
pub fn rouge(kind: Rouge, prediction: &str, reference: &str, words: Words) -> Prf {
    if kind == Rouge::Lsum {
        return summary::union_lcs(&lines(prediction, words), &lines(reference, words));
    }
    let (prediction, reference) = (tokens(prediction, words), tokens(reference, words));
    let (p, r, n_distinct) = numbered(&prediction, &reference);
    match kind {
        Rouge::One => Prf::new(overlap(&p, &r, n_distinct), p.len(), r.len()),
        Rouge::Two => {
            let mut pairs = Numbering::with_capacity(p.len() + r.len());
            let mut number = |ids: &[u32]| -> Vec<u32> {
                ids.windows(2).map(|pair| pairs.number(u64::from(pair[0]) << 32 | u64::from(pair[1]))).collect()
            };
            let (p, r) = (number(&p), number(&r));
            Prf::new(overlap(&p, &r, pairs.len()), p.len(), r.len())
        }
        Rouge::L | Rouge::Lsum => Prf::new(lcs::length(&p, &r, n_distinct), p.len(), r.len()),
    }
}

/// ROUGE against several references: the one with the highest F, the earlier at a tie, as `score_multi` of rouge_score
/// chooses; 0 if there is none.
pub fn rouge_over<S: AsRef<str>>(kind: Rouge, prediction: &str, references: &[S], words: Words) -> Prf {
    let scores = references.iter().map(|reference| rouge(kind, prediction, reference.as_ref(), words));
    scores.reduce(|best, score| if score.f1 > best.f1 { score } else { best }).unwrap_or_default()
}

/// ROUGE-L F measure against one reference, in 0..=1; see [`rouge`].
pub fn rouge_l(prediction: &str, reference: &str) -> f64 {
    rouge(Rouge::L, prediction, reference, Words::Reference).f1
}

/// The words that ROUGE compares, in the order of the text.
pub fn rouge_words(text: &str, words: Words) -> Vec<String> {
    tokens(text, words).to_strings()
}

fn tokens(text: &str, words: Words) -> Tokens<'static> {
    let text = match words {
        _ if text.is_ascii() => text.to_ascii_lowercase(),
        Words::Reference => python::lower(text).into_owned(),
        Words::ChineseCharacters => python::lower(text).chars().map(narrow).collect(),
    };
    let mut spans = Vec::with_capacity(text.len() / 5 + 2);
    if words == Words::Reference || text.is_ascii() {
        word_runs(text.as_bytes(), &mut spans);
        return Tokens { text: text.into(), spans };
    }
    let mut start = None;
    for (at, c) in text.char_indices() {
        if in_word(c as u32) {
            start.get_or_insert(at);
            continue;
        }
        spans.extend(start.take().map(|start| start..at));
        if is_spaceless(c) {
            spans.push(at..at + c.len_utf8());
        }
    }
    spans.extend(start.map(|start| start..text.len()));
    Tokens { text: text.into(), spans }
}

fn in_word(c: u32) -> bool {
    c.wrapping_sub(u32::from(b'a')) < 26 || c.wrapping_sub(u32::from(b'0')) < 10
}

/// The runs of `[a-z0-9]`. A bit a byte first, then from border to border: where words end is nothing that a processor
/// could guess byte by byte.
fn word_runs(bytes: &[u8], spans: &mut Vec<Range<usize>>) {
    let mut start = 0;
    let mut inside = false;
    for (block, bytes) in bytes.chunks(64).enumerate() {
        let mut bits = 0u64;
        for (bit, &byte) in bytes.iter().enumerate() {
            bits |= u64::from(in_word(u32::from(byte))) << bit;
        }
        // A bit wherever a byte differs from the one before it.
        let mut borders = bits ^ (bits << 1 | u64::from(inside));
        while borders != 0 {
            let at = 64 * block + borders.trailing_zeros() as usize;
            if inside {
                spans.push(start..at);
            } else {
                start = at;
            }
            inside = !inside;
            borders &= borders - 1;
        }
    }
    if inside {
        spans.push(start..bytes.len());
    }
}

/// A text cut at newlines, empty lines left out.
fn lines(text: &str, words: Words) -> Vec<Tokens<'static>> {
    text.split('\n').filter(|line| !line.is_empty()).map(|line| tokens(line, words)).collect()
}

fn numbered(prediction: &Tokens<'_>, reference: &Tokens<'_>) -> (Vec<u32>, Vec<u32>, usize) {
    let mut vocabulary = Numbering::with_capacity(prediction.len() + reference.len());
    let p = prediction.iter().map(|word| vocabulary.number(word)).collect();
    let r = reference.iter().map(|word| vocabulary.number(word)).collect();
    (p, r, vocabulary.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_counts() {
        assert_eq!(rouge_l("a b c", "A, b. C!"), 1.0);
        assert_eq!(rouge_l("c b a", "a b c"), 1.0 / 3.0);
        assert_eq!(rouge_l("", "a"), 0.0);
    }

    #[test]
    fn precision_and_recall_are_told_apart() {
        let score = rouge(Rouge::Two, "the cat sat", "the cat", Words::Reference);
        assert_eq!((score.precision, score.recall), (0.5, 1.0));
        assert_eq!(rouge(Rouge::One, "cat cat", "cat", Words::Reference).precision, 0.5);
    }

    #[test]
    fn lower_case_can_leave_ascii_behind() {
        assert_eq!(
            rouge_words("İstanbul \u{212a}elvin façade", Words::Reference),
            ["i", "stanbul", "kelvin", "fa", "ade"]
        );
    }

    #[test]
    fn chinese_characters_are_words_if_asked() {
        assert_eq!(rouge_l("孔乙己", "孔乙己"), 0.0);
        assert_eq!(rouge(Rouge::L, "孔乙己。", "孔乙己", Words::ChineseCharacters).f1, 1.0);
        assert_eq!(rouge_words("温2碗酒ＡＢc", Words::ChineseCharacters), ["温", "2", "碗", "酒", "abc"]);
    }

    #[test]
    fn the_summary_counts_a_word_once_over_all_lines() {
        let score = rouge(Rouge::Lsum, "the cat\nthe cat", "the cat sat\nthe mat", Words::Reference);
        assert_eq!((score.precision, score.recall), (0.75, 0.6));
    }
}
