//! On which side of a search texts stand, as JavaScript names it.

use crate::error::usage;
use closeread_embed::Role;
use wasm_bindgen::JsValue;

/// Returns the role of a name, `query` or `passage`.
pub(crate) fn role_named(name: &str) -> Result<Role, JsValue> {
    match name {
        "query" => Ok(Role::Query),
        "passage" => Ok(Role::Passage),
        other => Err(usage(&format!("unknown role `{other}`: expected query or passage"))),
    }
}
