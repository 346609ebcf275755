//! A run that is taken on with more to do: which of its trials stay as they are, and which are asked again.

use super::preparations::{self, PreparationKey, preparations};
use crate::engine::grouping::groups;
use crate::judging::{self, JUDGEMENTS};
use anyhow::{Context, Result, bail};
use closeread_eval::{Item, Outcome};
use closeread_files::run_files::{RECORDS, SUPERSEDED};
use closeread_files::{self as files, write_atomically};
use closeread_llm::price::PriceList;
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::record::{Record, TrialKey};
use closeread_methods::{AnyMethod, Preparation, Questions};
use closeread_providers::batch;
use closeread_report::Arm;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

/// Fields of the configuration that an extension may change.
const MAY_CHANGE: [&str; 11] = [
    "data",
    "documents",
    "documents_hash",
    "items",
    "where",
    "draw",
    "cells",
    "methods",
    "repeats",
    "prompts",
    "on_truncation",
];
/// Fields that only requests to a server depend on.
const OF_REQUESTS: [&str; 5] = ["base_url", "base_url_query", "seed", "extra_body", "extra_bodies"];
/// Fields by model, to which a model that joins adds its own.
const BY_MODEL: [&str; 3] = ["context_windows", "max_output_tokens_of", "reasoning_fields"];
/// Most things of one kind that a message names.
const NAMED: usize = 5;

/// The changes from one configuration to another, as far as they decide which trials stay.
#[derive(Debug, Default, PartialEq)]
struct Changes {
    items: BTreeSet<String>,
    documents: BTreeSet<String>,
    methods: BTreeSet<String>,
    /// Methods whose own embedding model is another.
    embedders: BTreeSet<String>,
    prompts: BTreeSet<String>,
}

/// Takes what does not stay out of the folder's records, judgements and preparations; gives what is to be said of it.
///
/// Old lines go to `superseded.jsonl` first, so that a kill loses none, and the same command does the rest.
///
/// # Errors
/// If something would be taken away, or changes that every trial depends on, or a file of the folder is damaged; all is then as
/// it was.
pub(super) fn extend(path: &Path, there: &Value, here: &Value, items: &[Item]) -> Result<String> {
    check(path, there, here)?;
    check_files(path)?;
    let before = items_of(&path.join("items.jsonl"))?;
    let (old_items, new_items) = (by_id(&before)?, by_id(items)?);
    let gone: Vec<&String> = old_items.keys().filter(|id| !new_items.contains_key(*id)).collect();
    if !gone.is_empty() {
        bail!(refusal(path, &[format!("items: {}", named(gone))]));
    }
    let mut changes = changes(there, here);
    let differ = |(id, item): &(&String, &Value)| new_items[*id] != **item;
    changes.items.extend(old_items.iter().filter(differ).map(|(id, _)| id.clone()));

    let documents: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let records: Vec<Record> = closeread_files::open_lines(&path.join(RECORDS), "a record of a trial")?.1;
    let preparations = preparations(path)?;
    let stale_preparations: Vec<&PreparationKey> =
        preparations.iter().filter(|entry| changes.concern_preparation(entry, here)).map(|(key, _)| key).collect();
    let by_key: HashMap<&TrialKey, &Record> = records.iter().map(|record| (&record.key, record)).collect();
    let is_stale = |record: &Record| {
        let Some(item) = documents.get(record.key.item.as_str()) else { return true };
        let prepared =
            stale_preparations.iter().any(|key| key.method == record.key.method && key.documents == item.documents);
        prepared || changes.concern(record, &item.documents)
    };
    // Items that one call asks are asked again together, also where another joins them or their order changes.
    let (asking_together, old_calls, calls) = (asking_together(here), calls(&before), calls(items));
    let stale = |record: &Record| {
        let is_or_joins = |id: &&str| {
            let key = TrialKey { item: (*id).to_owned(), ..record.key.clone() };
            by_key.get(&key).is_none_or(|record| is_stale(record))
        };
        let item = record.key.item.as_str();
        let call = calls.get(item).filter(|_| asking_together.contains(&record.key.method));
        is_stale(record) || call.is_some_and(|ids| old_calls.get(item) != Some(ids) || ids.iter().any(is_or_joins))
    };
    let superseded: HashSet<&TrialKey> = by_key.values().filter(|r| stale(r)).map(|r| &r.key).collect();
    let failed = |record: &Record| matches!(record.outcome, Outcome::Failed { .. });
    let n_kept = by_key.values().filter(|record| !superseded.contains(&record.key) && !failed(record)).count();

    let (lines, gone) = sorted_out(&path.join(RECORDS), |value| {
        serde_json::from_value::<TrialKey>(value.clone()).is_ok_and(|key| superseded.contains(&key))
    })?;
    let (judgements, no_longer_judged) = sorted_out(&path.join(JUDGEMENTS), |value| match judged_trial(value) {
        Some(key) => superseded.contains(&key),
        None => changes.items.contains(value["item"].as_str().unwrap_or_default()),
    })?;
    if !gone.is_empty() || !no_longer_judged.is_empty() {
        keep_superseded(path, &[&gone, &no_longer_judged])?;
        // The records last: while they are there, the same command knows what goes with them.
        if !judgements.is_empty() || !no_longer_judged.is_empty() {
            write_atomically(&path.join(JUDGEMENTS), &judgements)?;
        }
        write_atomically(&path.join(RECORDS), &lines)?;
    }
    for key in stale_preparations {
        preparations::forget(path, key)?;
    }
    let asked_again = match superseded.len() {
        0 => String::new(),
        n => format!("; {n} change and are asked again, what they were stands in {SUPERSEDED}"),
    };
    Ok(format!("{n_kept} finished trials stay as they are{asked_again}"))
}

