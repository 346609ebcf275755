//! Changes of a run to its benchmark's protocol.

use super::defaults::Protocol;
use super::lines::{Line, plain};
use crate::entry;
use closeread_prompts::Prompts;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A line of the protocol that a run has otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Name of the line.
    pub name: String,
    /// Value of the line in the protocol.
    pub protocol: String,
    /// Value of the line in the run.
    pub run: String,
}

/// A protocol as the manifest of a run keeps it, and what the run changed of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptProtocol {
    /// Paper and sections it follows; closeread's own says `closeread`.
    pub source: String,
    /// Every line, as it was in the protocol when the run began.
    pub lines: Vec<Line>,
    /// Lines that the run changed.
    pub changes: Vec<Change>,
}

impl Protocol {
    /// Returns what the manifest of a run keeps, by its field `configuration`.
    pub fn kept(&self, configuration: &Value) -> KeptProtocol {
        KeptProtocol { source: self.source.to_owned(), lines: self.lines(), changes: self.changes(configuration) }
    }

    /// The lines that a run changed, by the field `configuration` of its manifest. What a manifest does not say is
    /// taken for unchanged.
    pub fn changes(&self, configuration: &Value) -> Vec<Change> {
        let change = |line: Line| {
            let run = run_value(&line, configuration)?;
            (run != line.value).then_some(Change { name: line.name, protocol: line.value, run })
        };
        let mut changes: Vec<Change> = self.lines().into_iter().filter_map(change).collect();
        changes.extend(self.other_parameters(configuration));
        let reasoning = configuration.get("reasoning").filter(|reasoning| !reasoning.is_null());
        changes.extend(reasoning.map(|reasoning| Change {
            name: "reasoning".to_owned(),
            protocol: "as each model does by default".to_owned(),
            run: plain(reasoning),
        }));
        let retriever = configuration.get("retriever").and_then(Value::as_str).filter(|name| *name != "dense");
        changes.extend(retriever.map(|name| Change {
            name: "retriever".to_owned(),
            protocol: "dense".to_owned(),
            run: name.to_owned(),
        }));
        let reranker = configuration.get("reranker").filter(|reranker| !reranker.is_null());
        changes.extend(reranker.map(|reranker| Change {
            name: "reranker".to_owned(),
            protocol: "none".to_owned(),
            run: format!("{}, of the best {} passages", plain(&reranker["name"]), plain(&reranker["from"])),
        }));
        let said = |(name, line, default): (&str, &str, &str)| {
            let run = configuration.get(name).filter(|value| !value.is_null()).map(plain)?;
            Some(Change { name: line.to_owned(), protocol: default.to_owned(), run })
        };
        let selections = [("draw", "items drawn", "all"), ("constrain", "responses held to their form by", "nothing")];
        changes.extend(selections.into_iter().filter_map(said));
        for name in ["extra_body", "extra_bodies"] {
            let extra =
                configuration.get(name).filter(|extra| extra.as_object().is_some_and(|fields| !fields.is_empty()));
            changes.extend(extra.map(|extra| Change {
                name: "fields merged into requests".to_owned(),
                protocol: "none".to_owned(),
                run: extra.to_string(),
            }));
        }
        changes.extend(other_prompts(configuration));
        changes
    }

    /// Parameters of methods that the protocol has no step for.
    fn other_parameters(&self, configuration: &Value) -> Vec<Change> {
        let methods = configuration.get("methods").and_then(Value::as_object).into_iter().flatten();
        let others = methods.filter(|(name, _)| self.steps.iter().all(|step| step.method != *name));
        let of_method = |(name, made): (&String, &Value)| {
            let preset = entry(name).map(|entry| json!(self.method(entry))).unwrap_or_default();
            let fields = made.as_object().into_iter().flatten();
            let changed = fields.filter(|(field, value)| preset.get(field).is_some_and(|own| own != *value));
            let change = |(field, value): (&String, &Value)| {
                let name = format!("{name}: {field}");
                Change { name, protocol: plain(&preset[field]), run: plain(value) }
            };
            changed.map(change).collect::<Vec<_>>()
        };
        others.flat_map(of_method).collect()
    }
}

