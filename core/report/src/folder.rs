//! A run folder as the bytes of its files: what a command line reads from a disk and a page from a drop is the same run.

mod manifest;
mod parsed;
use super::gaps::gaps;
use super::{PreparationCalls, Run, TokenPlaces, judged_by};
use closeread_eval::Item;
use closeread_eval::rows::{MAX_ROW_BYTES, too_long, too_many_values};
use closeread_judges::{Judgement, Judging, Panel};
use closeread_llm::price::PriceList;
use closeread_methods::record::Record;
use closeread_methods::{OnTruncation, as_overflows, cuts};
use closeread_text::Language;
pub use manifest::{DocumentEntry, RunConfiguration, RunManifest, StoredItems};
pub use parsed::FolderError;
use parsed::{lines, whole};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Version of the layout of `judging.json` and `judgements.jsonl`.
pub const JUDGING_FORMAT: u32 = 2;
/// Most trials of a run, which stand in one table: a gigabyte.
const MAX_TRIALS: u128 = 10_000_000;

/// The files of a run folder by name; those that need not be there are optional.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunFiles<'a> {
    /// `manifest.json`: what was run.
    pub manifest: &'a [u8],
    /// `items.jsonl`: the items as they were scored.
    pub items: &'a [u8],
    /// `records.jsonl`: a line a finished trial.
    pub records: &'a [u8],
    /// Bytes of `judging.json`: who judged.
    pub judging: Option<&'a [u8]>,
    /// `judgements.jsonl`: what judges said.
    pub judgements: Option<&'a [u8]>,
    /// `prices.json`: what tokens cost.
    pub prices: Option<&'a [u8]>,
    /// `preparations/`: names and contents, in the order of the names.
    pub preparations: &'a [(String, Vec<u8>)],
}

/// Reads what judges said of a run; nothing where none was asked.
///
/// # Errors
/// [`FolderError`] names file and line. A last line that a kill cut short is skipped.
pub fn read_judging(judging: Option<&[u8]>, judgements: Option<&[u8]>) -> Result<Judging, FolderError> {
    let judgements: Vec<Judgement> = lines("judgements.jsonl", "a judgement", judgements.unwrap_or_default())?;
    Ok(Judging { panels: read_panels(judging)?, judgements })
}

/// The panels of a `judging.json`, the one that speaks now last.
///
/// # Errors
/// [`FolderError`] if it is none, or of another version.
pub fn read_panels(judging: Option<&[u8]>) -> Result<Vec<Panel>, FolderError> {
    #[derive(Deserialize)]
    struct Panels {
        format: u32,
        panels: Vec<Panel>,
    }
    let Some(bytes) = judging else { return Ok(Vec::new()) };
    let Panels { format, panels } = whole("judging.json", "what `closeread judge` writes of who judged", bytes)?;
    if format != JUDGING_FORMAT {
        let by = String::new();
        return Err(FolderError::Format { file: "judging.json", there: format, here: JUDGING_FORMAT, by });
    }
    Ok(panels)
}

/// The items of an `items.jsonl`.
///
/// # Errors
/// [`FolderError::Line`] names the line.
pub fn read_items(bytes: &[u8]) -> Result<Vec<Item>, FolderError> {
    lines("items.jsonl", "an item as `closeread run` stores it", bytes)
}

/// The records of a `records.jsonl` as they were written, without what judges said of them afterwards.
///
/// # Errors
/// [`FolderError::Line`] names the line. A last line that a kill cut short is skipped.
pub fn read_records(bytes: &[u8]) -> Result<Vec<Record>, FolderError> {
    lines("records.jsonl", A_RECORD, bytes)
}

const A_RECORD: &str = "a record of a trial; remove the line, and the run's command asks again";

/// The record that a line of `records.jsonl` is; `line` is its number, from 1.
///
/// # Errors
/// [`FolderError::Line`] names the line.
pub fn read_record(line: usize, bytes: &[u8]) -> Result<Record, FolderError> {
    let wrong = |why: String| FolderError::Line { file: "records.jsonl", line, expected: A_RECORD, why };
    if bytes.len() > MAX_ROW_BYTES {
        return Err(wrong(too_long(bytes.len())));
    }
    if let Some(why) = too_many_values(bytes) {
        return Err(wrong(why));
    }
    serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))
}

/// The run that the files hold, under a name; `books` are its tokens where the texts are at hand. Beside it, how many
/// records were left out because they are of items that `items.jsonl` does not have.
///
/// # Errors
/// [`FolderError`] names file and line. A last line that a kill cut short is skipped, as a resumed run does.
pub fn read_run(
    name: String,
    files: &RunFiles<'_>,
    books: BTreeMap<String, TokenPlaces>,
) -> Result<(Run, usize), FolderError> {
    run_of_records(name, files, read_records(files.records)?, books)
}