/// The methods that put several questions into one call.
fn asking_together(configuration: &Value) -> HashSet<&String> {
    let methods = configuration["methods"].as_object().into_iter().flatten();
    let asks = |(name, parameters): &(&String, &Value)| {
        AnyMethod::named(name, parameters).is_ok_and(|method| method.asks_together())
    };
    methods.filter(asks).map(|(name, _)| name).collect()
}

/// The items that such a method asks in one call, by the id of each.
fn calls(items: &[Item]) -> HashMap<&str, Rc<[&str]>> {
    let mut calls = HashMap::new();
    for questions in groups(items).iter().flat_map(|(_, items)| Questions::by_task(items)) {
        let ids: Rc<[&str]> = questions.items().iter().map(|item| item.id.as_str()).collect();
        calls.extend(ids.iter().map(|id| (*id, Rc::clone(&ids))));
    }
    calls
}

impl Changes {
    /// Returns whether a trial of an item on these documents would have gone otherwise.
    fn concern(&self, record: &Record, documents: &[String]) -> bool {
        let ended_early =
            matches!(record.outcome, Outcome::Failed { .. } | Outcome::Blocked { .. } | Outcome::Overflow { .. });
        self.items.contains(&record.key.item)
            || self.methods.contains(&record.key.method)
            || documents.iter().any(|id| self.documents.contains(id))
            || record.calls.iter().any(|call| self.prompts.contains(&call.prompt))
            // Its last call is in no record: it may have been made from any prompt.
            || (ended_early && !self.prompts.is_empty())
    }

    fn concern_preparation(&self, (key, preparation): &(PreparationKey, Preparation), here: &Value) -> bool {
        // A change of parameters that the preparation does not read leaves it as it is.
        let reads_the_same = || {
            let method = AnyMethod::named(&key.method, &here["methods"][&key.method]).ok();
            method.and_then(|method| method.preparation()).is_some_and(|inputs| inputs.parameters == key.parameters)
        };
        (self.methods.contains(&key.method) && !reads_the_same())
            || self.embedders.contains(&key.method)
            || key.documents.iter().any(|id| self.documents.contains(id))
            || preparation.calls.iter().any(|call| self.prompts.contains(&call.prompt))
            || (preparation.prepared.is_err() && !self.prompts.is_empty())
    }
}

/// Whether a run may be taken on with this configuration, as far as the configurations tell.
pub(super) fn may_extend(path: &Path, there: &Value, here: &Value) -> bool {
    here["items"].as_u64() >= there["items"].as_u64() && check(path, there, here).is_ok()
}

/// Refuses what would take something away from the run, or change all of it.
fn check(path: &Path, there: &Value, here: &Value) -> Result<()> {
    let mut problems = Vec::new();
    let of_requests =
        |name: &str| OF_REQUESTS.contains(&name) && cells(there).iter().all(|cell| cell.model == EXTRACTIVE);
    // Methods that embed may join a run that embedded nothing.
    let joins = |name: &str| name == "embedder" && there[name].is_null();
    let adds = |name: &str| {
        let there = there[name].as_object().into_iter().flatten();
        BY_MODEL.contains(&name) && there.into_iter().all(|(model, value)| here[name].get(model) == Some(value))
    };
    let named_fields = |value: &Value| value.as_object().map(|o| o.keys().cloned().collect()).unwrap_or_default();
    let names: BTreeSet<String> = BTreeSet::union(&named_fields(there), &named_fields(here)).cloned().collect();
    for name in names.iter().map(String::as_str).filter(|name| there[*name] != here[*name]) {
        if name != "embedders" && !MAY_CHANGE.contains(&name) && !of_requests(name) && !joins(name) && !adds(name) {
            problems
                .extend(super::comparison::differences(&json!({ name: there[name] }), &json!({ name: here[name] })));
        }
    }
    let now = cells(here);
    let gone: Vec<String> = cells(there)
        .into_iter()
        .filter(|cell| !now.contains(cell))
        .map(|Arm { method, model, budget }| {
            format!("{method}{} with {model}", budget.map_or_else(String::new, |n| format!(" at {n}")))
        })
        .collect();
    if !gone.is_empty() {
        problems.push(format!("no longer asked for: {}", named(&gone)));
    }
    if here["repeats"].as_u64() < there["repeats"].as_u64() {
        problems.push(format!("repeats: {} there, {} now", there["repeats"], here["repeats"]));
    }
    if problems.is_empty() { Ok(()) } else { bail!(refusal(path, &problems)) }
}

