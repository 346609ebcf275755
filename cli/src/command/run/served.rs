//! Messages on how a run's models were served: in several versions, with prompts and responses cut, or without a passage.

use closeread_eval::Outcome;
use closeread_eval::answer::after_reasoning;
use closeread_eval::truncation::{Arrived, CountedPrompt, Cuts, arrived};
use closeread_llm::FinishReason;
use closeread_methods::record::Record;
use closeread_methods::{OnTruncation, versions};
use closeread_prompts::readers::MemoryAgentUpdate;
use closeread_report::{Arm, PreparationCalls};
use closeread_table::number::{counted, thousands};
use closeread_text::Language;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use tracing::{info, warn};

/// Most versions of a model to name: some gateways give every response one of its own.
const SHOWN: usize = 5;

/// Models whose provider named more than one version of them, the most frequent first.
pub(super) fn say_versions(records: &[Record]) {
    for (model, versions) in versions(records).into_iter().filter(|(_, versions)| versions.len() > 1) {
        let n_versions = versions.len();
        let mut versions: Vec<_> = versions.into_iter().collect();
        versions.sort_by_key(|(_, n)| Reverse(*n));
        let each = versions.iter().take(SHOWN).map(|(version, n)| format!("{version} ({})", counted(*n, "call")));
        let each: Vec<String> = each.collect();
        let more = match n_versions.saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {} more; records.jsonl has all", thousands(more as u64)),
        };
        warn!(
            "the provider of {model} changed it within this run, so its scores mix {} versions: {}{more}",
            thousands(n_versions as u64),
            each.join(", ")
        );
    }
}

/// The memories of a cell, those that ended at their own limit of tokens, and those of them that hold nothing.
#[derive(Clone, Copy, Default)]
struct Memories {
    all: usize,
    cut: usize,
    empty: usize,
}

impl Memories {
    fn count(&mut self, record: &Record) {
        for call in record.calls.iter().filter(|call| call.prompt == MemoryAgentUpdate::NAME) {
            let is_cut = call.finish == FinishReason::Length;
            self.all += 1;
            self.cut += usize::from(is_cut);
            self.empty += usize::from(is_cut && after_reasoning(&call.response).trim().is_empty());
        }
    }

    /// One that is cut is used as the paper uses it; one that ends before it begins takes all that was read with it.
    fn say_empty(self, method: &str, model: &str) {
        let Self { empty, all, .. } = self;
        if empty > 0 {
            let of = format!("{} of {}", thousands(empty as u64), thousands(all as u64));
            warn!(
                "{method} with {model}: {of} memories came back empty, because the model reasoned up to their limit of \
                 tokens; what was read before is lost: raise --param {method}.memory_tokens"
            );
        }
    }
}

/// Cells in which more than 1% of the calls were cut, and models of which that is not known.
pub(super) fn say_cuts(records: &[Record], cuts: &[Cuts], max_output_tokens: Option<u32>, on_truncation: OnTruncation) {
    let mut cells: BTreeMap<Arm, (Cuts, usize, Memories)> = BTreeMap::new();
    let mut models: BTreeMap<&str, Cuts> = BTreeMap::new();
    for (record, cuts) in records.iter().zip(cuts) {
        let key = &record.key;
        let (sum, without_answer, memories) = cells.entry(Arm::of(key)).or_default();
        *sum += *cuts;
        memories.count(record);
        *without_answer += usize::from(matches!(record.outcome, Outcome::CutShort { .. }));
        *models.entry(&key.model).or_default() += *cuts;
    }
    for (Arm { method, model, budget }, (cuts, without_answer, memories)) in cells {
        let at = budget.map_or_else(String::new, |budget| format!(" at {budget}"));
        let of = |n: usize, calls: usize| format!("{} of {}", thousands(n as u64), thousands(calls as u64));
        memories.say_empty(&method, &model);
        let others = Cuts {
            calls: cuts.calls - memories.all.min(cuts.calls),
            cut_short: cuts.cut_short - memories.cut.min(cuts.cut_short),
            ..cuts
        };
        if others.warns_of_responses() {
            let then = match max_output_tokens {
                Some(limit) => {
                    format!("raise --max-output-tokens ({limit}), which a model that reasons first needs for that, too")
                }
                None => "the limit is the server's own: --max-output-tokens may name a higher one".to_owned(),
            };
            let lost = match without_answer {
                0 => "none lost its answer".to_owned(),
                n => format!("{} ended without an answer", counted(n, "trial")),
            };
            warn!(
                "{method}{at} with {model}: {} responses ended at their limit of tokens, {lost}; {then}",
                of(others.cut_short, others.calls)
            );
        }
        if cuts.warns_of_prompts() {
            let then = match on_truncation {
                OnTruncation::Warn => "their scores stay; --on-truncation fail counts them as overflows",
                OnTruncation::Fail => "they count as overflows",
            };
            warn!(
                "{method}{at} with {model}: the server seems to have cut {} prompts, by its own count of their \
                 tokens: give it a longer context (Ollama: num_ctx), or name its length by --context-window; {then}",
                of(cuts.server_truncated, cuts.calls)
            );
        }
    }
    for (model, cuts) in models.into_iter().filter(|(_, cuts)| cuts.calls > 0 && cuts.not_known == cuts.calls) {
        info!(
            "whether the server of {model} cut prompts is not known: it counts no tokens ({})",
            counted(cuts.calls, "call")
        );
    }
}

