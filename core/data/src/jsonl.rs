//! closeread's own `documents.jsonl` and `items.jsonl`.

use super::Dataset;
use closeread_eval::rows::{Row, WrongRow, excerpt, kind, rows, scalar};
use closeread_eval::{
    ChunkPlace, Content, Document, Evidence, InputFile, Item, KeyFact, KeyFacts, Problem, ProblemList, Task,
    unread_language,
};
use closeread_text::composed;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Parts of the names under which data sets keep the gold answer of a choice.
const GOLD: [&str; 6] = ["answer", "correct", "gold", "label", "solution", "target"];

/// Reads every file whose name ends in `documents.jsonl` or `items.jsonl`; other files may lie beside them.
///
/// One JSON object a line; blank lines are no rows. A wrong row is left out and named with its file, line and item.
/// Fields that closeread does not know are kept in `other`; `null` counts as absent. A text given by `path` is not
/// loaded: its [`Content`] stays [`Content::Path`] for the caller, who knows folders and encodings.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut dataset = Dataset::default();
    read_documents(files, &mut dataset);
    read_items(files, &mut dataset);
    dataset
}

/// Adds the items of an `items.jsonl` to documents that are known.
pub fn read_items_of(file: InputFile, dataset: &mut Dataset) {
    read_items(&[file], dataset);
}

/// The items of one file, whatever its name, and what is wrong in it: what scoring needs, where documents need not be.
pub fn items(file: &InputFile) -> (Vec<Item>, ProblemList) {
    let (mut items, mut problems) = (Vec::new(), ProblemList::default());
    let mut ids = HashSet::new();
    each_row(file, &mut problems, |mut fields| {
        let (item, notes) = item(&mut fields)?;
        if !ids.insert(item.id.clone()) {
            return Err(second_item(&item.id));
        }
        items.push(item);
        Ok(notes)
    });
    (items, problems)
}

fn second_item(id: &str) -> WrongRow {
    format!("a second item `{id}`: give every item an id of its own").into()
}

fn read_documents(files: &[InputFile], dataset: &mut Dataset) {
    let Dataset { documents, problems, .. } = dataset;
    let mut ids = HashSet::new();
    for file in named(files, "documents.jsonl", problems) {
        each_row(file, problems, |mut fields| {
            let document = document(&mut fields)?;
            if !ids.insert(document.id.clone()) {
                return Err(format!("a second document `{}`: give every document an id of its own", document.id).into());
            }
            documents.push(document);
            Ok(Vec::new())
        });
    }
}

fn read_items(files: &[InputFile], dataset: &mut Dataset) {
    let Dataset { documents, items, problems } = dataset;
    let known: HashSet<&str> = documents.iter().map(|document| document.id.as_str()).collect();
    let by_letters: HashMap<Cow<'_, str>, &str> =
        documents.iter().map(|document| (composed(&document.id), document.id.as_str())).collect();
    let mut ids = HashSet::new();
    for file in named(files, "items.jsonl", problems) {
        each_row(file, problems, |mut fields| {
            let (mut item, notes) = item(&mut fields)?;
            for name in named_documents(&mut item).filter(|name| !known.contains(name.as_str())) {
                if let Some(id) = by_letters.get(&composed(name)) {
                    *name = (*id).to_owned();
                }
            }
            if let Some(document) = item.documents.iter().find(|document| !known.contains(document.as_str())) {
                let some: Vec<String> = documents.iter().take(3).map(|one| format!("`{}`", excerpt(&one.id))).collect();
                let (n, some) = (known.len(), some.join(", "));
                let wrong =
                    format!("unknown document `{document}`: expected an id in documents.jsonl ({n} in all): {some}");
                return Err(wrong.into());
            }
            if !ids.insert(item.id.clone()) {
                return Err(second_item(&item.id));
            }
            items.push(item);
            Ok(notes)
        });
    }
}

/// All places of an item that name a document.
fn named_documents(item: &mut Item) -> impl Iterator<Item = &mut String> {
    let evidence = item.evidence.iter_mut().filter_map(|evidence| evidence.document.as_mut());
    item.documents.iter_mut().chain(evidence).chain(item.key_facts.iter_mut().map(|facts| &mut facts.document))
}

