//! Logs that inspect_ai reads: an `.eval` a cell, which is a ZIP of a header, summaries and a file a sample.
//!
//! The layout is version 2 as inspect_ai 0.3.285 writes and reads it. Prompts are not stored in a run, so a model event has
//! the question as its input and the hash of what was sent in its metadata.

use super::tokens::Tokens;
use super::{About, CellTrials, Entry, JudgementsBySubject, Row, answer, file_name, options, question, said, targets};
use closeread_data::foreign::inspect::ITEM_TASK;
use closeread_eval::observations::Ending;
use closeread_eval::{Outcome, PassageRef};
use closeread_judges::{BUILTIN_RULE, Judgement, Subject};
use closeread_llm::FinishReason;
use closeread_methods::record::{CallTrace, Record, SEARCHES};
use closeread_text::hash::sha256;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Version of the layout.
const VERSION: u32 = 2;
/// Characters of a text in a summary; inspect cuts at as many.
const SHORT: usize = 1000;

/// The name of the file that lists the summaries of all samples, in the order in which they came.
pub const SUMMARIES: &str = "summaries.json";

/// A trial in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// File of the trial alone.
    pub entry: Entry,
    /// Summary of the trial: its element of the list in [`SUMMARIES`].
    pub summary: Vec<u8>,
}

/// A log in the making: [`Log::start`], a [`Log::sample`] a trial, the list of their summaries, [`Log::finish`].
#[derive(Debug)]
pub struct Log<'a> {
    about: About<'a>,
    cell: &'a CellTrials,
    judgements: &'a JudgementsBySubject<'a>,
    samples: usize,
    tokens: Tokens,
    seconds: f64,
}

impl<'a> Log<'a> {
    /// The log of a cell.
    pub fn new(about: About<'a>, cell: &'a CellTrials, judgements: &'a JudgementsBySubject<'a>) -> Self {
        Self { about, cell, judgements, samples: 0, tokens: Tokens::default(), seconds: 0.0 }
    }

    /// Returns the log's file name, such as `2026-11-23T12-00-00+00-00_sample_dos-rag-1500_1a2b3c.eval`; the hash is
    /// the cell's.
    pub fn file_name(&self) -> String {
        let arm = &self.cell.arm;
        let budget = arm.budget.map_or_else(String::new, |budget| format!("-{budget}"));
        let task = file_name(&format!("{}_{}{budget}", self.about.run.benchmark, arm.method));
        let created = self.about.created_at(0.0).replace(':', "-");
        format!("{created}_{task}_{}.eval", &self.id("task")[..8])
    }

    /// An id that is the same in every export of the cell.
    fn id(&self, of: &str) -> String {
        let (run, arm) = (self.about.run, &self.cell.arm);
        let named = json!([of, run.name, run.benchmark, arm.method, arm.model, arm.budget, self.about.created]);
        sha256(named.to_string().as_bytes())[..22].to_owned()
    }

    /// Returns the beginning of a log.
    pub fn start(&self) -> Entry {
        let header = json!({"version": VERSION, "eval": self.eval(), "plan": self.plan()});
        entry("_journal/start.json", &header)
    }

    fn eval(&self) -> Value {
        let (run, arm) = (self.about.run, &self.cell.arm);
        let ids: Vec<&str> = run.items.iter().map(|item| item.id.as_str()).collect();
        json!({
            "eval_id": self.id("eval"),
            "run_id": sha256(json!([run.name, run.benchmark, self.about.created]).to_string().as_bytes())[..22],
            "created": self.about.created_at(0.0),
            "task": run.benchmark,
            "task_id": self.id("task"),
            "task_version": 0,
            "task_args": self.task_args(),
            "dataset": {"name": run.benchmark, "samples": ids.len(), "sample_ids": ids, "shuffled": false},
            "model": arm.model,
            "model_generate_config": {"temperature": run.asked.temperature_of(&arm.method), "max_tokens": run.asked.max_output_tokens},
            "config": {"epochs": run.repeats},
            "packages": {"closeread": self.about.version},
            "metadata": {"run": run.name, "lacks": run.lacks()},
        })
    }