/// Reads a run as [`read_run`] does, with records that were read already, which may lack their calls and contexts;
/// `records` of `files` is not looked at.
///
/// # Errors
/// As [`read_run`].
pub fn run_of_records(
    name: String,
    files: &RunFiles<'_>,
    mut records: Vec<Record>,
    books: BTreeMap<String, TokenPlaces>,
) -> Result<(Run, usize), FolderError> {
    let manifest = RunManifest::read(files.manifest)?;
    let mut items = read_items(files.items)?;
    let RunConfiguration { cells, repeats, .. } = &manifest.configuration;
    let n_trials = items.len() as u128 * cells.len() as u128 * u128::from(*repeats);
    if n_trials > MAX_TRIALS {
        let why = format!("its items, cells and repeats are {n_trials} trials");
        let expected = "a run of at most 10,000,000 trials";
        return Err(FolderError::File { file: "manifest.json".to_owned(), expected, why });
    }
    let n_records = records.len();
    let known: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    records.retain(|record| known.contains(record.key.item.as_str()));
    let left_out = n_records - records.len();
    if manifest.configuration.on_truncation == OnTruncation::Fail {
        let languages = manifest.configuration.languages(&items);
        let language = |item: &str| languages.get(item).copied().unwrap_or(Language::ENGLISH);
        let cuts = cuts(&records, language);
        as_overflows(&mut records, &cuts, &items, language);
    }
    let gaps = gaps(manifest.n_items(), manifest.items_differ(files.items), &items, left_out);
    let judging = read_judging(files.judging, files.judgements)?;
    closeread_judges::label_questions(&judging, &mut items);
    closeread_judges::score(&judging, &items, &mut records);
    let kept = "the prices that `closeread run` keeps; the run's command makes the file anew";
    let prices = files.prices.map(|bytes| whole("prices.json", kept, bytes));
    let preparation = |(name, bytes): &(String, Vec<u8>)| -> Result<PreparationCalls, FolderError> {
        whole(&format!("preparations/{name}"), "what a method made of books; removed, the run makes it again", bytes)
    };
    let asked = manifest.configuration.asked();
    let RunConfiguration { benchmark, cells, repeats, documents, .. } = manifest.configuration.clone();
    let run = Run {
        name,
        benchmark,
        plan: cells,
        items,
        records,
        repeats,
        books,
        texts: documents.into_iter().map(|document| (document.id, document.sha256)).collect(),
        data: Vec::new(),
        asked,
        facts: manifest
            .facts()
            .into_iter()
            .chain(judged_by(&judging).map(|who| ("judged by".to_owned(), who)))
            .collect(),
        judging,
        preparations: files.preparations.iter().map(preparation).collect::<Result<_, _>>()?,
        prices: prices.transpose()?.unwrap_or_else(PriceList::default),
        served: Vec::new(),
        is_log: false,
        gaps,
    };
    Ok((run, left_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &[u8] =
        br#"{"format": 2, "closeread": "0.1.0", "configuration": {"benchmark": "b", "tokenizer": "cl100k",
        "cells": [{"method": "m", "model": "p/x", "budget": null}], "retriever": "bm25", "repeats": 1}}"#;

    fn files<'a>(items: &'a str, records: &'a str) -> RunFiles<'a> {
        RunFiles { manifest: MANIFEST, items: items.as_bytes(), records: records.as_bytes(), ..RunFiles::default() }
    }

    #[test]
    fn files_that_are_no_run_are_named_with_their_line() {
        let none = RunFiles { manifest: b"[]", ..RunFiles::default() };
        let error = read_run("r".to_owned(), &none, BTreeMap::new()).unwrap_err().to_string();
        assert!(error.starts_with("manifest.json: expected the manifest that `closeread run` writes"), "{error}");
        let error = read_run("r".to_owned(), &files("\n{}\n", ""), BTreeMap::new()).unwrap_err().to_string();
        assert!(error.starts_with("items.jsonl:2: expected an item as `closeread run` stores it"), "{error}");
        let later = String::from_utf8_lossy(MANIFEST).replace("\"format\": 2", "\"format\": 9");
        let later = RunFiles { manifest: later.as_bytes(), ..RunFiles::default() };
        let error = read_run("r".to_owned(), &later, BTreeMap::new()).unwrap_err().to_string();
        assert!(error.contains("has format 9") && error.contains("(0.1.0)"), "{error}");
    }

    #[test]
    fn finding_10_numbers_of_a_manifest_that_no_run_has_are_refused() {
        let refused = |from: &str, to: &str, items: &str| {
            let manifest = String::from_utf8_lossy(MANIFEST).replace(from, to);
            let changed = RunFiles { manifest: manifest.as_bytes(), ..files(items, "") };
            read_run("r".to_owned(), &changed, BTreeMap::new()).unwrap_err().to_string()
        };
        let repeats = "\"repeats\": 1";
        for (number, words) in
            [(0, "`repeats` is 0"), (4_294_967_295_u32, "`repeats` is 4294967295: expected 1 to 10000")]
        {
            let said = refused(repeats, &format!("\"repeats\": {number}"), "");
            assert!(said.contains(words), "{said}");
        }
        let cell = "{\"method\": \"m\", \"model\": \"p/x\", \"budget\": null}";
        let said = refused(cell, &format!("{cell}, {cell}"), "");
        assert!(said.contains("`cells` has m with p/x twice"), "{said}");
        let shard = "\"format\": 2, \"shard\": {\"index\": 1, \"of\": 1152921504606846976}";
        let said = refused("\"format\": 2", shard, "");
        assert!(said.contains("`shard` is 1 of 1152921504606846976"), "{said}");
        let item =
            |n| format!("{{\"id\": \"{n}\", \"documents\": [\"b\"], \"question\": \"?\", \"task\": \"generative\"}}\n");
        let items: String = (0..1_001).map(item).collect();
        let said = refused(repeats, "\"repeats\": 10000", &items);
        assert!(said.contains("are 10010000 trials"), "{said}");
    }

    #[test]
    fn a_line_that_a_kill_cut_short_is_no_error() {
        let (run, left_out) = read_run("r".to_owned(), &files("", "{\"item\": \"a\""), BTreeMap::new()).unwrap();
        assert_eq!((run.items.len(), run.records.len(), left_out), (0, 0, 0));
        assert!(run.facts.contains(&("retriever".to_owned(), "bm25".to_owned())), "{:?}", run.facts);
    }
}
