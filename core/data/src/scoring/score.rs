//! From a submission to its scorecard.

use super::scorecard::{Group, PolicyScores, Scorecard, ScoredItem, ScoredLedger};
use super::{Attempt, Submission};
use closeread_eval::Item;
use closeread_eval::{Answer, Evaluator, citation_recall, default_metrics, is_chinese, pair_scores};
use closeread_eval::{Ending, FailurePolicy};
use closeread_eval::{Ledger, Outcome};
use closeread_metrics::bleu::{BleuOrder, BleuSmoothing, BleuStatistics};
use closeread_metrics::stats::{Estimate, IntervalMethod, Observation, bootstrap_statistic, estimate};
use closeread_metrics::{Metric, Words};
use std::collections::{BTreeMap, BTreeSet};

/// What to score by.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The metrics, the main one first. Empty: those of the submission's format, and without any those of each item's
    /// task ([`default_metrics`]), with `pair_accuracy` where items have a partner and `evidence_recall` where
    /// evidence is cited.
    pub metrics: Vec<Metric>,
    /// Labels to break the scores down by; `task` and `document` will do where no label has that name.
    pub by: Vec<String>,
    /// How the text metrics cut Chinese.
    pub chinese: Words,
}

impl Options {
    /// The metrics that every item of `submission` is scored by; empty where each item's task decides.
    pub fn metrics_for<'a>(&'a self, submission: &'a Submission) -> &'a [Metric] {
        if self.metrics.is_empty() { &submission.metrics } else { &self.metrics }
    }
}

/// Why a submission cannot be scored as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScoreError {
    /// No item has the label.
    #[error("no item has a label `{label}`: expected one of {}", known.join(", "))]
    UnknownLabel {
        /// What was asked for.
        label: String,
        /// The labels there are.
        known: Vec<String>,
    },
}

/// Scores a submission.
///
/// Every item is in the ledger. `missing` is one that no usable row speaks of; `unscored` one that is spoken of but has
/// neither a gold answer nor a score that the format gives; all others are counted by how they ended. Under
/// [`FailurePolicy::FailuresWrong`] an item without an answer scores 0 in every metric that its gold answer allows, also in
/// the scores that only the format gives.
///
/// # Errors
/// [`ScoreError`] names what cannot be done.
pub fn score(submission: &Submission, evaluator: &Evaluator, options: &Options) -> Result<Scorecard, ScoreError> {
    check_labels(&submission.items, &options.by)?;
    let plan = Plan::new(submission, evaluator, options);
    let rows: Vec<Row<'_>> = submission.items.iter().map(|item| plan.row(item)).collect();
    let all: Vec<&Row<'_>> = rows.iter().collect();
    let tried: Vec<&Row<'_>> = rows.iter().filter(|row| row.is_scored() && !row.is_failure()).collect();
    let ledger = ledger(&all);
    let metrics = plan.estimates(&all);
    let main = plan.main(&metrics);
    let left_out = PolicyScores { n: tried.len(), metrics: plan.estimates(&tried) };
    let mut notes: Vec<String> = submission.notes.iter().map(ToString::to_string).collect();
    notes.extend(plan.notes(&rows, &metrics));
    let mut by = BTreeMap::new();
    for label in &options.by {
        by.insert(label.clone(), plan.groups(label, &all, &mut notes));
    }
    let items = plan.items(&rows);
    Ok(Scorecard {
        n: rows.len(),
        complete: ledger.missing == 0,
        ledger: ScoredLedger { counts: ledger, problems: submission.problems.clone() },
        main,
        policy: FailurePolicy::FailuresWrong,
        metrics,
        policies: BTreeMap::from([(FailurePolicy::FailuresLeftOut, left_out)]),
        chinese: options.chinese,
        by,
        items,
        notes,
    })
}

const MISSING: &str = "missing";
const UNSCORED: &str = "unscored";

/// An item with what it scored.
struct Row<'a> {
    item: &'a Item,
    /// Questions about the same documents form a cluster.
    cluster: String,
    /// The field of the ledger that counts it.
    field: &'static str,
    outcome: Option<&'a Outcome>,
    /// What was asked for, by name.
    scores: BTreeMap<String, f64>,
    /// What pairs are made of, asked for or not.
    accuracy: Option<f64>,
    /// What corpus BLEU adds up; absent where it does not apply.
    bleu: Option<BleuStatistics>,
}

impl Row<'_> {
    fn is_scored(&self) -> bool {
        self.field != UNSCORED
    }

    /// True where the system never got to answer.
    fn is_failure(&self) -> bool {
        self.outcome.is_none_or(|outcome| Ending::from(outcome).is_failure())
    }
}