    fn task_args(&self) -> Value {
        let (run, arm) = (self.about.run, &self.cell.arm);
        let mut args = json!({"method": arm.method, "budget": arm.budget, "run": run.name});
        if let Some(args) = args.as_object_mut() {
            args.extend(run.facts.iter().map(|(name, value)| (name.replace(' ', "_"), json!(value))));
        }
        args
    }

    fn plan(&self) -> Value {
        let arm = &self.cell.arm;
        let params = json!({"budget": arm.budget});
        json!({"name": "plan", "steps": [{"solver": arm.method, "params": params, "params_passed": params}], "config": {}})
    }

    /// The sample of a finished trial.
    pub fn sample(&mut self, row: &Row<'_>) -> Sample {
        let Row { item, record, trial } = *row;
        let model = &self.cell.arm.model;
        let tokens = Tokens::of_trial(model, record, &self.about.run.prices);
        self.tokens.add(tokens);
        let usage = json!({model: tokens.inspect()});
        let epoch = trial.repeat + 1;
        let asked = question(item);
        let target = one_or_many(targets(item));
        let mut metadata = json!({
            "document": item.documents.first(),
            "documents": item.documents,
            "outcome": trial.ending.name(),
            "prompt_tokens": record.prompt_tokens,
        });
        metadata[ITEM_TASK] = json!(item.task);
        if let Some(fields) = metadata.as_object_mut() {
            fields.extend(item.labels.iter().map(|(label, value)| (label.clone(), json!(value))));
            fields.extend(record.measures.iter().map(|(name, value)| (name.clone(), json!(value))));
        }
        let uuid = sha256(json!([self.id("sample"), item.id, epoch]).to_string().as_bytes())[..22].to_owned();
        let output = output(&uuid, model, record, &tokens);
        let scores = self.scores(row);
        let mut sample = json!({
            "id": item.id,
            "epoch": epoch,
            "uuid": uuid,
            "input": asked,
            "target": target,
            "messages": [question_message(&uuid, &asked), output["choices"][0]["message"]],
            "output": output,
            "scores": scores,
            "metadata": metadata,
            "store": {},
            "events": self.events(row, &uuid, &asked),
            "model_usage": usage,
            "started_at": self.about.created_at(self.seconds),
            "completed_at": self.about.created_at(self.seconds + record.seconds),
            "total_time": record.seconds,
            "attachments": {},
        });
        self.seconds += record.seconds;
        if !options(item).is_empty() {
            sample["choices"] = json!(options(item));
        }
        let mut summary = json!({
            "id": item.id, "epoch": epoch, "input": short(&asked), "target": target, "metadata": metadata,
            "scores": sample["scores"], "model_usage": usage, "total_time": record.seconds, "uuid": sample["uuid"],
            "completed": true,
        });
        match &record.outcome {
            Outcome::Failed { error } => {
                sample["error"] = json!({"message": error, "traceback": "", "traceback_ansi": ""});
                summary["error"] = json!(short(error));
            }
            Outcome::Overflow { context_window, .. } => {
                sample["limit"] = json!({"type": "context", "limit": context_window.unwrap_or_default() as f64});
                summary["limit"] = json!("context");
            }
            _ => {}
        }
        self.samples += 1;
        let entry = entry(&format!("samples/{}_epoch_{epoch}.json", item.id), &sample);
        Sample { entry, summary: summary.to_string().into_bytes() }
    }

    /// Returns the scores of a trial, one a metric that it counts in; what the ledger says of it is the score's reason.
    fn scores(&self, row: &Row<'_>) -> Value {
        let Row { record, trial, .. } = row;
        let subject = Subject::from(&record.key);
        let judged: Vec<String> = self.judgements.get(&subject).into_iter().flatten().map(|one| words(one)).collect();
        let explanation = match (&record.outcome, judged.is_empty()) {
            (_, false) => Some(judged.join("\n\n")),
            (Outcome::Blocked { reason } | Outcome::NotAsked { reason }, _) => Some(reason.clone()),
            _ => None,
        };
        let score = |(metric, value): (&String, &f64)| {
            let mut score = json!({"value": value, "answer": answer(&record.outcome), "explanation": explanation});
            if let Some(reason) = reason(trial.ending) {
                score["reason"] = json!(reason);
            }
            (metric.clone(), score)
        };
        Value::Object(trial.counted.iter().map(score).collect::<Map<_, _>>())
    }

