//! Estimates of each line of the table: calls, tokens, money.

use super::scene::Scene;
use anyhow::{Context, Result};
use closeread_llm::price::Dollars;
use closeread_methods::cost::{Cost, Range, Tariff};
use closeread_report::Arm;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// A range of money from the least to the most, in dollars.
pub(super) type Money = (Dollars, Dollars);

/// A method with a model at a budget.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CellEstimate {
    #[serde(flatten)]
    pub(super) key: Arm,
    pub(super) calls: Range,
    pub(super) prompt_tokens: Range,
    pub(super) response_tokens: Range,
    /// Cost by tariff; absent where the price is not known.
    pub(super) dollars: Tariffs,
    /// Tokens of the largest request, prompt and limit of the response.
    pub(super) largest_request: u64,
    /// Items that end as an overflow of the model's window, without a call.
    pub(super) overflows: usize,
    /// Requests that the model's window, or `--tpm`, can never take.
    pub(super) never_fit: u64,
}

/// The money by tariff.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Tariffs {
    pub(super) list: Option<Money>,
    pub(super) cached: Option<Money>,
    pub(super) batch: Option<Money>,
}

/// The calls on one group of books in one cell.
pub(super) struct Work {
    /// Number of the group.
    pub(super) group: usize,
    pub(super) model: String,
    pub(super) calls: Range,
    /// Number of calls that wait for each other.
    pub(super) chain: Range,
    pub(super) tokens: Range,
}

/// Makes one entry a cell, and the work behind them.
pub(super) fn estimates(scene: &Scene<'_>) -> Result<(Vec<CellEstimate>, Vec<Work>)> {
    let mut work = Vec::new();
    let mut cells = Vec::new();
    let mut prepared = HashSet::new();
    let mut by_preparer: BTreeMap<&str, CellEstimate> = BTreeMap::new();
    let typical = scene.assumed.response_tokens;
    let repeats = u64::from(scene.repeats);
    for cell in scene.cells {
        let mut estimate = CellEstimate::nothing(scene, cell.key.clone());
        let preparer = scene.preparer.unwrap_or(&cell.key.model);
        let in_fields = |model: &str| scene.in_fields(&cell.key.method, model);
        let (beside, beside_preparation) = (in_fields(&cell.key.model), in_fields(preparer));
        for (idx, group) in scene.groups.iter().enumerate() {
            let cost = cell
                .method
                .cost(scene.setting_of(&cell.key.model), &group.sizes, &group.items, cell.key.budget)
                .with_context(|| format!("method {}", cell.key.method))?;
            // What is made of the books once serves all budgets, repetitions and, with a preparer, readers.
            let units = (group.items.len() as u64).max(1);
            let (cost, preparation) = cost.split();
            let (cost, preparation) = (cost.with_up_to(beside), preparation.with_up_to(beside_preparation));
            if !preparation.calls.is_empty() && prepared.insert((&cell.key.method, preparer, idx)) {
                match scene.preparer {
                    Some(model) => by_preparer
                        .entry(&cell.key.method)
                        .or_insert_with(|| {
                            let method = format!("{} (preparation)", cell.key.method);
                            CellEstimate::nothing(scene, Arm { method, model: model.to_owned(), budget: None })
                        })
                        .add(scene, &preparation, 1),
                    None => estimate.add(scene, &preparation, 1),
                }
                work.push(Work::of(idx, preparer, &preparation, 1, units, typical));
            }
            estimate.add(scene, &cost, repeats);
            work.push(Work::of(idx, &cell.key.model, &cost, repeats, units, typical));
        }
        cells.push(estimate);
    }
    cells.extend(by_preparer.into_values());
    Ok((cells, work))
}

impl Work {
    /// Makes the work of `times` times the calls of `cost`, a chain of them a unit.
    fn of(group: usize, model: &str, cost: &Cost, times: u64, units: u64, typical: u64) -> Self {
        let Range { low, high } = cost.n();
        Self {
            group,
            model: model.to_owned(),
            calls: cost.n() * times,
            chain: Range { low: low.div_ceil(units), high: high.div_ceil(units) },
            tokens: (cost.prompt() + cost.response(typical)) * times,
        }
    }
}

impl CellEstimate {
    /// Begins without a call.
    pub(super) fn nothing(scene: &Scene<'_>, key: Arm) -> Self {
        let zero = scene.prices.of(&key.model).map(|_| (Dollars::default(), Dollars::default()));
        Self {
            key,
            calls: Range::default(),
            prompt_tokens: Range::default(),
            response_tokens: Range::default(),
            dollars: Tariffs { list: zero, cached: zero, batch: zero },
            largest_request: 0,
            overflows: 0,
            never_fit: 0,
        }
    }

    /// Adds what `cost` has, `times` times.
    pub(super) fn add(&mut self, scene: &Scene<'_>, cost: &Cost, times: u64) {
        let facts = scene.prices.of(&self.key.model);
        let window = scene.window(&self.key.model).map(|window| window as u64);
        let limit = [window, scene.assumed.tpm].into_iter().flatten().min();
        let typical = scene.assumed.response_tokens;
        self.calls = self.calls + cost.n() * times;
        self.prompt_tokens = self.prompt_tokens + cost.prompt() * times;
        self.response_tokens = self.response_tokens + cost.response(typical) * times;
        self.largest_request = self.largest_request.max(cost.largest_request());
        self.overflows += cost.overflows.len() * times as usize;
        self.never_fit += limit.map_or(0, |limit| never_fit(cost, limit)) * times;
        let Tariffs { list, cached, batch } = &mut self.dollars;
        for (sum, tariff) in [(list, Tariff::List), (cached, Tariff::Cached), (batch, Tariff::Batch)] {
            let more = facts.and_then(|facts| cost.dollars(facts, tariff, typical));
            *sum = sum.zip(more).map(|(sum, more)| plus(sum, more, times as f64));
        }
    }
}

/// Returns the sum of two amounts, the second `times` times.
pub(super) fn plus(a: Money, b: Money, times: f64) -> Money {
    (a.0 + b.0 * times, a.1 + b.1 * times)
}

/// Requests of which each is larger than `limit` even where it is at its smallest.
fn never_fit(cost: &Cost, limit: u64) -> u64 {
    let too_large = cost.calls.iter().filter(|calls| {
        let shortest = calls.prompt.low / calls.n.low.max(1);
        calls.n.low > 0 && shortest + calls.response_limit > limit
    });
    too_large.map(|calls| calls.n.low).sum()
}
