//! docs/schemas, held to what a run writes: what docs/stability.md promises is what there is.

use crate::support::{Sandbox, run_tales, tales};
use jsonschema::Validator;
use serde_json::Value;
use std::path::Path;

fn schema(name: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/schemas/{name}.schema.json"));
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn holds(schema: &Validator, value: &Value, what: &str) {
    if let Err(error) = schema.validate(value) {
        panic!("{what}: {error} at {}\n{value}", error.instance_path());
    }
}

/// Holds every line of a file to its schema; there is one line at least.
#[track_caller]
fn holds_lines(name: &str, path: &Path) {
    let (schema, text) = (schema(name), std::fs::read_to_string(path).unwrap());
    for line in text.lines() {
        holds(&schema, &serde_json::from_str(line).unwrap(), name);
    }
    assert!(!text.is_empty(), "{} is empty", path.display());
}

#[test]
fn what_a_run_writes_is_what_the_schemas_say() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "closed-book,dos-rag", "--budget", "40", "--judge-model", "builtin/rule"]);
    let run = sandbox.path("r");
    for (name, file) in [("record", "records.jsonl"), ("item", "items.jsonl"), ("judgement", "judgements.jsonl")] {
        holds_lines(name, &run.join(file));
    }
    for (name, file) in [("manifest", "manifest.json"), ("report", "report.json")] {
        let value = serde_json::from_slice(&std::fs::read(run.join(file)).unwrap()).unwrap();
        holds(&schema(name), &value, file);
    }
    holds_lines("item", &sandbox.path("tales/items.jsonl"));
}

#[test]
fn a_run_of_an_earlier_build_is_what_the_schemas_say_and_something_else_is_not() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/run-format-2/run");
    for (name, file) in [("record", "records.jsonl"), ("item", "items.jsonl"), ("judgement", "judgements.jsonl")] {
        holds_lines(name, &run.join(file));
    }
    let records = std::fs::read_to_string(run.join("records.jsonl")).unwrap();
    let mut record: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    record["outcome"] = "guessed".into();
    assert!(!schema("record").is_valid(&record));
}
