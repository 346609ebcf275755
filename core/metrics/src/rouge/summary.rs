//! ROUGE-Lsum: unions of longest common subsequences, line by line.

use super::lcs::Table;
use crate::Prf;
use crate::tokens::{Numbering, Tokens};

/// Summary-level ROUGE-L as `_summary_level_lcs` of rouge_score computes it.
pub(super) fn union_lcs(prediction: &[Tokens<'_>], reference: &[Tokens<'_>]) -> Prf {
    let mut vocabulary = Numbering::with_capacity(64);
    let (prediction, reference) = (numbered(prediction, &mut vocabulary), numbered(reference, &mut vocabulary));
    let n_distinct = vocabulary.len();
    let count = |lines: &[Vec<u32>]| {
        let mut counts = vec![0usize; n_distinct];
        for &word in lines.iter().flatten() {
            counts[word as usize] += 1;
        }
        counts
    };
    let (mut left_p, mut left_r) = (count(&prediction), count(&reference));
    let mut masks = vec![0; n_distinct];
    let mut hits = 0;
    for line in &reference {
        let mut in_union = vec![false; line.len()];
        for candidate in &prediction {
            mark(line, candidate, &mut masks, &mut in_union);
        }
        for (&word, _) in line.iter().zip(in_union).filter(|(_, in_union)| *in_union) {
            let (p, r) = (&mut left_p[word as usize], &mut left_r[word as usize]);
            if *p > 0 && *r > 0 {
                (*p, *r) = (*p - 1, *r - 1);
                hits += 1;
            }
        }
    }
    let n_words = |lines: &[Vec<u32>]| lines.iter().map(Vec::len).sum();
    Prf::new(hits, n_words(&prediction), n_words(&reference))
}

fn numbered<'t>(lines: &'t [Tokens<'_>], vocabulary: &mut Numbering<&'t str>) -> Vec<Vec<u32>> {
    lines.iter().map(|line| line.iter().map(|word| vocabulary.number(word)).collect()).collect()
}

/// Marks the words of `line` that its longest common subsequence with `candidate` takes; of several such subsequences
/// the one that rouge_score's `_backtrack_norec` reads out, which decides what the union holds.
fn mark(line: &[u32], candidate: &[u32], masks: &mut [u64], in_union: &mut [bool]) {
    let table = Table::new(line, candidate, masks);
    let (mut i, mut j) = (line.len(), candidate.len());
    while i > 0 && j > 0 {
        if line[i - 1] == candidate[j - 1] {
            in_union[i - 1] = true;
            (i, j) = (i - 1, j - 1);
        } else if j > 1 && table.at(i, j - 1) > table.at(i - 1, j) {
            j -= 1;
        } else {
            i -= 1;
        }
    }
}
