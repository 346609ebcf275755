//! Judged accuracy beside what it would be if the judge made no errors, by the errors that people's labels show.

use super::human::AgainstPeople;
use super::{Judging, PanelVerdict, Ruling, Subject};
use closeread_eval::{Item, Outcome};
use closeread_methods::record::{Record, TrialKey};
use closeread_metrics::stats::corrected::{Corrected, Found, JudgeErrors, NoCorrection};
use std::collections::{BTreeMap, HashSet};

/// The judged accuracy of a method with a model at a budget.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedScore {
    /// Method, model, budget.
    pub arm: (String, String, Option<usize>),
    /// Trials of open questions that were judged, ended without an answer or are missing.
    pub n: usize,
    /// Trials that were judged, and of these the ones that the judge called correct.
    pub judged: Found,
    /// The judge's accuracy over all `n`, in 0..=1: what was not answered is wrong.
    pub raw: f64,
    /// Accuracy with the judged part corrected.
    pub corrected: Result<Corrected, NoCorrection>,
}

/// The errors of a judge of correctness, from its confusion with people.
pub fn judge_errors(against: &AgainstPeople) -> JudgeErrors {
    let place = |label: &str| against.confusion.labels.iter().position(|known| known == label);
    let count = |people: &str, judge: &str| {
        place(people).zip(place(judge)).map_or(0, |(row, column)| against.confusion.counts[row][column])
    };
    let found = |label: &str, other: &str| {
        let hit = count(label, label);
        Found { hit, of: hit + count(label, other) }
    };
    JudgeErrors { positive: found("correct", "incorrect"), negative: found("incorrect", "correct") }
}

/// The accuracies of a run by the panel that decides on correct answers, corrected by `errors`, over all trials that were planned; an
/// answer on which the panel is silent or was not asked is in none. Of several records of one trial the last counts.
pub fn corrected_scores(
    judging: &Judging,
    items: &[Item],
    records: &[Record],
    repeats: u32,
    errors: &JudgeErrors,
) -> Vec<CorrectedScore> {
    let Some((panel, judge)) = judging.correctness() else { return Vec::new() };
    let index = judging.index();
    let open: HashSet<&str> = items.iter().filter(|item| item.is_open()).map(|item| item.id.as_str()).collect();
    let planned = open.len() * repeats as usize;
    let is_planned = |record: &&Record| open.contains(record.key.item.as_str()) && record.key.repeat < repeats;
    let latest: BTreeMap<&TrialKey, &Record> =
        records.iter().filter(is_planned).map(|record| (&record.key, record)).collect();
    let mut arms: BTreeMap<(String, String, Option<usize>), (usize, Found)> = BTreeMap::new();
    for (key, record) in latest {
        let arm =
            arms.entry((key.method.clone(), key.model.clone(), key.budget)).or_insert((planned, Found::default()));
        match (&record.outcome, index.verdict(panel, &Subject::from(key), judge)) {
            (Outcome::Answered { .. }, PanelVerdict::Ruled(Ruling::Correctness { correct })) => {
                arm.1.of += 1;
                arm.1.hit += usize::from(correct);
            }
            (Outcome::Answered { .. } | Outcome::NotAsked { .. }, _) => arm.0 -= 1,
            _ => {}
        }
    }
    let score = |(arm, (n, judged)): ((String, String, Option<usize>), (usize, Found))| {
        let share = judged.of as f64 / n as f64;
        let scaled =
            |made: Corrected| Corrected { value: share * made.value, low: share * made.low, high: share * made.high };
        let corrected = errors.correct(judged, 0.95).map(scaled);
        CorrectedScore { arm, n, judged, raw: judged.hit as f64 / n as f64, corrected }
    };
    arms.into_iter().filter(|(_, (n, _))| *n > 0).map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agreement, Confusion, Judge, Judgement, JudgementKey, Panel, Verdict};
    use closeread_eval::Task;
    use serde_json::{Value, json};

    #[test]
    fn errors_are_read_off_the_confusion() {
        let pairs =
            [("correct", "correct"), ("correct", "incorrect"), ("incorrect", "incorrect"), ("incorrect", "incorrect")];
        let ratings: Vec<Vec<Option<&str>>> = pairs.iter().map(|(a, b)| vec![Some(*a), Some(*b)]).collect();
        let against = AgainstPeople {
            judge: "j".into(),
            question: "q".into(),
            agreement: Agreement::of(&ratings).unwrap(),
            confusion: Confusion::of(&pairs),
        };
        let errors = judge_errors(&against);
        assert_eq!((errors.positive, errors.negative), (Found { hit: 1, of: 2 }, Found { hit: 2, of: 2 }));
    }

    #[test]
    fn a_trial_that_was_asked_again_counts_once_and_one_that_is_missing_as_wrong() {
        let panel: Panel = serde_json::from_value(json!({"models": ["p/j"], "votes": 1, "rule": "majority",
            "paper": "saga_scale", "temperature": 0.0, "max_output_tokens": 9, "prompts": {}}))
        .unwrap();
        let record = |item: &str, outcome: Value| -> Record {
            let mut record = json!({"item": item, "method": "m", "model": "p/x", "budget": null, "repeat": 0, "scores": {},
                "prompt_tokens": 1, "calls": [], "seconds": 0.0});
            record.as_object_mut().unwrap().extend(outcome.as_object().unwrap().clone());
            serde_json::from_value(record).unwrap()
        };
        let answered = json!({"outcome": "answered", "answer": "x"});
        let failed = record("a", json!({"outcome": "failed", "error": "busy"}));
        let records = [
            failed,
            record("a", answered.clone()),
            record("b", answered),
            record("c", json!({"outcome": "not_found"})),
        ];
        let judgement = |at: usize, correct: bool| Judgement {
            key: JudgementKey {
                subject: Subject::from(&records[at].key),
                judge: Judge::SagaScale,
                judge_model: "p/j".into(),
                vote: 0,
                setup: panel.setup(Judge::SagaScale, "p/j"),
            },
            verdict: Verdict::Ruled { ruling: Ruling::Correctness { correct } },
            calls: Vec::new(),
            blocked_tokens: None,
        };
        let judging =
            Judging { judgements: vec![judgement(1, true), judgement(2, false)], panels: vec![panel.clone()] };
        let open = |id: &str| Item { answers: vec!["x".into()], ..Item::new(id, "b", "?", Task::Generative) };
        let items = ["a", "b", "c", "d"].map(open);
        let errors = JudgeErrors { positive: Found { hit: 9, of: 9 }, negative: Found { hit: 9, of: 9 } };
        let [score]: [CorrectedScore; 1] = corrected_scores(&judging, &items, &records, 1, &errors).try_into().unwrap();
        assert_eq!((score.n, score.judged, score.raw), (4, Found { hit: 1, of: 2 }, 0.25));
        assert_eq!(score.corrected.unwrap().value, 0.25);
    }
}
