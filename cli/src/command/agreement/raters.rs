//! Files of labels that several raters gave: how far they agree, and others against them.

use anyhow::{Result, bail};
use closeread_eval::InputFile;
use closeread_judges::{AgainstRaters, RaterLabels, is_yes};
use closeread_table::{Table, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::path::Path;

/// A file of labels under a name.
pub(in crate::command) struct Named {
    name: String,
    labels: RaterLabels,
}

/// Reads `FILE`, or `FILE=NAME`.
pub(super) fn read(given: &str, panel: Option<usize>) -> Result<Named> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (path, name) = match given.rsplit_once('=') {
        Some((path, name)) if !name.is_empty() && !Path::new(given).exists() => (Path::new(path), name.to_owned()),
        _ => (Path::new(given), stem(Path::new(given))),
    };
    named(name, &super::labels_file(path)?, panel)
}

/// The labels of a file under a name.
pub(in crate::command) fn named(name: String, file: &InputFile, panel: Option<usize>) -> Result<Named> {
    Ok(Named { name, labels: RaterLabels::read(file, panel)? })
}

impl Named {
    /// Returns the labels.
    pub(in crate::command) fn labels(&self) -> &RaterLabels {
        &self.labels
    }

    /// Returns the labels with a majority out of `panel` raters.
    pub(in crate::command) fn out_of(mut self, panel: Option<usize>) -> Self {
        self.labels = self.labels.out_of(panel);
        self
    }
}

/// The tables on the raters of a file and on others that are held against them.
///
/// # Errors
/// If one of the others shares no unit with the raters.
pub(in crate::command) fn tables(raters: &Named, others: &[Named]) -> Result<Vec<Table>> {
    for other in others {
        if raters.labels.units().all(|unit| other.labels.label(unit).is_none()) {
            bail!(
                "{} has a label for no unit of {}: expected the same names of units, and the same `group` and `criterion`",
                other.name,
                raters.name
            );
        }
    }
    let all = [among(raters, others), pairs(raters, others)].into_iter().flatten();
    let mut tables: Vec<Table> = all.collect();
    if !others.is_empty() {
        tables.push(against(raters, others));
    }
    tables.extend(by_task(raters, others));
    tables.extend(others.iter().filter_map(|other| by_group(raters, other)));
    tables.extend(borne_out(raters, others));
    tables.extend(criteria(raters));
    Ok(tables)
}

/// Returns the whole report as JSON.
pub(super) fn report(raters: &Named, others: &[Named], tables: &[Table]) -> Json {
    let against = |other: &Named| {
        let made: AgainstRaters = raters.labels.against(&other.labels);
        json!({"name": other.name, "against": made, "by_group": raters.labels.by_group(&other.labels),
            "borne_out": raters.labels.borne_out(&other.labels)})
    };
    let majority = raters.labels.units().map(|unit| json!({"unit": unit, "label": raters.labels.label(unit)}));
    json!({
        "raters": raters.labels.raters().collect::<Vec<_>>(),
        "majority_of": raters.labels.panel(),
        "labels": majority.collect::<Vec<_>>(),
        "pairs": raters.labels.pairs(),
        "ac1": raters.labels.ac1(),
        "others": others.iter().map(against).collect::<Vec<_>>(),
        "tables": tables,
    })
}

fn table(id: &str, title: &str, columns: &[&str]) -> Table {
    Table::new(id, title, columns.iter().map(|name| (*name).to_owned()).collect())
}

/// Group and criterion in one column; `all` where there are neither.
fn stratum((group, criterion): (&str, &str)) -> String {
    match (group, criterion) {
        ("", "") => "all".to_owned(),
        ("", one) | (one, "") => one.to_owned(),
        (group, criterion) => format!("{group}, {criterion}"),
    }
}

fn only(labels: &RaterLabels, (group, criterion): (&str, &str)) -> RaterLabels {
    labels.only(|unit| unit.group == group && unit.criterion == criterion)
}

fn share(value: Option<f64>, n: usize, reason: &str) -> Value {
    value.map_or_else(|| Value::missing(reason), |value| Value::Share { value, n })
}

fn number(value: Option<f64>, reason: &str) -> Value {
    value.map_or_else(|| Value::missing(reason), |value| Value::Number { value, decimals: 3 })
}

