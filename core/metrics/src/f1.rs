//! Exact match and token F1: SQuAD v1 and v2, InfiniteBench En.QA and Zh.QA.

use super::normalize::{character_tokens, squad_normalize, squad_tokens};
use super::tokens::{Multiset, Tokens};
use super::{Prf, Words};
use serde::{Deserialize, Serialize};

/// Exact match and F1 of an answer under SQuAD's rules, each in 0..=1, each the best over the references.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SquadScore {
    /// Exact match: 1 if the normalised answer equals a normalised reference.
    pub exact_match: f64,
    /// Token F1.
    pub f1: f64,
}

/// SQuAD v1 (`evaluate-v1.1.py`, the metric `squad` of Hugging Face evaluate 0.4.3).
///
/// Both sides are normalised by [`squad_normalize`](super::squad_normalize). Odd: an answer and a reference that both
/// normalise to nothing match exactly and have F1 0. No references: 0 (the script raises an error).
pub fn squad_v1<S: AsRef<str>>(prediction: &str, references: &[S], words: Words) -> SquadScore {
    let prediction = squad_tokens(prediction, words);
    let mut best = SquadScore::default();
    for reference in references {
        let reference = squad_tokens(reference.as_ref(), words);
        best.exact_match = best.exact_match.max(exact(&prediction, &reference));
        best.f1 = best.f1.max(compare(&prediction, &reference).f1);
    }
    best
}

/// SQuAD v2 (`evaluate-v2.0.py`, the metric `squad_v2` of Hugging Face evaluate 0.4.3), without its threshold for
/// unanswerable questions.
///
/// As [`squad_v1`], but where either side normalises to nothing F1 is 1 if both do and else 0. References that
/// normalise to nothing are left out if there are others; without any reference the answer must be empty.
pub fn squad_v2<S: AsRef<str>>(prediction: &str, references: &[S], words: Words) -> SquadScore {
    let prediction = squad_tokens(prediction, words);
    let references = references.iter().map(|reference| squad_tokens(reference.as_ref(), words));
    let answers: Vec<Tokens<'_>> = references.filter(|tokens| tokens.len() > 0).collect();
    if answers.is_empty() {
        let both = f64::from(u8::from(prediction.len() == 0));
        return SquadScore { exact_match: both, f1: both };
    }
    let mut best = SquadScore::default();
    for answer in &answers {
        best.exact_match = best.exact_match.max(exact(&prediction, answer));
        best.f1 = best.f1.max(compare(&prediction, answer).f1);
    }
    best
}

/// InfiniteBench's F1 for English (En.QA; `src/compute_scores.py` at 88b3daa6989d).
///
/// Tokens as in SQuAD v1; precision, recall and F1 are each the best over the references, so that they may come from
/// different ones. Its readme calls the result ROUGE F1; it is token F1.
pub fn infinitebench_en_f1<S: AsRef<str>>(prediction: &str, references: &[S], words: Words) -> Prf {
    let prediction = squad_tokens(prediction, words);
    best_each(references.iter().map(|reference| compare(&prediction, &squad_tokens(reference.as_ref(), words))))
}

/// InfiniteBench's F1 for Chinese (Zh.QA; as [`infinitebench_en_f1`], over the characters that
/// [`infinitebench_zh_normalize`](super::infinitebench_zh_normalize) leaves).
pub fn infinitebench_zh_f1<S: AsRef<str>>(prediction: &str, references: &[S]) -> Prf {
    let prediction = character_tokens(prediction);
    best_each(references.iter().map(|reference| compare(&prediction, &character_tokens(reference.as_ref()))))
}

/// SQuAD v1 token F1 against one reference, in 0..=1; see [`squad_v1`].
fn token_f1(prediction: &str, reference: &str) -> f64 {
    squad_v1(prediction, &[reference], Words::Reference).f1
}

