//! The labels of people and of a run's judges as files, and the tables that stand on them.

use crate::command::agreement::raters::{self, Named};
use anyhow::{Context, Result};
use closeread_eval::InputFile;
use closeread_eval::hamlet::ErrorCategory;
use closeread_files::write_atomically;
use closeread_judges::study::{Asks, PersonAnswers, UnitKey, label_rows, row};
use closeread_judges::{Judge, Judging, Panel, PanelVerdict, Subject, Verdict, correctness_judge, labels as labels_of};
use closeread_table::render::csv::inert;
use closeread_table::{Table, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Rows of a file of labels, head first.
pub(in crate::command) type Rows = Vec<Vec<String>>;

/// Returns people's labels of the units that ask for `asks`, as rows, and what cannot be used.
pub(super) fn of_people(
    keys: &[UnitKey],
    people: &[PersonAnswers],
    keep: impl Fn(Asks) -> bool,
) -> (Rows, Vec<String>) {
    let (mut rows, problems) = label_rows(keys, people);
    let kept: Vec<&UnitKey> = keys.iter().filter(|key| keep(key.asks)).collect();
    let names: Vec<(String, bool)> = kept.iter().map(|key| (key.name(), key.asks == Asks::Fault)).collect();
    let mut first = true;
    rows.retain(|row| {
        std::mem::take(&mut first)
            || names.iter().any(|(name, is_fault)| *name == row[0] && *is_fault == (row[2] == "fault"))
    });
    (rows, problems)
}

/// Returns the labels of each panel of a run for the same units, under its name; panels that said nothing of them are
/// left out.
pub(super) fn of_judges(keys: &[UnitKey], judging: &Judging) -> Vec<(String, Rows)> {
    let index = judging.index();
    let mut found = Vec::new();
    for panel in &judging.panels {
        let mut rows = vec![closeread_judges::study::LABEL_COLUMNS.map(str::to_owned).to_vec()];
        for key in keys {
            let Some(judge) = judge_of(panel, key.asks) else { continue };
            let subject = Subject { item: key.item.clone(), trial: key.trial.clone() };
            let PanelVerdict::Ruled(ruling) = index.verdict(panel, &subject, judge) else { continue };
            let said = labels_of(judge, &Verdict::Ruled { ruling });
            let Some(label) = said.get(key.part.map_or(0, |part| part - 1)).copied().flatten() else { continue };
            let supported = if label == ErrorCategory::NoError.name() { "yes" } else { "no" };
            rows.push(row(key, "judge", if key.asks == Asks::Sentence { supported } else { label }));
        }
        if rows.len() > 1 {
            found.push((panel.name(), rows));
        }
    }
    found
}

fn judge_of(panel: &Panel, asks: Asks) -> Option<Judge> {
    let asked = |judge: Judge| panel.asks(judge).then_some(judge);
    match asks {
        Asks::Correctness => correctness_judge(panel),
        Asks::KeyFact => asked(Judge::AlignKeyFacts),
        Asks::Sentence => asked(Judge::VerifyFacts),
        Asks::Answer | Asks::Fault => None,
    }
}

/// Writes the rows as CSV.
pub(super) fn csv(rows: &Rows) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.write_record(row))?;
    writer.into_inner().context("cannot write labels as CSV")
}

/// Writes the rows to a file of the folder, names of raters as text for a spreadsheet, and reads them as labels.
pub(in crate::command) fn kept(folder: &Path, file: &str, name: &str, rows: &Rows) -> Result<Named> {
    let bytes = csv(rows)?;
    let mut shown = rows.clone();
    if let Some(at) = rows.first().and_then(|head| head.iter().position(|column| column == "rater")) {
        shown.iter_mut().filter_map(|row| row.get_mut(at)).for_each(|rater| *rater = inert(rater));
    }
    write_atomically(&folder.join(file), &csv(&shown)?)?;
    raters::named(name.to_owned(), &InputFile { name: folder.join(file).display().to_string(), bytes }, None)
}

/// Faults by kind and aspect (NovelQA, Table 17): the label of more than half of the raters of each wrong answer.
pub(super) fn faults(keys: &[UnitKey], labels: &Named) -> Table {
    let mut aspects: Vec<&str> =
        keys.iter().filter(|key| key.asks == Asks::Fault).map(|key| key.aspect.as_str()).collect();
    aspects.sort_unstable();
    aspects.dedup();
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut undecided = 0;
    for unit in labels.labels().units() {
        let key =
            keys.iter().find(|key| key.asks == Asks::Fault && key.name() == unit.unit && key.group() == unit.group);
        match (key, labels.labels().label(unit)) {
            (Some(key), Some(label)) => {
                let label = Asks::Fault.labels().iter().copied().find(|known| *known == label).unwrap_or("other");
                *counts.entry((label, key.aspect.as_str())).or_default() += 1;
            }
            _ => undecided += 1,
        }
    }
    let all: usize = counts.values().sum();
    let heads =
        ["fault"].into_iter().chain(aspects.iter().map(|aspect| if aspect.is_empty() { "no aspect" } else { *aspect }));
    let columns = heads.chain(["sum", "share"]).map(str::to_owned).collect();
    let mut made = Table::new("faults", "Faults of wrong answers by aspect", columns);
    made.source = "NovelQA, Table 17".to_owned();
    for label in Asks::Fault.labels() {
        let of = |aspect: &&str| counts.get(&(*label, *aspect)).copied().unwrap_or(0);
        let sum: usize = aspects.iter().map(of).sum();
        let share = if all == 0 {
            Value::missing("no label counts")
        } else {
            Value::Share { value: sum as f64 / all as f64, n: all }
        };
        let cells = aspects.iter().map(|aspect| Value::count(of(aspect)));
        made.rows.push([Value::text(*label)].into_iter().chain(cells).chain([Value::count(sum), share]).collect());
    }
    made.notes.push(format!("{all} answers with a label of more than half of their raters; {undecided} without"));
    made
}
