//! The papers' figures, recomputed.

use crate::error::as_js;
use closeread_core::paper::audit;
use wasm_bindgen::prelude::*;

/// Recomputes the figures that follow from the papers' own tables: what `closeread audit --json` prints, byte for byte,
/// without its line end.
///
/// # Errors
/// None; the type is that of a conversion.
#[wasm_bindgen(js_name = auditJson)]
pub fn audit_json() -> Result<String, JsValue> {
    let figures = audit::own().map_err(|error| as_js("AuditError", &error))?;
    serde_json::to_string(&audit::audit(&figures)).map_err(|error| as_js("AuditError", &error))
}
