//! `builtin/extractive`: the floor that a language model must beat.
//!
//! It reads without a language model, by counting words. It knows no synonyms, resolves no pronoun, adds nothing up and
//! understands nothing; on QuALITY's plausible distractors it does no better than chance. Its use is that every
//! benchmark can be run end to end with no key and no network, and that its score is what retrieval alone is worth.

use super::Reading;
use crate::answer::NOT_FOUND;
use crate::benchmark::Task;
use crate::hash::sha256;
use crate::index::{Bm25, WordRule};
use crate::text::sentence::{self, Rules};
use std::collections::HashSet;

/// Most words of an open answer, as the prompt demands (Stronger Baselines, figure A.2).
const MAX_WORDS: usize = 20;
/// Sentences of a summary.
const SUMMARY_SENTENCES: usize = 5;

/// The reply to a reading, in the form its prompt asks for. The same reading always gets the same reply.
///
/// - Choice: every option is put behind the question and searched for among the context's sentences, each taken with
///   its neighbours; the option with the highest BM25 score wins, the earlier one on a tie. Without a context there is
///   nothing to count, and the option is drawn by the hash of the question: a guess.
/// - Open question: of the sentence that matches the question best, the clause with the best match that says something
///   the question does not, without the question's own words at its ends.
/// - Summary: the five sentences that match the query best, in their order; without a query those that match the whole
///   text best.
pub fn answer(reading: &Reading) -> String {
    let text = Text::new(reading);
    match reading.task {
        Task::Choice => text.choose(reading),
        Task::Generative => text.extract(&reading.question),
        Task::Summary => text.summarize(&reading.question),
    }
}

/// A context as sentences.
struct Text {
    rule: WordRule,
    sentences: Vec<String>,
}

impl Text {
    fn new(reading: &Reading) -> Self {
        let rules = Rules::for_code(&reading.language);
        let sentences = reading.context.iter().flat_map(|passage| {
            sentence::split(passage, rules).into_iter().map(|span| {
                let words: Vec<&str> = passage[span.range()].split_whitespace().collect();
                words.join(" ")
            })
        });
        Self { rule: WordRule::of_language(&reading.language), sentences: sentences.collect() }
    }

    fn choose(&self, reading: &Reading) -> String {
        if reading.options.is_empty() {
            return NOT_FOUND.to_owned();
        }
        let best = if self.sentences.is_empty() {
            let hash = sha256(reading.question.as_bytes());
            usize::from_str_radix(&hash[..8], 16).expect("hex digits") % reading.options.len()
        } else {
            let n = self.sentences.len();
            let windows = (0..n).map(|i| self.sentences[i.saturating_sub(1)..(i + 2).min(n)].join(" "));
            let index = Bm25::new(self.rule, windows);
            let support = |option: &String| {
                let ranking = index.ranking(&format!("{} {option}", reading.question));
                ranking.first().map_or(0.0, |ranked| ranked.score)
            };
            let supports: Vec<f64> = reading.options.iter().map(support).collect();
            (0..supports.len()).fold(0, |best, i| if supports[i] > supports[best] { i } else { best })
        };
        format!("Chosen by counting words. [[{}]]", best + 1)
    }

    fn extract(&self, question: &str) -> String {
        let ranking = Bm25::new(self.rule, &self.sentences).ranking(question);
        let Some(best) = ranking.first().filter(|ranked| ranked.score > 0.0) else { return NOT_FOUND.to_owned() };
        let asked: HashSet<String> = self.rule.words(question).into_iter().collect();
        let clauses = clauses(&self.sentences[best.idx]);
        let support = Bm25::new(self.rule, &clauses).ranking(question);
        let news = |clause: &str| self.rule.words(clause).iter().any(|word| !asked.contains(word));
        let clause = support.iter().map(|ranked| clauses[ranked.idx]).find(|clause| news(clause));
        match clause.map(|clause| self.trimmed(clause, &asked)).filter(|text| !text.is_empty()) {
            Some(text) => text,
            None => NOT_FOUND.to_owned(),
        }
    }

