//! Compares a result with `expected`.

use serde_json::Value;

/// Fails at the first place where `got` is not `expected`: the same fields but `reason`, which is for people, the same
/// counts, and fractions within `tolerance`.
pub(super) fn same(path: &str, got: &Value, expected: &Value, tolerance: f64) -> Result<(), String> {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => {
            let expected: Vec<_> = expected.iter().filter(|(name, _)| *name != "reason").collect();
            if let Some(extra) = got.keys().find(|name| !expected.iter().any(|(known, _)| known == name)) {
                return Err(format!("{path}/{extra} is not expected"));
            }
            expected.into_iter().try_for_each(|(name, expected)| match got.get(name) {
                Some(got) => same(&format!("{path}/{name}"), got, expected, tolerance),
                None => Err(format!("{path}/{name} is missing")),
            })
        }
        (Value::Array(got), Value::Array(expected)) if got.len() == expected.len() => {
            let mut both = got.iter().zip(expected).enumerate();
            both.try_for_each(|(n, (got, expected))| same(&format!("{path}/{n}"), got, expected, tolerance))
        }
        (Value::Number(a), Value::Number(b))
            if is_close(a.as_f64(), b.as_f64(), a.is_f64() || b.is_f64(), tolerance) =>
        {
            Ok(())
        }
        _ if got == expected => Ok(()),
        _ => Err(format!("{path}: expected {expected}, got {got}")),
    }
}

fn is_close(a: Option<f64>, b: Option<f64>, is_fraction: bool, tolerance: f64) -> bool {
    let allowed = if is_fraction { tolerance } else { 0.0 };
    a.zip(b).is_some_and(|(a, b)| (a - b).abs() <= allowed)
}