fn interval(ends: Option<(f64, f64)>) -> Value {
    ends.map_or_else(|| Value::missing("no spread"), |(low, high)| Value::text(format!("[{low:.3}, {high:.3}]")))
}

const NO_KAPPA: &str = "no common unit, or one label only";
const NO_SPREAD: &str = "no interval where labels show no spread: all are equal, or one side has one label alone";

fn among(raters: &Named, others: &[Named]) -> Option<Table> {
    let columns = ["labels of", "part", "raters", "units", "labels", "undecided", "agreed", "AC1", "AC1 95%"];
    let mut made = table("raters", "Raters and how far they agree", &columns);
    for file in [raters].into_iter().chain(others) {
        for part in file.labels.strata() {
            let own = only(&file.labels, part);
            let (n, ac1) = (own.units().count(), own.ac1());
            let undecided = own.units().filter(|unit| own.label(unit).is_none()).count();
            let rated_twice: usize = own.rated_by().range(2..).map(|(_, units)| units).sum();
            made.rows.push(vec![
                Value::text(&file.name),
                Value::text(stratum(part)),
                Value::count(own.raters().count()),
                Value::count(n),
                Value::count(own.n_labels()),
                Value::count(undecided),
                share(ac1.as_ref().map(|ac1| ac1.observed), rated_twice, "no unit has two labels"),
                number(ac1.as_ref().map(|ac1| ac1.ac1), "no unit has two labels"),
                interval(ac1.and_then(|ac1| ac1.interval)),
            ]);
        }
    }
    made.notes.push(
        "undecided: units without a consensus on which no label has more than half of the raters; agreed: share of agreeing \
         pairs of raters; AC1: Gwet's"
            .to_owned(),
    );
    Some(made)
}

fn pairs(raters: &Named, others: &[Named]) -> Option<Table> {
    let columns = ["labels of", "raters", "units", "agreed", "kappa", "kappa 95%"];
    let mut made = table("rater-pairs", "Cohen's kappa of every two raters", &columns);
    for file in [raters].into_iter().chain(others) {
        for both in file.labels.pairs() {
            made.rows.push(vec![
                Value::text(&file.name),
                Value::text(format!("{}, {}", both.a, both.b)),
                Value::count(both.n),
                share(both.agreement, both.n, "no common unit"),
                number(both.kappa.as_ref().map(|kappa| kappa.kappa), NO_KAPPA),
                interval(both.kappa.and_then(|kappa| kappa.interval)),
            ]);
        }
    }
    made.notes.push(NO_SPREAD.to_owned());
    (!made.rows.is_empty()).then_some(made)
}

fn against(raters: &Named, others: &[Named]) -> Table {
    let columns = ["labels of", "part", "units", "out", "accuracy", "balanced", "kappa", "kappa 95%"];
    let mut made = table("against-raters", &format!("Against the label that counts of {}", raters.name), &columns);
    for other in others {
        for part in raters.labels.strata() {
            let AgainstRaters { majority, binary, balanced, without_judge, .. } =
                only(&raters.labels, part).against(&other.labels);
            made.rows.push(vec![
                Value::text(&other.name),
                Value::text(stratum(part)),
                Value::count(majority.n),
                Value::count(without_judge),
                share(binary, majority.n, "no label"),
                share(balanced, majority.n, "no label, or one class"),
                number(majority.kappa.as_ref().map(|kappa| kappa.kappa), NO_KAPPA),
                interval(majority.kappa.and_then(|kappa| kappa.interval)),
            ]);
        }
    }
    made.notes.push(
        "accuracy: share of equal labels (binary accuracy); balanced: mean of the shares within each label that counts; out: \
         units without a label there"
            .to_owned(),
    );
    made.notes.push(NO_SPREAD.to_owned());
    let strangers = others.iter().filter(|other| !raters.labels.has_label_of(&other.labels));
    made.notes.extend(strangers.map(|other| format!("{} and {} have no label in common", raters.name, other.name)));
    made
}

