//! Scoring a submission, which gives its scorecard.

use super::scorecard::{Group, PolicyScores, Scorecard, ScoredItem, ScoredLedger};
use super::{Attempt, Submission};
use closeread_eval::observations::{
    Aggregate, Aggregation, Applies, Cell, CellFacts, CellKey, Counting, Ending, FailurePolicy, ItemFacts, Ledger,
    MetricName, Observation, Observations, Rows, Score, Treatment, Unit, Weighting,
};
use closeread_eval::{Answer, Evaluator, Item, Outcome, Task, citation_recall, default_metrics, is_spaceless};
use closeread_metrics::stats::Estimate;
use closeread_metrics::{Metric, Words};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The options of scoring.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The metrics, the main one first. Empty: those of the submission's format, and without any those of each item's
    /// task ([`default_metrics`]), with `pair_accuracy` where items have a partner and `evidence_recall` where
    /// evidence is cited.
    pub metrics: Vec<Metric>,
    /// Labels to break the scores down by; `task` and `document` will do where no label has that name.
    pub by: Vec<String>,
    /// Way in which the text metrics cut Chinese.
    pub chinese: Words,
}

impl Options {
    /// The metrics that every item of `submission` is scored by; empty where each item's task decides.
    pub fn metrics_for<'a>(&'a self, submission: &'a Submission) -> &'a [Metric] {
        if self.metrics.is_empty() { &submission.metrics } else { &self.metrics }
    }
}

/// The reason why a submission cannot be scored as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScoreError {
    /// No item has the label.
    #[error("no item has a label `{label}`: expected one of {}", known.join(", "))]
    UnknownLabel {
        /// Name of the label that was asked for.
        label: String,
        /// Labels that items have.
        known: Vec<String>,
    },
}

/// Scores a submission.
///
/// Every item is in the ledger: as `missing` if no usable row speaks of it, as `no_gold` if one does but it has neither a
/// gold answer nor a score that the format gives, else by how it ended. What each counts for is said by
/// [`FailurePolicy::counted`].
///
/// # Errors
/// [`ScoreError`] names what cannot be done.
pub fn score(submission: &Submission, evaluator: &Evaluator, options: &Options) -> Result<Scorecard, ScoreError> {
    check_labels(&submission.items, &options.by)?;
    let plan = Plan::new(submission, evaluator, options);
    let rows: Vec<Row<'_>> = submission.items.iter().map(|item| plan.row(item)).collect();
    let table = plan.table(&rows);
    let all = Rows::all();
    let ledger: Ledger = rows.iter().map(|row| row.ending).collect();
    let metrics = plan.estimates(&table, FailurePolicy::Wrong);
    let tried = |row: &&Row<'_>| !row.ending.is_failure() && !row.ending.is_never_scored();
    let left_out =
        PolicyScores { n: rows.iter().filter(tried).count(), metrics: plan.estimates(&table, FailurePolicy::LeftOut) };
    let asked = plan.metrics.iter().flatten().map(|metric| MetricName::from(*metric));
    let main = asked.chain(table.main_metric(&all)).find(|metric| metrics.contains_key(metric.name()));
    let main = main.map(String::from).or_else(|| metrics.keys().next().cloned());
    let mut notes: Vec<String> = submission.notes.iter().map(ToString::to_string).collect();
    notes.extend(plan.notes(&rows, &metrics));
    let mut by = BTreeMap::new();
    for label in &options.by {
        by.insert(label.clone(), plan.groups(&table, label, &mut notes));
    }
    let items = plan.items(&rows, &table);
    // Filled by insertion, here and below: to collect would sort first, which the embedded scorer has no room for.
    let mut policies = BTreeMap::new();
    policies.insert(FailurePolicy::LeftOut, left_out);
    Ok(Scorecard {
        n: rows.len(),
        complete: ledger.is_complete() && !submission.is_unfinished,
        ledger: ScoredLedger { counts: ledger, problems: submission.problems.clone() },
        main,
        policy: FailurePolicy::Wrong,
        metrics,
        policies,
        chinese: options.chinese,
        by,
        items,
        notes,
    })
}