/// The prompts of a run that are not closeread's own.
fn other_prompts(configuration: &Value) -> Option<Change> {
    let own = Prompts::built_in();
    let of_run = configuration.get("prompts")?.as_object()?;
    let is_other = |(name, hash): &(&String, &Value)| own.hashes().get(*name).is_some_and(|own| **hash != **own);
    let others: Vec<&str> = of_run.iter().filter(is_other).map(|(name, _)| name.as_str()).collect();
    (!others.is_empty()).then(|| Change {
        name: "prompts".to_owned(),
        protocol: "as this closeread has them".to_owned(),
        run: format!("other words in {}", others.join(", ")),
    })
}

/// Returns the value of a line in the run; `None` where it has none.
fn run_value(line: &Line, configuration: &Value) -> Option<String> {
    let of = |name: &str| configuration.get(name).filter(|value| !value.is_null()).map(plain);
    let cells = || configuration.get("cells").and_then(Value::as_array).into_iter().flatten();
    if let Some((method, parameters)) = line.name.split_once(": ") {
        let made = configuration.get("methods")?.get(method)?;
        let values = parameters.split(", ").map(|name| Some(plain(made.get(name)?)));
        return Some(values.collect::<Option<Vec<_>>>()?.join(", "));
    }
    match line.name.as_str() {
        "methods" => Some(distinct(cells().filter_map(|cell| Some(plain(cell.get("method")?)))).join(", ")),
        "budgets, tokens" => {
            let budgets = cells().filter_map(|cell| cell.get("budget").filter(|budget| !budget.is_null()));
            let budgets = distinct(budgets.map(plain)).join(", ");
            (!budgets.is_empty()).then_some(budgets)
        }
        "tokenizer" => of("tokenizer"),
        "embedder" => Some(plain(configuration.get("embedder")?.get("name")?)),
        "repeats" => of("repeats"),
        "preparing model" => of("preparer"),
        "context window" => of("context_window"),
        "response limit, tokens" => of("max_output_tokens"),
        "items with" => {
            let only: Vec<String> = configuration.get("where")?.as_array()?.iter().map(plain).collect();
            (!only.is_empty()).then(|| only.join(", "))
        }
        "publishers' frames" => {
            // Data sets with their texts in fields have no frames, and say that they are kept.
            let is_kept = configuration.get("keep_frame")?.as_bool()?;
            (line.value == "kept" && !is_kept).then(|| "set aside".to_owned())
        }
        "seed" => of("seed"),
        _ => None,
    }
}

/// Returns each value once, in the order of its first place.
fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_and_a_selection_of_items_are_changes() {
        let run = json!({"reasoning": "high", "where": ["set=test"], "draw": {"n": 5, "by": null, "seed": 0}});
        let changes = Protocol::of("novelqa").changes(&run);
        let names: Vec<&str> = changes.iter().map(|change| change.name.as_str()).collect();
        assert!(names.ends_with(&["items with", "reasoning", "items drawn"]), "{names:?}");
        assert!(!Protocol::of("novelqa").changes(&json!({})).iter().any(|change| change.name == "reasoning"));
    }

    #[test]
    fn a_reranker_is_a_change_for_no_paper_has_one() {
        let run = json!({"reranker": {"name": "cohere/rerank-v3.5", "from": 50, "fingerprint": "x"}});
        let changes = Protocol::of("infinitebench").changes(&run);
        let said: Vec<_> =
            changes.iter().filter(|change| change.name == "reranker").map(|change| &*change.run).collect();
        assert_eq!(said, ["cohere/rerank-v3.5, of the best 50 passages"]);
    }

    #[test]
    fn a_run_changes_what_its_manifest_has_otherwise() {
        let protocol = Protocol::of("infinitebench");
        let dos = json!((protocol.steps[1].make)());
        let mut other = dos.clone();
        other["query"] = json!("question");
        let cell = |budget: usize| json!({"method": "dos-rag", "model": "p/x", "budget": budget});
        let run = |dos: Value| {
            json!({"cells": [cell(1_500), cell(500)], "methods": {"dos-rag": dos}, "repeats": 5, "seed": null,
                "embedder": {"name": "all-MiniLM-L6-v2"}, "tokenizer": protocol.tokenizer.name(), "extra_body": {}, "context_window": 9})
        };
        let names = |dos| protocol.changes(&run(dos)).into_iter().map(|change| change.name).collect::<Vec<_>>();
        assert_eq!(names(dos), ["methods", "budgets, tokens", "embedder", "context window"]);
        assert_eq!(names(other)[1], "dos-rag: query");
        assert_eq!(protocol.changes(&run(json!({})))[1].run, "1500, 500");
    }
}