/// Preparations of books in which more than 1% of the calls were cut: trees and pages stay so for every question.
pub(super) fn say_cut_preparations(preparations: &[PreparationCalls]) {
    let mut models: BTreeMap<(&str, &str), Cuts> = BTreeMap::new();
    for PreparationCalls { method, model, calls, .. } in preparations {
        // Each is held against itself: its books are of one language, whichever.
        let prompts: Vec<_> = calls
            .iter()
            .map(|call| (call.counted_tokens as u64, call.usage.served_tokens()))
            .map(|(counted, served)| CountedPrompt { model, language: Language::ENGLISH, counted, served })
            .collect();
        let arrived = arrived(&prompts);
        let n = |what: Arrived| arrived.iter().filter(|arrived| **arrived == what).count();
        *models.entry((method.as_str(), model.as_str())).or_default() += Cuts {
            calls: calls.len(),
            cut_short: calls.iter().filter(|call| call.finish == FinishReason::Length).count(),
            server_truncated: n(Arrived::Cut),
            not_known: n(Arrived::NotKnown),
        };
    }
    for ((method, model), cuts) in models {
        let of = |n: usize| format!("{} of {}", thousands(n as u64), thousands(cuts.calls as u64));
        if cuts.warns_of_responses() {
            warn!(
                "{method} with {model}: {} responses that prepared books ended at their limit of tokens, and are used as \
                 they are: raise --max-output-tokens in another run folder",
                of(cuts.cut_short)
            );
        }
        if cuts.warns_of_prompts() {
            warn!(
                "{method} with {model}: the server seems to have cut {} prompts that prepared books: give it a longer \
                 context (Ollama: num_ctx), and prepare them anew in another run folder",
                of(cuts.server_truncated)
            );
        }
    }
}

/// Cells in which prompts were sent that hold no passage, because the best one has more tokens than the budget.
pub(super) fn say_empty_contexts(records: &[Record]) {
    let mut cells: BTreeMap<Arm, (usize, usize)> = BTreeMap::new();
    for record in records.iter().filter(|record| record.key.budget.is_some() && !record.calls.is_empty()) {
        let Some(context) = &record.context else { continue };
        let (empty, all) = cells.entry(Arm::of(&record.key)).or_default();
        *empty += usize::from(context.n_tokens == 0);
        *all += 1;
    }
    for (Arm { method, model, budget }, (empty, all)) in cells.into_iter().filter(|(_, (empty, _))| *empty > 0) {
        let at = budget.map_or_else(String::new, |budget| format!(" at {budget}"));
        let (empty, all) = (thousands(empty as u64), thousands(all as u64));
        let windows = match method.as_str() {
            "corpus-rag" => String::new(),
            _ => format!(", or cut a text whose sentences have no end by --param {method}.split=window"),
        };
        warn!(
            "{method}{at} with {model}: {empty} of {all} prompts held no passage, because the best one has more tokens than \
             the budget: raise --budget, or make passages shorter by --passage-tokens{windows}"
        );
    }
}

/// Cells with prompts that did not fit the window, and methods that no item is for.
pub(super) fn say_unsent(records: &[Record]) {
    let mut cells: BTreeMap<Arm, (usize, usize, bool)> = BTreeMap::new();
    let mut methods: BTreeMap<&str, Vec<Option<&str>>> = BTreeMap::new();
    for record in records {
        let (overflows, all, refused) = cells.entry(Arm::of(&record.key)).or_default();
        let overflows_here = matches!(record.outcome, Outcome::Overflow { .. });
        *overflows += usize::from(overflows_here);
        *all += 1;
        // What did not fit by our own count was not sent.
        *refused |= overflows_here && record.prompt_tokens > 0 && record.calls.is_empty();
        let declined = match &record.outcome {
            Outcome::NotAsked { reason } => Some(reason.as_str()),
            _ => None,
        };
        methods.entry(&record.key.method).or_default().push(declined);
    }
    for (Arm { method, model, budget }, (overflows, all, refused)) in cells.into_iter().filter(|(_, (n, ..))| *n > 0) {
        let at = budget.map_or_else(String::new, |budget| format!(" at {budget}"));
        let (overflows, all) = (thousands(overflows as u64), thousands(all as u64));
        let by = if refused { " by the server's count" } else { ", which --context-window sets" };
        let cut = match (method.as_str(), refused) {
            ("full-document", false) => "; --on-overflow truncate-end cuts the text",
            ("full-document", true) => {
                "; --on-overflow truncate-end cuts the text to --context-window: give it a smaller one than the server's, \
                 which counts other tokens"
            }
            _ => "",
        };
        info!("{method}{at} with {model}: {overflows} of {all} prompts did not fit the context window{by}{cut}");
    }
    for (method, declined) in methods {
        let reasons: Option<Vec<&str>> = declined.into_iter().collect();
        if let Some(reason) = reasons.and_then(|reasons| reasons.first().copied()) {
            info!("{method} was asked nothing: {reason}");
        }
    }
}