/// What is computed for which item.
struct Plan<'a> {
    submission: &'a Submission,
    evaluator: &'a Evaluator,
    /// The metrics of every item; `None` leaves them to the item's task.
    metrics: Option<Vec<Metric>>,
    /// Names of scores that the format gives.
    given: BTreeSet<&'a str>,
    pairs: bool,
    evidence: bool,
}

impl<'a> Plan<'a> {
    fn new(submission: &'a Submission, evaluator: &'a Evaluator, options: &Options) -> Self {
        let asked = Some(options.metrics_for(submission).to_vec()).filter(|metrics| !metrics.is_empty());
        let given = submission.attempts.values().flat_map(|attempt| attempt.given.keys());
        let wanted = |metric| asked.as_ref().is_none_or(|metrics: &Vec<Metric>| metrics.contains(&metric));
        let cites = submission.attempts.values().any(|attempt| !attempt.evidence.is_empty());
        Self {
            submission,
            evaluator,
            given: given.map(String::as_str).filter(|name| name.parse().map_or(true, wanted)).collect(),
            pairs: wanted(Metric::PairAccuracy),
            evidence: wanted(Metric::EvidenceRecall) && (asked.is_some() || cites),
            metrics: asked,
        }
    }

    fn metrics_of(&self, item: &Item, chinese: bool) -> &[Metric] {
        self.metrics.as_deref().unwrap_or_else(|| default_metrics(item.task, chinese))
    }

