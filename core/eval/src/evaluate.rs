//! Scoring of items: which metrics an item is scored by, and what an answer is worth; one place for runs, prediction
//! files and the page.

use crate::Outcome;
use crate::{Item, Task};
use closeread_metrics::bleu::{BleuStatistics, bleu};
use closeread_metrics::meteor::{Meteor, WordNet};
use closeread_metrics::rouge::{Rouge, rouge_over};
use closeread_metrics::{HashedAnswer, Metric, Words, infinitebench_en_f1, infinitebench_zh_f1, squad_v1, squad_v2};
use closeread_text::Language;
use closeread_text::language::east_asian;
use closeread_text::sentence::punkt;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An answer as it is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer<'a> {
    /// Text of the answer; for a choice the text of the option.
    pub text: &'a str,
    /// The option chosen, from 0.
    pub choice: Option<usize>,
}

/// Scores answers by any [`Metric`].
#[derive(Debug, Default)]
pub struct Evaluator {
    words: Words,
    meteor: Option<MeteorByScript>,
}

/// METEOR as published, and over the words that Chinese is given.
#[derive(Debug)]
struct MeteorByScript {
    reference: Meteor,
    spaceless: Meteor,
}

/// METEOR was asked for without its synonyms; what it would give without them is another number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "meteor needs WordNet: hand in the bytes of wordnet-3.0.bin (core/metrics/assets/wordnet in closeread's repository), or leave meteor out"
)]
pub struct NoWordNet;

impl Evaluator {
    /// Makes an evaluator for `metrics`; `words` says how the text metrics cut Chinese, `wordnet` is what METEOR needs.
    ///
    /// # Errors
    /// [`NoWordNet`] if `metrics` has METEOR and `wordnet` is `None`.
    pub fn new(metrics: &[Metric], words: Words, wordnet: Option<Arc<WordNet>>) -> Result<Self, NoWordNet> {
        Self::with_punkt(metrics, words, wordnet, Cow::Borrowed(punkt::english()))
    }

