//! NovelQA's questions, with their titles and right answers where they are known.

use super::super::draft::Draft;
use super::super::read::{Entry, entries, records, text};
use super::files::{base_name, fold, lists, stem};
use super::setting::Setting;
use crate::novelqa;
use closeread_eval::rows::scalar;
use closeread_eval::{InputFile, Item, Task};
use serde_json::Value;
use std::collections::HashMap;

/// A novel of the gold files.
pub(super) struct Novel {
    /// The name of its file, or of its entry among the right answers.
    pub(super) name: String,
    /// Title of the novel, where `bookmeta.json` gives one.
    title: Option<String>,
    /// Ids of its questions, in order.
    pub(super) ids: Vec<String>,
}

impl Novel {
    /// True if the name is the novel's, or its title, case and punctuation aside.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let name = fold(name);
        fold(&self.name) == name || self.title.as_deref().is_some_and(|title| fold(title) == name)
    }
}

/// Adds the items of the gold files to `draft`: `<novel>.json` with questions, `bookmeta.json` with titles, and an object
/// `{novel: [right answers]}`, whose answers go to questions that have none, or are questions of their own, numbered
/// from 0, where the novel has no file.
pub(super) fn read_gold(draft: &mut Draft, files: &[InputFile], setting: Setting) -> Vec<Novel> {
    let titles: HashMap<String, String> = files.iter().filter(|file| is_meta(file)).flat_map(titles).collect();
    let mut novels: Vec<Novel> = Vec::new();
    let mut items: Vec<(&InputFile, Option<usize>, Item)> = Vec::new();
    let mut answers = Vec::new();
    // The novels themselves lie in the data set's folder, too.
    let is_novel = |file: &InputFile| base_name(file).to_lowercase().ends_with(".txt");
    for file in files.iter().filter(|file| !is_meta(file) && !is_novel(file)) {
        if let Some(lists) = lists(file) {
            answers.extend(lists.into_iter().map(|(name, list)| (file, name, list)));
            continue;
        }
        let name = stem(file);
        let mut ids = Vec::new();
        for question in novelqa::items(file) {
            match question {
                Ok((line, mut item)) => {
                    if let Some(title) = titles.get(name) {
                        item.other.insert("title".into(), Value::String(title.clone()));
                    }
                    ids.push(item.id.clone());
                    items.push((file, Some(line), item));
                }
                Err(problem) => draft.note(file, problem.line, problem.item.as_deref(), problem.message),
            }
        }
        if !ids.is_empty() {
            novels.push(Novel { name: name.to_owned(), title: titles.get(name).cloned(), ids });
        }
    }
    for (file, name, list) in answers {
        match novels.iter().find(|novel| novel.is_called(&name)) {
            Some(novel) if novel.ids.len() == list.len() => {
                for (id, answer) in novel.ids.iter().zip(&list) {
                    let item = items.iter_mut().find(|(_, _, item)| item.id == *id).map(|(_, _, item)| item);
                    if let (Some(item), Some(answer)) = (item, text(answer)) {
                        set_gold(item, &answer);
                    }
                }
            }
            Some(novel) => {
                let message = format!("{} right answers to {} questions: not used", list.len(), novel.ids.len());
                draft.note(file, None, Some(&name), message);
            }
            None => {
                let mut novel = Novel { title: None, ids: Vec::new(), name };
                for (n, answer) in list.iter().enumerate() {
                    let item = bare_item(&novel.name, n, answer, setting);
                    novel.ids.push(item.id.clone());
                    items.push((file, None, item));
                }
                novels.push(novel);
            }
        }
    }
    for (file, line, mut item) in items {
        if setting == Setting::Generative {
            // The options are not shown: the text of the right one is the answer.
            (item.options, item.correct, item.task) = (Vec::new(), None, Task::Generative);
        }
        draft.gold_item(&file.name, line, item);
    }
    novels
}

fn is_meta(file: &InputFile) -> bool {
    base_name(file) == "bookmeta.json"
}

/// Titles by book id, of an object by id or of a list with `BID`.
fn titles(file: &InputFile) -> Vec<(String, String)> {
    let title = |value: &Value| value.get("title").and_then(scalar);
    let by_id = entries(file).into_iter().flatten().filter_map(|Entry { key, value, .. }| Some((key, title(&value)?)));
    let rows = records(file).into_iter().flatten();
    let by_row = rows.filter_map(|row| Some((row.text("BID").or_else(|| row.text("bid"))?, row.text("title")?)));
    by_id.chain(by_row).collect()
}

/// Gives a question without gold its answer: a letter, or the text of an option, or an open answer.
fn set_gold(item: &mut Item, answer: &str) {
    if item.correct.is_some() || item.options.is_empty() && !item.answers.is_empty() {
        return;
    }
    let by_letter = super::super::choice::letter(answer).filter(|correct| *correct < item.options.len());
    let correct = by_letter.or_else(|| item.options.iter().position(|option| option == answer.trim()));
    match correct {
        Some(correct) => {
            item.answers = vec![item.options[correct].clone()];
            item.correct = Some(correct);
        }
        None if item.options.is_empty() => item.answers = vec![answer.to_owned()],
        None => {}
    }
}

/// A question of which only its right answer is known.
fn bare_item(novel: &str, number: usize, answer: &Value, setting: Setting) -> Item {
    let task = if setting == Setting::MultipleChoice { Task::Choice } else { Task::Generative };
    let mut item = Item::new(format!("{novel}/{number}"), novel, "", task);
    if setting == Setting::MultipleChoice {
        item.options = super::super::choice::LETTERS.map(String::from).to_vec();
    }
    set_gold(&mut item, &text(answer).unwrap_or_default());
    item
}