    fn row(&self, item: &'a Item) -> Row<'a> {
        let attempt = self.submission.attempts.get(&item.id);
        let answer = attempt.and_then(answer);
        let chinese = is_chinese(item);
        let metrics = self.metrics_of(item, chinese);
        let mut scores = BTreeMap::new();
        for metric in metrics {
            if let Some(value) = self.evaluator.score(*metric, item, answer, chinese) {
                scores.insert(metric.name().to_owned(), value);
            }
        }
        for name in &self.given {
            match attempt.and_then(|attempt| attempt.given.get(*name)) {
                Some(value) => drop(scores.insert((*name).to_owned(), *value)),
                None if answer.is_none() => drop(scores.entry((*name).to_owned()).or_insert(0.0)),
                None => {}
            }
        }
        let given_accuracy = attempt.and_then(|attempt| attempt.given.get(Metric::Accuracy.name()).copied());
        let accuracy = given_accuracy
            .or_else(|| self.evaluator.score(Metric::Accuracy, item, answer, chinese))
            .or_else(|| scores.get(Metric::Accuracy.name()).copied());
        let has_gold = !item.answers.is_empty() || item.correct.is_some();
        let field = match attempt {
            None => MISSING,
            Some(attempt) if !has_gold && attempt.given.is_empty() => UNSCORED,
            Some(attempt) => attempt.outcome.name(),
        };
        if field == UNSCORED {
            scores.clear();
        }
        if self.evidence {
            let cited = attempt.map_or(&[][..], |attempt| &attempt.evidence);
            if let Some(recall) = citation_recall(item, cited) {
                scores.insert(Metric::EvidenceRecall.name().to_owned(), recall);
            }
        }
        let bleu = metrics.iter().any(|metric| metric.bleu_order().is_some());
        let bleu = bleu.then(|| self.evaluator.bleu_statistics(item, answer, chinese)).flatten();
        let outcome = attempt.map(|attempt| &attempt.outcome);
        Row { item, cluster: cluster(item), field, outcome, scores, accuracy, bleu }
    }

    /// The estimate of every metric that applies to one of `rows`.
    fn estimates(&self, rows: &[&Row<'_>]) -> BTreeMap<String, Estimate> {
        let mut observations: BTreeMap<&str, Vec<Observation<'_>>> = BTreeMap::new();
        let mut claims: Vec<(f64, &Item)> = Vec::new();
        for row in rows {
            for (name, value) in &row.scores {
                observations.entry(name).or_default().push(Observation { value: *value, cluster: &row.cluster });
            }
            claims.extend(row.accuracy.map(|value| (value, row.item)));
        }
        let mut estimates: BTreeMap<String, Estimate> = BTreeMap::new();
        for (name, observations) in observations {
            let order = name.parse::<Metric>().ok().and_then(Metric::bleu_order);
            let made = match order {
                Some(order) => corpus_bleu(rows, order),
                None => estimate(&observations),
            };
            estimates.extend(made.map(|made| (name.to_owned(), made)));
        }
        if self.pairs {
            let pairs = pair_scores(&claims);
            let clusters: Vec<String> = pairs.iter().map(|(_, item)| cluster(item)).collect();
            let observations = pairs.iter().zip(&clusters);
            let observations: Vec<Observation<'_>> =
                observations.map(|((value, _), cluster)| Observation { value: *value, cluster }).collect();
            estimates.extend(estimate(&observations).map(|made| (Metric::PairAccuracy.name().to_owned(), made)));
        }
        estimates
    }

    /// The metric that ranks.
    fn main(&self, metrics: &BTreeMap<String, Estimate>) -> Option<String> {
        let asked = self.metrics.iter().flatten().map(|metric| metric.name());
        if let Some(first) = asked.into_iter().find(|name| metrics.contains_key(*name)) {
            return Some(first.to_owned());
        }
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        for item in self.submission.items.iter().filter(|_| self.metrics.is_none()) {
            *votes.entry(default_metrics(item.task, is_chinese(item))[0].name()).or_default() += 1;
        }
        let most = votes.into_iter().filter(|(name, _)| metrics.contains_key(*name)).rev().max_by_key(|(_, n)| *n);
        most.map(|(name, _)| name.to_owned()).or_else(|| metrics.keys().next().cloned())
    }

    fn groups(&self, label: &str, rows: &[&Row<'_>], notes: &mut Vec<String>) -> BTreeMap<String, Group> {
        let mut members: BTreeMap<String, Vec<&Row<'_>>> = BTreeMap::new();
        let mut n_without = 0;
        for row in rows {
            match label_of(row.item, label) {
                Some(value) => members.entry(value).or_default().push(row),
                None => n_without += 1,
            }
        }
        if n_without > 0 {
            notes.push(format!(
                "{n_without} of {} items have no label `{label}` and stand in none of its groups",
                rows.len()
            ));
        }
        let group =
            |rows: Vec<&Row<'_>>| Group { n: rows.len(), ledger: ledger(&rows), metrics: self.estimates(&rows) };
        members.into_iter().map(|(value, rows)| (value, group(rows))).collect()
    }

    fn items(&self, rows: &[Row<'_>]) -> Vec<ScoredItem> {
        let claims: Vec<(f64, &Item)> = rows.iter().filter_map(|row| Some((row.accuracy?, row.item))).collect();
        let pairs = if self.pairs { pair_scores(&claims) } else { Vec::new() };
        let pairs: BTreeMap<&str, f64> = pairs.into_iter().map(|(score, item)| (item.id.as_str(), score)).collect();
        let scored = |row: &Row<'_>| {
            let mut scores = row.scores.clone();
            if let Some(pair) = pairs.get(row.item.id.as_str()) {
                scores.insert(Metric::PairAccuracy.name().to_owned(), *pair);
            }
            ScoredItem {
                id: row.item.id.clone(),
                outcome: row.field.to_owned(),
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
        let n_chinese = rows.iter().filter(|row| is_chinese(row.item) && !row.item.answers.is_empty()).count();
        if self.evaluator.words() == Words::Reference && n_chinese > 0 && !by_words.is_empty() {
            let scored = if n_chinese == 1 { "1 item is" } else { &format!("{n_chinese} items are") };
            notes.push(format!(
                "{scored} Chinese, where {} as published find whole sentences or no words at all: the option `chinese` \
                 with `characters` counts characters as words",
                by_words.join(", ")
            ));
        }
        notes
    }
}

fn cluster(item: &Item) -> String {
    item.documents.join("\n")
}

/// BLEU of all answers together, with the percentiles of its bootstrap; a single item has no spread to measure, and
/// none is claimed: its interval is all there is, 0..=1.
fn corpus_bleu(rows: &[&Row<'_>], order: BleuOrder) -> Option<Estimate> {
    let rows: Vec<(&BleuStatistics, &str)> =
        rows.iter().filter_map(|row| Some((row.bleu.as_ref()?, row.cluster.as_str()))).collect();
    let clusters: Vec<&str> = rows.iter().map(|(_, cluster)| *cluster).collect();
    let bleu = |sum: BleuStatistics| sum.score(order, BleuSmoothing::None).bleu;
    let value = bleu(rows.iter().map(|row| *row.0).sum());
    let spread =
        bootstrap_statistic(rows.len(), &clusters, |indices| bleu(indices.iter().map(|index| *rows[*index].0).sum()))?;
    let interval = if spread.by_cluster { IntervalMethod::BootstrapByBook } else { IntervalMethod::BootstrapOverItems };
    // The percentiles of a skewed statistic can miss the value itself, which must not stand outside its interval.
    let (low, high) = if rows.len() == 1 { (0.0, 1.0) } else { (spread.low.min(value), spread.high.max(value)) };
    Some(Estimate { value, low, high, n: rows.len(), interval })
}

fn ledger(rows: &[&Row<'_>]) -> Ledger {
    let mut ledger = Ledger { items: rows.len(), ..Ledger::default() };
    for row in rows {
        match row.field {
            MISSING => ledger.missing += 1,
            UNSCORED => ledger.unscored += 1,
            _ => ledger.count(row.outcome.expect("an item that is not missing has an outcome")),
        }
    }
    ledger
}

/// What a label says of an item. `task` and `document` are what every item has, unless a label has that name.
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