    /// Makes an evaluator as [`new`](Self::new) does, for builds that do not carry the Punkt parameters, which METEOR's
    /// tokens come from.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_punkt(
        metrics: &[Metric],
        words: Words,
        wordnet: Option<Arc<WordNet>>,
        punkt: Cow<'static, punkt::Parameters>,
    ) -> Result<Self, NoWordNet> {
        if metrics.contains(&Metric::Meteor) && wordnet.is_none() {
            return Err(NoWordNet);
        }
        let meteor = wordnet.map(|wordnet| MeteorByScript {
            reference: Meteor::with_punkt(punkt.clone(), Some(Arc::clone(&wordnet))),
            spaceless: Meteor::with_punkt(punkt, Some(wordnet)).over(words),
        });
        Ok(Self { words, meteor })
    }

    /// Returns how Chinese is cut into words.
    pub fn words(&self) -> Words {
        self.words
    }

    /// The score of an answer in 0..=1, the best over the gold answers; 0 for `None`, a trial that ended without one.
    /// `None` if the metric does not apply: `accuracy` wants a choice, all others want gold answers in words. METEOR
    /// applies to nothing without WordNet. BLEU is that of the one answer. `evidence_recall` and `pair_accuracy` are
    /// made of more than an answer and apply to nothing here. Of an item whose gold answers are hashed
    /// ([`HashedAnswer`]) only `exact_match` is known.
    ///
    /// `spaceless` tells whether the item's words are found as the evaluator's [`Words`] say; see [`is_spaceless`].
    pub fn score(&self, metric: Metric, item: &Item, answer: Option<Answer<'_>>, spaceless: bool) -> Option<f64> {
        match metric {
            Metric::Accuracy => {
                let correct = item.correct.filter(|_| item.task == Task::Choice)?;
                let is_right = answer.is_some_and(|answer| answer.choice == Some(correct));
                return Some(f64::from(u8::from(is_right)));
            }
            Metric::EvidenceRecall | Metric::PairAccuracy => return None,
            _ if item.answers.is_empty() => return None,
            Metric::ExactMatch => {
                let hidden: Vec<HashedAnswer<'_>> = hidden(item).collect();
                if answer.is_some_and(|answer| hidden.iter().any(|gold| gold.matches(answer.text))) {
                    return Some(1.0);
                }
            }
            _ if hidden(item).next().is_some() => return None,
            Metric::Meteor if self.meteor.is_none() => return None,
            _ => {}
        }
        Some(answer.map_or(0.0, |answer| self.text_score(metric, answer.text, &item.answers, spaceless)))
    }

    fn text_score(&self, metric: Metric, text: &str, gold: &[String], spaceless: bool) -> f64 {
        let words = self.words_for(spaceless);
        match metric {
            Metric::ExactMatch => squad_v1(text, gold, words).exact_match,
            Metric::F1 => squad_v1(text, gold, words).f1,
            Metric::F1V2 => squad_v2(text, gold, words).f1,
            Metric::InfinitebenchEnF1 => infinitebench_en_f1(text, gold, words).f1,
            Metric::InfinitebenchZhF1 => infinitebench_zh_f1(text, gold).f1,
            Metric::Rouge1 => rouge_over(Rouge::One, text, gold, words).f1,
            Metric::Rouge2 => rouge_over(Rouge::Two, text, gold, words).f1,
            Metric::RougeL => rouge_over(Rouge::L, text, gold, words).f1,
            Metric::RougeLsum => rouge_over(Rouge::Lsum, text, gold, words).f1,
            Metric::Bleu1 | Metric::Bleu2 | Metric::Bleu3 | Metric::Bleu4 => {
                let order = metric.bleu_order().expect("these are the metrics with an order");
                bleu(order, text, gold, words)
            }
            Metric::Meteor => self.meteor.as_ref().map_or(0.0, |meteor| {
                let gold: Vec<&str> = gold.iter().map(String::as_str).collect();
                let meteor = if spaceless { &meteor.spaceless } else { &meteor.reference };
                meteor.score(text, &gold)
            }),
            Metric::Accuracy | Metric::EvidenceRecall | Metric::PairAccuracy => 0.0,
        }
    }

    /// Returns what an answer adds to corpus BLEU; an item without an answer adds the length of its gold answer alone.
    /// `None` without gold answers.
    pub fn bleu_statistics(&self, item: &Item, answer: Option<Answer<'_>>, spaceless: bool) -> Option<BleuStatistics> {
        let text = answer.map_or("", |answer| answer.text);
        let in_words = !item.answers.is_empty() && hidden(item).next().is_none();
        in_words.then(|| BleuStatistics::new(text, &item.answers, self.words_for(spaceless)))
    }

    fn words_for(&self, spaceless: bool) -> Words {
        if spaceless { self.words } else { Words::Reference }
    }
}

/// The gold answers of which only a hash is known.
fn hidden(item: &Item) -> impl Iterator<Item = HashedAnswer<'_>> {
    item.answers.iter().filter_map(|gold| HashedAnswer::parse(gold))
}

/// The metrics of a task, the main one first.
///
/// - choice: `accuracy`;
/// - generative: `f1` (SQuAD v1) and `exact_match`; of Chinese and Japanese text InfiniteBench's character F1 instead of
///   `f1`, since token F1 compares whole sentences there;
/// - summary: `rougeL`, `rouge1`, `rouge2`, `rougeLsum`; of Chinese and Japanese text character F1, since ROUGE as
///   published finds no words there.
pub fn default_metrics(task: Task, spaceless: bool) -> &'static [Metric] {
    match (task, spaceless) {
        (Task::Choice, _) => &[Metric::Accuracy],
        (Task::Generative, false) => &[Metric::F1, Metric::ExactMatch],
        (Task::Generative, true) => &[Metric::InfinitebenchZhF1, Metric::ExactMatch],
        (Task::Summary, false) => &[Metric::RougeL, Metric::Rouge1, Metric::Rouge2, Metric::RougeLsum],
        (Task::Summary, true) => &[Metric::InfinitebenchZhF1],
    }
}

/// True if an item's answers are Chinese or Japanese: its field or label `language` says so, or else its gold answers read so, or
/// without letters in them its options, or its question.
pub fn is_spaceless(item: &Item) -> bool {
    own_language(item).is_some_and(Language::is_spaceless)
}

/// Returns a note on an item whose field or label `language` is no code of a language, so that nothing is read from it.
pub fn unread_language(item: &Item) -> Option<String> {
    let error = given_language(item)?.parse::<Language>().err()?;
    Some(format!("`language`: {error}; the script of the gold answers decides"))
}

