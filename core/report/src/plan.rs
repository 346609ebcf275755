//! The arms that a run is asked for, and its records by arm.

use closeread_eval::Task;
use closeread_eval::observations::{CellId, CellKey, Observations, Rows};
use closeread_methods::record::{Record, TrialKey};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// A method with a model at a budget, as a run is asked for. With the task of its items it is a
/// [`CellKey`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Arm {
    /// Name of the method.
    pub method: String,
    /// The model, `provider/model`.
    pub model: String,
    /// Token budget of the retrieved context, where the method has one.
    pub budget: Option<usize>,
}

impl Arm {
    /// Returns the arm's cell for items of a task, in the table of one run.
    pub(super) fn cell(&self, task: Task) -> CellKey {
        let Self { method, model, budget } = self;
        CellKey {
            configuration: "".into(),
            method: method.as_str().into(),
            model: model.as_str().into(),
            budget: *budget,
            task,
        }
    }

    /// Returns the arm's line in a report on the run of that name.
    pub(super) fn line(&self, configuration: &str) -> LineKey {
        LineKey { configuration: configuration.to_owned(), arm: self.clone() }
    }

    /// The arm that a trial belongs to.
    pub fn of(key: &TrialKey) -> Self {
        Self { method: key.method.clone(), model: key.model.clone(), budget: key.budget }
    }
}

/// The name of a line of a report: an arm of a configuration, whatever the tasks of its items. A metric belongs to one
/// kind of answer, so the scores of several tasks stand side by side in one line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineKey {
    /// Name of the configuration; empty in a report on one run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub configuration: String,
    /// Method, model, budget.
    #[serde(flatten)]
    pub arm: Arm,
}

impl From<&CellKey> for LineKey {
    fn from(key: &CellKey) -> Self {
        let CellKey { configuration, method, model, budget, .. } = key;
        let arm = Arm { method: method.to_string(), model: model.to_string(), budget: *budget };
        Self { configuration: configuration.to_string(), arm }
    }
}

/// A line of a report with its cells.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) key: LineKey,
    cells: Vec<CellId>,
}

impl Line {
    /// The rows of its cells.
    pub(super) fn rows(&self) -> Rows {
        self.narrowed(&Rows::all())
    }

    /// The rows of its cells that ask for answers of this kind; `None` if it has none.
    pub(super) fn asked_as(&self, table: &Observations, task: Task) -> Option<Rows> {
        let own: Vec<CellId> = self.cells.iter().copied().filter(|id| table.cell(*id).key.task == task).collect();
        (!own.is_empty()).then(|| Rows::all().cells(own))
    }

    /// Returns those of these rows that belong to the line.
    pub(super) fn narrowed(&self, rows: &Rows) -> Rows {
        rows.clone().cells(self.cells.iter().copied())
    }
}

/// The lines of a table, in its order.
pub(super) fn lines(table: &Observations) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (id, cell) in table.cells() {
        let key = LineKey::from(&cell.key);
        match lines.iter_mut().find(|line| line.key == key) {
            Some(line) => line.cells.push(id),
            None => lines.push(Line { key, cells: vec![id] }),
        }
    }
    lines
}

/// The trials of each item, by its id.
pub(super) type TrialsByItem<'a> = BTreeMap<&'a str, Vec<&'a Record>>;

/// The records of a run by arm and item; of several records of one trial the last counts.
pub(super) struct Trials<'a> {
    by_arm: HashMap<Arm, TrialsByItem<'a>>,
    none: TrialsByItem<'a>,
}

impl<'a> Trials<'a> {
    pub(super) fn of(records: &'a [Record]) -> Self {
        let mut latest: HashMap<&TrialKey, &Record> = HashMap::new();
        for record in records {
            latest.insert(&record.key, record);
        }
        let mut by_arm: HashMap<Arm, TrialsByItem<'a>> = HashMap::new();
        for record in records.iter().filter(|r| std::ptr::eq(latest[&r.key], *r)) {
            let trials = by_arm.entry(Arm::of(&record.key)).or_default();
            trials.entry(&record.key.item).or_default().push(record);
        }
        Self { by_arm, none: BTreeMap::new() }
    }

    pub(super) fn arm(&self, arm: &Arm) -> &TrialsByItem<'a> {
        self.by_arm.get(arm).unwrap_or(&self.none)
    }
}
