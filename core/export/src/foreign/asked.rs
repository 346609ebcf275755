//! Whether the items of two logs are the same, whatever stands around the question.

use super::{LogsError, gold_texts};
use closeread_data::foreign::ForeignLog;
use closeread_data::foreign::lm_eval::DOC_HASH;
use closeread_eval::Item;
use serde_json::Value;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Most paragraphs that a prompt is told from others by.
const MAX_PARAGRAPHS: usize = 8;

/// What an item asks.
pub(super) struct Asked {
    whole: String,
    /// The last paragraphs, as many as no other item ends in, without those in which all end.
    own: String,
    /// The harness's hash of what the question was made of.
    hash: Option<Value>,
}

impl Asked {
    /// What each of `items` asks, in their order.
    pub(super) fn of<'a>(items: impl Iterator<Item = &'a Item>) -> Vec<Self> {
        let asked = items.map(|item| (plain(&item.question), item.other.get(DOC_HASH).cloned()));
        let (whole, hashes): (Vec<String>, Vec<Option<Value>>) = asked.unzip();
        let own = own(&whole);
        whole.into_iter().zip(own).zip(hashes).map(|((whole, own), hash)| Self { whole, own, hash }).collect()
    }

    /// True if one holds what the other asks: examples may stand before a question, and a chat around it, in JSON. Around the
    /// same document of the harness anything may stand, such as the marks of a model's chat.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let holds = |a: &Self, b: &Self| !b.own.is_empty() && a.whole.contains(&b.own);
        let is_hashed = self.hash.is_some() && self.hash == other.hash;
        is_hashed || self.whole == other.whole || holds(self, other) || holds(other, self)
    }
}

/// True if `item` is the same as another whose gold answers are the same or more. Numbers are ids of other items, too, and
/// letters gold answers: of them, and without a gold answer, it is the question that tells two items apart.
pub(super) fn is_same(item: &Item, asked: &Asked, other: &Item, of_other: &Asked) -> bool {
    let gold = gold_texts(item);
    let is_named = !gold.is_empty() && !item.id.bytes().all(|byte| byte.is_ascii_digit());
    item.task == other.task && gold.is_subset(&gold_texts(other)) && (is_named || asked.is_same(of_other))
}

/// What is wrong with logs of one task in which an id stands for two items.
pub(super) fn two_items(logs: &[ForeignLog]) -> Option<LogsError> {
    let is_shared = |log: &&ForeignLog| logs.iter().filter(|other| other.task == log.task).count() > 1;
    let mut known: HashMap<(&str, &str), (&str, &Item, Asked)> = HashMap::new();
    for log in logs.iter().filter(|log| log.cell.is_none()).filter(is_shared) {
        let mut seen = HashSet::new();
        let items = log.samples.iter().map(|sample| &sample.item);
        let items: Vec<&Item> = items.filter(|item| seen.insert(item.id.as_str())).collect();
        let asked = Asked::of(items.iter().copied());
        for (item, asked) in items.into_iter().zip(asked) {
            match known.entry((log.task.as_str(), item.id.as_str())) {
                Entry::Vacant(new) => {
                    new.insert((log.file.as_str(), item, asked));
                }
                Entry::Occupied(entry) => {
                    let (file, other, of_other) = entry.get();
                    if !is_same(item, &asked, other, of_other) && !is_same(other, of_other, item, &asked) {
                        let (first, second) = ((*file).to_owned(), log.file.clone());
                        let (task, item) = (log.task.clone(), item.id.clone());
                        return Some(LogsError::TwoItems { first, second, task, item });
                    }
                }
            }
        }
    }
    None
}

fn own(asked: &[String]) -> Vec<String> {
    let prompts: Vec<Vec<&str>> = asked.iter().map(|asked| asked.rsplit("\n\n").collect()).collect();
    let is_common = |n: usize| prompts.iter().all(|prompt| prompt.len() > n + 1 && prompt[n] == prompts[0][n]);
    // All may end in how to answer, such as `Answer with one letter.`
    let common = if prompts.len() > 1 { (0..).take_while(|n| is_common(*n)).count() } else { 0 };
    let most = |prompt: &[&str]| prompt.len().min(common + MAX_PARAGRAPHS);
    let mut counts: HashMap<&[&str], usize> = HashMap::new();
    for prompt in &prompts {
        for n in common + 1..=most(prompt) {
            *counts.entry(&prompt[common..n]).or_default() += 1;
        }
    }
    let own = prompts.iter().map(|prompt| {
        let most = most(prompt);
        let n = (common + 1..most).find(|n| counts[&prompt[common..*n]] == 1).unwrap_or(most);
        prompt[common..n].iter().rev().copied().collect::<Vec<_>>().join("\n\n")
    });
    own.collect()
}

fn plain(prompt: &str) -> String {
    prompt.replace("\\n", "\n").replace("\\\"", "\"").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;

    fn asked(questions: &[&str]) -> Vec<Asked> {
        let item = |question: &&str| Item::new("1", "b", *question, Task::Generative);
        Asked::of(questions.iter().map(item).collect::<Vec<_>>().iter())
    }

    fn same(a: &[&str], b: &[&str]) -> Vec<bool> {
        asked(a).iter().zip(&asked(b)).map(|(a, b)| a.is_same(b)).collect()
    }

    #[test]
    fn how_to_answer_is_no_question() {
        let law = ["Which law?\n\nAnswer:", "Whose law?\n\nAnswer:"];
        let art = ["Which art?\n\nAnswer:", "Whose law?\n\nAnswer:"];
        assert_eq!(same(&law, &art), [false, true]);
        let otherwise = ["Which law?\n\nOne letter.", "Whose laws?\n\nOne letter."];
        assert_eq!(same(&law, &otherwise), [true, false]);
    }

    #[test]
    fn a_paragraph_of_several_items_tells_none_from_others() {
        let two = ["Ana came.\n\nWhat is it about?", "Bo went.\n\nWhat is it about?", "Who came?"];
        let other = ["Cleo sat.\n\nWhat is it about?", "Bo went.\n\nWhat is it about?", "An example.\n\nWho came?"];
        assert_eq!(same(&two, &other), [false, true, true]);
        assert_eq!(same(&["What is it about?"], &two[..1]), [true]);
    }

    #[test]
    fn one_document_of_the_harness_is_one_question_in_every_chat() {
        let item = |question: &str, hash: &str| {
            let mut item = Item::new("1", "b", question, Task::Generative);
            item.other.insert(DOC_HASH.to_owned(), hash.into());
            Asked::of(std::iter::once(&item)).remove(0)
        };
        let (one, other) = ("<|user|>Who?<|end|>", "[INST] Who? [/INST]");
        assert!(item(one, "a").is_same(&item(other, "a")) && !item(one, "a").is_same(&item(other, "b")));
        assert!(item(one, "a").is_same(&item(one, "b")));
    }

    #[test]
    fn nothing_asked_is_no_question_of_another() {
        assert_eq!(same(&["", "Who?"], &["Who?", ""]), [false, false]);
        assert_eq!(same(&["", ""], &["", ""]), [true, true]);
        assert!(same(&[], &[]).is_empty());
    }
}