    /// The clause without the question's words at its ends, at most [`MAX_WORDS`] long.
    fn trimmed(&self, clause: &str, asked: &HashSet<String>) -> String {
        if self.rule == WordRule::ChinesePairs {
            return clause.trim().to_owned();
        }
        let words: Vec<&str> = clause.split_whitespace().collect();
        let known = |word: &&str| self.rule.words(word).iter().all(|w| asked.contains(w));
        let start = words.iter().position(|w| !known(w)).unwrap_or(words.len());
        let end = words.iter().rposition(|w| !known(w)).map_or(start, |i| i + 1);
        let kept = &words[start..end.min(start + MAX_WORDS)];
        kept.join(" ").trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    }

    fn summarize(&self, query: &str) -> String {
        // Asked for nothing in particular, the sentences matter that share most with all others.
        let whole = if query.is_empty() { self.sentences.join(" ") } else { String::new() };
        let query = if query.is_empty() { &whole } else { query };
        let ranking = Bm25::new(self.rule, &self.sentences).ranking(query);
        let mut chosen: Vec<usize> = ranking.iter().take(SUMMARY_SENTENCES).map(|ranked| ranked.idx).collect();
        chosen.sort_unstable();
        let summary: Vec<&str> = chosen.iter().map(|&i| self.sentences[i].as_str()).collect();
        if summary.is_empty() { NOT_FOUND.to_owned() } else { summary.join(" ") }
    }
}

/// A sentence cut at its inner punctuation; marks inside a word or number (`1,000`, `o'clock`, `well-kept`) do not cut.
fn clauses(sentence: &str) -> Vec<&str> {
    let mut clauses = Vec::new();
    let mut start = 0;
    let mut chars = sentence.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let ends_word = chars.peek().is_none_or(|(_, next)| !next.is_alphanumeric());
        let cuts = match c {
            ',' | ';' | ':' | '"' => ends_word,
            '，' | '；' | '：' | '。' | '？' | '！' | '“' | '”' | '—' | '…' => true,
            _ => false,
        };
        if cuts {
            clauses.push(&sentence[start..i]);
            start = i + c.len_utf8();
        }
    }
    clauses.push(&sentence[start..]);
    clauses.retain(|clause| clause.chars().any(char::is_alphanumeric));
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(task: Task, context: &[&str], question: &str, options: &[&str]) -> Reading {
        let owned = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect();
        Reading {
            context: owned(context),
            question: question.to_owned(),
            options: owned(options),
            task,
            language: if question.is_ascii() { "en" } else { "zh" }.to_owned(),
        }
    }

    const HARBOUR: [&str; 2] =
        ["The bell was cast in Orvik. Ines paid 1,200 marks for it, in silver.", "Tom swept the yard."];

    #[test]
    fn the_option_that_stands_beside_the_question_wins() {
        let r = reading(Task::Choice, &HARBOUR, "Where was the bell cast?", &["In Lund", "In Orvik", "At sea"]);
        assert_eq!(answer(&r), "Chosen by counting words. [[2]]");
    }

    #[test]
    fn an_open_answer_is_a_clause_without_the_words_of_the_question() {
        let r = reading(Task::Generative, &HARBOUR, "How many marks was it that Ines paid?", &[]);
        assert_eq!(answer(&r), "1,200 marks for");
        let r = reading(Task::Generative, &["那口钟是在奥维克铸的，花了三年。"], "那口钟是在哪里铸的？", &[]);
        assert_eq!(answer(&r), "那口钟是在奥维克铸的");
    }

    #[test]
    fn without_a_context_choices_are_guesses_and_open_questions_stay_open() {
        let guess = answer(&reading(Task::Choice, &[], "Who?", &["a", "b"]));
        assert_eq!(guess, answer(&reading(Task::Choice, &[], "Who?", &["a", "b"])));
        assert_eq!(answer(&reading(Task::Generative, &[], "Who?", &[])), NOT_FOUND);
        assert_eq!(answer(&reading(Task::Generative, &["Rain fell."], "Who?", &[])), NOT_FOUND);
        assert_eq!(answer(&reading(Task::Summary, &[], "Who?", &[])), NOT_FOUND);
    }

    #[test]
    fn a_summary_keeps_the_order_of_the_text() {
        let r = reading(Task::Summary, &HARBOUR, "silver and the bell", &[]);
        assert!(answer(&r).starts_with("The bell was cast"));
        let all = reading(Task::Summary, &HARBOUR, "", &[]);
        assert!(answer(&all).ends_with("Tom swept the yard."));
    }
}
