//! Recognises attention and layer normalisation in a BERT-like graph and makes each one operator.
//!
//! tract splits layer normalisation into five passes over memory and attention into some ten, most of which only move
//! numbers: a third of the time of a batch. What does not have the shape looked for stays as it is.

use super::fused::{Attention, LayerNorm, floats};
use super::parts::Parts;
use super::pattern::{binary, is_product, is_used_once, with_constant};
use tract_onnx::tract_core::internal::*;
use tract_onnx::tract_core::ops::math::{Add, Mul, Sub};
use tract_onnx::tract_core::ops::nn::{Reduce, Reducer, RmsNorm, Softmax, SoftmaxKind};

/// Queries (text, token, head, number) times keys to scores (text, head, query, key).
const SCORES: &str = "abcd,aecd->acbe";
/// Shares (text, head, query, key) of values to the context (text, query, head, number).
const CONTEXT: &str = "abcd,adbe->acbe";

/// Rewrites a decluttered model.
pub(super) fn fuse(model: &mut TypedModel) -> TractResult<()> {
    Rewriter::default()
        .with_rule_for("attention", attention)
        .with_rule_for("layer-normalisation", layer_norm)
        .rewrite(&(), model)
}

/// Fuses an attention, found from the softmax of the scores.
fn attention(
    _: &(),
    model: &TypedModel,
    node: &TypedNode,
    _name: &str,
    softmax: &Softmax,
) -> TractResult<Option<TypedModelPatch>> {
    let plain = softmax.kind == SoftmaxKind::Softmax && softmax.quant_output_dt.is_none();
    rule_if!(plain && *softmax.axes == [3] && Parts::fastest().is_some());
    rule_if_some!(sum = binary::<Add>(model, node.inputs[0]));
    let is_mask = |outlet: OutletId| -> TractResult<bool> {
        let shape = &model.outlet_fact(outlet)?.shape;
        Ok(shape.rank() == 4 && shape[1].is_one() && shape[2].is_one())
    };
    let (mut scores, mask) = match (is_mask(sum.inputs[0])?, is_mask(sum.inputs[1])?) {
        (false, true) => (sum.inputs[0], sum.inputs[1]),
        (true, false) => (sum.inputs[1], sum.inputs[0]),
        _ => return Ok(None),
    };
    let mut scale = 1.0_f32;
    let mut inner = vec![node, sum];
    if let Some(scaled) = binary::<Mul>(model, scores) {
        rule_if_some!((variable, factor) = with_constant(model, scaled)?);
        rule_if!(factor.volume() == 1);
        scale = floats(&factor)?[0];
        inner.push(scaled);
        scores = variable;
    }
    let product = model.node(scores.node);
    rule_if!(is_product(product, SCORES));
    inner.push(product);
    rule_if_some!(context = model.single_succ(node.id)?);
    rule_if!(is_product(context, CONTEXT) && context.inputs[0].node == node.id);
    rule_if!(inner.iter().all(|node| is_used_once(model, node)));
    let [queries, keys, values] = [product.inputs[0], product.inputs[1], context.inputs[1]];
    let shape = &model.outlet_fact(queries)?.shape;
    for outlet in [queries, keys, values] {
        let fact = model.outlet_fact(outlet)?;
        rule_if!(fact.datum_type == f32::datum_type() && fact.shape == *shape);
    }
    let mask_shape = &model.outlet_fact(mask)?.shape;
    rule_if!(mask_shape[3] == shape[1] && (mask_shape[0] == shape[0] || mask_shape[0].is_one()));
    let mut patch = TypedModelPatch::default();
    let inputs = patch.taps(model, &[queries, keys, values, mask])?;
    let fused = patch.wire_node(&context.name, Attention { scale: rctensor0(scale) }, &inputs)?;
    patch.shunt_outside(model, context.id.into(), fused[0])?;
    Ok(Some(patch))
}

/// Fuses a layer normalisation, found from the division by the root of the mean square.
fn layer_norm(
    _: &(),
    model: &TypedModel,
    node: &TypedNode,
    _name: &str,
    root: &RmsNorm,
) -> TractResult<Option<TypedModelPatch>> {
    let fact = model.outlet_fact(node.id.into())?;
    rule_if!(fact.datum_type == f32::datum_type() && root.axis + 1 == fact.rank());
    rule_if_some!(n_columns = fact.shape[root.axis].as_i64());
    let n_columns = n_columns as usize;
    rule_if!(Parts::fastest().is_some_and(|parts| n_columns.is_multiple_of(parts.lanes())));
    // What is divided is the input less its mean.
    rule_if_some!(centred = binary::<Sub>(model, node.inputs[0]));
    let [input, mean] = [centred.inputs[0], centred.inputs[1]];
    rule_if_some!(mean_node = binary::<Mul>(model, mean));
    rule_if_some!((total, factor) = with_constant(model, mean_node)?);
    rule_if!(factor.volume() == 1 && (floats(&factor)?[0] * n_columns as f32 - 1.0).abs() < 1e-6);
    let total_node = model.node(total.node);
    rule_if_some!(reduce = total_node.op_as::<Reduce>());
    rule_if!(reduce.reducer == Reducer::Sum && *reduce.axes == [root.axis] && total_node.inputs[0] == input);
    // It is multiplied by the scale and the shift is added.
    rule_if_some!(scaled = model.single_succ(node.id)?);
    rule_if_some!(scaled = binary::<Mul>(model, scaled.id.into()));
    rule_if_some!((_, scale) = with_constant(model, scaled)?);
    rule_if_some!(shifted = model.single_succ(scaled.id)?);
    rule_if_some!(shifted = binary::<Add>(model, shifted.id.into()));
    rule_if_some!((_, shift) = with_constant(model, shifted)?);
    rule_if!([&scale, &shift].iter().all(|row| row.volume() == n_columns && row.shape().last() == Some(&n_columns)));
    rule_if!([total_node, mean_node, centred, node, scaled].iter().all(|node| is_used_once(model, node)));
    let op = LayerNorm { scale, shift, epsilon: root.eps.clone() };
    let mut patch = TypedModelPatch::default();
    let inputs = patch.taps(model, &summands(model, input)?.unwrap_or_else(|| vec![input]))?;
    let fused = patch.wire_node(&shifted.name, op, &inputs)?;
    patch.shunt_outside(model, shifted.id.into(), fused[0])?;
    Ok(Some(patch))
}

/// The two inputs of an addition whose result nothing but the normalisation needs: its mean and its difference to it.
fn summands(model: &TypedModel, sum: OutletId) -> TractResult<Option<Vec<OutletId>>> {
    rule_if_some!(node = binary::<Add>(model, sum));
    rule_if!(node.outputs[0].successors.len() == 2 && !model.output_outlets()?.contains(&sum));
    let facts = model.node_input_facts(node.id)?;
    let shape = &model.outlet_fact(sum)?.shape;
    rule_if!(facts.iter().all(|fact| fact.konst.is_none() && fact.shape == *shape));
    Ok(Some(node.inputs.clone()))
}