fn named<'f>(files: &'f [InputFile], ending: &str, problems: &mut ProblemList) -> Vec<&'f InputFile> {
    let found: Vec<&InputFile> = files.iter().filter(|file| file.name.ends_with(ending)).collect();
    if found.is_empty() {
        let wrong = format!("no file {ending}: expected it in the data folder");
        problems.push(Problem::dropped(ending, None, None, wrong));
    }
    found
}

/// Hands the fields of every row to `take`, which returns notes on a row it took or why it could not.
fn each_row(
    file: &InputFile,
    problems: &mut ProblemList,
    mut take: impl FnMut(Map<String, Value>) -> Result<Vec<String>, WrongRow>,
) {
    for row in rows(file) {
        let Row { line, fields } = match row {
            Ok(row) => row,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let id = fields.get("id").and_then(scalar);
        match take(fields) {
            Ok(notes) => problems
                .extend(notes.into_iter().map(|note| Problem::note(&file.name, Some(line), id.as_deref(), note))),
            Err(message) => problems.push(Problem::dropped(&file.name, Some(line), id.as_deref(), message)),
        }
    }
}

fn document(fields: &mut Map<String, Value>) -> Result<Document, WrongRow> {
    let id = required_text(fields, "id")?;
    let title = text(fields, "title")?.unwrap_or_default();
    let language = text(fields, "language")?;
    let content = match (text(fields, "text")?, text(fields, "path")?) {
        (Some(text), None) if text.trim().is_empty() => return Err("`text` is empty: expected the document".into()),
        (Some(text), None) => Content::Text(text),
        (None, Some(path)) if path.trim().is_empty() => return Err("`path` is empty: expected a file".into()),
        (None, Some(path)) => Content::Path(path),
        (None, None) => return Err("neither `text` nor `path`: expected one of them".into()),
        (Some(_), Some(_)) => return Err("both `text` and `path`: expected one of them".into()),
    };
    Ok(Document { id, title, language, content, other: std::mem::take(fields) })
}

fn item(fields: &mut Map<String, Value>) -> Result<(Item, Vec<String>), WrongRow> {
    let id = required_text(fields, "id")?;
    let mut documents = texts(fields, "documents")?;
    let again = once_each(&mut documents);
    if documents.is_empty() {
        return Err("`documents`: expected the ids of one or more documents".into());
    }
    let question = required_text(fields, "question")?;
    let task = match text(fields, "task")?.as_deref() {
        None if holds(fields, "key_facts") => Task::Summary,
        None if holds(fields, "options") => Task::Choice,
        None | Some("generative") => Task::Generative,
        Some("choice") => Task::Choice,
        Some("summary") => Task::Summary,
        Some(other) => {
            return Err(format!("`task` is `{}`: expected generative, choice or summary", excerpt(other)).into());
        }
    };
    let answers = texts(fields, "answers")?;
    let options = texts(fields, "options")?;
    let correct = index(fields, "correct")?;
    let evidence = list(fields, "evidence")?
        .into_iter()
        .enumerate()
        .map(|(n, value)| evidence(value, &documents).map_err(|wrong| wrong.within(format_args!("evidence[{n}]"))))
        .collect::<Result<Vec<_>, _>>()?;
    let key_facts = take(fields, "key_facts")
        .map(|value| key_facts(value, &documents).map_err(|wrong| wrong.within("key_facts")))
        .transpose()?;
    let labels = labels(fields)?;
    let mut item = Item {
        id,
        documents,
        question,
        task,
        answers,
        options,
        correct,
        evidence,
        key_facts,
        labels,
        other: Map::new(),
    };
    let mut notes = check_gold(&mut item, fields)?;
    notes.extend(again);
    item.other = std::mem::take(fields);
    notes.extend(unread_language(&item));
    Ok((item, notes))
}

/// Leaves each document of an item at its first place alone; returns a note on one that was named again.
fn once_each(documents: &mut Vec<String>) -> Option<String> {
    let (mut seen, mut again) = (HashSet::new(), None);
    documents.retain(|id| {
        let is_new = seen.insert(id.clone());
        if !is_new {
            again = Some(format!("`documents` names `{}` twice: it is read once", excerpt(id)));
        }
        is_new
    });
    again
}

/// Checks the gold answer of an item; what is right depends on the task.
fn check_gold(item: &mut Item, fields: &Map<String, Value>) -> Result<Vec<String>, WrongRow> {
    match (item.task, item.correct) {
        (Task::Choice, _) if item.options.len() < 2 => {
            Err(format!("a choice with {} `options`: expected two or more", item.options.len()).into())
        }
        (Task::Choice, Some(correct)) if correct >= item.options.len() => {
            let n = item.options.len();
            Err(format!("`correct` is {correct}, but there are {n} options: expected 0 to {}, counted from 0", n - 1)
                .into())
        }
        (Task::Choice, Some(_)) => Ok(equal_options(&item.options).into_iter().collect()),
        (Task::Choice, None) => {
            let right = |option: &&String| item.answers.iter().any(|answer| answer.trim() == option.trim());
            // A gold answer of another name is a mistake, not a question without one.
            let is_gold = |name: &String| GOLD.iter().any(|part| name.to_lowercase().contains(part));
            let mut hits = item.options.iter().enumerate().filter(|(_, option)| right(option)).map(|(n, _)| n);
            match (hits.next(), hits.next()) {
                (Some(correct), None) => {
                    item.correct = Some(correct);
                    Ok(vec![format!("`correct` is missing: {correct} is taken, the option that `answers` gives")])
                }
                (None, None) if item.answers.is_empty() && !fields.keys().any(is_gold) => {
                    Ok(vec!["no `correct`: the question is asked, but its answer cannot be scored".to_owned()])
                }
                _ => Err("a choice without `correct`: expected the index of the right option, from 0".into()),
            }
        }
        (_, Some(_)) if item.options.is_empty() => {
            Err("`correct` without `options`: expected task choice with its options, or no `correct`".into())
        }
        (_, _) if item.answers.is_empty() && item.key_facts.is_none() => {
            let other =
                if fields.contains_key("answer") { " (`answer` is another field: they are a list)" } else { "" };
            Ok(vec![format!("no `answers`{other}: the question is asked, but its answer cannot be scored")])
        }
        _ => Ok(Vec::new()),
    }
}

/// Note on the first two options that are the same.
fn equal_options(options: &[String]) -> Option<String> {
    let mut places = HashMap::new();
    let mut options = options.iter().map(|option| option.trim()).enumerate();
    let (n, earlier) = options.find_map(|(n, option)| Some((n, places.insert(option, n)?)))?;
    Some(format!("options {earlier} and {n}, counted from 0, are the same"))
}

fn evidence(value: Value, documents: &[String]) -> Result<Evidence, WrongRow> {
    let mut fields = object(value)?;
    let evidence = Evidence {
        document: of_item(text(&mut fields, "document")?, documents)?,
        quote: text(&mut fields, "quote")?.unwrap_or_default(),
        start: index(&mut fields, "start")?,
        end: index(&mut fields, "end")?,
    };
    match (evidence.start, evidence.end) {
        (Some(start), Some(end)) if start > end => Err(format!("start {start} lies behind end {end}").into()),
        (Some(_), Some(_)) if evidence.document.is_none() && documents.len() > 1 => {
            Err("offsets without `document`: expected one of the item's documents".into())
        }
        (Some(_), Some(_)) => Ok(evidence),
        (None, None) if evidence.quote.trim().is_empty() => Err("expected a `quote`, or `start` and `end`".into()),
        (None, None) => Ok(evidence),
        _ => Err("expected `start` and `end`, or neither".into()),
    }
}

fn key_facts(value: Value, documents: &[String]) -> Result<KeyFacts, WrongRow> {
    let mut fields = object(value)?;
    let document = match (of_item(text(&mut fields, "document")?, documents)?, documents) {
        (Some(document), _) => document,
        (None, [document]) => document.clone(),
        (None, _) => return Err("`document`: expected one of the item's documents".into()),
    };
    let offsets = (index(&mut fields, "start")?, index(&mut fields, "end")?);
    let quotes = (text(&mut fields, "first")?, text(&mut fields, "last")?);
    let chunk = match (offsets, quotes) {
        ((Some(start), Some(end)), (None, None)) if start < end => ChunkPlace::Offsets { start, end },
        ((Some(start), Some(end)), (None, None)) => {
            return Err(format!("start {start} does not lie before end {end}").into());
        }
        ((None, None), (Some(first), Some(last))) if !first.trim().is_empty() && !last.trim().is_empty() => {
            ChunkPlace::Quotes { first, last }
        }
        _ => return Err("expected `start` and `end`, or the chunk's `first` and `last` words".into()),
    };
    let roots = facts(&mut fields, "roots")?;
    if roots.is_empty() {
        return Err("`roots`: expected one or more facts".into());
    }
    Ok(KeyFacts { document, chunk, roots })
}

fn facts(fields: &mut Map<String, Value>, name: &str) -> Result<Vec<KeyFact>, WrongRow> {
    let fact = |(n, value)| {
        let within = |wrong: WrongRow| wrong.within(format_args!("{name}[{n}]"));
        let mut fields = object(value).map_err(within)?;
        let fact = required_text(&mut fields, "fact").map_err(within)?;
        let children = facts(&mut fields, "children").map_err(within)?;
        Ok(KeyFact { fact, children })
    };
    list(fields, name)?.into_iter().enumerate().map(fact).collect()
}

fn of_item(document: Option<String>, documents: &[String]) -> Result<Option<String>, WrongRow> {
    match document {
        Some(name) if !documents.contains(&name) => {
            Err(format!("document `{name}` is none of the item's: expected `{}`", documents.join("` or `")).into())
        }
        document => Ok(document),
    }
}

fn labels(fields: &mut Map<String, Value>) -> Result<BTreeMap<String, String>, WrongRow> {
    let Some(value) = take(fields, "labels") else { return Ok(BTreeMap::new()) };
    let label = |(name, value): (String, Value)| match scalar(&value) {
        Some(text) => Some(Ok((name, text))),
        // Tables have empty cells.
        None if value.is_null() || value.is_string() => None,
        None => Some(Err(format!("`labels.{name}`: expected text, found {}", kind(&value)).into())),
    };
    object(value).map_err(|wrong| wrong.within("labels"))?.into_iter().filter_map(label).collect()
}

fn take(fields: &mut Map<String, Value>, name: &str) -> Option<Value> {
    fields.shift_remove(name).filter(|value| !value.is_null())
}

/// Returns whether a field is there and is neither null nor an empty list.
fn holds(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name).is_some_and(|value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()))
}