/// An item with what it scored.
struct Row<'a> {
    item: &'a Item,
    ending: Ending,
    /// Scores that were asked for, by name, as the scorecard shows them.
    shown: BTreeMap<String, f64>,
    /// Scores that the table counts.
    scores: BTreeMap<MetricName, Score>,
    /// The ways in which metrics apply to the item.
    applies: BTreeMap<MetricName, Applies>,
}

/// The plan of what is computed for which item.
struct Plan<'a> {
    submission: &'a Submission,
    evaluator: &'a Evaluator,
    /// The metrics of every item; `None` leaves them to the item's task.
    metrics: Option<Vec<Metric>>,
    /// Names of scores that the format gives.
    given: BTreeSet<&'a str>,
    pairs: bool,
    evidence: bool,
    /// Every metric that a table of the submission can have.
    names: BTreeSet<MetricName>,
}

impl<'a> Plan<'a> {
    fn new(submission: &'a Submission, evaluator: &'a Evaluator, options: &Options) -> Self {
        let asked = Some(options.metrics_for(submission).to_vec()).filter(|metrics| !metrics.is_empty());
        let given = submission.attempts.values().flat_map(|attempt| attempt.given.keys());
        let wanted = |metric| asked.as_ref().is_none_or(|metrics: &Vec<Metric>| metrics.contains(&metric));
        let cites = submission.attempts.values().any(|attempt| !attempt.evidence.is_empty());
        let mut plan = Self {
            submission,
            evaluator,
            given: given.map(String::as_str).filter(|name| name.parse().map_or(true, wanted)).collect(),
            pairs: wanted(Metric::PairAccuracy),
            evidence: wanted(Metric::EvidenceRecall) && (asked.is_some() || cites),
            metrics: asked,
            names: BTreeSet::new(),
        };
        plan.names = plan.all_names();
        plan
    }

    fn metrics_of(&self, item: &Item, spaceless: bool) -> &[Metric] {
        self.metrics.as_deref().unwrap_or_else(|| default_metrics(item.task, spaceless))
    }

    fn all_names(&self) -> BTreeSet<MetricName> {
        let items = self.submission.items.iter();
        let computed = items.flat_map(|item| self.metrics_of(item, is_spaceless(item))).map(|metric| (*metric).into());
        let evidence = self.evidence.then(|| Metric::EvidenceRecall.into());
        let pairs = self.pairs.then(|| Metric::PairAccuracy.into());
        computed.chain(self.given.iter().map(|name| (*name).into())).chain(evidence).chain(pairs).collect()
    }

