//! Effect of the order of passages on answers.

use crate::books::to_js;
use crate::error::usage;
use closeread_eval::observations::{BothOrders, order_effect};
use wasm_bindgen::prelude::*;

#[cfg(feature = "typescript")]
pub(crate) fn declare(types: &mut crate::typescript::declarations::Declarations) {
    types.add::<BothOrders>().add::<closeread_eval::observations::OrderEffect>();
}

#[wasm_bindgen]
extern "C" {
    /// `BothOrders[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "BothOrders[]")]
    pub type JsBothOrders;
    /// `OrderEffect` in TypeScript.
    #[wasm_bindgen(typescript_type = "OrderEffect")]
    pub type JsOrderEffect;
}

/// Compares the answers that the same passages gave in two orders, question by question.
///
/// # Errors
/// Questions of another shape.
#[wasm_bindgen(js_name = orderEffect)]
pub fn order_effect_of(questions: JsBothOrders) -> Result<JsOrderEffect, JsValue> {
    let questions: Vec<BothOrders> = serde_wasm_bindgen::from_value(questions.into())
        .map_err(|error| usage(&format!("questions in both orders: {error}")))?;
    to_js(&order_effect(&questions)).map(JsCast::unchecked_into)
}
