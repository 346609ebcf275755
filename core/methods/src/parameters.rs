//! The parameters of a method as a user gives them.

use crate::method::Method;
use closeread_text::names::meant;
use serde_json::{Map, Value};

/// The reason why parameters cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// There is no method of that name.
    #[error("there is no method `{0}`; the names are: {1}")]
    Unknown(String, String),
    /// A name or a value that the method does not take.
    #[error("method `{method}` does not take these parameters: {problem}")]
    Wrong {
        /// Name of the method.
        method: String,
        /// Problem with the parameters.
        problem: Box<ParameterProblem>,
    },
}

/// The problem with the parameters of a method.
#[derive(Debug, thiserror::Error)]
pub enum ParameterProblem {
    /// The parameters are not a JSON object.
    #[error("expected an object with parameters")]
    NoObject,
    /// The method has no parameter of that name.
    #[error("unknown parameter `{name}`{}; {}", meant(.name, .known.iter().map(String::as_str)), listed(.known))]
    Unknown {
        /// Name of the parameter, as given.
        name: String,
        /// Names of the parameters that the method has.
        known: Vec<String>,
    },
    /// A value of the wrong kind.
    #[error("`{name}` cannot be {value}: {error}")]
    Value {
        /// Name of the parameter.
        name: String,
        /// Value of the parameter, as given.
        value: Value,
        /// Error of the parser, which says what was expected.
        error: serde_json::Error,
    },
    /// A number that hangs, takes all memory or means nothing.
    #[error("`{name}` cannot be {value}: expected a number from {least} to {most}")]
    Range {
        /// Name of the parameter.
        name: String,
        /// Value of the parameter, as given.
        value: Value,
        /// Least value that the parameter takes.
        least: f64,
        /// Greatest value that the parameter takes.
        most: f64,
    },
    /// Values of which none is wrong by itself.
    #[error(transparent)]
    Together(#[from] serde_json::Error),
    /// Values that the method refuses, see [`Method::check`].
    #[error("{0}")]
    Refused(&'static str),
}

/// The least and the most of every number among the parameters.
#[rustfmt::skip]
const RANGES: &[(&str, f64, f64)] = &[
    ("cluster_tokens", 1.0, 1e9),
    ("depth", 0.0, 100.0),
    ("max_context", 1.0, 1e9),
    ("max_layers", 0.0, 100.0),
    ("max_pages", 0.0, 10_000.0),
    ("max_reprompts", 0.0, 1_000.0),
    ("max_searches", 0.0, 10_000.0),
    ("max_tokens", 1.0, 1e9),
    ("membership", 0.0, 1.0),
    ("memory_tokens", 1.0, 1e7),
    ("min_words", 0.0, 1e9),
    ("neighbours", 0.0, 1_000.0),
    ("reduction_dimension", 1.0, 1_000.0),
    ("section_tokens", 1.0, 1e9),
    ("seed", 0.0, u64::MAX as f64),
    ("start_threshold", 0.0, 1e9),
    ("summary_tokens", 1.0, 1e7),
    ("temperature", 0.0, 2.0),
    ("top_k", 1.0, 1e6),
    ("word_limit", 1.0, 1e9),
];

/// Holds the numbers among the given parameters to their ranges.
fn in_range(given: &Map<String, Value>) -> Result<(), ParameterProblem> {
    for (name, value) in given {
        let Some(number) = value.as_f64() else { continue };
        let Some((_, least, most)) = RANGES.iter().find(|(known, ..)| known == name) else { continue };
        if !(*least..=*most).contains(&number) {
            return Err(ParameterProblem::Range {
                name: name.clone(),
                value: value.clone(),
                least: *least,
                most: *most,
            });
        }
    }
    Ok(())
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) }
}

/// A method with the parameters of a JSON object in the place of its own, held to what goes together.
pub(super) fn with<M: Method>(name: &str, method: &M, given: &Value) -> Result<M, ParameterError> {
    let wrong = |problem| ParameterError::Wrong { method: name.to_owned(), problem: Box::new(problem) };
    let method = overlaid(method, given).map_err(wrong)?;
    method.check().map_err(|problem| wrong(ParameterProblem::Refused(problem)))?;
    Ok(method)
}

/// A method with the parameters of a JSON object in the place of its own.
pub(super) fn overlaid<M: Method>(method: &M, given: &Value) -> Result<M, ParameterProblem> {
    let own = match serde_json::to_value(method)? {
        Value::Object(own) => own,
        _ => Map::new(),
    };
    let given = given.as_object().ok_or(ParameterProblem::NoObject)?;
    let overlay = |parameters: &mut dyn Iterator<Item = (&String, &Value)>| {
        let mut all = own.clone();
        all.extend(parameters.map(|(name, value)| (name.clone(), value.clone())));
        M::deserialize(Value::Object(all))
    };
    if let Some(name) = given.keys().find(|name| !own.contains_key(*name)) {
        return Err(ParameterProblem::Unknown { name: name.clone(), known: own.keys().cloned().collect() });
    }
    in_range(given)?;
    overlay(&mut given.iter()).map_err(|error| {
        // The one at fault, for a message that names it.
        let alone = given.iter().find_map(|one| Some((one, overlay(&mut std::iter::once(one)).err()?)));
        match alone {
            Some(((name, value), error)) => ParameterProblem::Value { name: name.clone(), value: value.clone(), error },
            None => error.into(),
        }
    })
}
