//! HAMLET (section 5, appendix G): recall of key facts and faithfulness of sentences by level, perspective and fifth of the
//! book.
//!
//! The evaluation table holds HAMLET's scores as shares of facts and sentences. Figure 3 and Tables 4, 5, 6 and 13 pool them
//! ("key-fact and sentence-level", section 5.2), Table 7 averages the summaries' own ratios. Each quantity is a function
//! that reads like the paper's definition; `tables` lays them out as the paper prints them.

mod tables;

pub use closeread_eval::hamlet::*;

use super::configurations::configurations;
use super::grid::{Number, Place, average};
use super::tabulate::asked_apart;
use crate::observed::WORDS;
use closeread_eval::Task;
use closeread_eval::correlate::correlation;
use closeread_eval::observations::{
    Aggregate, Aggregation, Basis, CellId, Ending, FailurePolicy, ItemId, MetricName, Observation, Observations, Rows,
    Weighting,
};
use closeread_table::Table;
use closeread_table::number::thousands;
use std::collections::BTreeSet;

/// The label of a query by its tree.
pub(crate) const PERSPECTIVE: &str = "perspective";
/// The label of a query by where its chunk begins.
pub(crate) const FIFTH: &str = "fifth";

const NO_FACT: &str = "no fact of this level";
const NO_SENTENCE: &str = "no sentence of this scope";

/// The paper's tables and figures for these judged summaries; those for which they carry nothing are left out. What
/// failures move stands twice: with failures as wrong, and with failures left out.
///
/// Items carry the labels `perspective` (`analytical` or `narrative`) and `fifth` (one of [`FIFTHS`]); scores stand under
/// [`Measure::metric`] and [`ERROR_SHARES`], the length of a summary in words in the measure `words`.
pub fn tables(trials: &Observations) -> Vec<Table> {
    let is_summary = |id: &CellId| trials.cell(*id).key.task == Task::Summary;
    if !trials.cells().any(|(id, _)| is_summary(&id)) {
        return Vec::new();
    }
    let papers = FailurePolicy::ALL.map(|policy| Hamlet { trials, policy, rows: Row::all(trials) });
    let mut tables: Vec<Table> = papers.iter().flat_map(Hamlet::tables).collect();
    let note = asked_apart(trials);
    tables.iter_mut().for_each(|table| table.notes.extend(note.clone()));
    tables
}

/// A model that wrote summaries, in one of its settings.
struct Row {
    name: String,
    cell: CellId,
    reasoning: Option<bool>,
}

impl Row {
    fn all(trials: &Observations) -> Vec<Self> {
        let of = |configuration: super::configurations::Configuration<'_>| {
            let cells = configuration.cells.iter().filter(|(_, key)| key.task == Task::Summary);
            let rows = cells.map(|(cell, key)| {
                let budget = key.budget.map_or_else(String::new, |budget| format!(" at {}", thousands(budget as u64)));
                let name = match &*key.method {
                    "query-summary" => configuration.name.clone(),
                    method => format!("{}, {method}{budget}", configuration.name),
                };
                Self { name, cell: *cell, reasoning: configuration.reasoning }
            });
            rows.collect::<Vec<_>>()
        };
        configurations(trials).into_iter().flat_map(of).collect()
    }

    fn rows(&self) -> Rows {
        Rows::of(self.cell)
    }

    fn of(&self, perspective: Perspective) -> Rows {
        self.rows().label(PERSPECTIVE, perspective.name())
    }
}

/// The data that the tables are made from.
struct Hamlet<'a> {
    trials: &'a Observations,
    policy: FailurePolicy,
    rows: Vec<Row>,
}

/// A share with what it is taken over.
fn shared(made: &Aggregate, otherwise: &'static str) -> Place {
    match (&made.estimate, &made.basis) {
        (Some(estimate), Basis::Pooled { of, .. }) => Ok(Number::new(estimate.value, *of as usize)),
        _ => Err(otherwise),
    }
}

/// Subtracts the second place from the first, where both have a number.
fn difference(a: Place, b: Place, n: usize) -> Place {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok(Number::new(a.value - b.value, n)),
        _ => Err("one of the two has no value"),
    }
}

