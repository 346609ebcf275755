//! Gaps of a run folder: what it lacks, and what in it fits nothing.

use super::{Arm, Run};
use closeread_eval::Item;
use closeread_methods::record::TrialKey;
use closeread_table::number::thousands;
use std::collections::BTreeSet;

/// Damage and incompleteness of the files, a sentence each; trials without any record are counted by the report's own
/// tables and by [`Run::lacks`].
///
/// `planned` is how many items there are to be, `differs` how their file is not the one that the run wrote, `left_out` how many
/// records are of other items.
pub(super) fn gaps(planned: Option<usize>, differs: Option<&str>, items: &[Item], left_out: usize) -> Vec<String> {
    let mut gaps = Vec::new();
    let n = thousands(items.len() as u64);
    let of = planned.map_or_else(String::new, |planned| format!(" of {}", thousands(planned as u64)));
    if let Some(differs) = differs {
        gaps.push(format!(
            "DAMAGED: items.jsonl, with {n}{of} items, {differs}; give the run's command again, which writes it anew"
        ));
    } else if planned.is_some_and(|planned| items.len() < planned) {
        gaps.push(format!("INCOMPLETE: the folder holds {n}{of} items of the run"));
    }
    gaps.extend(records_left_out(left_out));
    gaps
}

/// Says how many records are of items that the folder does not have; `None` for no record.
pub fn records_left_out(n: usize) -> Option<String> {
    (n > 0).then(|| {
        format!(
            "DAMAGED: {} records are of items that items.jsonl does not have; they are left out",
            thousands(n as u64)
        )
    })
}

impl Run {
    /// Returns what is damaged or missing, a sentence each: [`Run::gaps`], and how many trials have no record.
    pub fn lacks(&self) -> Vec<String> {
        let items: BTreeSet<&str> = self.items.iter().map(|item| item.id.as_str()).collect();
        let planned = |key: &&TrialKey| {
            self.plan.contains(&Arm::of(key)) && items.contains(key.item.as_str()) && key.repeat < self.repeats
        };
        let there: BTreeSet<&TrialKey> = self.records.iter().map(|record| &record.key).filter(planned).collect();
        self.lacks_of(there.len())
    }

    /// Returns the same as [`Run::lacks`] for `there` trials with a record, whether they are held or not.
    pub fn lacks_of(&self, there: usize) -> Vec<String> {
        let n_planned = self.plan.len() * self.items.len() * self.repeats as usize;
        let (missing, of) = (n_planned.saturating_sub(there), thousands(n_planned as u64));
        let trials = format!("INCOMPLETE: {} of {of} trials have no record", thousands(missing as u64));
        self.gaps.iter().cloned().chain((missing > 0).then_some(trials)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::folder::{RunFiles, read_run};
    use closeread_text::hash::sha256;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    /// Returns [`Run::lacks`] of a run of two items with two repeats each.
    fn lacks(change: impl Fn(&mut Value, &mut Vec<String>, &mut Vec<String>)) -> Vec<String> {
        let cell = json!({"method": "m", "model": "p/x", "budget": null});
        let mut items: Vec<String> = ["a", "b"]
            .map(|id| json!({"id": id, "documents": ["d"], "question": "Who?", "task": "generative"}).to_string())
            .to_vec();
        let record = |item: &str, repeat: u32| {
            json!({"item": item, "method": "m", "model": "p/x", "budget": null, "repeat": repeat,
                "outcome": "not_found", "scores": {}, "prompt_tokens": 1, "context": null, "calls": [], "measures": {},
                "evidence": null, "seconds": 0.5})
            .to_string()
        };
        let mut records = vec![record("a", 0), record("a", 1), record("b", 0), record("b", 1)];
        let file = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let mut manifest = json!({"format": 2, "configuration": {"benchmark": "b", "items": 2, "repeats": 2,
            "cells": [cell], "tokenizer": "cl100k"},
            "stored_items": {"n": 2, "sha256": sha256(file(&items).as_bytes())}});
        change(&mut manifest, &mut items, &mut records);
        let (manifest, items, records) = (manifest.to_string(), file(&items), file(&records));
        let files = RunFiles {
            manifest: manifest.as_bytes(),
            items: items.as_bytes(),
            records: records.as_bytes(),
            ..RunFiles::default()
        };
        let (run, _) = read_run("r".to_owned(), &files, BTreeMap::new()).unwrap();
        let report = crate::report(std::slice::from_ref(&run)).unwrap();
        assert_eq!(report.complete, run.lacks().is_empty());
        for table in &report.tables {
            assert_eq!(table.title.ends_with(" (incomplete)"), !report.complete, "{}", table.title);
        }
        run.lacks()
    }

    #[test]
    fn finding_05_damage_and_incompleteness_of_a_folder_are_said() {
        assert_eq!(lacks(|_, _, _| {}), [""; 0]);
        let said = lacks(|_, items, _| drop(items.pop()));
        assert!(said[0].starts_with("DAMAGED: items.jsonl, with 1 of 2 items, is not as the run wrote it"), "{said:?}");
        assert_eq!(said[1..], ["DAMAGED: 2 records are of items that items.jsonl does not have; they are left out"]);
        let said = lacks(|_, items, _| items[0] = items[0].replace("Who?", "Why?"));
        assert!(said.len() == 1 && said[0].starts_with("DAMAGED: items.jsonl, with 2 of 2 items"), "{said:?}");
        let said = lacks(|_, items, _| items.iter_mut().for_each(|item| item.push('\r')));
        assert!(said[0].contains("its line ends are CRLF"), "{said:?}");
        let said = lacks(|_, _, records| records.truncate(1));
        assert_eq!(said, ["INCOMPLETE: 3 of 4 trials have no record"]);
    }

    #[test]
    fn finding_05_a_folder_of_an_earlier_closeread_and_one_part_of_a_run_are_whole() {
        let earlier = |manifest: &mut Value| drop(manifest.as_object_mut().unwrap().remove("stored_items"));
        assert_eq!(lacks(|manifest, _, _| earlier(manifest)), [""; 0]);
        let said = lacks(|manifest, items, records| {
            earlier(manifest);
            items.truncate(1);
            records.truncate(2);
        });
        assert_eq!(said, ["INCOMPLETE: the folder holds 1 of 2 items of the run"]);
        let part = lacks(|manifest, _, _| {
            manifest["shard"] = json!({"index": 1, "of": 2});
            manifest["configuration"]["items"] = json!(4);
        });
        assert_eq!(part, [""; 0]);
    }
}
