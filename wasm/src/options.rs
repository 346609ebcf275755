//! Options as plain JavaScript objects, by the names and defaults of the command line.

use crate::error::usage;
#[cfg(feature = "scorer")]
use closeread_metrics::Words;
#[cfg(feature = "scorer")]
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;

/// The options by which predictions are scored.
#[cfg(feature = "scorer")]
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct ScoreOptions {
    /// Metrics, the main one first; default: by format or task.
    #[cfg_attr(feature = "typescript", ts(as = "Vec<closeread_metrics::Metric>"))]
    pub(crate) metrics: Vec<String>,
    /// Labels to break scores down by; also `task` and `document`.
    pub(crate) by: Vec<String>,
    /// What counts as a word of Chinese or Japanese text; default `reference`.
    #[cfg_attr(feature = "typescript", ts(type = "\"reference\" | \"characters\""))]
    chinese: Option<String>,
    /// Task of a published format that has several.
    pub(crate) task: Option<String>,
    /// System, where published files hold several.
    pub(crate) system: Option<String>,
}

#[cfg(feature = "scorer")]
impl ScoreOptions {
    pub(crate) fn read(options: Option<JsValue>) -> Result<Self, JsValue> {
        read(options)
    }

    pub(crate) fn chinese(&self) -> Result<Words, JsValue> {
        match self.chinese.as_deref() {
            None | Some("reference") => Ok(Words::Reference),
            Some("characters") => Ok(Words::ChineseCharacters),
            Some(other) => Err(usage(&format!("unknown `chinese` option `{other}`: expected reference or characters"))),
        }
    }
}

/// Options that were given, else the defaults. A name that is not known is refused, which needs the way over JSON:
/// straight from JavaScript only the known names would be looked at.
pub(crate) fn read<T: DeserializeOwned + Default>(options: Option<JsValue>) -> Result<T, JsValue> {
    match options.filter(|options| !options.is_undefined() && !options.is_null()) {
        None => Ok(T::default()),
        Some(options) => over_json(&options),
    }
}

/// A value over JSON: what JavaScript throws on the way, as in a getter or where it is nested too deep, is an error here. Straight
/// from JavaScript it would leave the object that was called locked for ever.
pub(crate) fn over_json<T: DeserializeOwned>(value: &JsValue) -> Result<T, JsValue> {
    let json = js_sys::JSON::stringify(value)?.as_string().unwrap_or_default();
    serde_json::from_str(&json).map_err(|error| usage(&error.to_string()))
}
