//! Judged accuracy beside what it would be if the judge made no errors, by the errors that people's labels show.

use super::human::AgainstPeople;
use super::{Judging, PanelVerdict, Ruling, Subject};
use closeread_eval::{Item, Outcome, Task};
use closeread_methods::record::Record;
use closeread_metrics::stats::corrected::{Corrected, Found, JudgeErrors, NoCorrection};
use std::collections::{BTreeMap, HashMap};

/// The judged accuracy of a method with a model at a budget.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedScore {
    /// Method, model, budget.
    pub arm: (String, String, Option<usize>),
    /// Trials of open questions that were judged or ended without an answer.
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

/// The accuracies of a run by the panel that decides on correct answers, corrected by `errors`; an answer on which the panel is
/// silent or was not asked is in none.
pub fn corrected_scores(
    judging: &Judging,
    items: &[Item],
    records: &[Record],
    errors: &JudgeErrors,
) -> Vec<CorrectedScore> {
    let Some((panel, judge)) = judging.correctness() else { return Vec::new() };
    let index = judging.index();
    let items: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut arms: BTreeMap<(String, String, Option<usize>), (usize, Found)> = BTreeMap::new();
    for record in records {
        let is_open = |item: &&Item| item.task == Task::Generative && !item.answers.is_empty();
        if items.get(record.key.item.as_str()).copied().filter(is_open).is_none() {
            continue;
        }
        let key = &record.key;
        let arm = arms.entry((key.method.clone(), key.model.clone(), key.budget)).or_default();
        match (&record.outcome, index.verdict(panel, &Subject::from(key), judge)) {
            (_, PanelVerdict::Ruled(Ruling::Correctness { correct })) => {
                arm.0 += 1;
                arm.1.of += 1;
                arm.1.hit += usize::from(correct);
            }
            (Outcome::Answered { .. } | Outcome::NotAsked { .. }, _) => {}
            _ => arm.0 += 1,
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
    use crate::{Agreement, Confusion};

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
}