/// Reads what the run will read when it resumes.
fn check_files(path: &Path) -> Result<()> {
    super::spent(path, std::iter::empty(), &judging::read(path)?, &PriceList::default())?;
    super::cut::texts_cut(path)?;
    batch::open_batches(path)?;
    Ok(())
}

fn refusal(path: &Path, problems: &[String]) -> String {
    format!(
        "{} cannot be extended to this: it would lose trials, or all of them would change:\n  {}\n  Name what the run has \
         and more, or choose another folder with --out",
        path.display(),
        problems.join("\n  ")
    )
}

fn changes(there: &Value, here: &Value) -> Changes {
    let by_id = |value: &Value| -> BTreeMap<String, Value> {
        let list = value["documents"].as_array().into_iter().flatten();
        list.map(|document| (document["id"].as_str().unwrap_or_default().to_owned(), document.clone())).collect()
    };
    let object = |value: &Value, name: &str| -> BTreeMap<String, Value> {
        value[name].as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let differing = |there: BTreeMap<String, Value>, here: BTreeMap<String, Value>| -> BTreeSet<String> {
        there.into_iter().filter(|(name, value)| here.get(name) != Some(value)).map(|(name, _)| name).collect()
    };
    let mut methods = differing(object(there, "methods"), object(here, "methods"));
    let own = |name: &String| there["embedders"].get(name) != here["embedders"].get(name);
    let embedders: BTreeSet<String> = object(there, "methods").into_keys().filter(own).collect();
    methods.extend(embedders.iter().cloned());
    Changes {
        embedders,
        items: BTreeSet::new(),
        documents: differing(by_id(there), by_id(here)),
        methods,
        prompts: differing(object(there, "prompts"), object(here, "prompts")),
    }
}

fn cells(configuration: &Value) -> Vec<Arm> {
    serde_json::from_value(configuration["cells"].clone()).unwrap_or_default()
}

fn named<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let mut names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// The items of the run; none where a kill came before they were written.
fn items_of(path: &Path) -> Result<Vec<Item>> {
    let text = files::read_text(path)?.unwrap_or_default();
    let item = |line: &str| -> Result<Item> {
        serde_json::from_str(line).with_context(|| format!("{} holds a line that is no item", path.display()))
    };
    text.lines().map(item).collect()
}

fn by_id(items: &[Item]) -> Result<HashMap<String, Value>> {
    items.iter().map(|item| Ok((item.id.clone(), serde_json::to_value(item)?))).collect()
}

/// The trial that a line of `judgements.jsonl` is about; `None` of one about a question.
pub(super) fn judged_trial(value: &Value) -> Option<TrialKey> {
    let trial = &value["trial"];
    let key = json!({"item": value["item"], "method": trial["method"], "model": trial["model"],
        "budget": trial["budget"], "repeat": trial["repeat"]});
    serde_json::from_value(key).ok()
}

/// Appends lines that others take the place of to `superseded.jsonl`.
pub(super) fn keep_superseded(path: &Path, lines: &[&[u8]]) -> Result<()> {
    let file = path.join(SUPERSEDED);
    files::make_own(&file)?;
    let keep = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&file)?;
        lines.iter().try_for_each(|lines| file.write_all(lines))?;
        file.sync_data()
    };
    keep().with_context(|| format!("cannot write {}", file.display()))
}

/// The lines of a file that stay, and those that `goes` names; the rest of a line that a kill cut short is in neither.
pub(super) fn sorted_out(path: &Path, goes: impl Fn(&Value) -> bool) -> Result<(Vec<u8>, Vec<u8>)> {
    let bytes = files::read(path)?.unwrap_or_default();
    let (mut stay, mut go) = (Vec::new(), Vec::new());
    for line in bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        let value = serde_json::from_slice(line).with_context(|| format!("{} holds a damaged line", path.display()))?;
        if goes(&value) { go.extend_from_slice(line) } else { stay.extend_from_slice(line) }
    }
    Ok((stay, go))
}
