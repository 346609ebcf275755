//! Errors as JavaScript sees them.

use std::fmt::Display;
use wasm_bindgen::JsValue;

/// A JavaScript `Error` with a stable name.
pub(crate) fn as_js(name: &str, error: &impl Display) -> JsValue {
    let js = js_sys::Error::new(&error.to_string());
    js.set_name(name);
    js.into()
}

/// A call that no input could make right.
pub(crate) fn usage(message: &str) -> JsValue {
    as_js("UsageError", &message)
}
