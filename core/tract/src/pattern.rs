//! Looking for shapes in a graph.

use std::sync::Arc;
use tract_onnx::tract_core::internal::*;
use tract_onnx::tract_core::ops::binary::{BinMiniOp, TypedBinOp};
use tract_onnx::tract_core::ops::einsum::EinSum;

/// The node an outlet comes from, if it is this operation on two inputs.
pub(super) fn binary<B: BinMiniOp>(model: &TypedModel, outlet: OutletId) -> Option<&TypedNode> {
    let node = model.node(outlet.node);
    node.op_as::<TypedBinOp>().filter(|op| op.0.is::<B>()).map(|_| node)
}

/// The inputs of an operation on a variable and an f32 constant.
pub(super) fn with_constant(model: &TypedModel, node: &TypedNode) -> TractResult<Option<(OutletId, Arc<Tensor>)>> {
    let facts = model.node_input_facts(node.id)?;
    let constants: Vec<_> = facts.iter().map(|fact| fact.konst.clone()).collect();
    let (variable, constant) = match &constants[..] {
        [None, Some(constant)] => (node.inputs[0], constant),
        [Some(constant), None] => (node.inputs[1], constant),
        _ => return Ok(None),
    };
    rule_if!(constant.datum_type() == f32::datum_type());
    Ok(Some((variable, constant.clone())))
}

/// Returns whether a node is a product of two f32 inputs with these axes, which are named in the order of their
/// appearance.
pub(super) fn is_product(node: &TypedNode, axes: &str) -> bool {
    let Some(op) = node.op_as::<EinSum>() else { return false };
    let mut names = Vec::new();
    let renamed: String = (op.axes.to_string().chars())
        .map(|axis| {
            if !axis.is_alphabetic() {
                return axis;
            }
            let place = names.iter().position(|&known| known == axis).unwrap_or(names.len());
            if place == names.len() {
                names.push(axis);
            }
            char::from(b'a' + place as u8)
        })
        .collect();
    op.q_params.is_none() && op.operating_dt == f32::datum_type() && renamed == axes
}

/// Returns whether one other node needs a node's result, and nobody outside the graph.
pub(super) fn is_used_once(model: &TypedModel, node: &TypedNode) -> bool {
    let is_output = model.outputs.iter().any(|outlet| outlet.node == node.id);
    !is_output && node.outputs.len() == 1 && node.outputs[0].successors.len() == 1
}