impl Hamlet<'_> {
    fn by(&self, metric: MetricName, weighting: Weighting) -> Aggregation {
        Aggregation { policy: self.policy, weighting, ..Aggregation::new(metric) }
    }

    fn pool(&self, rows: &Rows, metric: MetricName) -> Aggregate {
        self.trials.aggregate(rows, &self.by(metric, Weighting::Pooled))
    }

    /// Covered facts of a level out of all of them (Eq. 1), over all facts of all trees.
    fn recall(&self, rows: &Rows, scope: Scope) -> Place {
        shared(&self.pool(rows, Measure::Recall.metric(scope)), NO_FACT)
    }

    /// Faithful sentences out of all those of a scope (Eq. 2), over all sentences of all summaries.
    fn faithfulness(&self, rows: &Rows, scope: Scope) -> Place {
        shared(&self.pool(rows, Measure::Faithfulness.metric(scope)), NO_SENTENCE)
    }

    fn share(&self, rows: &Rows, measure: Measure, scope: Scope) -> Place {
        match measure {
            Measure::Recall => self.recall(rows, scope),
            Measure::Faithfulness => self.faithfulness(rows, scope),
        }
    }

    /// Recall in each fifth of the book (Figure 3).
    fn by_fifth(&self, row: &Row, perspective: Perspective, scope: Scope) -> [Place; 5] {
        FIFTHS.map(|fifth| self.recall(&row.of(perspective).label(FIFTH, fifth), scope))
    }

    /// Highest minus lowest recall of the five fifths (Table 4); those without facts take no part.
    fn gap(&self, row: &Row, perspective: Perspective, scope: Scope) -> Place {
        let recalls = self.by_fifth(row, perspective, scope).into_iter().flatten();
        let recalls: Vec<f64> = recalls.map(|number| number.value).collect();
        if recalls.len() < 2 {
            return Err("fewer than two fifths have facts");
        }
        let highest = recalls.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = recalls.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(Number::new(highest - lowest, recalls.len()))
    }

    /// The mean of the fifths' recalls: the other reading of Table 13's Average.
    fn mean_of_fifths(&self, row: &Row, perspective: Perspective, scope: Scope) -> Place {
        average(self.by_fifth(row, perspective, scope).into_iter())
    }

    /// The mean of the summaries' own ratios (Table 7).
    fn summary_level(&self, row: &Row, measure: Measure) -> Aggregate {
        self.trials.aggregate(&row.rows(), &self.by(measure.metric(Scope::All), Weighting::Item))
    }

    /// Queries that were asked of both (Table 6).
    fn asked_of_both(&self, a: &Row, b: &Row) -> BTreeSet<ItemId> {
        let asked = |row: &Row| -> BTreeSet<ItemId> {
            let rows = row.rows();
            let asked = self.trials.rows(&rows).filter(|row| !row.outcome.is_never_scored());
            asked.map(|row| row.item).collect()
        };
        asked(a).intersection(&asked(b)).copied().collect()
    }

    /// Either score of `a` and of `b` over the queries asked of both: recall over those where both count, faithfulness
    /// over those where neither failed, if failures are left out.
    fn held_against(&self, a: &Row, b: &Row, measure: Measure, scope: Scope) -> [Place; 2] {
        let mut common = self.asked_of_both(a, b);
        for row in [a, b] {
            let rows = row.rows();
            let kept: BTreeSet<ItemId> = match measure {
                Measure::Recall => {
                    let by = self.by(measure.metric(scope), Weighting::Item);
                    self.trials.trials(&rows, &by).into_iter().map(|(trial, _)| trial.item).collect()
                }
                Measure::Faithfulness => {
                    let fails = |trial: &Observation| trial.outcome.is_failure();
                    let is_kept = |trial: &&Observation| self.policy == FailurePolicy::Wrong || !fails(trial);
                    self.trials.rows(&rows).filter(is_kept).map(|trial| trial.item).collect()
                }
            };
            common.retain(|item| kept.contains(item));
        }
        [a, b].map(|row| self.share(&row.rows().items(common.iter().copied()), measure, scope))
    }

    /// The pairs of Table 6: each model that reasons with each that does not; where no run says which ones reason, each
    /// with those before it.
    fn pairs(&self) -> Vec<(&Row, &Row)> {
        let reasons = |row: &Row| row.reasoning == Some(true);
        let some = self.rows.iter().any(reasons);
        let pairs = self.rows.iter().enumerate().flat_map(|(at, a)| {
            let others = self.rows.iter().enumerate();
            let others = others.filter(move |(before, b)| if some { reasons(a) && !reasons(b) } else { *before < at });
            others.map(move |(_, b)| (a, b))
        });
        pairs.collect()
    }

    /// Pearson's correlation of a summary's words with its recall (section 5.2), over the judged summaries of some rows.
    fn length_correlation(&self, of: &[&Row], scope: Scope) -> Place {
        let rows = Rows::all().cells(of.iter().map(|row| row.cell));
        let trials = self.trials.trials(&rows, &self.by(Measure::Recall.metric(scope), Weighting::Item));
        let written = trials.into_iter().filter(|(trial, _)| trial.outcome == Ending::Answered);
        let points = written.filter_map(|(trial, recall)| Some((*trial.measures.get(WORDS)?, recall)));
        let (words, recalls): (Vec<f64>, Vec<f64>) = points.unzip();
        let found = correlation(&words, &recalls).ok_or("lengths or recalls are all alike");
        found.map(|coefficient| Number::new(coefficient, words.len()))
    }

    /// The share of a kind of errors, in percent (Table 14).
    fn error_share(&self, row: &Row, metric: &'static str) -> Place {
        let found = shared(&self.pool(&row.rows(), metric.into()), "no such error");
        found.map(|number| Number { value: 100.0 * number.value, ..number })
    }
}

#[cfg(test)]
mod tests;
