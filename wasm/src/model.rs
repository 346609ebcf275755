//! Facts of an embedding model before it is loaded.

use crate::books::to_js;
use crate::error::as_js;
use closeread_embed::ModelSpec;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `ModelFacts` in TypeScript.
    #[wasm_bindgen(typescript_type = "ModelFacts")]
    pub type JsModelFacts;
}

/// Reads the text of a `model.toml`.
///
/// # Errors
/// A text that is no description of a model.
#[wasm_bindgen(js_name = modelFacts)]
pub fn model_facts(toml: &str) -> Result<JsModelFacts, JsValue> {
    let spec = ModelSpec::from_toml("model.toml", toml).map_err(|error| as_js("ModelError", &error))?;
    to_js(&spec).map(JsCast::unchecked_into)
}
