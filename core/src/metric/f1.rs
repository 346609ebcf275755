//! Token F1 (SQuAD v1) and character F1 (InfiniteBench Zh.QA).

use regex::Regex;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::LazyLock;

/// SQuAD v1 token F1, in 0..=1: the script `evaluate-v1.1.py`.
///
/// Lower-cases, deletes ASCII punctuation (leaving no space), deletes the words a, an and the, splits at white space
/// and compares multisets. Two texts that normalise to nothing score 0, as in the script.
pub fn token_f1(prediction: &str, reference: &str) -> f64 {
    f1(&squad_tokens(prediction), &squad_tokens(reference))
}

/// InfiniteBench's F1 for Chinese, in 0..=1: lower-cases, deletes ASCII and Chinese punctuation and all white space,
/// and compares multisets of characters.
///
/// The reference's list of Chinese punctuation holds 》 but not 《, and lacks 〈, 〉 and the middle dot, so the opening
/// mark of a title counts as a character; reproduced as it is.
pub fn character_f1(prediction: &str, reference: &str) -> f64 {
    let characters = |text: &str| -> Vec<char> {
        let lower = text.to_lowercase();
        lower
            .chars()
            .filter(|&c| !c.is_whitespace() && !c.is_ascii_punctuation() && !is_listed_punctuation(c))
            .collect()
    };
    f1(&characters(prediction), &characters(reference))
}

fn squad_tokens(text: &str) -> Vec<String> {
    // An article is deleted wherever word boundaries enclose it: curly quotes survive, so “the is no word of its own.
    static ARTICLE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(a|an|the)\b").expect("a valid pattern"));
    let lower: String = text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect();
    ARTICLE.replace_all(&lower, " ").split_whitespace().map(str::to_owned).collect()
}

/// The Chinese marks that InfiniteBench's scorer deletes.
fn is_listed_punctuation(c: char) -> bool {
    "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏.".contains(c)
}

fn f1<T: Eq + Hash>(prediction: &[T], reference: &[T]) -> f64 {
    let mut left: HashMap<&T, usize> = HashMap::new();
    for token in reference {
        *left.entry(token).or_default() += 1;
    }
    let mut same = 0usize;
    for token in prediction {
        if let Some(count) = left.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            same += 1;
        }
    }
    if same == 0 {
        return 0.0;
    }
    let precision = same as f64 / prediction.len() as f64;
    let recall = same as f64 / reference.len() as f64;
    2.0 * precision * recall / (precision + recall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_case_and_punctuation_do_not_count() {
        assert_eq!(token_f1("The Cat!", "a cat"), 1.0);
        assert_eq!(token_f1("cat dog", "cat"), 2.0 / 3.0);
        assert_eq!(token_f1("", ""), 0.0);
        assert_eq!(token_f1("don't", "dont"), 1.0);
    }

    #[test]
    fn chinese_counts_characters_and_keeps_the_opening_title_mark() {
        assert_eq!(character_f1("《老残游记》", "老残游记"), 2.0 * (4.0 / 5.0) / (4.0 / 5.0 + 1.0));
        assert_eq!(character_f1("三 天。", "三天"), 1.0);
    }
}
