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

/// The models of a file: the names of its `<model>_pred` fields, in the order of first use.
pub(super) fn systems(input: &FormatInput<'_>) -> Vec<String> {
    let mut systems: Vec<String> = Vec::new();
    for row in input.files.iter().flat_map(records).flatten() {
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
/// the same question that has no row yet.
pub(super) fn read(
    format: &Format,
    input: &FormatInput<'_>,
    draft: &mut Draft,
    item: impl Fn(String, &str, &str) -> Result<Item, WrongRow>,
    attempt: impl Fn(String, &Item) -> Attempt,
) -> Result<(), FormatError> {
    format.check_task(input)?;
    format.first(input)?;
    // Where no row names a model, there is no prediction: every row then says so.
    let key = match (systems(input).is_empty(), input.system) {
        (true, None) => "<model>_pred".to_owned(),
        _ => format!("{}_pred", format.system(input)?),
    };
    let mut waiting = gold(input.gold, draft, &item);
    for file in input.files {
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
                let id = if input.files.len() == 1 { number.to_string() } else { format!("{}/{number}", file.name) };
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
    files: &[InputFile],
    draft: &mut Draft,
    item: impl Fn(String, &str, &str) -> Result<Item, WrongRow>,
) -> BTreeMap<String, VecDeque<String>> {
    let mut waiting: BTreeMap<String, VecDeque<String>> = BTreeMap::new();
    for file in files {
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
