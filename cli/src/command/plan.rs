//! Plan of `run` and `estimate`, and messages that they and `judge` share.

use anyhow::{Result, bail};
use closeread_eval::{Item, LISTED};
use closeread_llm::price::Dollars;
use closeread_methods::{AnyMethod, Entry};
use closeread_report::Arm;
use closeread_runner::benchmark::Benchmark;
use closeread_runner::encoders::Encoders;
use closeread_runner::engine::PlannedCell;
use closeread_runner::judging::JudgeOptions;
use closeread_runner::reranker::Reranking;
use closeread_runner::shard::Shard;
use closeread_runner::spending::Taken;
use closeread_table::number::counted;
use std::collections::HashSet;
use tracing::info;

/// Returns the message where a limit on money ended the command.
pub(super) fn out_of_money(taken: Taken) -> String {
    let at_most = up_to(taken).map_or_else(String::new, |open| {
        format!(
            " at most ({} are known, and up to {open} for calls whose end is not known)",
            taken.dollars - taken.open
        )
    });
    format!(
        "stopped by --max-cost: {} of it are spent{at_most}, and the next call could exceed it; what was finished is kept. \
         Give the same command again with a higher --max-cost to go on",
        taken.dollars
    )
}

/// What to know of a command that money ended, if its responses have no limit.
pub(super) const UNLIMITED: &str = "without --max-output-tokens each call counts as the longest response of its model. \
                                    With it more calls fit into the money; it makes another run, with its own --out";

/// The most that calls can have cost whose end is not known; `None` where there are none.
pub(super) fn up_to(taken: Taken) -> Option<Dollars> {
    // Rounding apart.
    Some(taken.open).filter(|open| *open > Dollars(5e-5))
}

/// The models that are asked, as readers and as judges, each once.
pub(super) fn with_judges(models: &[String], judges: Option<&JudgeOptions>) -> Vec<String> {
    let mut asked = models.to_vec();
    asked.extend(judges.into_iter().flat_map(JudgeOptions::asked).filter(|judge| !models.contains(judge)));
    asked
}

/// The lines of a run's table: every method with every model, at every budget if it takes one.
pub(super) fn plan_cells(
    methods: &[(&Entry, AnyMethod)],
    models: &[String],
    budgets: &[usize],
    encoders: Option<&Encoders>,
    reranking: Option<&Reranking>,
) -> Vec<PlannedCell> {
    let mut cells = Vec::new();
    for (entry, method) in methods {
        for model in models {
            let cell = |budget| PlannedCell {
                key: Arm { method: entry.name.to_owned(), model: model.clone(), budget },
                method: method.clone(),
                encoder: encoders.and_then(|encoders| encoders.of(entry.name)),
                reranking: reranking.filter(|_| method.ranks_passages()).cloned(),
            };
            if method.takes_budget() {
                cells.extend(budgets.iter().map(|&budget| cell(Some(budget))));
            } else {
                cells.push(cell(None));
            }
        }
    }
    cells
}

/// Refuses to split a book where a method asks all of its questions in one call: each part would pay for the book, and send
/// other prompts than the whole run.
pub(super) fn check_whole_books(shard: Shard, items: &[Item], methods: &[(&Entry, AnyMethod)]) -> Result<()> {
    let n_books = items.iter().map(|item| &item.documents).collect::<HashSet<_>>().len();
    let together = methods.iter().find(|(_, method)| method.asks_together());
    let is_split = n_books < shard.of && n_books < items.len();
    match together.filter(|_| is_split) {
        None => Ok(()),
        Some((entry, _)) => bail!(
            "--shard {shard}: {} asks all questions on a book in one call, so parts are whole books, of which there are {n_books}: \
             make no more parts, or give --param {}.together=false",
            entry.name,
            entry.name
        ),
    }
}

/// What names the problems that are not said.
#[derive(Clone, Copy)]
pub(super) enum Listing {
    /// The report of the run.
    Report,
    /// `closeread data stats`, where there is no report.
    Stats,
}

/// Problems on standard error, the first few of each kind.
pub(super) fn say_problems(benchmark: &Benchmark, listing: Listing) {
    let listing = match listing {
        Listing::Report => "report.json",
        Listing::Stats => "closeread data stats",
    };
    const SHOWN: usize = 10;
    let dropped = benchmark.problems.count(true);
    for problem in benchmark.problems.iter().filter(|p| p.dropped).take(SHOWN) {
        info!("{problem}");
    }
    if dropped > SHOWN {
        info!("... and {} more rows left out; {listing} names {}", dropped - SHOWN, named(dropped));
    }
    let notes = benchmark.problems.count(false);
    if notes > 0 {
        let named = named(notes);
        let notes = counted(notes, "note");
        info!("{notes} on the data, {named} in {listing}; the first: {}", first_note(benchmark));
    }
}

/// Returns how many of `n` problems of a kind a report names.
fn named(n: usize) -> String {
    if n > LISTED { format!("the first {LISTED}") } else { "all".to_owned() }
}

fn first_note(benchmark: &Benchmark) -> String {
    benchmark.problems.iter().find(|p| !p.dropped).map(ToString::to_string).unwrap_or_default()
}