    fn row(&self, item: &'a Item) -> Row<'a> {
        let attempt = self.submission.attempts.get(&item.id);
        let has_gold = !item.answers.is_empty() || item.correct.is_some();
        let ending = match attempt {
            None => Ending::Missing,
            Some(attempt) if !has_gold && attempt.given.is_empty() => Ending::NoGold,
            Some(attempt) => Ending::from(&attempt.outcome),
        };
        let mut row = Row { item, ending, shown: BTreeMap::new(), scores: BTreeMap::new(), applies: BTreeMap::new() };
        self.compute(&mut row, attempt);
        let given = attempt.map(|attempt| &attempt.given);
        let inapplicable = self.submission.inapplicable.get(&item.id);
        for name in &self.given {
            let value = given.and_then(|given| given.get(*name));
            let metric = MetricName::from(*name);
            row.applies.remove(&metric);
            if inapplicable.is_some_and(|names| names.iter().any(|known| known == name)) {
                row.give(metric, None);
                continue;
            }
            match value {
                Some(value) => {
                    row.shown.insert((*name).to_owned(), *value);
                    row.scores.insert(metric, Score::Value(*value));
                }
                None if ending != Ending::Answered => drop(row.shown.entry((*name).to_owned()).or_insert(0.0)),
                None => drop(row.scores.remove(&metric)),
            }
        }
        if ending == Ending::NoGold {
            row.shown.clear();
        }
        if self.evidence {
            let cited = attempt.map_or(&[][..], |attempt| &attempt.evidence);
            let recall = citation_recall(item, cited);
            row.give(Metric::EvidenceRecall.into(), recall.map(|recall| (recall, Score::Value(recall))));
        }
        row
    }

    /// The metrics that closeread computes, and the accuracy that pairs are made of.
    fn compute(&self, row: &mut Row<'_>, attempt: Option<&Attempt>) {
        let (item, spaceless) = (row.item, is_spaceless(row.item));
        let answer = attempt.and_then(answer);
        let own = self.metrics_of(item, spaceless);
        let computed = |name: &&MetricName| !name.is_of_context() && name.known() != Some(Metric::PairAccuracy);
        for metric in self.names.iter().filter(computed).filter_map(|name| name.known()) {
            let value = self.evaluator.score(metric, item, answer, spaceless).filter(|_| own.contains(&metric));
            let score = value.and_then(|value| {
                if metric.bleu_order().is_none() {
                    return Some((value, Score::Value(value)));
                }
                let counts = self.evaluator.bleu_statistics(item, answer, spaceless)?;
                row.applies.insert(metric.into(), Applies::OutOf(counts.reference_length as u32));
                Some((value, Score::Bleu(counts)))
            });
            row.give(metric.into(), score);
        }
        if self.pairs && !own.contains(&Metric::Accuracy) {
            let accuracy = self.evaluator.score(Metric::Accuracy, item, answer, spaceless);
            match accuracy {
                Some(value) => drop(row.scores.insert(Metric::Accuracy.into(), Score::Value(value))),
                None => drop(row.applies.insert(Metric::Accuracy.into(), Applies::Not)),
            }
        }
    }

    fn table(&self, rows: &[Row<'_>]) -> Observations {
        let key = CellKey {
            configuration: "".into(),
            method: "".into(),
            model: "".into(),
            budget: None,
            task: self.submission.items.first().map_or(Task::Generative, |item| item.task),
        };
        let facts: Vec<ItemFacts> =
            rows.iter().map(|row| ItemFacts { metrics: row.applies.clone(), ..ItemFacts::from(row.item) }).collect();
        let done = rows.iter().filter(|row| row.ending != Ending::Missing).map(|row| Observation {
            scores: row.scores.clone(),
            ..Observation::new(key.clone(), row.item.id.clone(), 0, row.ending)
        });
        let cell = Cell { key: key.clone(), facts: CellFacts::default() };
        Observations::new("", vec![cell], &facts, 1, done)
    }

    /// The estimate of every metric that applies to one of the items.
    fn estimates(&self, table: &Observations, policy: FailurePolicy) -> BTreeMap<String, Estimate> {
        let of = |metric: MetricName| {
            let by = Aggregation { policy, ..aggregation(&metric) };
            Some((String::from(metric), table.aggregate(&Rows::all(), &by).estimate?))
        };
        let mut estimates = BTreeMap::new();
        estimates.extend(self.names.iter().cloned().filter_map(of));
        estimates
    }

    fn groups(&self, table: &Observations, label: &str, notes: &mut Vec<String>) -> BTreeMap<String, Group> {
        let values: HashMap<&str, String> =
            self.submission.items.iter().filter_map(|item| Some((item.id.as_str(), label_of(item, label)?))).collect();
        let grouped = |by: &Aggregation| table.grouped(&Rows::all(), by, |item| values.get(item.id.as_str()).cloned());
        let any = grouped(&Aggregation::new(Metric::Accuracy));
        if any.in_none > 0 {
            notes.push(format!(
                "{} of {} items have no label `{label}` and stand in none of its groups",
                any.in_none,
                self.submission.items.len()
            ));
        }
        let empty = |made: Aggregate| Group { n: made.planned(), ledger: made.ledger, metrics: BTreeMap::new() };
        let mut groups = BTreeMap::new();
        groups.extend(any.groups.into_iter().map(|(value, made)| (value, empty(made))));
        for metric in &self.names {
            for (value, made) in grouped(&aggregation(metric)).groups {
                if let Some((group, estimate)) = groups.get_mut(&value).zip(made.estimate) {
                    group.metrics.insert(metric.to_string(), estimate);
                }
            }
        }
        groups
    }

    fn items(&self, rows: &[Row<'_>], table: &Observations) -> Vec<ScoredItem> {
        let pairs = if self.pairs {
            table.scores(&Rows::all(), &aggregation(&Metric::PairAccuracy.into()))
        } else {
            Vec::new()
        };
        let pairs: HashMap<&str, f64> = pairs.iter().map(|pair| (pair.item.id.as_str(), pair.value)).collect();
        let scored = |row: &Row<'_>| {
            let mut scores = row.shown.clone();
            if let Some(pair) = pairs.get(row.item.id.as_str()) {
                scores.insert(Metric::PairAccuracy.name().to_owned(), *pair);
            }
            ScoredItem {
                id: row.item.id.clone(),
                outcome: row.ending.name().to_owned(),
                documents: row.item.documents.clone(),
                labels: row.item.labels.clone(),
                gold: row.item.gold_fingerprint(),
                scores,
            }
        };
        rows.iter().map(scored).collect()
    }

    fn notes(&self, rows: &[Row<'_>], metrics: &BTreeMap<String, Estimate>) -> Vec<String> {
        let mut notes = Vec::new();
        for metric in self.metrics.iter().flatten().filter(|metric| !metrics.contains_key(metric.name())) {
            let wants = match metric {
                Metric::Accuracy => "a choice with its correct option",
                Metric::EvidenceRecall => "evidence with its words",
                Metric::PairAccuracy => "two claims that share a label `pair`",
                _ => "a gold answer in words",
            };
            notes.push(format!("{metric} is not available: no item has {wants}"));
        }
        let by_words: Vec<&str> = self.metrics.iter().flatten().filter(|m| m.cuts_words()).map(|m| m.name()).collect();
        let n_spaceless = rows.iter().filter(|row| is_spaceless(row.item) && !row.item.answers.is_empty()).count();
        if self.evaluator.words() == Words::Reference && n_spaceless > 0 && !by_words.is_empty() {
            let scored = if n_spaceless == 1 { "1 item is" } else { &format!("{n_spaceless} items are") };
            notes.push(format!(
                "{scored} Chinese or Japanese, where {} as published find whole sentences or no words at all: the option `chinese` \
                 with `characters` counts characters as words",
                by_words.join(", ")
            ));
        }
        notes
    }
}

impl Row<'_> {
    /// Gives the item a score under a metric, as it is shown and as it counts; `None` where it does not apply.
    fn give(&mut self, metric: MetricName, score: Option<(f64, Score)>) {
        match score {
            Some((value, score)) => {
                self.shown.insert(metric.to_string(), value);
                self.scores.insert(metric, score);
            }
            None => drop(self.applies.insert(metric, Applies::Not)),
        }
    }
}

/// Returns how the mean of a metric is made: BLEU is that of all answers together, a pair as right as its worst claim. A format
/// may credit a response that it calls unparsed, as L-Eval's guess.
fn aggregation(metric: &MetricName) -> Aggregation {
    let made = match metric.known() {
        Some(Metric::PairAccuracy) => Aggregation { unit: Unit::Pair, ..Aggregation::new(Metric::Accuracy) },
        Some(known) if known.bleu_order().is_some() => {
            Aggregation { weighting: Weighting::Pooled, ..Aggregation::new(known) }
        }
        _ => Aggregation::new(metric.clone()),
    };
    Aggregation { counting: Counting { unparsed: Treatment::Scored, ..Counting::default() }, ..made }
}

/// Returns an item's value of a label. `task` and `document` are what every item has, unless a label has that name.
fn label_of(item: &Item, label: &str) -> Option<String> {
    match (item.labels.get(label), label) {
        (Some(value), _) => Some(value.clone()),
        (None, "task") => serde_json::to_value(item.task).ok()?.as_str().map(str::to_owned),
        (None, "document") => Some(item.documents.join(", ")),
        (None, _) => None,
    }
}

fn check_labels(items: &[Item], labels: &[String]) -> Result<(), ScoreError> {
    let known: BTreeSet<&str> = items.iter().flat_map(|item| item.labels.keys()).map(String::as_str).collect();
    let built_in = ["task", "document"];
    match labels.iter().find(|label| !known.contains(label.as_str()) && !built_in.contains(&label.as_str())) {
        None => Ok(()),
        Some(label) => {
            let known = known.into_iter().chain(built_in).map(|name| format!("`{name}`")).collect();
            Err(ScoreError::UnknownLabel { label: label.clone(), known })
        }
    }
}

/// The answer an attempt ended with.
fn answer(attempt: &Attempt) -> Option<Answer<'_>> {
    match &attempt.outcome {
        Outcome::Answered { answer, choice } => Some(Answer { text: answer, choice: *choice }),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
