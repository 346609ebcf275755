//! ROUGE-L (package rouge_score 0.1.2, no stemming).

/// ROUGE-L F measure, in 0..=1: longest common subsequence of the words of the whole texts.
///
/// Lower-cases and takes every run of `[a-z0-9]` as a word, so accents cut words in two and Chinese text has none: it
/// scores 0, even against itself, as in the reference. Use [`character_f1`](super::character_f1) there.
pub fn rouge_l(prediction: &str, reference: &str) -> f64 {
    let (prediction, reference) = (words(prediction), words(reference));
    let common = longest_common_subsequence(&prediction, &reference) as f64;
    if common == 0.0 {
        return 0.0;
    }
    let precision = common / prediction.len() as f64;
    let recall = common / reference.len() as f64;
    2.0 * precision * recall / (precision + recall)
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let runs = lower.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit()));
    runs.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Length of the longest common subsequence, in space linear in `b`.
fn longest_common_subsequence<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    row[b.len()]
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
}
