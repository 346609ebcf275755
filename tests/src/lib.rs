//! Conformance of closeread's core with the reference implementations, natively and compiled to WebAssembly.
//!
//! A vector file is JSON with a `schema` field; its cases hold inputs and the results of a reference
//! implementation. [`run_file`] runs one such file against the core. The same function is called by the native runner
//! (`src/bin/conformance.rs`), by the module that `wasm/run.mjs` loads into Node, and by the tests of this package.
//! To add a schema, write one file in `schema/` and name it in `schema/mod.rs`.

mod assets;
mod raptor;
mod report;
mod schema;
#[cfg(target_arch = "wasm32")]
pub mod wasm;

pub use report::{FileReport, NotYet};

use schema::{SCHEMAS, Schema};
use serde_json::Value;

/// Runs every case of the vector file `name`, whose content is `json`.
///
/// Never panics and never skips: a case whose schema, version or group has no code counts as failed and is named in
/// [`FileReport::not_yet`]; content that is not a vector file counts as one failure that says what is wrong with it.
pub fn run_file(name: &str, json: &str) -> FileReport {
    assets::provide_punkt();
    let mut report = FileReport::new(name);
    let file: Value = match serde_json::from_str(json) {
        Ok(file) => file,
        Err(error) => {
            report.fail_file(format!("not JSON: {error}"));
            return report;
        }
    };
    let Some(declared) = file.get("schema").and_then(Value::as_str) else {
        report.fail_file("no text field `schema`: expected one such as \"sentences_en/1\"".to_owned());
        return report;
    };
    match find(declared) {
        Ok(schema) => {
            (schema.run)(&file, &mut report);
            if schema.name == "text_metrics" {
                report.digest = Some(schema::scorecard::digest_of_pairs(&file));
            }
        }
        Err(why) => report.not_yet(&why, count_cases(&file)),
    }
    if report.passed + report.failed == 0 {
        report.fail_file(format!("schema {declared}: no cases found"));
    }
    report
}

/// The schemas that have code, as `name/version`.
pub fn schemas() -> impl Iterator<Item = String> {
    SCHEMAS.iter().map(|schema| format!("{}/{}", schema.name, schema.version))
}

fn find(declared: &str) -> Result<&'static Schema, String> {
    let (name, version) = declared.split_once('/').unwrap_or((declared, "1"));
    let schema =
        SCHEMAS.iter().find(|schema| schema.name == name).ok_or_else(|| format!("schema {name} has no code yet"))?;
    if schema.version == version {
        Ok(schema)
    } else {
        Err(format!("schema {name}: version {version} has no code yet, only version {}", schema.version))
    }
}

/// Number of cases in a file of an unknown schema: its objects with an `id`, or else 1, so that no such file
/// counts as nothing.
fn count_cases(value: &Value) -> usize {
    fn with_id(value: &Value) -> usize {
        match value {
            Value::Object(fields) if fields.contains_key("id") => 1,
            Value::Object(fields) => fields.values().map(with_id).sum(),
            Value::Array(items) => items.iter().map(with_id).sum(),
            _ => 0,
        }
    }
    with_id(value).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_schema_fails_with_all_its_cases() {
        let report = run_file("moon.json", r#"{"schema": "moon/1", "cases": [{"id": "a"}, {"id": "b"}]}"#);
        assert_eq!((report.passed, report.failed), (0, 2));
        assert_eq!(report.not_yet[0].what, "schema moon has no code yet");
    }

    #[test]
    fn a_version_without_code_fails() {
        let report = run_file("s.json", r#"{"schema": "sentences_en/2", "short": [{"id": "a"}]}"#);
        assert_eq!((report.passed, report.failed), (0, 1));
        assert!(report.not_yet[0].what.contains("version 2"), "{:?}", report.not_yet);
    }

    #[test]
    fn what_is_no_vector_file_fails() {
        for json in ["", "[", "[]", "{}", r#"{"schema": 3}"#, r#"{"schema": "sentences_en/1"}"#] {
            let report = run_file("x.json", json);
            assert_eq!((report.passed, report.failed), (0, 1), "{json}");
        }
    }
}
