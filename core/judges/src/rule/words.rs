//! Judging by counting words: what `builtin/rule` says where only a model could judge.

use crate::hamlet::{facts, sentences};
use crate::simplified::simplified;
use crate::submission::Submission;
use crate::{FactRuling, QuestionType, SentenceRuling};
use closeread_eval::hamlet::ErrorCategory;
use closeread_retrieve::WordRule;
use closeread_text::sentence::{Rules, split};
use std::collections::HashSet;

/// Share of a sentence's words that one sentence of the chunk and its neighbours must have.
const SUPPORT: f64 = 0.7;
/// Share of a key fact's words that one sentence of the summary must have.
const COVERAGE: f64 = 0.6;

/// A sentence is without error if most of its words stand together in the chunk; anything else counts as out of article,
/// for counting cannot tell the kinds of error.
pub(crate) fn verify_facts(submission: &Submission<'_>) -> Vec<Option<SentenceRuling>> {
    let rule = WordRule::of_language(submission.language);
    let text = submission.chunk;
    let chunk: Vec<HashSet<String>> = split(text, Rules::of(submission.language))
        .into_iter()
        .map(|span| rule.words(&text[span.range()]).into_iter().collect())
        .collect();
    let windows: Vec<HashSet<&String>> = (0..chunk.len())
        .map(|at| chunk[at.saturating_sub(1)..(at + 2).min(chunk.len())].iter().flatten().collect())
        .collect();
    let judged = |sentence: &str| {
        let words: HashSet<String> = rule.words(sentence).into_iter().collect();
        let support = |window: &HashSet<&String>| words.iter().filter(|word| window.contains(word)).count();
        let best = windows.iter().map(support).max().unwrap_or(0);
        let supported = !words.is_empty() && best as f64 >= SUPPORT * words.len() as f64;
        let category = if supported { ErrorCategory::NoError } else { ErrorCategory::OutOfArticle };
        let reason = format!("{best} of its {} words stand together in the chunk", words.len());
        Some(SentenceRuling { category, reason })
    };
    sentences(submission).into_iter().map(judged).collect()
}

/// A key fact is stated by the sentences that have most of its words.
pub(crate) fn align_key_facts(submission: &Submission<'_>) -> Vec<Option<FactRuling>> {
    let rule = WordRule::of_language(submission.language);
    let words = |text: &str| rule.words(text).into_iter().collect::<HashSet<String>>();
    let summary: Vec<HashSet<String>> = sentences(submission).into_iter().map(words).collect();
    let judged = |fact: &str| {
        let fact = words(fact);
        let states = |sentence: &HashSet<String>| {
            let covered = fact.iter().filter(|word| sentence.contains(*word)).count();
            !fact.is_empty() && covered as f64 >= COVERAGE * fact.len() as f64
        };
        let stating = summary.iter().enumerate().filter(|(_, sentence)| states(sentence));
        let sentences: Vec<usize> = stating.map(|(at, _)| at + 1).collect();
        Some(FactRuling { stated: !sentences.is_empty(), sentences })
    };
    facts(submission).into_iter().map(judged).collect()
}

/// The type that the question's own words name, the first that matches.
pub(crate) fn question_type(question: &str) -> QuestionType {
    use QuestionType as T;
    const WORDS: [(QuestionType, &[&str]); 9] = [
        (T::Quantity, &["how many", "how much", "how often", "how old", "多少", "几个", "几次", "几", "多大"]),
        (
            T::Temporal,
            &["when", "how long", "what year", "which year", "what time", "何时", "什么时候", "多久", "哪一年"],
        ),
        (T::Reason, &["why", "what is the reason", "为什么", "为何", "原因"]),
        (T::Location, &["where", "which place", "what place", "哪里", "何处", "在哪", "什么地方"]),
        (
            T::Quotation,
            &["what does he say", "what are the words", "which words", "quote", "说了什么", "哪句话", "原话"],
        ),
        (T::Character, &["who", "whom", "whose", "谁", "何人", "哪个人"]),
        (T::Method, &["how", "by what means", "如何", "怎样", "怎么"]),
        (T::Event, &["what happen", "what did", "what does", "what do ", "发生", "做了什么"]),
        (T::Entity, &["what", "which", "name", "什么", "哪"]),
    ];
    let lower: String = question.to_lowercase().chars().map(simplified).collect();
    let has = |phrase: &&str| match phrase.is_ascii() {
        // English words begin where a word begins: "who" is not in "anywhot".
        true => lower.match_indices(*phrase).any(|(at, _)| !lower[..at].ends_with(|c: char| c.is_alphanumeric())),
        false => lower.contains(*phrase),
    };
    WORDS.iter().find(|(_, phrases)| phrases.iter().any(has)).map_or(T::Miscellaneous, |(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_its_type() {
        for (question, kind) in [
            ("How many bells are there?", QuestionType::Quantity),
            ("Why is the goat called Bailiff?", QuestionType::Reason),
            ("Where was the key?", QuestionType::Location),
            ("Who rang it?", QuestionType::Character),
            ("How did Ben cross?", QuestionType::Method),
            ("船票多少钱？", QuestionType::Quantity),
            ("谁拿走了簿子？", QuestionType::Character),
            ("他為什麼走了？", QuestionType::Reason),
            ("院子裡有幾個人？", QuestionType::Quantity),
            ("Tell me.", QuestionType::Miscellaneous),
        ] {
            assert_eq!(question_type(question), kind, "{question}");
        }
    }
}
