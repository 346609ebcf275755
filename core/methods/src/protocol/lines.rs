//! A protocol line by line, each with its source.

use super::defaults::Protocol;
use super::source::{Source, Sourced};
use closeread_eval::observations::FailurePolicy;
use closeread_metrics::Metric;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A line of a protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Name of what the line settles: `budgets`, or a method and its parameters, `dos-rag: query`.
    pub name: String,
    /// Value in a run whose options say nothing.
    pub value: String,
    /// Source of the value.
    pub source: Source<String>,
    /// Difference from the paper or its authors' code.
    pub differs: Option<String>,
}

impl Line {
    fn new<T>(name: &str, value: impl Into<String>, of: &Sourced<T>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
            source: of.source.into(),
            differs: of.differs.map(str::to_owned),
        }
    }
}

/// A value without quotation marks.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn names_of(metrics: &[Metric]) -> String {
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl Protocol {
    /// Returns every line of the protocol: first the methods with their parameters, then what holds for all.
    pub fn lines(&self) -> Vec<Line> {
        let names: Vec<&str> = self.methods().iter().map(|entry| entry.name).collect();
        let mut lines = vec![Line::new("methods", names.join(", "), &self.steps)];
        for step in *self.steps {
            let made = json!((step.make)());
            for parameters in step.parameters {
                let values = parameters.split(' ').map(|name| plain(&made[name])).collect::<Vec<_>>();
                let name = format!("{}: {}", step.method, parameters.replace(' ', ", "));
                lines.push(Line::new(&name, values.join(", "), parameters));
            }
        }
        let takes_budget = self.methods().iter().any(|entry| self.method(entry).takes_budget());
        let budgets: Vec<String> = self.budgets.iter().map(ToString::to_string).collect();
        let judges: Vec<&str> = self.judges.iter().map(|judge| judge.name()).collect();
        let failures = match *self.failures {
            FailurePolicy::Wrong => "count as wrong; reports have both readings",
            FailurePolicy::LeftOut => "are left out; reports have both readings",
        };
        let optional = |value: Option<&str>, otherwise: &str| value.unwrap_or(otherwise).to_owned();
        lines.extend(takes_budget.then(|| Line::new("budgets, tokens", budgets.join(", "), &self.budgets)));
        lines.extend([
            Line::new("tokenizer", self.tokenizer.name(), &self.tokenizer),
            Line::new(
                "embedder",
                optional(*self.embedder, "each method's own, else the model that ships"),
                &self.embedder,
            ),
            Line::new("repeats", self.repeats.to_string(), &self.repeats),
            Line::new("preparing model", *self.conduct.preparer, &self.conduct.preparer),
            Line::new("context window", *self.conduct.window, &self.conduct.window),
            Line::new("response limit, tokens", plain(&json!(*self.max_output_tokens)), &self.max_output_tokens),
            Line::new("items with", optional(*self.only, "all"), &self.only),
            Line::new("publishers' frames", if *self.keep_frame { "kept" } else { "set aside" }, &self.keep_frame),
            Line::new("temperature", self.temperature.to_string(), &self.temperature),
            Line::new("seed", plain(&json!(*self.seed)), &self.seed),
            Line::new("system line", *self.conduct.system, &self.conduct.system),
            Line::new("answer in the response", *self.conduct.answer, &self.conduct.answer),
            Line::new("failures", failures, &self.failures),
            Line::new("metrics beside the main one", names_of(&self.metrics), &self.metrics),
            Line::new("clusters of intervals", *self.conduct.clusters, &self.conduct.clusters),
            Line::new("judges", if judges.is_empty() { "none".to_owned() } else { judges.join(", ") }, &self.judges),
            Line::new("judging model", optional(*self.judge_model, "none"), &self.judge_model),
        ]);
        lines
    }
}
