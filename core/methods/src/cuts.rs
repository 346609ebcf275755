//! Cuts in the calls of a run's records: what was cut, and what follows.

use crate::record::{CallTrace, Record};
use closeread_eval::truncation::{Arrived, CountedPrompt, Cuts, arrived};
use closeread_eval::{Item, Outcome, score};
use closeread_llm::FinishReason;
use closeread_metrics::Metric;
use closeread_text::Language;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// What to do with trials whose prompts the server seems to have cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnTruncation {
    /// The trials keep their scores, and a message says how many they are.
    #[default]
    Warn,
    /// The trials count as overflows.
    Fail,
}

/// Returns what was cut in each of `records`, the calls of one run. `language` is that of an item's text, by the item's
/// id.
pub fn cuts(records: &[Record], language: impl Fn(&str) -> Language) -> Vec<Cuts> {
    let prompts: Vec<_> =
        records.iter().flat_map(|r| r.calls.iter().map(|call| counted(r, call, language(&r.key.item)))).collect();
    let mut arrived = arrived(&prompts).into_iter();
    let of = |record: &Record| {
        let mut cuts = Cuts { calls: record.calls.len(), ..Cuts::default() };
        for (call, arrived) in record.calls.iter().zip(&mut arrived) {
            cuts.cut_short += usize::from(call.finish == FinishReason::Length);
            cuts.server_truncated += usize::from(arrived == Arrived::Cut);
            // Without a server nothing is cut on the way.
            let has_server = !record.key.model.starts_with("builtin/");
            cuts.not_known += usize::from(has_server && arrived == Arrived::NotKnown);
        }
        cuts
    };
    records.iter().map(of).collect()
}

fn counted<'a>(record: &'a Record, call: &CallTrace, language: Language) -> CountedPrompt<'a> {
    let (model, served) = (record.key.model.as_str(), call.usage.served_tokens());
    CountedPrompt { model, language, counted: call.counted_tokens as u64, served }
}

/// Makes an overflow of every trial of which `cuts` say that the server cut a prompt, those that were asked in the same
/// call included. Recall of the evidence stays: it is about what was shown.
pub fn as_overflows(records: &mut [Record], cuts: &[Cuts], items: &[Item], language: impl Fn(&str) -> Language) {
    let items: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let with_calls = records.iter().zip(cuts).filter(|(_, cuts)| cuts.server_truncated > 0);
    let overflows: BTreeMap<_, Outcome> =
        with_calls.map(|(record, _)| (record.key.clone(), overflow(&record.calls))).collect();
    for record in records {
        let mut asked = record.key.clone();
        asked.item = record.shared_call.clone().unwrap_or(asked.item);
        let (Some(outcome), Some(item)) = (overflows.get(&asked), items.get(record.key.item.as_str())) else {
            continue;
        };
        let recall = record.scores.remove_entry(Metric::EvidenceRecall.name());
        record.outcome = outcome.clone();
        record.scores = score(item, outcome, language(&item.id));
        record.scores.extend(recall);
    }
}

/// The largest prompt as it was sent, and the most that the server took.
fn overflow(calls: &[CallTrace]) -> Outcome {
    let most = |of: fn(&CallTrace) -> Option<usize>| calls.iter().filter_map(of).max();
    let served = most(|call| call.usage.served_tokens().and_then(|n| usize::try_from(n).ok()));
    Outcome::Overflow { needed: most(|call| Some(call.counted_tokens)), context_window: served }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TrialKey;
    use closeread_eval::Task;
    use closeread_llm::Usage;

    fn call(counted_tokens: usize, served: Option<u64>, finish: FinishReason) -> CallTrace {
        let usage = Usage { prompt_tokens: served, ..Usage::default() };
        CallTrace { counted_tokens, usage, finish, ..CallTrace::default() }
    }

    fn record(item: &str, model: &str, calls: Vec<CallTrace>) -> Record {
        let model = model.to_owned();
        let key = TrialKey { item: item.to_owned(), method: "m".to_owned(), model, budget: None, repeat: 0 };
        let outcome = Outcome::Answered { answer: "Ana".to_owned(), choice: None };
        let scores = BTreeMap::from([("f1".to_owned(), 1.0), ("evidence_recall".to_owned(), 0.5)]);
        Record { scores, calls, ..Record::ended(key, outcome) }
    }

    #[test]
    fn what_was_cut_is_counted_and_may_count_as_an_overflow() {
        let whole = |item: &str| record(item, "p/x", vec![call(1000, Some(1000), FinishReason::Stop)]);
        let mut records: Vec<Record> = ["a", "b", "c"].map(whole).into();
        records.push(record("d", "p/x", vec![call(9000, Some(4096), FinishReason::Length)]));
        records.push(Record { shared_call: Some("d".to_owned()), ..record("e", "p/x", Vec::new()) });
        records.push(record("f", "p/x", vec![call(9000, None, FinishReason::Stop)]));
        records.push(record("g", "builtin/extractive", vec![call(9000, None, FinishReason::Stop)]));
        let cuts = cuts(&records, |_| Language::ENGLISH);
        let cut = Cuts { calls: 1, cut_short: 1, server_truncated: 1, not_known: 0 };
        assert_eq!((cuts[0], cuts[3]), (Cuts { calls: 1, ..Cuts::default() }, cut));
        assert_eq!([4, 5, 6].map(|n| cuts[n].not_known), [0, 1, 0]);
        let items: Vec<Item> = ["a", "d", "e"]
            .map(|id| {
                let mut item = Item::new(id, "book", "Who?", Task::Generative);
                item.answers = vec!["Ana".to_owned()];
                item
            })
            .into();
        as_overflows(&mut records, &cuts, &items, |_| Language::ENGLISH);
        let overflow = Outcome::Overflow { needed: Some(9000), context_window: Some(4096) };
        for record in &records {
            let is_cut = ["d", "e"].contains(&record.key.item.as_str());
            assert_eq!(record.outcome == overflow, is_cut, "{record:?}");
            assert_eq!((record.scores["f1"] == 0.0, record.scores["evidence_recall"]), (is_cut, 0.5));
        }
    }
}