fn object(value: Value) -> Result<Map<String, Value>, WrongRow> {
    match value {
        Value::Object(fields) => Ok(fields),
        other => Err(format!("expected an object in braces, found {}", kind(&other)).into()),
    }
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, WrongRow> {
    match take(fields, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{name}`: expected text in quotes, found {}", kind(&other)).into()),
    }
}

fn required_text(fields: &mut Map<String, Value>, name: &str) -> Result<String, WrongRow> {
    match text(fields, name)? {
        Some(text) if !text.trim().is_empty() => Ok(text),
        Some(_) => Err(format!("`{name}` is empty: expected text").into()),
        None => Err(format!("no `{name}`: expected text").into()),
    }
}

fn list(fields: &mut Map<String, Value>, name: &str) -> Result<Vec<Value>, WrongRow> {
    match take(fields, name) {
        None => Ok(Vec::new()),
        Some(Value::Array(values)) => Ok(values),
        Some(other) => Err(format!("`{name}`: expected a list, found {}", kind(&other)).into()),
    }
}

fn texts(fields: &mut Map<String, Value>, name: &str) -> Result<Vec<String>, WrongRow> {
    let text = |(n, value)| match value {
        Value::String(text) if text.trim().is_empty() => Err(format!("`{name}[{n}]` is empty: expected text").into()),
        Value::String(text) => Ok(text),
        other => Err(format!("`{name}[{n}]`: expected text in quotes, found {}", kind(&other)).into()),
    };
    list(fields, name)?.into_iter().enumerate().map(text).collect()
}

/// The whole number that a value is; a table of Python writes 1 as 1.0 where a cell of the column is empty.
pub(crate) fn whole_number(value: &Value) -> Option<usize> {
    /// Numbers from here on may have lost their last digit.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let of_float = |number: &f64| *number >= 0.0 && *number < EXACT && number.trunc() == *number;
    let number = value.as_u64().or_else(|| value.as_f64().filter(of_float).map(|number| number as u64));
    usize::try_from(number?).ok()
}

fn index(fields: &mut Map<String, Value>, name: &str) -> Result<Option<usize>, WrongRow> {
    let Some(value) = take(fields, name) else { return Ok(None) };
    whole_number(&value).map(Some).ok_or_else(|| format!("`{name}` is {value}: expected a whole number from 0").into())
}
