//! Messages of a run on standard error besides its report.

use crate::command::plan::up_to;
use crate::command::providers::hint_of;
use crate::config::RunArgs;
use anyhow::Result;
use closeread_eval::observations::FailurePolicy;
use closeread_eval::{Item, Outcome, Task};
use closeread_judges::Judging;
use closeread_llm::price::Dollars;
use closeread_methods::protocol::{Protocol, Source};
use closeread_methods::reader::EXTRACTIVE;
use closeread_methods::record::Record;
use closeread_methods::{AnyMethod, CUT_FOR_RERANKING, Entry};
use closeread_providers::{PROVIDERS, Provider};
use closeread_report::{Arm, HowAsked, RunView, ServedUsage, Usage, cells};
use closeread_runner::benchmark::{Benchmark, SAMPLE};
use closeread_runner::engine::Plan;
use closeread_runner::judging::{JudgeOptions, Session};
use closeread_runner::shard::Shard;
use closeread_table::Value;
use closeread_table::number::{counted, metric_label, thousands};
use serde_json::json;
use std::collections::BTreeMap;
use tracing::{info, warn};

/// A line of the table whose trials are all made; the table follows at the end.
pub(super) fn say_line(
    arm: &Arm,
    benchmark: &Benchmark,
    records: &[Record],
    repeats: u32,
    asked: &HowAsked,
) -> Result<()> {
    let view = RunView {
        name: "",
        benchmark: &benchmark.name,
        plan: std::slice::from_ref(arm),
        items: &benchmark.items,
        records,
        repeats,
        books: &BTreeMap::new(),
        judging: &Judging::default(),
        asked,
    };
    for cell in cells(&view.observations()?) {
        let scores = cell.metrics.iter().filter(|(_, estimate)| estimate.n > 0).map(|(metric, estimate)| {
            let shown = Value::Score { estimate: estimate.clone() }.shown();
            format!("{} {shown} of {}", metric_label(metric.name()), thousands(estimate.n as u64))
        });
        let budget = arm.budget.map_or_else(String::new, |budget| format!(" at {}", thousands(budget as u64)));
        let scores: Vec<String> = scores.collect();
        let model = if arm.model == EXTRACTIVE { String::new() } else { format!(" by {}", arm.model) };
        let scores = if scores.is_empty() { "nothing was scored".to_owned() } else { scores.join(", ") };
        info!("{}{budget}{model} is done: {scores}", arm.method);
    }
    Ok(())
}

/// Warns of items whose gold answers nobody can read: their trials cost as much as others.
pub(super) fn say_hashed(items: &[Item]) {
    let is_hashed = |item: &&Item| item.task != Task::Choice && !item.answers.is_empty() && !item.has_told_answers();
    let n = items.iter().filter(is_hashed).count();
    if n > 0 {
        warn!(
            "{} of {} have their gold answers as hashes: a run scores no answer to them",
            thousands(n as u64),
            counted(items.len(), "item")
        );
    }
}

/// Says what embedding models or rerankers on servers took, a line a model; `done` says what became of the texts.
pub(crate) fn say_served(models: &[ServedUsage], done: &str) {
    for ServedUsage { model, requests, texts, tokens, uncounted, own_count, searches, dollars, unpriced } in models {
        let took = match (searches, uncounted) {
            (1.., _) => format!("{} searches", thousands(*searches)),
            (0, n) if n == requests => "tokens unknown".to_owned(),
            (0, 0) => format!("{} tokens", thousands(*tokens)),
            (0, n) => format!("{} tokens and {n} requests that did not say", thousands(*tokens)),
        };
        let price = if unpriced == requests { "price unknown".to_owned() } else { dollars.to_string() };
        info!("{model}: {} {done} in {requests} requests, {took}; {price}", thousands(*texts as u64));
        if *own_count > 0 && *searches == 0 {
            info!("{model}: {}", told_by_own_count(*own_count as u64, "requests"));
        }
    }
}

