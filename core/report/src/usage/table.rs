//! The table of what a run took.

use super::Usage;
use crate::tables::Naming;
use crate::{Arm, LineKey, Run, ServedUsage};
use closeread_eval::Outcome;
use closeread_methods::entry;
use closeread_methods::record::Record;
use closeread_table::number::thousands;
use closeread_table::{Table, Value};

/// Makes the table of usage, one line a cell, and one for the preparations of a method: calls, tokens, money, seconds a
/// trial.
pub(crate) fn usage_table(runs: &[(&Run, &[Usage])]) -> Table {
    let named = |run: &Run, arm: &Arm| arm.line(&run.name);
    let keys: Vec<LineKey> =
        runs.iter().flat_map(|(run, usages)| usages.iter().map(|usage| named(run, &usage.key))).collect();
    let naming = Naming::of(keys.iter());
    let mut columns = naming.heads();
    columns.extend(
        ["calls", "remembered", "prompt tokens", "% cached", "response tokens", "dollars", "s median", "s most"]
            .map(str::to_owned),
    );
    let mut table = Table::new("usage", "What it took", columns);
    for (run, usages) in runs {
        for usage in *usages {
            let mut key = usage.key.clone();
            if usage.preparation {
                key.method.push_str(" (preparation)");
            }
            if usage.judging {
                key.method.push_str(" (judge)");
            }
            let mut row = naming.values(&named(run, &key));
            row.extend(if usage.untold {
                let missing = || Value::missing("the calls of another tool's log are not read");
                std::iter::repeat_with(missing).take(6).collect()
            } else {
                of_calls(usage)
            });
            row.extend([usage.seconds_median, usage.seconds_most].map(|seconds| match seconds {
                Some(value) => Value::Number { value, decimals: 1 },
                None => Value::missing("no trial"),
            }));
            table.rows.push(row);
        }
        table.notes.extend(notes(run, usages));
    }
    table
}

/// Calls, tokens and money of a line.
fn of_calls(usage: &Usage) -> Vec<Value> {
    let counted = usage.calls > usage.uncounted;
    let tokens = |n| if counted { Value::Count { count: n } } else { Value::missing("no call told its tokens") };
    let cached = match usage.cached_share() {
        Some(share) => Value::Number { value: 100.0 * share, decimals: 1 },
        None => Value::missing("no call told its tokens"),
    };
    let dollars = match usage.unpriced < usage.calls || usage.calls == 0 {
        true => Value::Number { value: usage.dollars.0, decimals: 4 },
        false => Value::missing("no call has a known cost"),
    };
    let (calls, remembered) = (Value::count(usage.calls), Value::count(usage.remembered));
    vec![calls, remembered, tokens(usage.prompt_tokens), cached, tokens(usage.completion_tokens), dollars]
}

/// Says what of a run is not in the sums, and by which prices it was counted.
fn notes(run: &Run, usages: &[Usage]) -> Vec<String> {
    let sum = |of: fn(&Usage) -> usize| usages.iter().map(of).sum::<usize>();
    let (calls, uncounted, unpriced) = (sum(|u| u.calls), sum(|u| u.uncounted), sum(|u| u.unpriced));
    let mut notes = Vec::new();
    let share = |n: usize| format!("{}: {} of {} calls", run.name, thousands(n as u64), thousands(calls as u64));
    if uncounted > 0 {
        notes.push(format!("{} did not tell their tokens and are in none of the sums", share(uncounted)));
    }
    let own_count = sum(|u| u.own_count);
    if own_count > 0 {
        notes.push(format!(
            "{} have tokens that closeread counted: the response was blocked, or the provider named none that can be",
            share(own_count)
        ));
    }
    if unpriced > 0 {
        notes.push(format!("{} have no known cost and are not in the dollars", share(unpriced)));
    }
    let is_prepared = |method: &str| entry(method).is_some_and(|entry| entry.preset().preparation().is_some());
    let lacks_calls = |record: &&Record| {
        matches!(record.outcome, Outcome::Failed { .. }) && record.calls.is_empty() && is_prepared(&record.key.method)
    };
    let failed = run.records.iter().filter(lacks_calls).count();
    if failed > 0 {
        notes.push(format!(
            "{}: trials that failed before their first response: {}; calls of a preparation that failed are in journal/ and in no line",
            run.name,
            thousands(failed as u64)
        ));
    }
    for ServedUsage { model, requests, texts, tokens, searches, dollars, unpriced, .. } in &run.served {
        let (texts, requests) = (thousands(*texts as u64), thousands(*requests as u64));
        let took = match searches {
            0 => format!("{} tokens", thousands(*tokens)),
            n => format!("{} searches", thousands(*n)),
        };
        let unknown = match unpriced {
            0 => String::new(),
            n => format!(" and {} requests of unknown price", thousands(*n as u64)),
        };
        notes.push(format!(
            "{}: besides, {model} embedded or ranked {texts} texts in {requests} requests, {took}: ${:.4}{unknown}",
            run.name, dollars.0
        ));
    }
    for (model, facts) in run.prices.iter().filter(|(model, _)| !run.prices.is_free(model)) {
        notes.push(format!("{}: prices of {model} as of {}, {}", run.name, facts.date, facts.source));
    }
    notes
}