/// HAMLET's Table 3: a row a method with what it verified against, a column a task. Panels that verify against the whole book
/// say so in their names.
fn by_task(raters: &Named, others: &[Named]) -> Option<Table> {
    let groups: BTreeSet<&str> = raters.labels.units().map(|unit| unit.group.as_str()).collect();
    let tasks: Vec<&str> = ["recall", "faithfulness"].into_iter().filter(|task| groups.contains(task)).collect();
    if tasks.is_empty() || groups.len() > tasks.len() || others.is_empty() {
        return None;
    }
    let columns: Vec<&str> = ["method", "reference"].into_iter().chain(tasks.iter().copied()).collect();
    let mut made = table(
        "accuracy-by-task",
        &format!("Binary accuracy against the label that counts of {}", raters.name),
        &columns,
    );
    made.source = "HAMLET, Table 3".to_owned();
    for other in others {
        let of = |task: &&str| {
            let own = raters.labels.only(|unit| unit.group == *task).against(&other.labels);
            share(own.binary, own.majority.n, "N/A: it has no label of this task")
        };
        let (name, reference) = match other.name.strip_suffix(" (whole book)") {
            Some(name) => (name, "whole book"),
            None => (other.name.as_str(), "chunk"),
        };
        made.rows.push([name, reference].map(Value::text).into_iter().chain(tasks.iter().map(of)).collect());
    }
    Some(made)
}

/// NovelQA's Table 7: a row a group.
fn by_group(raters: &Named, other: &Named) -> Option<Table> {
    let groups: BTreeSet<&str> = raters.labels.units().map(|unit| unit.group.as_str()).collect();
    if groups.len() < 2 {
        return None;
    }
    let columns: Vec<&str> = ["group"].into_iter().chain(raters.labels.raters()).chain(["mean"]).collect();
    let title = format!("Cohen's kappa of {} with each rater", other.name);
    let mut made = table(&format!("kappa-by-group-{}", other.name), &title, &columns);
    let found = raters.labels.by_group(&other.labels);
    let rows = found.groups.iter().map(|(name, row)| (name.as_str(), row));
    for (name, row) in rows.chain([("average", &found.average)]) {
        let kappas = row.raters.iter().chain([&row.average]).map(|kappa| number(*kappa, NO_KAPPA));
        made.rows.push([Value::text(name)].into_iter().chain(kappas).collect());
    }
    made.summary_rows = 1;
    Some(made)
}

/// HAMLET's Table 2: of each label of another, the share that the raters bear out.
fn borne_out(raters: &Named, others: &[Named]) -> Option<Table> {
    let of_others = others.iter().flat_map(|other| other.labels.units());
    let criteria: BTreeSet<&str> =
        of_others.map(|unit| unit.criterion.as_str()).filter(|name| !name.is_empty()).collect();
    if criteria.is_empty() {
        return None;
    }
    let columns: Vec<&str> =
        ["labels of", "label"].into_iter().chain(criteria.iter().copied()).chain(["mean", "undecided"]).collect();
    let mut made = table("borne-out", &format!("Labels that {} bear out", raters.name), &columns);
    made.source = "HAMLET, Table 2".to_owned();
    for other in others {
        let found = raters.labels.borne_out(&other.labels);
        let labels: BTreeSet<&String> = found.by_label.keys().chain(found.unresolved.keys()).collect();
        // PASS before FAIL, as in the paper, and 1 before 0.
        for label in labels.into_iter().rev() {
            let of = |criterion: &&str| {
                let part = found.by_label.get(label).and_then(|by| by.get(*criterion)).copied().unwrap_or_default();
                share(part.value(), part.of, "no such label")
            };
            let undecided = found.unresolved.get(label).copied().unwrap_or(0);
            let ends = [share(found.mean(label), criteria.len(), "no such label"), Value::count(undecided)];
            let head = [Value::text(&other.name), Value::text(label)];
            made.rows.push(head.into_iter().chain(criteria.iter().map(of)).chain(ends).collect());
        }
    }
    made.notes.push("mean: over criteria; undecided: on which no label counts, which are in no share".to_owned());
    Some(made)
}

/// The share of units that pass each criterion and all of them (SagaScale 3.2).
fn criteria(raters: &Named) -> Option<Table> {
    let (by_criterion, all) = raters.labels.criteria(is_yes);
    if by_criterion.len() < 2 || by_criterion.values().all(|part| part.hit == 0) {
        return None;
    }
    let mut made = table("criteria", &format!("Units that pass by {}", raters.name), &["criterion", "pass", "units"]);
    for (name, part) in by_criterion.into_iter().chain([("all of them", all)]) {
        made.rows.push(vec![Value::text(name), share(part.value(), part.of, "no label counts"), Value::count(part.of)]);
    }
    made.summary_rows = 1;
    Some(made)
}