/// MemAgent's scores of an answer (`taskutils/memory_eval`, after HotpotQA's script).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemAgentScore {
    /// Whether answer and reference are the same once normalised.
    pub exact_match: bool,
    /// Whether one of the two, normalised, occurs in the other. Odd: an empty answer occurs in everything.
    pub sub_exact_match: bool,
    /// SQuAD's token F1 in 0..=1, but 0 where one side is `yes`, `no` or `noanswer` and the other says otherwise.
    pub f1: f64,
}

/// Scores an answer as MemAgent does. Both sides are normalised by [`squad_normalize`](super::squad_normalize).
pub fn memagent_score(prediction: &str, reference: &str) -> MemAgentScore {
    let normalized = |text| squad_normalize(text, Words::Reference);
    let (said, gold) = (normalized(prediction), normalized(reference));
    let verdict = |text: &str| matches!(text, "yes" | "no" | "noanswer");
    let exact_match = said == gold;
    let contradicts = !exact_match && (verdict(&said) || verdict(&gold));
    MemAgentScore {
        exact_match,
        sub_exact_match: said.contains(&gold) || gold.contains(&said),
        f1: if contradicts { 0.0 } else { token_f1(prediction, reference) },
    }
}

fn exact(prediction: &Tokens<'_>, reference: &Tokens<'_>) -> f64 {
    f64::from(u8::from(prediction.iter().eq(reference.iter())))
}

fn compare(prediction: &Tokens<'_>, reference: &Tokens<'_>) -> Prf {
    let mut left = Multiset::new(reference);
    let same = prediction.keys().map(|token| left.take(token)).sum();
    Prf::new(same, prediction.len(), reference.len())
}

fn best_each(scores: impl Iterator<Item = Prf>) -> Prf {
    scores.fold(Prf::default(), |best, score| Prf {
        precision: best.precision.max(score.precision),
        recall: best.recall.max(score.recall),
        f1: best.f1.max(score.f1),
    })
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
    fn nothing_against_nothing_differs_between_the_versions() {
        assert_eq!(squad_v1("the", &["a"], Words::Reference), SquadScore { exact_match: 1.0, f1: 0.0 });
        assert_eq!(squad_v2("the", &["a"], Words::Reference), SquadScore { exact_match: 1.0, f1: 1.0 });
        assert_eq!(squad_v2("", &["", "cat"], Words::Reference), SquadScore::default());
        assert_eq!(squad_v2("cat", &[""; 0], Words::Reference), SquadScore::default());
    }

    #[test]
    fn precision_and_recall_may_come_from_different_references() {
        let score = infinitebench_en_f1("big cat", &["cat", "big cat on mat sat"], Words::Reference);
        assert_eq!((score.precision, score.recall), (1.0, 1.0));
        assert_eq!(score.f1, 2.0 / 3.0);
    }

    #[test]
    fn memagent_takes_yes_and_no_for_verdicts() {
        let score = memagent_score("yes, it rained", "yes");
        assert_eq!((score.exact_match, score.sub_exact_match, score.f1), (false, true, 0.0));
        assert_eq!(
            memagent_score("The cat.", "cat"),
            MemAgentScore { exact_match: true, sub_exact_match: true, f1: 1.0 }
        );
        assert!(memagent_score("", "x").sub_exact_match && !memagent_score("y", "x").sub_exact_match);
    }

    #[test]
    fn chinese_counts_characters_and_keeps_the_opening_title_mark() {
        let f1 = |prediction, reference: &str| infinitebench_zh_f1(prediction, &[reference]).f1;
        assert_eq!(f1("《老残游记》", "老残游记"), 2.0 * (4.0 / 5.0) / (4.0 / 5.0 + 1.0));
        assert_eq!(f1("三 天。", "三天"), 1.0);
    }

    #[test]
    fn single_characters_make_words_of_chinese() {
        let score = |words| squad_v1("孔乙己。", &["孔乙己"], words);
        assert_eq!(score(Words::Reference), SquadScore::default());
        assert_eq!(score(Words::ChineseCharacters), SquadScore { exact_match: 1.0, f1: 1.0 });
        assert_eq!(squad_v1("１９１９年", &["1919年"], Words::ChineseCharacters).f1, 1.0);
    }
}
