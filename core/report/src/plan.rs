//! What a run is asked for, and its records by that.

use closeread_eval::Task;
use closeread_eval::observations::CellKey;
use closeread_methods::record::{Record, TrialKey};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// A method with a model at a budget, as a run is asked for. With the task of its items it is a
/// [`CellKey`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Arm {
    /// Name of the method.
    pub method: String,
    /// The model, `provider/model`.
    pub model: String,
    /// Token budget of the retrieved context, where the method has one.
    pub budget: Option<usize>,
}

impl Arm {
    /// Its cell in a table of several runs, or of one without a name.
    pub fn cell(&self, configuration: &str, task: Task) -> CellKey {
        let Self { method, model, budget } = self;
        CellKey {
            configuration: configuration.into(),
            method: method.as_str().into(),
            model: model.as_str().into(),
            budget: *budget,
            task,
        }
    }

    /// The arm that a trial belongs to.
    pub fn of(key: &TrialKey) -> Self {
        Self { method: key.method.clone(), model: key.model.clone(), budget: key.budget }
    }
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
