//! Methods that the options name, and their parameters.

use super::{ALL_METHODS, RunArgs};
use anyhow::{Context, Result, bail};
use closeread_methods::{AnyMethod, Entry, METHODS, entry};
use closeread_text::names::meant;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl RunArgs {
    /// The methods named, or else the protocol's, with their parameters, in the order of a report.
    pub(crate) fn methods(&self) -> Result<Vec<(&'static Entry, AnyMethod)>> {
        let all = self.method.iter().any(|name| name == ALL_METHODS);
        let names = || METHODS.iter().map(|entry| entry.name);
        let known = || names().collect::<Vec<_>>().join(", ");
        if let Some(unknown) = self.method.iter().find(|name| *name != ALL_METHODS && entry(name).is_none()) {
            bail!("unknown method `{unknown}`{}: expected {}, or all", meant(unknown, names()), known());
        }
        let by_default: &[&Entry] = &match self.method.is_empty() {
            true => self.protocol().methods(),
            false if all => METHODS.iter().collect(),
            false => Vec::new(),
        };
        let asked = |entry: &&Entry| {
            by_default.iter().any(|one| one.name == entry.name) || self.method.iter().any(|name| name == entry.name)
        };
        let chosen: Vec<&'static Entry> = METHODS.iter().filter(asked).collect();
        let given = self.given_parameters()?;
        if let Some(name) = given.keys().find(|name| entry(name).is_none()) {
            bail!(
                "parameters are given for `{name}`, which is no method{}: expected {}",
                meant(name, names()),
                known()
            );
        }
        let with_parameters = |entry: &'static Entry| {
            let method = self.protocol().method(entry);
            Ok((entry, method.with(entry.name, &self.parameters(entry, &given)?)?))
        };
        chosen.into_iter().map(with_parameters).collect()
    }

    /// Returns `[params.METHOD]` and `--param`, by method.
    fn given_parameters(&self) -> Result<BTreeMap<String, Map<String, Value>>> {
        let mut given = self.params.clone();
        for text in &self.param {
            let expected = || format!("--param {text}: expected METHOD.NAME=VALUE, such as dos-rag.max_tokens=200");
            let (path, value) = text.split_once('=').with_context(expected)?;
            let (method, name) = path.split_once('.').with_context(expected)?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            given.entry(method.to_owned()).or_default().insert(name.to_owned(), value);
        }
        Ok(given)
    }

    /// The parameters given to one method: its own, over those of the options that serve all methods that have them.
    fn parameters(&self, entry: &Entry, given: &BTreeMap<String, Map<String, Value>>) -> Result<Value> {
        let known = serde_json::to_value(entry.preset())?;
        let options = [
            ("max_tokens", self.passage_tokens.map(|n| json!(n))),
            ("fill", self.fill.map(|fill| json!(fill))),
            ("neighbours", self.neighbours.map(|n| json!(n))),
            ("overflow", self.on_overflow.map(|policy| json!(policy))),
            ("embedder", self.embedder.as_ref().map(|name| json!(name))),
        ];
        let mut parameters = Map::new();
        for (name, value) in options {
            if let Some(value) = value.filter(|_| known.get(name).is_some()) {
                parameters.insert(name.to_owned(), value);
            }
        }
        parameters.extend(given.get(entry.name).cloned().unwrap_or_default());
        Ok(Value::Object(parameters))
    }
}
