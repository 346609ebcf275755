//! The three passes of verification (section 3.1.2).

use super::chunks::chunk_text;
use super::tree::as_json;
use super::{Tree, numbered};
use crate::ask;
use crate::stage::Made;
use closeread_books::Book;
use closeread_eval::answer::json::json_values;
use closeread_eval::rows::scalar;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::builds::HamletVerifyTree;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The criterion of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// The chunk states the fact explicitly (Table 17).
    Faithfulness,
    /// The fact is purely factual (Table 18).
    Objectivity,
    /// The fact is essential, on its own merit (Table 19).
    Significance,
}

impl Criterion {
    /// All three criteria, in the order of the passes.
    pub const ALL: [Self; 3] = [Self::Faithfulness, Self::Objectivity, Self::Significance];

    /// Returns the criterion's name, which is that of its stage.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faithfulness => "faithfulness",
            Self::Objectivity => "objectivity",
            Self::Significance => "significance",
        }
    }
}

/// The labels that a pass gives a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// Labels, one a fact, depth first; absent for a fact that the model left out.
    pub labels: Vec<Option<FactLabel>>,
}

/// The label that a pass gives a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactLabel {
    /// Whether the fact passes.
    pub passes: bool,
    /// Reason of the label; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The prompt of a pass.
pub(super) fn prompt<'p>(chunk: &'p str, criterion: Criterion, tree: &'p str) -> HamletVerifyTree<'p> {
    HamletVerifyTree { chunk, criterion: criterion.name(), tree }
}

/// Has a model label every fact. Facts that it leaves out are asked for once more, with all others.
pub(super) async fn verify<H: Host>(
    host: &H,
    settings: Settings<'_>,
    book: &Book,
    tree: &Tree,
    criterion: Criterion,
) -> Result<Made<Labels>, MethodError> {
    let text = chunk_text(book, &tree.chunk)?;
    let ids: Vec<String> = numbered(&tree.roots).into_iter().map(|fact| fact.id).collect();
    ask::one(host, settings, &prompt(&text, criterion, &as_json(&tree.roots, true)), "", |response, last| {
        let labels = read(response, &ids);
        let missing: Vec<String> =
            ids.iter().zip(&labels).filter(|(_, label)| label.is_none()).map(|(id, _)| id.clone()).collect();
        match missing.len() {
            0 => Ok(Labels { labels }),
            n if n == ids.len() => Err(LabelsError::NoList),
            _ if last => Ok(Labels { labels }),
            _ => Err(LabelsError::Missing(missing)),
        }
    })
    .await
}

/// The reason why a response does not label every fact.
#[derive(Debug, thiserror::Error)]
enum LabelsError {
    #[error("it holds no JSON with a label, 0 or 1, for each fact")]
    NoList,
    #[error("these facts have no label, 0 or 1: {}", .0.join(", "))]
    Missing(Vec<String>),
}

/// The labels of a response: those of the last JSON value that labels every fact, as the values behind it correct them by number,
/// or else of all values together.
fn read(response: &str, ids: &[String]) -> Vec<Option<FactLabel>> {
    let values = json_values(response);
    let of = |value: &Value| labels_in(std::slice::from_ref(value), ids);
    let whole = |labels: &Vec<Option<FactLabel>>| labels.iter().all(Option::is_some);
    let last = values.iter().enumerate().rev().find_map(|(at, value)| Some((at, Some(of(value)).filter(whole)?)));
    let Some((at, mut labels)) = last else { return labels_in(&values, ids) };
    for correction in &values[at + 1..] {
        for (label, corrected) in labels.iter_mut().zip(of(correction)) {
            *label = corrected.or_else(|| label.take());
        }
    }
    labels
}

/// The labels in values, by the numbers of the facts; by their order where no entry has a number and there are as many.
/// A tree of labelled facts is read as the list of them.
fn labels_in(values: &[Value], ids: &[String]) -> Vec<Option<FactLabel>> {
    let mut entries = Vec::new();
    values.iter().for_each(|value| collect(value, &mut entries));
    let number = |entry: &Map<String, Value>| entry.get("id").or_else(|| entry.get("number")).and_then(scalar);
    if entries.len() == ids.len() && entries.iter().all(|entry| number(entry).is_none()) {
        return entries.iter().map(label).collect();
    }
    let of = |id: &String| {
        // A number such as 1.10 comes back as 1.1 where it was written without quotes: then its text decides nothing, and
        // the fact is asked for again.
        let mut named = entries.iter().filter(|entry| number(entry).is_some_and(|n| n.trim_matches(['.', ' ']) == id));
        match (named.next(), named.next()) {
            (Some(entry), None) => label(entry),
            _ => None,
        }
    };
    ids.iter().map(of).collect()
}

/// Collects all objects with a label, depth first.
fn collect(value: &Value, into: &mut Vec<Map<String, Value>>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, into)),
        Value::Object(fields) => {
            if fields.contains_key("label") {
                into.push(fields.clone());
            }
            fields.values().for_each(|value| collect(value, into));
        }
        _ => {}
    }
}

fn label(entry: &Map<String, Value>) -> Option<FactLabel> {
    let passes = match entry.get("label").and_then(scalar)?.trim() {
        "1" | "true" => true,
        "0" | "false" => false,
        _ => return None,
    };
    Some(FactLabel { passes, reason: entry.get("reason").and_then(scalar).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(response: &str) -> String {
        let ids = ["1", "1.1", "1.1.1"].map(str::to_owned);
        let shown =
            |label: &Option<FactLabel>| label.as_ref().map_or('-', |label| if label.passes { '1' } else { '0' });
        read(response, &ids).iter().map(shown).collect()
    }

    #[test]
    fn labels_are_read_by_number_and_else_by_place() {
        assert_eq!(
            labels(r#"[{"id": "1.1", "label": 0}, {"id": "1", "label": "1"}, {"id": "1.1.1", "label": true}]"#),
            "101"
        );
        assert_eq!(
            labels(r#"[{"fact": "a", "label": 1}, {"fact": "b", "label": 0}, {"fact": "c", "label": 1}]"#),
            "101"
        );
        let tree = r#"{"roots": [{"label": 1, "branches": [{"label": 1, "leaves": [{"label": 0}]}]}]}"#;
        assert_eq!(labels(tree), "110");
        let draft = r#"[{"id": "1", "label": 1}, {"id": "1.1", "label": 1}, {"id": "1.1.1", "label": 1}]"#;
        assert_eq!(labels(&format!("{draft}\nOn second thoughts:\n{tree}")), "110", "the last that is whole counts");
        let correction = r#"{"id": "1.1", "label": 0}"#;
        assert_eq!(labels(&format!("{draft}\nCorrection: {correction}")), "101", "and what corrects it");
    }

    #[test]
    fn what_has_no_label_or_two_has_none() {
        assert_eq!(labels(r#"[{"id": "1", "label": 1}, {"id": "1.1", "label": "maybe"}]"#), "1--");
        assert_eq!(labels(r#"[{"id": "1", "label": 1}, {"id": "1", "label": 0}]"#), "---");
        assert_eq!(labels("All pass."), "---");
    }
}
