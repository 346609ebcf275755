//! Submissions as runs on the items of a leaderboard.

use crate::site::leaderboard::card_of;
use crate::{Arm, HowAsked, Run};
use closeread_data::scoring::Submission as Predictions;
use closeread_eval::{Item, Problem};
use closeread_judges::Judging;
use closeread_llm::price::PriceList;
use closeread_methods::record::{Record, TrialKey};
use closeread_table::number::thousands;
use std::collections::{BTreeMap, HashMap};

/// The method of answers that nobody says more of.
const PREDICTIONS: &str = "predictions";

/// The run with the items of `gold`, in their order. Those that it did not ask are missing, and count as wrong.
///
/// # Errors
/// A sentence that names an item which `gold` has otherwise, or not at all.
pub fn held_to(mut run: Run, gold: &[Item]) -> Result<Run, String> {
    let mut own: HashMap<String, Item> = run.items.drain(..).map(|item| (item.id.clone(), item)).collect();
    for item in gold {
        let asked = match own.remove(&item.id) {
            // The places of its evidence are known to the run.
            Some(asked) if asked.gold_fingerprint() == item.gold_fingerprint() => asked,
            Some(_) => {
                return Err(format!(
                    "item `{}` has another question or gold answer than the leaderboard's: run it on these items",
                    item.id
                ));
            }
            None => item.clone(),
        };
        run.items.push(asked);
    }
    match own.keys().min() {
        None => Ok(run),
        Some(id) => {
            let n = thousands(own.len() as u64);
            Err(format!("{n} of its items are none of the leaderboard's, such as `{id}`: run it on these items"))
        }
    }
}

/// Predictions as the run that they could be of: one method, no calls.
///
/// # Errors
/// A sentence that says why nothing of them can be scored.
pub fn of_predictions(name: &str, model: Option<&str>, predictions: &Predictions) -> Result<Run, String> {
    let problems: Vec<&Problem> = predictions.problems.iter().collect();
    let first = problems.first().map_or_else(String::new, |first| format!("; the first problem: {first}"));
    if predictions.attempts.is_empty() {
        return Err(format!("no row of the predictions is on an item of the leaderboard{first}"));
    }
    let card = card_of(predictions).map_err(|error| error.to_string())?;
    let arm = Arm { method: PREDICTIONS.to_owned(), model: model.unwrap_or(name).to_owned(), budget: None };
    let records = card.items.iter().filter_map(|scored| {
        let attempt = predictions.attempts.get(&scored.id)?;
        let Arm { method, model, budget } = arm.clone();
        Some(Record {
            key: TrialKey { item: scored.id.clone(), method, model, budget, repeat: 0 },
            outcome: attempt.outcome.clone(),
            scores: scored.scores.clone(),
            prompt_tokens: 0,
            context: None,
            calls: Vec::new(),
            measures: BTreeMap::new(),
            evidence: (!attempt.evidence.is_empty()).then(|| attempt.evidence.clone()),
            shared_call: None,
            seconds: 0.0,
        })
    });
    let records: Vec<Record> = records.collect();
    let mut run = nobodys(name, &predictions.items);
    (run.plan, run.records) = (vec![arm], records);
    if !problems.is_empty() {
        run.gaps.push(format!("DAMAGED: {} rows could not be used{first}", thousands(problems.len() as u64)));
    }
    Ok(run)
}

/// A run on these items that asked nothing.
pub(super) fn nobodys(name: &str, items: &[Item]) -> Run {
    Run {
        name: name.to_owned(),
        benchmark: String::new(),
        plan: Vec::new(),
        items: items.to_vec(),
        records: Vec::new(),
        repeats: 1,
        books: BTreeMap::new(),
        data: Vec::new(),
        asked: HowAsked::default(),
        judging: Judging::default(),
        facts: Vec::new(),
        preparations: Vec::new(),
        prices: PriceList::default(),
        gaps: Vec::new(),
    }
}