    /// Returns what was retrieved, then each call, and each search that a call made. Ids begin with that of the sample:
    /// data frames take two events or messages with one id for the same.
    fn events(&self, row: &Row<'_>, uuid: &str, asked: &str) -> Value {
        let record = row.record;
        let (at, model) = (self.about.created_at(self.seconds), &self.cell.arm.model);
        let event = |kind: &str, place: usize| {
            json!({"event": kind, "uuid": format!("{uuid}-{kind}-{place}"), "timestamp": at,
                   "working_start": 0.0, "pending": false})
        };
        let mut found = found_by_search(record);
        let mut events = Vec::new();
        if let Some(context) = &record.context {
            let mut info = event("info", 0);
            info["source"] = json!("closeread");
            info["data"] =
                json!({"retriever": context.retriever, "tokens": context.n_tokens, "passages": context.passages});
            events.push(info);
        }
        for (place, call) in record.calls.iter().enumerate() {
            let tokens = Tokens::of(model, std::slice::from_ref(call), &self.about.run.prices);
            let mut one = event("model", place);
            one["model"] = json!(model);
            one["input"] = json!([question_message(uuid, asked)]);
            one["tools"] = json!([]);
            one["tool_choice"] = json!("auto");
            one["config"] = json!({});
            one["output"] = called(uuid, model, call, &tokens, place);
            one["metadata"] = json!({"prompt": call.prompt, "sha256": call.sha256, "counted_tokens": call.counted_tokens,
                                     "remembered": call.cached});
            events.push(one);
            if let Some(query) = query(&record.calls[place..])
                && let Some(found) = found.next()
            {
                let mut search = event("tool", place);
                search["id"] = json!(format!("{uuid}-search-{place}"));
                search["function"] = json!("search");
                search["arguments"] = json!({"query": query});
                search["result"] = json!(json!(found).to_string());
                search["events"] = json!([]);
                events.push(search);
            }
        }
        Value::Array(events)
    }

    /// Returns the end of a log.
    pub fn finish(self) -> Entry {
        let planned = self.cell.trials.len();
        let missing = self.cell.trials.iter().filter(|trial| trial.record.is_none()).count();
        let is_whole = missing == 0 && self.about.run.gaps.is_empty();
        let status = if is_whole { "success" } else { "cancelled" };
        let header = json!({
            "version": VERSION,
            "status": status,
            "eval": self.eval(),
            "plan": self.plan(),
            "results": {"total_samples": planned, "completed_samples": self.samples, "scores": self.results()},
            "stats": {
                "started_at": self.about.created_at(0.0),
                "completed_at": self.about.created_at(self.seconds),
                "model_usage": {&self.cell.arm.model: self.tokens.inspect()},
            },
        });
        entry("header.json", &header)
    }

    /// The means of the report; intervals stand in the metadata, for inspect has no place for them.
    fn results(&self) -> Vec<Value> {
        let run = self.about.run;
        let of = self.cell.summary.metrics.iter().map(|(metric, estimate)| {
            json!({
                "name": metric.name(),
                "scorer": metric.name(),
                "scored_samples": estimate.n,
                "unscored_samples": run.items.len().saturating_sub(estimate.n),
                "params": grader(run, metric.name()),
                "metrics": {"mean": {"name": "mean", "value": estimate.value, "params": {},
                    "metadata": {"low": estimate.low, "high": estimate.high, "n": estimate.n, "interval": estimate.interval}}},
            })
        });
        of.collect()
    }
}

/// The models that gave a metric: inspect has words for one, the first, and beside it stands the whole panel.
fn grader(run: &closeread_report::Run, metric: &str) -> Value {
    let mut models: Vec<&str> = Vec::new();
    for (panel, _) in run.judging.behind(metric) {
        models.extend(panel.models.iter().map(String::as_str).filter(|model| *model != BUILTIN_RULE));
    }
    let first = models.first().copied();
    let all: BTreeSet<&str> = models.into_iter().collect();
    match first {
        None => json!({}),
        Some(model) if all.len() == 1 => json!({"grader_model": {"model": model}}),
        Some(model) => json!({"grader_model": {"model": model}, "grader_models": all}),
    }
}