fn given_language(item: &Item) -> Option<&str> {
    let field = item.other.get("language").and_then(serde_json::Value::as_str);
    field.or_else(|| item.labels.get("language").map(String::as_str))
}

/// The language of an item's answers where the item says it, or their script does, or of answers without letters the question's.
fn own_language(item: &Item) -> Option<Language> {
    let has_letters = |texts: &[String]| texts.concat().contains(char::is_alphabetic);
    let of_question = || match has_letters(&item.answers) || has_letters(&item.options) {
        true => None,
        false => east_asian(&item.question),
    };
    told_language(item).or_else(of_question)
}

/// The language of an item's answers where the item says it, or their script does.
fn told_language(item: &Item) -> Option<Language> {
    if let Some(language) = given_language(item).and_then(|code| code.parse::<Language>().ok()) {
        return Some(language);
    }
    let texts = [&item.answers, &item.options].into_iter().find(|texts| !texts.is_empty());
    let text = texts.map_or_else(|| item.question.clone(), |texts| texts.join("\n"));
    east_asian(&text)
}

/// Writes the language of an item's book into the item, if the item tells none and the language is Chinese or Japanese: then it
/// is scored alike wherever the book is not at hand.
pub fn tell_language(item: &mut Item, book: Language) {
    if book.is_spaceless() && told_language(item).is_none() {
        item.other.insert("language".to_owned(), book.code().into());
    }
}

/// Scores of an outcome by metric name, each in 0..=1: the main metric of the item's task alone; empty if the item has
/// nothing to score against or was not asked. `language` is the book's: it counts where the item does not tell its own.
///
/// Whatever ended without an answer scores 0; a paper that leaves failures out does so by its
/// [policy](crate::observations::FailurePolicy).
pub fn score(item: &Item, outcome: &Outcome, language: Language) -> BTreeMap<String, f64> {
    let answer = match outcome {
        Outcome::Answered { answer, choice } => Some(Answer { text: answer, choice: *choice }),
        Outcome::NotAsked { .. } => return BTreeMap::new(),
        _ => None,
    };
    let spaceless = own_language(item).unwrap_or(language).is_spaceless();
    let metric = default_metrics(item.task, spaceless)[0];
    let value = Evaluator::default().score(metric, item, answer, spaceless);
    value.map(|value| (metric.name().to_owned(), value)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_that_tells_its_language_is_scored_by_it_whatever_its_book_is_in() {
        let metric = |answer: &str, label: Option<&str>, book: Language| {
            let mut item = Item::new("a", "b", "Who?", Task::Generative);
            item.answers = vec![answer.to_owned()];
            item.labels.extend(label.map(|code| ("language".to_owned(), code.to_owned())));
            let scores = score(&item, &Outcome::Unanswered, book);
            tell_language(&mut item, book);
            assert_eq!(is_spaceless(&item), scores.contains_key("infinitebench_zh_f1"), "{item:?}");
            scores.into_keys().collect::<String>()
        };
        let (en, zh) = (Language::ENGLISH, Language::CHINESE);
        assert_eq!(metric("在楼梯下面", None, en), "infinitebench_zh_f1");
        assert_eq!(metric("under the stair", Some("en"), zh), "f1");
        assert_eq!(metric("1984", Some("zh"), en), "infinitebench_zh_f1");
        assert_eq!(metric("1984", None, zh), "infinitebench_zh_f1");
        assert_eq!(metric("1984", None, en), "f1");
        assert_eq!(metric("吾輩は猫である", None, en), "infinitebench_zh_f1");
    }

    #[test]
    fn a_number_is_in_the_language_of_its_question() {
        let is_chinese = |question: &str, answers: &[&str]| {
            let mut item = Item::new("a", "b", question, Task::Generative);
            item.answers = answers.iter().map(|&answer| answer.to_owned()).collect();
            is_spaceless(&item)
        };
        assert!(is_chinese("哪一年？", &["1937"]) && is_chinese("几成？", &["30%", "0.3"]));
        assert!(!is_chinese("Which year?", &["1937"]) && !is_chinese("谁写的？", &["Mo Yan"]));
        assert!(is_chinese("Which year?", &["1937年"]));
        let mut item = Item::new("a", "b", "哪一年？", Task::Generative);
        item.answers = vec!["1937".to_owned()];
        tell_language(&mut item, Language::CHINESE);
        assert_eq!(item.other["language"], "zh", "as in the runs there are, whose items are to stay the same");
    }
}
