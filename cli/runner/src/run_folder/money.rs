//! Cost of a run so far, and the prices that count it.

use super::preparations::{PreparationKey, preparations};
use super::served::{EMBEDDINGS, RERANKING, served_calls};
use crate::journal::Journals;
use crate::spending::{Charged, Spent};
use anyhow::{Context, Result};
use closeread_books::tokens::Tokenizer;
use closeread_eval::Outcome;
use closeread_files::{self as files, pretty, write_atomically};
use closeread_judges::{Judgement, Judging};
use closeread_llm::Response;
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::Preparation;
use closeread_methods::record::{CallTrace, Record};
use closeread_report::{blocked_call, served_usage};
use serde_json::json;
use std::path::Path;
use tracing::warn;

/// The prices that the run's money is counted by.
pub const PRICES: &str = "prices.json";

/// Returns what the calls cost that are in a folder: of its records, its preparations and its judges, or what they were charged
/// while they ran, if that is more; those of unknown price count as nothing, and those without tokens with ours. The calls of
/// trials that are not finished, failed ones included, stand in their journals. Of a call whose response was blocked a record
/// holds the prompt's tokens alone, which were charged while it ran.
pub fn spent<'r>(
    folder: &Path,
    records: impl Iterator<Item = &'r Record>,
    judging: &Judging,
    prices: &PriceList,
) -> Result<Spent> {
    let trials = cost_of_trials(records, prices);
    let before = cost_of_preparations(&preparations(folder)?, prices);
    let judges = cost_of_judgements(judging.judgements.iter(), prices);
    let unfinished = cost_of_responses(&Journals::of_run(folder).responses()?, prices);
    let served = [served_calls(folder, EMBEDDINGS)?, served_calls(folder, RERANKING)?].concat();
    let served = served_usage(&served, prices);
    let served = served.iter().map(|usage| usage.dollars);
    let kept: Dollars = [trials, before, judges, unfinished].into_iter().sum();
    let charged = Charged::read(folder)?.unwrap_or_default();
    let (calls, open) = match charged.total() > kept {
        true => (charged.total(), charged.open()),
        false => (kept, Dollars::default()),
    };
    Ok(Spent { calls, kept, open, served: served.sum() })
}

/// Returns what the calls of trials cost that did not fail; those of unknown price count as nothing.
pub fn cost_of_trials<'r>(records: impl Iterator<Item = &'r Record>, prices: &PriceList) -> Dollars {
    let cost = |record: &Record| match record.outcome {
        Outcome::Failed { .. } => Dollars::default(),
        _ => cost_of_calls(&record.key.model, &record.calls, record.blocked_tokens(), prices),
    };
    records.map(cost).sum()
}

/// Returns what the calls of preparations cost; those of unknown price count as nothing.
pub fn cost_of_preparations(made: &[(PreparationKey, Preparation)], prices: &PriceList) -> Dollars {
    made.iter().map(|(key, made)| cost_of_calls(&key.model, &made.calls, made.blocked_tokens(), prices)).sum()
}

/// Returns what the calls of judges cost; those of unknown price count as nothing.
pub fn cost_of_judgements<'j>(judgements: impl Iterator<Item = &'j Judgement>, prices: &PriceList) -> Dollars {
    judgements.map(|said| cost_of_calls(&said.key.judge_model, &said.calls, said.blocked_tokens, prices)).sum()
}

/// Returns what responses of journals cost; those of unknown price count as nothing.
pub fn cost_of_responses(responses: &[(String, Response)], prices: &PriceList) -> Dollars {
    responses.iter().filter_map(|(model, response)| prices.cost(model, &response.usage)).sum()
}

/// Returns what calls cost, the last one too where its response was blocked; `blocked` is the tokens of all their prompts then.
fn cost_of_calls(model: &str, calls: &[CallTrace], blocked: Option<usize>, prices: &PriceList) -> Dollars {
    let blocked = blocked.and_then(|tokens| blocked_call(calls, tokens));
    let blocked = blocked.and_then(|usage| prices.cost(model, &usage)).unwrap_or_default();
    let paid = calls.iter().filter(|call| !call.cached);
    paid.map(|call| cost_of(model, call, prices).unwrap_or_default()).sum::<Dollars>() + blocked
}

/// Returns what a call costs, if its price is known. Tokens that its server did not name are counted here: a run with a limit does
/// so while it asks, one without leaves them open.
fn cost_of(model: &str, call: &CallTrace, prices: &PriceList) -> Option<Dollars> {
    prices.of(model)?;
    prices.cost(model, &call.usage).or_else(|| {
        let response = Tokenizer::cl100k().count(&call.response) as u64;
        prices.cost(model, &call.usage.or_counted(call.counted_tokens as u64, response, response))
    })
}

/// The prices that the money of the run in a folder is counted by; none where none were kept.
pub fn prices(folder: &Path) -> Result<PriceList> {
    let file = folder.join(PRICES);
    let Some(bytes) = files::read(&file)? else { return Ok(PriceList::default()) };
    serde_json::from_slice(&bytes).with_context(|| {
        format!("{} holds no prices: give the run's command again, which makes it anew", file.display())
    })
}

/// Keeps the prices that the money of the run in a folder is counted by, those of other models that it has included; a
/// file that holds none is made anew.
pub fn write_prices(folder: &Path, now: PriceList) -> Result<()> {
    let file = folder.join(PRICES);
    let there = files::read(&file)?.map(|bytes| serde_json::from_slice(&bytes));
    if let Some(Err(error)) = &there {
        warn!("{} is damaged ({error}) and is made anew, by the prices of today", file.display());
    }
    let there = there.and_then(Result::ok).unwrap_or_else(PriceList::default);
    write_atomically(&file, &pretty(&json!(there.overlaid(now))))
}