fn told_by_own_count(n: u64, what: &str) -> String {
    let n = thousands(n);
    format!("the tokens of {n} {what} were counted here: the provider named none, or a number that cannot be")
}

/// Says how many passages a reranker read without their end.
pub(super) fn say_cut_for_reranking(records: &[Record]) {
    let cut = |record: &Record| record.measures.get(CUT_FOR_RERANKING).copied().unwrap_or_default();
    let n_cut: f64 = records.iter().map(cut).sum();
    if n_cut > 0.0 {
        info!(
            "{} times a passage was scored without its end: the reranker takes no more tokens with the question",
            thousands(n_cut as u64)
        );
    }
}

/// Says how many trials failed, and why, the most frequent reasons first.
pub(crate) fn say_failures(records: &[Record]) {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records {
        if let Outcome::Failed { error } = &record.outcome {
            *reasons.entry(error).or_default() += 1;
        }
    }
    let n_failed: usize = reasons.values().sum();
    say_reasons(n_failed, &counted(n_failed, "trial"), reasons, "records.jsonl");
}

/// Says how many calls to judges failed, and why.
pub(crate) fn say_judges_failures(session: &Session) {
    let reasons = session.reasons.iter().map(|(reason, n)| (reason.as_str(), *n)).collect();
    let calls = format!("{} to judges", counted(session.failed, "call"));
    say_reasons(session.failed, &calls, reasons, "judgements.jsonl");
}

