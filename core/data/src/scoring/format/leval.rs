//! Shared parts of L-Eval's prediction files: `query`, `gt` and `<model>_pred` a line, no ids.

use super::draft::Draft;
use super::layout::{Format, FormatError, FormatInput};
use super::read::{field_text, records, text};
use crate::scoring::Attempt;
use closeread_eval::rows::{Row, WrongRow};
use closeread_eval::{InputFile, Item};
use std::collections::{BTreeMap, VecDeque};

/// A row that is a question with its gold answer and, if the model gave one, its response.
pub(super) struct Line {
    row: Row,
    /// Question, with its options where it has some.
    pub(super) query: String,
    /// Gold answer.
    pub(super) gold: String,
}

/// The tasks of L-Eval, as their files are called; those of one model lie in one folder, and are alike.
const TASKS: [&str; 20] = [
    "coursera",
    "gsm100",
    "quality",
    "topic_retrieval_longchat",
    "tpo",
    "codeU",
    "sci_fi",
    "financial_qa",
    "gov_report_summ",
    "legal_contract_qa",
    "meeting_summ",
    "multidoc_qa",
    "narrative_qa",
    "natural_question",
    "news_summ",
    "paper_assistant",
    "patent_summ",
    "review_summ",
    "scientific_qa",
    "tv_show_summ",
];

/// True if a file is called as another task than `task`.
fn is_of_another(file: &InputFile, task: &str) -> bool {
    let base = file.name.rsplit('/').next().unwrap_or(&file.name);
    let name = base.split('.').next().unwrap_or(base);
    name != task && TASKS.contains(&name)
}

/// The files that are not called as another task than `task`; if all are, all of them.
fn of_task<'f>(files: &'f [InputFile], task: &str) -> Vec<&'f InputFile> {
    let own: Vec<&InputFile> = files.iter().filter(|file| !is_of_another(file, task)).collect();
    if own.is_empty() { files.iter().collect() } else { own }
}

/// The models of the files of a task: the names of their `<model>_pred` fields, in the order of first use.
pub(super) fn systems(input: &FormatInput<'_>, task: &str) -> Vec<String> {
    let mut systems: Vec<String> = Vec::new();
    for row in of_task(input.files, task).into_iter().flat_map(records).flatten() {
        for key in row.fields.keys() {
            if let Some(system) =
                key.strip_suffix("_pred").filter(|system| !systems.iter().any(|known| known == system))
            {
                systems.push(system.to_owned());
            }
        }
    }
    systems
}

/// Reads the lines into `draft`: `item` makes an item of id, query and gold, `attempt` an attempt of a response and its
/// item.
///
/// Without gold files a row is an item, its id the number of its line. With them, the data set's own file, an item is
/// `<line>/<question>` of that file as the adapter `leval-quality` numbers them, and a row belongs to the first item of
/// the same question that has no row yet. Files of other tasks than `task` are noted, and not read.
pub(super) fn read(
    format: &Format,
    task: &str,
    input: &FormatInput<'_>,
    draft: &mut Draft,
    item: impl Fn(String, &str, &str) -> Result<Item, WrongRow>,
    attempt: impl Fn(String, &Item) -> Attempt,
) -> Result<(), FormatError> {
    format.check_task(input)?;
    format.first(input)?;
    // Where no row names a model, there is no prediction: every row then says so.
    let key = match (systems(input, task).is_empty(), input.system) {
        (true, None) => "<model>_pred".to_owned(),
        _ => format!("{}_pred", format.system(input)?),
    };
    let mut waiting = gold(&of_task(input.gold, task), draft, &item);
    let mut files = of_task(input.files, task);
    if files.len() < input.files.len() {
        for file in input.files.iter().filter(|file| is_of_another(file, task)) {
            draft.note(file, None, None, format!("not read: it is another task of L-Eval than {task}"));
        }
    }
    // A folder of several models has a file for each.
    let is_of_system = |file: &&InputFile| {
        let rows = records(file);
        rows.iter().any(|row| row.as_ref().is_ok_and(|row| row.fields.contains_key(&key)))
    };
    if files.iter().any(is_of_system) {
        files.retain(is_of_system);
    }
    for &file in &files {
        for row in draft.keep(records(file)) {
            let line = match Line::new(row) {
                Ok(line) => line,
                Err((line, why)) => {
                    draft.malformed(file, Some(line), None, why);
                    continue;
                }
            };
            let number = line.row.line;
            let id = if input.gold.is_empty() {
                let id = if files.len() == 1 { number.to_string() } else { format!("{}/{number}", file.name) };
                match item(id.clone(), &line.query, &line.gold) {
                    Ok(item) => draft.item(item),
                    Err(why) => {
                        draft.malformed(file, Some(number), Some(&id), why);
                        continue;
                    }
                };
                id
            } else {
                match waiting.get_mut(&folded(&line.query)) {
                    None => {
                        draft.unknown(file, Some(number), &number.to_string());
                        continue;
                    }
                    Some(ids) => match ids.pop_front() {
                        Some(id) => id,
                        None => {
                            draft.duplicate(file, Some(number), &number.to_string());
                            continue;
                        }
                    },
                }
            };
            match field_text(&line.row, &[&key]) {
                Ok(response) => {
                    let item = draft.item_of(&id).expect("it was added above");
                    let attempt = attempt(response, item);
                    draft.attempt(file, Some(number), &id, attempt);
                }
                Err(why) => draft.malformed(file, Some(number), Some(&id), why),
            }
        }
    }
    Ok(())
}

impl Line {
    fn new(row: Row) -> Result<Self, (usize, WrongRow)> {
        let wrong = |why| (row.line, why);
        let query = field_text(&row, &["query"]).map_err(wrong)?;
        let gold = field_text(&row, &["gt"]).map_err(wrong)?;
        Ok(Self { query, gold, row })
    }
}

/// The ids of the data set's items by their questions, in order; the items go into `draft`.
fn gold(
    files: &[&InputFile],
    draft: &mut Draft,
    item: impl Fn(String, &str, &str) -> Result<Item, WrongRow>,
) -> BTreeMap<String, VecDeque<String>> {
    let mut waiting: BTreeMap<String, VecDeque<String>> = BTreeMap::new();
    for &file in files {
        for row in draft.keep_gold(records(file)) {
            let list =
                |name: &str| row.fields.get(name).and_then(|value| value.as_array()).cloned().unwrap_or_default();
            let pairs: Vec<(Option<String>, Option<String>)> = match row.fields.contains_key("query") {
                true => vec![(row.fields.get("query").and_then(text), row.fields.get("gt").and_then(text))],
                false => list("instructions").iter().map(text).zip(list("outputs").iter().map(text)).collect(),
            };
            if pairs.is_empty() {
                draft.note(file, Some(row.line), None, "no gold in this row: expected `instructions` and `outputs`");
            }
            for (n, (query, gold)) in pairs.into_iter().enumerate() {
                let id = format!("{}/{}", row.line, n + 1);
                let found = match (query, gold) {
                    (Some(query), Some(gold)) => item(id.clone(), &query, &gold).map(|item| (query, item)),
                    _ => Err("expected a text in both `instructions` and `outputs`".into()),
                };
                match found {
                    Ok((query, mut item)) => {
                        item.documents = vec![format!("article-{}", row.line)];
                        draft.gold_item(&file.name, Some(row.line), item);
                        waiting.entry(folded(&query)).or_default().push_back(id);
                    }
                    Err(why) => draft.note(file, Some(row.line), Some(&id), why),
                }
            }
        }
    }
    waiting
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
