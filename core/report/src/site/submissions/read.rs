//! Submissions as runs on the items of a leaderboard.

use crate::site::leaderboard::{GOLD, card_of, lines};
use crate::{Arm, HowAsked, Run};
use closeread_data::scoring::ScoreError;
use closeread_data::scoring::prediction::{self, ReadError};
use closeread_eval::{InputFile, Item, Problem};
use closeread_judges::Judging;
use closeread_llm::price::PriceList;
use closeread_methods::record::{Record, TrialKey};
use closeread_table::number::thousands;
use std::collections::{BTreeMap, HashMap};

/// Name of the method of answers that nobody says more of.
const PREDICTIONS: &str = "predictions";

/// The reason why a submission cannot stand on a leaderboard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubmissionError {
    /// An item is another one than the leaderboard's of the same id.
    #[error("item `{0}` has another question or gold answer than the leaderboard's: run it on these items")]
    OtherItem(String),
    /// The run was asked questions whose gold answers it was not told.
    #[error("the run was asked item `{0}` without its gold answer: hand in its predictions instead")]
    NoGold(String),
    /// The submission has items beside those of the leaderboard.
    #[error("{} of its items are none of the leaderboard's, such as `{first}`: run it on these items", thousands(*n as u64))]
    MoreItems {
        /// Number of such items.
        n: usize,
        /// The first of such items by id.
        first: String,
    },
    /// No row of the predictions can be used.
    #[error("no row of the predictions is on an item of the leaderboard{0}")]
    NoRow(String),
    /// The items of the leaderboard cannot be used.
    #[error(transparent)]
    Gold(#[from] ReadError),
    /// The predictions cannot be scored.
    #[error(transparent)]
    Score(#[from] ScoreError),
}

/// The run with the items of `gold`, in their order. Those that it did not ask are missing, and count as wrong.
///
/// # Errors
/// [`SubmissionError`] names an item which `gold` has otherwise, or not at all.
pub fn held_to(mut run: Run, gold: &[Item]) -> Result<Run, SubmissionError> {
    let mut own: HashMap<String, Item> = run.items.drain(..).map(|item| (item.id.clone(), item)).collect();
    for item in gold {
        let asked = match own.remove(&item.id) {
            // The places of its evidence are known to the run.
            Some(asked) if asked.gold_fingerprint() == item.gold_fingerprint() => asked,
            Some(asked) if is_question_of(&asked, item) => return Err(SubmissionError::NoGold(item.id.clone())),
            Some(_) => return Err(SubmissionError::OtherItem(item.id.clone())),
            None => item.clone(),
        };
        run.items.push(asked);
    }
    match own.keys().min() {
        None => Ok(run),
        Some(first) => Err(SubmissionError::MoreItems { n: own.len(), first: first.clone() }),
    }
}

/// Returns whether an item is the question of another, without its gold answer or with a hash of it.
fn is_question_of(asked: &Item, item: &Item) -> bool {
    let has_gold = asked.correct.is_some() || asked.has_told_answers();
    let is_same = asked.task == item.task && asked.question == item.question && asked.options == item.options;
    is_same && !has_gold
}

/// Predictions as the run that they could be of: one method, no calls.
///
/// # Errors
/// [`SubmissionError`] says why nothing of them can be scored.
pub fn of_predictions(
    name: &str,
    model: Option<&str>,
    gold: &[Item],
    file: &InputFile,
) -> Result<Run, SubmissionError> {
    let items = InputFile { name: GOLD.to_owned(), bytes: lines(gold).into_bytes() };
    let predictions = prediction::read(&items, file)?;
    let problems: Vec<&Problem> = predictions.problems.iter().collect();
    let first = problems.first().map_or_else(String::new, |first| format!("; the first problem: {first}"));
    if predictions.attempts.is_empty() {
        return Err(SubmissionError::NoRow(first));
    }
    let card = card_of(&predictions)?;
    let arm = Arm { method: PREDICTIONS.to_owned(), model: model.unwrap_or(name).to_owned(), budget: None };
    let records = card.items.iter().filter_map(|scored| {
        let attempt = predictions.attempts.get(&scored.id)?;
        let Arm { method, model, budget } = arm.clone();
        let key = TrialKey { item: scored.id.clone(), method, model, budget, repeat: 0 };
        let evidence = (!attempt.evidence.is_empty()).then(|| attempt.evidence.clone());
        Some(Record { scores: scored.scores.clone(), evidence, ..Record::ended(key, attempt.outcome.clone()) })
    });
    let records: Vec<Record> = records.collect();
    let mut run = unasked(name, &predictions.items);
    (run.plan, run.records) = (vec![arm], records);
    if !problems.is_empty() {
        run.gaps.push(format!("DAMAGED: {} rows could not be used{first}", thousands(problems.len() as u64)));
    }
    Ok(run)
}

/// A run on these items that asked nothing.
pub(super) fn unasked(name: &str, items: &[Item]) -> Run {
    Run {
        name: name.to_owned(),
        benchmark: String::new(),
        plan: Vec::new(),
        items: items.to_vec(),
        records: Vec::new(),
        repeats: 1,
        books: BTreeMap::new(),
        texts: BTreeMap::new(),
        data: Vec::new(),
        asked: HowAsked::default(),
        judging: Judging::default(),
        facts: Vec::new(),
        preparations: Vec::new(),
        prices: PriceList::default(),
        served: Vec::new(),
        is_log: false,
        gaps: Vec::new(),
    }
}