fn say_reasons(n_failed: usize, what: &str, reasons: BTreeMap<&str, usize>, file: &str) {
    const SHOWN: usize = 5;
    if n_failed == 0 {
        return;
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    info!("{what} failed; the same command tries again:");
    for (reason, n) in reasons.iter().take(SHOWN) {
        info!("  {} x {reason}", thousands(*n as u64));
        if let Some(hint) = hint_of(reason) {
            info!("    {hint}");
        }
    }
    if reasons.len() > SHOWN {
        info!("  ... and for {} more reasons; {file} has all", reasons.len() - SHOWN);
    }
}

/// Says what the calls of a server took, in a line; nothing where none was asked, or none has cost anything.
pub(super) fn say_spending(plan: &Plan<'_>, usage: &[Usage]) {
    let sum = |of: fn(&Usage) -> u64| usage.iter().map(of).fold(0, u64::saturating_add);
    let (prompt, response) = (sum(|u| u.prompt_tokens), sum(|u| u.completion_tokens));
    let unpriced = sum(|u| u.unpriced as u64);
    let calls: Dollars = usage.iter().map(|u| u.dollars).sum();
    let taken = plan.spending.taken();
    let open = up_to(taken);
    let all = taken.dollars - open.unwrap_or_default();
    // Rounding apart.
    let has_others = all.0 - calls.0 > 5e-5;
    let prices = plan.spending.prices();
    let mut models = usage.iter().map(|u| u.key.model.as_str());
    let is_paid = models.any(|model| prices.of(model).is_some() && !prices.is_free(model));
    let may_be_billed = is_paid && (unpriced > 0 || has_others || open.is_some());
    if prompt == 0 && response == 0 && !may_be_billed {
        return;
    }
    let cached = 100.0 * sum(|u| u.cached_tokens) as f64 / prompt.max(1) as f64;
    let others = if has_others {
        format!(
            "; {all} with embeddings, reranking, calls that no trial kept, and what earlier calls cost by the prices of then"
        )
    } else {
        String::new()
    };
    let lost = open.map_or_else(String::new, |open| format!(", and up to {open} for calls whose end is not known"));
    let of_unknown = match unpriced {
        0 => String::new(),
        n => format!(" and {} of unknown price", counted(n as usize, "call")),
    };
    let own_count = sum(|u| u.own_count as u64);
    if own_count > 0 {
        info!("{}", told_by_own_count(own_count, "calls"));
    }
    info!(
        "{}: {} tokens of prompts ({cached:.0} % cached), {} of responses; {calls}{of_unknown}{others}{lost}",
        counted(sum(|u| u.calls as u64) as usize, "call"),
        thousands(prompt),
        thousands(response),
    );
}

/// Says what was chosen because the paper has it so.
pub(super) fn say_protocol(args: &RunArgs, methods: &[(&Entry, AnyMethod)]) {
    let protocol = args.protocol();
    if *protocol == Protocol::OWN {
        return;
    }
    info!("{}: where the options say nothing, as in {}", protocol.benchmark, protocol.source);
    if args.method.is_empty() {
        let with_parameters = |(entry, method): &(&Entry, AnyMethod)| format!("{} {}", entry.name, json!(method));
        info!("  methods: {}", methods.iter().map(with_parameters).collect::<Vec<_>>().join(", "));
    }
    if args.budget.is_empty() && methods.iter().any(|(_, method)| method.takes_budget()) {
        let budgets: Vec<String> = protocol.budgets.iter().map(ToString::to_string).collect();
        info!("  budgets: {} tokens", budgets.join(", "));
    }
    let n = args.repeats();
    if args.repeats.is_none() && *protocol.repeats > 1 {
        info!("  repetitions: {n}{}", if n == 1 { " (builtin/extractive always replies the same)" } else { "" });
    }
    let failures = match *protocol.failures {
        FailurePolicy::Wrong => "count as wrong",
        FailurePolicy::LeftOut => "are in no denominator",
    };
    let whose = match protocol.failures.source {
        Source::Open(_) => "here, as the paper says nothing of them",
        Source::Paper(_) | Source::Code(_) => "in the paper's tables",
    };
    info!("  trials in which the reader never got to answer {failures} {whose}; the report has both readings");
}

/// Says who judges, or why nobody does.
pub(super) fn say_judges(args: &RunArgs, judges: Option<&JudgeOptions>) {
    let protocol = args.protocol();
    match (judges, *protocol.judge_model) {
        (None, Some(model)) => info!(
            "nothing is judged: the paper judges with {model}, by {}; name a model that judges by --judge-model, or \
             builtin/rule, which needs none (`closeread judge` does it afterwards, too)",
            protocol.judges.iter().map(|judge| judge.name()).collect::<Vec<_>>().join(" and ")
        ),
        (Some(judges), _) if args.judge_model.is_empty() => info!(
            "{SAMPLE}, every method: judged as well, by {} as every judge; --judge-model names another, --judge-model none nobody",
            judges.models.join(", ")
        ),
        (Some(judges), Some(model)) => info!("  judged by {}; in the paper by {model}", judges.models.join(", ")),
        _ => {}
    }
}

/// Says who is asked at the provider's own address, by the same key, though the reader is asked elsewhere.
pub(super) fn say_own_addresses(args: &RunArgs, judges: Option<&JudgeOptions>) {
    let Some(elsewhere) = &args.base_url else { return };
    let provider = |name: &str| name.split_once('/').map_or("", |(provider, _)| provider).to_owned();
    let reading: Vec<String> = args.models().iter().map(|name| provider(name)).collect();
    let judging = judges.filter(|judges| judges.base_url.is_none()).map_or(&[][..], |judges| judges.models.as_slice());
    let embedding = args.embedder.iter().filter(|_| args.embedder_base_url.is_none());
    let judging = judging.iter().map(|name| (name, "--judge-base-url"));
    for (name, option) in judging.chain(embedding.map(|name| (name, "--embedder-base-url"))) {
        let provider = provider(name);
        let own = PROVIDERS.iter().find(|known| known.name == provider && reading.contains(&provider));
        let own = own.and_then(Provider::base_url);
        if let Some(own) = own.filter(|own| *own != elsewhere.trim_end_matches('/')) {
            info!("{name} is asked at {own}, not at --base-url; {option} names another address");
        }
    }
}

/// Says that a part of a benchmark has nothing to do.
pub(super) fn say_empty_part(Shard { index, of }: Shard) {
    info!(
        "part {index} of {of} has no items: there are fewer than parts. Nothing is asked; its folder is whole, and \
         `closeread merge` takes it like the others"
    );
}
