//! Token ids of tiktoken's and Hugging Face's tokenizers.

use super::compare;
use super::kind::Schema;
use super::tokenizer::tokenizer;
use crate::report::FileReport;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "token_counts", version: "1", run };

/// Fields of a case that are not names of tokenizers.
const OTHER_FIELDS: [&str; 3] = ["id", "text", "truncated_to_first_40_ids"];

fn run(file: &Value, report: &mut FileReport) {
    report.cases(file, "cases", check);
}

/// Checks each list of ids in a case, which is named after its tokenizer. A long text has its first ids only, and also
/// the field `<tokenizer>_count`.
fn check(case: &Value) -> Result<(), String> {
    let fields = case.as_object().ok_or("case does not follow its schema: expected an object")?;
    let text = fields.get("text").and_then(Value::as_str).ok_or("case does not follow its schema: no `text`")?;
    let truncated = fields.get("truncated_to_first_40_ids").and_then(Value::as_bool).unwrap_or(false);
    let mut compared = 0;
    for (name, ids) in fields {
        if OTHER_FIELDS.contains(&name.as_str()) || name.ends_with("_count") {
            continue;
        }
        let expected: Vec<u32> = compare::parse(ids).map_err(|why| format!("{name}: {why}"))?;
        let count = fields.get(&format!("{name}_count")).map(compare::parse::<usize>).transpose()?;
        ids_match(name, text, &expected, count, truncated).map_err(|why| format!("{name}: {why}"))?;
        compared += 1;
    }
    if compared == 0 { Err("case names no tokenizer".to_owned()) } else { Ok(()) }
}

fn ids_match(
    name: &str,
    text: &str,
    expected: &[u32],
    expected_count: Option<usize>,
    truncated: bool,
) -> Result<(), String> {
    let tokenizer = tokenizer(name)?;
    let ids = tokenizer.encode(text);
    let shown = if truncated { &ids[..ids.len().min(expected.len())] } else { &ids[..] };
    compare::same("id", shown, expected)?;
    let expected_count = expected_count.unwrap_or(expected.len());
    for (way, count) in [("encode", ids.len()), ("count", tokenizer.count(text))] {
        if count != expected_count {
            return Err(format!("expected {expected_count} tokens, `{way}` gives {count}"));
        }
    }
    Ok(())
}
