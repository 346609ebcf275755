//! Spans of OpenTelemetry, made after a run from its records: a trace a trial, in it a span for the trial, for what was retrieved
//! and for each call.
//!
//! Names and attributes are those of the GenAI conventions (open-telemetry/semantic-conventions-genai, development, 2026). Ids are
//! hashes of what they name, so that a span that is sent twice is the same span. Records say how long a trial took, not when:
//! trials follow one another from the run's begin, and calls share the time of their trial.

use super::{About, CellTrials, Row, answer, question};
use closeread_eval::Item;
use closeread_llm::FinishReason;
use closeread_methods::record::{CallTrace, Context};
use closeread_report::Run;
use closeread_text::hash::sha256;
use prost::Message as _;
use serde_json::json;

/// The path below an endpoint that spans are posted to, as `application/x-protobuf`.
pub const PATH: &str = "v1/traces";

const INTERNAL: i32 = 1;
const CLIENT: i32 = 3;
const ERROR: i32 = 2;

/// Fields and numbers of opentelemetry-proto 1.x, `trace.proto`, as far as they are used.
mod wire {
    /// The body of an answer with status 200.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Answer {
        #[prost(message, optional, tag = "1")]
        pub(super) partial_success: Option<Partial>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Partial {
        #[prost(int64, tag = "1")]
        pub(super) rejected_spans: i64,
        #[prost(string, tag = "2")]
        pub(super) error_message: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Request {
        #[prost(message, repeated, tag = "1")]
        pub(super) resource_spans: Vec<ResourceSpans>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct ResourceSpans {
        #[prost(message, optional, tag = "1")]
        pub(super) resource: Option<Resource>,
        #[prost(message, repeated, tag = "2")]
        pub(super) scope_spans: Vec<ScopeSpans>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Resource {
        #[prost(message, repeated, tag = "1")]
        pub(super) attributes: Vec<KeyValue>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct ScopeSpans {
        #[prost(message, optional, tag = "1")]
        pub(super) scope: Option<Scope>,
        #[prost(message, repeated, tag = "2")]
        pub(super) spans: Vec<Span>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Scope {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(string, tag = "2")]
        pub(super) version: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Span {
        #[prost(bytes = "vec", tag = "1")]
        pub(super) trace_id: Vec<u8>,
        #[prost(bytes = "vec", tag = "2")]
        pub(super) span_id: Vec<u8>,
        #[prost(bytes = "vec", tag = "4")]
        pub(super) parent_span_id: Vec<u8>,
        #[prost(string, tag = "5")]
        pub(super) name: String,
        #[prost(int32, tag = "6")]
        pub(super) kind: i32,
        #[prost(fixed64, tag = "7")]
        pub(super) start: u64,
        #[prost(fixed64, tag = "8")]
        pub(super) end: u64,
        #[prost(message, repeated, tag = "9")]
        pub(super) attributes: Vec<KeyValue>,
        #[prost(message, optional, tag = "15")]
        pub(super) status: Option<Status>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Status {
        #[prost(string, tag = "2")]
        pub(super) message: String,
        #[prost(int32, tag = "3")]
        pub(super) code: i32,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct KeyValue {
        #[prost(string, tag = "1")]
        pub(super) key: String,
        #[prost(message, optional, tag = "2")]
        pub(super) value: Option<AnyValue>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct AnyValue {
        #[prost(oneof = "Value", tags = "1, 3, 4, 5")]
        pub(super) value: Option<Value>,
    }

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(super) enum Value {
        #[prost(string, tag = "1")]
        Text(String),
        #[prost(int64, tag = "3")]
        Integer(i64),
        #[prost(double, tag = "4")]
        Number(f64),
        #[prost(message, tag = "5")]
        List(Array),
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Array {
        #[prost(message, repeated, tag = "1")]
        pub(super) values: Vec<AnyValue>,
    }
}

use wire::{KeyValue, Span, Value};

/// Spans that wait to be sent together.
#[derive(Debug)]
pub struct Batch<'a> {
    about: About<'a>,
    spans: Vec<Span>,
    /// Nanoseconds since 1970 at which the next trial begins.
    clock: u64,
}

impl<'a> Batch<'a> {
    /// Makes an empty batch.
    pub fn new(about: About<'a>) -> Self {
        let seconds = u64::try_from(about.created).unwrap_or_default();
        Self { about, spans: Vec::new(), clock: seconds.saturating_mul(1_000_000_000) }
    }

    /// Returns the number of spans that wait.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns when the last trial ended, in seconds since 1970: where those of another cell go on.
    pub fn ended(&self) -> i64 {
        i64::try_from(self.clock / 1_000_000_000 + 1).unwrap_or(i64::MAX)
    }

    /// Returns whether no span waits.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The spans of a finished trial.
    pub fn add(&mut self, cell: &CellTrials, row: &Row<'_>) {
        let Row { item, record, trial } = *row;
        let run = self.about.run;
        let key = json!([run.name, run.benchmark, run.facts, record.key]).to_string();
        let trace_id = bytes(&sha256(key.as_bytes()), 16);
        let span_id = |what: &str| bytes(&sha256(format!("{key}\n{what}").as_bytes()), 8);
        let nanos = (record.seconds.max(0.0) * 1e9) as u64;
        let (start, end) = (self.clock, self.clock.saturating_add(nanos));
        self.clock = end;
        let root = span_id("trial");
        let span = |id: &str, name: String, kind: i32, attributes: Vec<KeyValue>| Span {
            trace_id: trace_id.clone(),
            span_id: span_id(id),
            parent_span_id: root.clone(),
            name,
            kind,
            start,
            end,
            attributes,
            status: None,
        };
        let failed = trial.ending.is_failure();
        self.spans.push(Span {
            parent_span_id: Vec::new(),
            status: failed.then(|| wire::Status { message: trial.ending.name().to_owned(), code: ERROR }),
            ..span("trial", format!("invoke_workflow {}", cell.arm.method), INTERNAL, of_trial(run, cell, row))
        });
        if let Some(context) = record.context.as_ref().filter(|context| context.retriever.is_some()) {
            let name = format!("retrieval {}", item.documents.join(", "));
            self.spans.push(span("retrieval", name, INTERNAL, of_retrieval(item, context)));
        }
        let (_, model) = provider_and_model(&cell.arm.model);
        for (n, call) in record.calls.iter().enumerate() {
            let attributes = of_call(run, cell, call);
            self.spans.push(span(&format!("call {n}"), format!("chat {model}"), CLIENT, attributes));
        }
    }

    /// The body of a request with all spans that wait, which are taken.
    pub fn take(&mut self) -> Vec<u8> {
        let resource = wire::Resource {
            attributes: vec![text("service.name", "closeread"), text("service.version", self.about.version)],
        };
        let scope = wire::Scope { name: "closeread".to_owned(), version: self.about.version.to_owned() };
        let scope_spans = vec![wire::ScopeSpans { scope: Some(scope), spans: std::mem::take(&mut self.spans) }];
        let resource_spans = vec![wire::ResourceSpans { resource: Some(resource), scope_spans }];
        wire::Request { resource_spans }.encode_to_vec()
    }
}

/// What a receiver's answer says of spans that it did not take: how many, and why. `None` if it took all, or the answer
/// cannot be read.
pub fn rejected(answer: &[u8]) -> Option<(u64, String)> {
    let wire::Partial { rejected_spans, error_message } = wire::Answer::decode(answer).ok()?.partial_success?;
    let n = u64::try_from(rejected_spans).unwrap_or_default();
    (n > 0).then_some((n, error_message))
}

/// Returns the first bytes of a hash in hex.
fn bytes(hex: &str, n: usize) -> Vec<u8> {
    (0..n).filter_map(|at| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(wire::AnyValue { value: Some(value) }) }
}

fn provider_and_model(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("", name))
}

fn of_trial(run: &Run, cell: &CellTrials, row: &Row<'_>) -> Vec<KeyValue> {
    let Row { item, record, trial } = *row;
    let mut attributes = vec![
        text("gen_ai.operation.name", "invoke_workflow"),
        text("gen_ai.workflow.name", &cell.arm.method),
        text("closeread.run", &run.name),
        text("closeread.benchmark", &run.benchmark),
        text("closeread.item", &item.id),
        text("closeread.documents", &item.documents.join(", ")),
        integer("closeread.repeat", u64::from(trial.repeat)),
        text("closeread.outcome", trial.ending.name()),
        text("closeread.question", &question(item)),
        text("closeread.answer", &answer(&record.outcome).unwrap_or_default()),
    ];
    attributes.extend(cell.arm.budget.map(|budget| integer("closeread.budget", budget as u64)));
    let scores = trial.counted.iter();
    attributes.extend(scores.map(|(metric, value)| number(&format!("closeread.score.{metric}"), *value)));
    attributes
}

fn of_retrieval(item: &Item, context: &Context) -> Vec<KeyValue> {
    let passages = context.passages.iter();
    let documents: Vec<serde_json::Value> =
        passages.map(|p| json!({"id": format!("{}:{}-{}", p.document, p.start, p.end), "score": p.score})).collect();
    vec![
        text("gen_ai.operation.name", "retrieval"),
        text("gen_ai.data_source.id", &item.documents.join(", ")),
        integer("gen_ai.request.top_k", context.passages.len() as u64),
        text("gen_ai.retrieval.query.text", &item.question),
        text("gen_ai.retrieval.documents", &json!(documents).to_string()),
    ]
}

fn of_call(run: &Run, cell: &CellTrials, call: &CallTrace) -> Vec<KeyValue> {
    let usage = &call.usage;
    let (provider, model) = provider_and_model(&cell.arm.model);
    let finish = if call.finish == FinishReason::Length { "length" } else { "stop" };
    let parts = json!([{"type": "text", "content": call.response}]);
    let said = json!([{"role": "assistant", "finish_reason": finish, "parts": parts}]);
    let mut attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.provider.name", provider),
        text("gen_ai.request.model", model),
        number("gen_ai.request.temperature", run.asked.temperature_of(&cell.arm.method)),
        list("gen_ai.response.finish_reasons", &[finish]),
        text("gen_ai.output.messages", &said.to_string()),
        text("closeread.prompt", &call.prompt),
        text("closeread.prompt.sha256", &call.sha256),
    ];
    attributes.extend(call.served_by.model.as_deref().map(|model| text("gen_ai.response.model", model)));
    let counts = [
        ("gen_ai.usage.input_tokens", usage.prompt_tokens),
        ("gen_ai.usage.output_tokens", usage.completion_tokens),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens),
        ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens),
    ];
    attributes.extend(counts.into_iter().filter_map(|(name, n)| Some(integer(name, n?))));
    attributes
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::Text(value.to_owned()))
}

fn integer(key: &str, value: u64) -> KeyValue {
    attribute(key, Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)))
}

fn number(key: &str, value: f64) -> KeyValue {
    attribute(key, Value::Number(value))
}

fn list(key: &str, values: &[&str]) -> KeyValue {
    let one = |value: &&str| wire::AnyValue { value: Some(Value::Text((*value).to_owned())) };
    attribute(key, Value::List(wire::Array { values: values.iter().map(one).collect() }))
}
