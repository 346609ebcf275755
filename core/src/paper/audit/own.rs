//! Our own record of the papers' tables and of the figures that should follow from them.

use super::{By, Figure, Rule};
use serde::Deserialize;
use serde_json::{Map, Value};

/// One file a paper: each table once, and the figures that refer to it.
const FILES: [(&str, &str); 4] = [
    ("sagascale.toml", include_str!("../../../assets/audit/sagascale.toml")),
    ("novelqa.toml", include_str!("../../../assets/audit/novelqa.toml")),
    ("corpusqa.toml", include_str!("../../../assets/audit/corpusqa.toml")),
    ("hamlet.toml", include_str!("../../../assets/audit/hamlet.toml")),
];

/// What begins a reference to a table, `@table.column.row`.
const REFERENCE: char = '@';

#[derive(Deserialize)]
struct File {
    paper: String,
    /// Tables by name.
    tables: Value,
    figures: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    table: String,
    quantity: String,
    rule: Rule,
    inputs: Value,
    printed: Value,
    #[serde(default)]
    tolerance: f64,
    #[serde(default)]
    note: String,
}

/// A file of ours does not say what it should.
#[derive(Debug, thiserror::Error)]
pub enum OwnDataError {
    /// It is not TOML of our layout.
    #[error("{file}: {source}")]
    Layout {
        /// The file in `core/assets/audit`.
        file: &'static str,
        /// What is wrong.
        source: toml::de::Error,
    },
    /// A figure refers to a table that is not there.
    #[error("{file}: figure {id} refers to {reference}, which is no table of this file")]
    Reference {
        /// The file in `core/assets/audit`.
        file: &'static str,
        /// The figure.
        id: String,
        /// What it refers to.
        reference: String,
    },
}

/// The figures of the papers that follow from the papers' own tables.
///
/// # Errors
/// [`OwnDataError`] if a file is broken, which a test excludes for the files that ship.
pub fn own() -> Result<Vec<Figure>, OwnDataError> {
    let mut figures = Vec::new();
    for (file, content) in FILES {
        let parsed: File = toml::from_str(content).map_err(|source| OwnDataError::Layout { file, source })?;
        for entry in parsed.figures {
            let inputs = resolved(&entry.inputs, &parsed.tables).map_err(|reference| OwnDataError::Reference {
                file,
                id: entry.id.clone(),
                reference,
            })?;
            figures.push(Figure {
                id: entry.id,
                paper: parsed.paper.clone(),
                table: entry.table,
                quantity: entry.quantity,
                by: By::Rule(entry.rule),
                inputs,
                printed: entry.printed,
                tolerance: entry.tolerance,
                note: entry.note,
            });
        }
    }
    Ok(figures)
}

/// The value with every reference replaced by what it refers to; the reference that refers to nothing as an error.
fn resolved(value: &Value, tables: &Value) -> Result<Value, String> {
    match value {
        Value::String(text) => match text.strip_prefix(REFERENCE) {
            Some(path) => {
                path.split('.').try_fold(tables, |at, name| at.get(name)).cloned().ok_or_else(|| text.clone())
            }
            None => Ok(value.clone()),
        },
        Value::Array(elements) => elements.iter().map(|element| resolved(element, tables)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| Ok((name.clone(), resolved(value, tables)?));
            fields.iter().map(field).collect::<Result<Map<_, _>, _>>().map(Value::Object)
        }
        other => Ok(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::audit;
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn every_figure_of_ours_can_be_recomputed() {
        let figures = own().unwrap();
        assert!(figures.len() >= 80, "{}", figures.len());
        for finding in audit(&figures) {
            assert_eq!(finding.problem, None, "{}", finding.id);
        }
        let ids: BTreeSet<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        assert_eq!(ids.len(), figures.len(), "ids are unique");
    }

    #[test]
    fn a_reference_to_no_table_is_named() {
        let tables = json!({"t": {"a": [1, 2]}});
        assert_eq!(resolved(&json!({"x": "@t.a", "name": "y"}), &tables), Ok(json!({"x": [1, 2], "name": "y"})));
        assert_eq!(resolved(&json!(["@t.b"]), &tables), Err("@t.b".to_owned()));
    }
}
