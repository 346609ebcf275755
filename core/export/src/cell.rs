//! A cell of a run as exports need it: what the report says of it, and what each trial counts for.

use closeread_eval::observations::{Aggregation, Ending, Rows};
use closeread_eval::observations::{Observations, PoolError};
use closeread_judges::{Judgement, Subject};
use closeread_metrics::Metric;
use closeread_report::{Arm, Cell, Run, RunView, Scored, cells};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The trials of one cell.
#[derive(Debug, Clone)]
pub struct CellTrials {
    /// Method, model, budget.
    pub arm: Arm,
    /// Summary of the cell in a report.
    pub summary: Cell,
    /// Trials that were planned, item by item in the order of the run, repeat by repeat.
    pub trials: Vec<PlannedTrial>,
}

/// A trial that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTrial {
    /// Place of its item in [`Run::items`].
    pub item: usize,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Place of its record in [`Run::records`]; `None` if it is missing.
    pub record: Option<usize>,
    /// Ending of the trial.
    pub ending: Ending,
    /// Number that the trial counts for by metric, failures as 0; a metric in whose mean it is not has no entry.
    pub counted: BTreeMap<String, f64>,
}

impl CellTrials {
    /// The trials of `arm`, which is one of the plan of `run`; `scored` tells of all records of the run, whose own may be those
    /// of the arm alone.
    ///
    /// # Errors
    /// [`PoolError`] if the run's files name a cell twice, or give an id two gold answers.
    pub fn of(run: &Run, arm: &Arm, scored: &Scored) -> Result<Self, PoolError> {
        let plan = [arm.clone()];
        let table = RunView { plan: &plan, ..run.view() }.observations_beside(scored)?;
        let mut summary = cells(&table).into_iter().next().filter(|cell| !cell.metrics.is_empty());
        if summary.is_none() {
            // Nothing of the cell was scored: which metrics it has is told by its neighbours.
            summary = cells(&run.view().observations()?).into_iter().find(|cell| cell.key.arm == *arm);
        }
        let summary = summary.unwrap_or_else(|| unreachable!("an arm of the plan has a cell"));
        let records: HashMap<(&str, u32), usize> = run
            .records
            .iter()
            .enumerate()
            .filter(|(_, record)| Arm::of(&record.key) == *arm)
            .map(|(place, record)| ((record.key.item.as_str(), record.key.repeat), place))
            .collect();
        let mut trials = planned(run, &table, &records);
        let places: HashMap<(usize, u32), usize> =
            trials.iter().enumerate().map(|(place, trial)| ((trial.item, trial.repeat), place)).collect();
        let items = item_places(run);
        for metric in summary.metrics.keys().filter(|metric| metric.known() != Some(Metric::PairAccuracy)) {
            for (row, value) in table.trials(&Rows::all(), &Aggregation::new(metric.clone())) {
                let item = items[table.item(row.item).id.as_str()];
                trials[places[&(item, row.repeat)]].counted.insert(metric.name().to_owned(), value);
            }
        }
        Ok(Self { arm: arm.clone(), summary, trials })
    }

    /// The metrics that some trial counts under.
    pub fn metrics(&self) -> BTreeSet<String> {
        self.trials.iter().flat_map(|trial| trial.counted.keys().cloned()).collect()
    }

    /// Returns the cell without its trials.
    pub fn without_trials(self) -> Self {
        Self { trials: Vec::new(), ..self }
    }
}

fn item_places(run: &Run) -> HashMap<&str, usize> {
    run.items.iter().enumerate().map(|(place, item)| (item.id.as_str(), place)).collect()
}

fn planned(run: &Run, table: &Observations, records: &HashMap<(&str, u32), usize>) -> Vec<PlannedTrial> {
    let items = item_places(run);
    let all = Rows::all();
    let mut trials: Vec<PlannedTrial> = table
        .rows(&all)
        .map(|row| {
            let id = table.item(row.item).id.as_str();
            let record = records.get(&(id, row.repeat)).copied();
            let (item, counted) = (items[id], BTreeMap::new());
            PlannedTrial { item, repeat: row.repeat, record, ending: row.outcome, counted }
        })
        .collect();
    trials.sort_by_key(|trial| (trial.item, trial.repeat));
    trials
}

/// The judgements of a run by what they are about; of several with one key the last counts.
pub type JudgementsBySubject<'a> = HashMap<&'a Subject, Vec<&'a Judgement>>;

/// The judgements of a run by what they are about.
pub fn by_subject(run: &Run) -> JudgementsBySubject<'_> {
    let latest: BTreeMap<_, &Judgement> = run.judging.judgements.iter().map(|one| (&one.key, one)).collect();
    let mut subjects: JudgementsBySubject<'_> = HashMap::new();
    for (key, judgement) in latest {
        subjects.entry(&key.subject).or_default().push(judgement);
    }
    subjects
}