fn entry(name: &str, value: &Value) -> Entry {
    Entry { name: name.to_owned(), bytes: value.to_string().into_bytes() }
}

fn one_or_many(texts: Vec<String>) -> Value {
    match texts.as_slice() {
        [one] => json!(one),
        many => json!(many),
    }
}

fn short(text: &str) -> String {
    text.chars().take(SHORT).collect()
}

/// The model without its provider: readers put the provider before it again.
fn bare(model: &str) -> &str {
    model.split_once('/').map_or(model, |(_, name)| name)
}

fn question_message(uuid: &str, asked: &str) -> Value {
    json!({"id": format!("{uuid}-question"), "role": "user", "content": asked})
}

/// Returns what the model said in its call number `place`.
fn response_message(uuid: &str, place: usize, model: &str, content: &str) -> Value {
    let id = format!("{uuid}-response-{place}");
    json!({"id": id, "role": "assistant", "content": content, "source": "generate", "model": model})
}

fn output(uuid: &str, model: &str, record: &Record, tokens: &Tokens) -> Value {
    let stop = match &record.outcome {
        Outcome::Blocked { .. } => "content_filter",
        Outcome::Overflow { .. } => "model_length",
        Outcome::CutShort { .. } => "max_tokens",
        _ => "stop",
    };
    let message = response_message(uuid, record.calls.len().saturating_sub(1), model, said(record));
    let served = record.calls.last().and_then(|call| call.served_by.model.as_deref());
    json!({"model": bare(model), "choices": [{"message": message, "stop_reason": stop}], "completion": said(record),
           "usage": tokens.inspect(), "metadata": {"served_by": served}})
}

fn called(uuid: &str, model: &str, call: &CallTrace, tokens: &Tokens, place: usize) -> Value {
    let stop = if call.finish == FinishReason::Length { "max_tokens" } else { "stop" };
    let message = response_message(uuid, place, model, &call.response);
    json!({"model": bare(model), "choices": [{"message": message, "stop_reason": stop}], "completion": call.response,
           "usage": tokens.inspect()})
}

/// Returns what the first of an agent's calls asked to be searched for, unless it was asked for again.
fn query(calls: &[CallTrace]) -> Option<&str> {
    let (call, later) = calls.split_first()?;
    let is_refused = later.first().is_some_and(|next| next.prompt == "agentic-rag-again");
    let (_, rest) =
        call.response.split_once("<query>").filter(|_| call.prompt.starts_with("agentic-rag") && !is_refused)?;
    Some(rest.split_once("</query>").map_or(rest, |(query, _)| query).trim())
}

/// The passages that each search of an agent found; none where they cannot be told apart.
fn found_by_search(record: &Record) -> impl Iterator<Item = &[PassageRef]> {
    let searches = record.measures.get(SEARCHES).map_or(0, |n| *n as usize);
    let passages = record.context.as_ref().map_or(&[][..], |context| &context.passages);
    let each = passages.len().checked_div(searches).filter(|each| each * searches == passages.len()).unwrap_or(0);
    (0..searches).map(move |n| &passages[n * each..(n + 1) * each])
}

/// Returns why a score is not what an answer earned, in inspect's words where it has one.
fn reason(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Answered => None,
        Ending::Blocked => Some("refusal"),
        Ending::Unanswered | Ending::CutShort => Some("no_response"),
        Ending::Unparsed => Some("invalid_response_format"),
        other => Some(other.name()),
    }
}

/// Returns what a judge said, in words.
fn words(judgement: &Judgement) -> String {
    let said = judgement.calls.last().map_or_else(
        || judgement.verdict.ruling().map_or_else(String::new, |ruling| json!(ruling).to_string()),
        |call| call.response.clone(),
    );
    let (judge, model) = (judgement.key.judge.name(), &judgement.key.judge_model);
    format!("{judge} by {model}: {}: {said}", judgement.verdict.name())
}
