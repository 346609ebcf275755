//! Opinions of further judges and people on answers, as scores of their own beside the run's (NovelQA, Tables 7, 15 and
//! 17).

use super::Run;
use super::judging::{correctness_panels, verdict};
use super::observed::recorded;
use crate::paper::novelqa::{FAULT, JUDGED, RATED};
use closeread_eval::observations::{MetricName, Observations, PoolError, Score};
use closeread_eval::{Item, Outcome, Problem, Task};
use closeread_judges::{HumanLabel, Part, Subject, judged_scores};
use closeread_methods::record::{Record, TrialKey};
use std::collections::{BTreeMap, HashMap};

/// A file of people's labels, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelFile {
    /// Name of the file, for messages.
    pub name: String,
    /// Name of the rater of labels that do not name one.
    pub rater: String,
    /// The labels of the file.
    pub labels: Vec<HumanLabel>,
}

/// The labels by run and trial, each under the metric that it stands under.
#[derive(Debug, Default)]
pub(super) struct Opinions {
    by_run: Vec<HashMap<TrialKey, BTreeMap<MetricName, Score>>>,
    /// Labels that are on no answer of the runs, or on several.
    pub(super) unused: Vec<Problem>,
}

impl Opinions {
    /// The labels of these files, on the answers of these runs.
    pub(super) fn of(runs: &[Run], files: &[LabelFile]) -> Self {
        let mut made = Self { by_run: runs.iter().map(|_| HashMap::new()).collect(), unused: Vec::new() };
        for file in files {
            for label in &file.labels {
                if let Err(why) = made.add(runs, file, label) {
                    made.unused.push(Problem::dropped(&file.name, Some(label.line), Some(&label.item), why));
                }
            }
        }
        made
    }

    fn add(&mut self, runs: &[Run], file: &LabelFile, label: &HumanLabel) -> Result<(), String> {
        let (metric, score) = match label.part {
            Part::Answer => {
                let rater = if label.rater.is_empty() { &file.rater } else { &label.rater };
                (format!("{RATED}{rater}"), f64::from(u8::from(label.label == "correct")))
            }
            Part::Fault => (format!("{FAULT}{}", label.label), 1.0),
            Part::Sentence(_) | Part::Fact(_) | Part::Question => return Err("it is no label of an answer".to_owned()),
        };
        let is_meant = |run: &Run| label.run.as_ref().is_none_or(|name| *name == run.name);
        let on = |record: &&Record| {
            record.key.item == label.item && Subject::from(&record.key).trial.is_some_and(|trial| label.is_on(&trial))
        };
        let runs = runs.iter().enumerate().filter(|(_, run)| is_meant(run));
        let mut found = runs.flat_map(|(at, run)| run.records.iter().filter(on).map(move |record| (at, &record.key)));
        let Some((at, key)) = found.next() else {
            return Err("no trial of the runs is meant: expected an item, and a method, of a run".to_owned());
        };
        let more = found.filter(|other| *other != (at, key)).count();
        if more > 0 {
            let n = more + 1;
            return Err(format!(
                "{n} trials are meant: expected `method`, and `run`, `model`, `budget` or `repeat`, to name one"
            ));
        }
        self.by_run[at].entry(key.clone()).or_default().insert(metric.as_str().into(), Score::Value(score));
        Ok(())
    }

    /// The trials of a run with these opinions, and with the verdicts of each judge where there are several.
    ///
    /// # Errors
    /// As [`RunView::observations`](super::RunView::observations).
    pub(super) fn observations(&self, at: usize, run: &Run) -> Result<Observations, PoolError> {
        let index = run.judging.index();
        let panels = Some(correctness_panels(run)).filter(|panels| panels.len() > 1).unwrap_or_default();
        run.view().scored_by(|item: &Item, record| {
            let mut scores = recorded(item, record);
            scores.extend(judged_scores(&index, item, record));
            let is_open = item.task == Task::Generative && !item.answers.is_empty();
            scores.extend(panels.iter().filter(|_| is_open).map(|(name, panel, judge)| {
                let score = match record.outcome {
                    Outcome::Answered { .. } => verdict(&index, record, panel, *judge),
                    _ => Score::Value(0.0),
                };
                (format!("{JUDGED}{name}").as_str().into(), score)
            }));
            scores.extend(
                self.by_run
                    .get(at)
                    .and_then(|run| run.get(&record.key))
                    .into_iter()
                    .flatten()
                    .map(|(metric, score)| (metric.clone(), *score)),
            );
            scores
        })
    }
}
