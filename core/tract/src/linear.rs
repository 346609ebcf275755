//! Products with stored weights, prepared once for batches of every shape.
//!
//! tract chooses a matrix kernel when it optimises a graph, and chooses well only where it knows how many tokens a
//! batch has: one plan for all shapes runs 1.2 to 1.4 times slower than one made for a shape, and each of those keeps
//! its own packed copy of the weights. Here the kernel is the one tract prefers for a batch of usual size, whatever
//! the batch at hand, and the weights are packed for it once.

use super::pattern::{binary, is_product, is_used_once, with_constant};
use std::sync::Arc;
use tract_linalg::mmm::{MMMInputFormat, MatMatMul, OutputStoreSpec, PackedMatrixStorage, Query};
use tract_onnx::tract_core::internal::*;
use tract_onnx::tract_core::ops::einsum::EinSum;
use tract_onnx::tract_core::ops::math::Add;
use tract_onnx::tract_core::ops::matmul::ModePicker;
use tract_onnx::tract_core::ops::matmul::optimized::{
    AddMatMulGeometry, MapOutputAxisToInput, MatMulOperand, OptMatMul, ProtoFusedSpec,
};
use tract_onnx::tract_core::ops::matmul::pack::DynPackedExoticFact;

/// Tokens of the batch that kernels are chosen for.
const USUAL_TOKENS: usize = 768;
/// States (text, token, number) times a matrix.
const STATES: &str = "abc,cd->abd";
/// Axes of a product of states that are still split in heads (text, token, head, number) with a matrix that is split in
/// heads.
const HEADS: &str = "abcd,cde->abe";

/// Rewrites every such product of a decluttered model, together with the addition of a bias that follows it.
pub(super) fn prepare(model: &mut TypedModel) -> TractResult<()> {
    Rewriter::default().with_rule_for("linear-layer", linear).rewrite(&(), model)
}

fn linear(
    _: &(),
    model: &TypedModel,
    node: &TypedNode,
    name: &str,
    _: &EinSum,
) -> TractResult<Option<TypedModelPatch>> {
    rule_if!(is_product(node, STATES) || is_product(node, HEADS));
    rule_if_some!((input, weight) = with_constant(model, node)?);
    rule_if!(input == node.inputs[0]);
    let n_columns = *weight.shape().last().context("a matrix has axes")?;
    let n_steps = weight.volume() / n_columns.max(1);
    let shape = &model.outlet_fact(input)?.shape;
    rule_if!(model.outlet_fact(input)?.datum_type == f32::datum_type());
    let texts_and_tokens: TVec<TDim> = shape[..2].into();
    let n_rows = shape[0].clone() * &shape[1];
    rule_if_some!((kernel, packing) = kernel(n_columns, n_steps));
    let (weight_format, state_format) = kernel.packings()[packing].clone();
    let weight = weight.into_tensor().into_shape(&[n_steps, n_columns])?;
    let weight = weight_format.prepare_one(&weight, 0, 1)?;

    let mut patch = TypedModelPatch::default();
    let tapped = patch.tap_model(model, input)?;
    let pack = Pack { format: state_format, n_columns: n_steps };
    let mut inputs = patch.wire_node(format!("{name}.pack"), pack, &[tapped])?;
    let none = || MapOutputAxisToInput(tvec!());
    let product = ProtoFusedSpec::AddMatMul {
        geo: AddMatMulGeometry { k: n_steps.to_dim(), c_to_a_axis_mapping: none(), c_to_b_axis_mapping: none() },
        a: MatMulOperand::Const(weight),
        b: MatMulOperand::Input(0),
        packings: vec![(packing, None)],
    };
    let mut steps = vec![product];
    // The weights' columns are the kernel's rows: so it writes what lies together.
    let (tokens_axis, columns_axis) = (0, 1);
    let mut last = node;
    if let Some((sum, bias)) = bias(model, node, n_columns)? {
        let bias = bias.into_tensor().into_shape(&[1, n_columns])?;
        inputs.push(patch.add_const(format!("{name}.bias"), bias)?);
        let along = MapOutputAxisToInput(tvec!((columns_axis, columns_axis)));
        steps.push(ProtoFusedSpec::BinPerRow(1, tract_linalg::BinOp::Add, along));
        last = sum;
    }
    let (m_axis, n_axis) = (Some(columns_axis), Some(tokens_axis));
    let (mr, nr) = (kernel.mr(), kernel.nr());
    steps.push(ProtoFusedSpec::Store(vec![OutputStoreSpec::View { m_axis, n_axis, mr, nr }]));
    let fact = f32::fact([n_rows.clone(), n_columns.to_dim()]);
    let product = OptMatMul::new(vec![kernel], ModePicker::Single, fact, m_axis, n_axis, steps, packing == 0)?;
    let rows = patch.wire_node(format!("{name}.product"), product, &inputs)?;
    let split = AxisOp::Reshape(0, tvec!(n_rows), texts_and_tokens);
    let output = patch.wire_node(&last.name, split, &rows)?;
    patch.shunt_outside(model, last.id.into(), output[0])?;
    Ok(Some(patch))
}

/// The kernel tract prefers for a usual batch, and which of its packings takes f32.
fn kernel(n_columns: usize, n_steps: usize) -> Option<(Box<dyn MatMatMul>, usize)> {
    let float = f32::datum_type();
    let query = Query {
        store: Some(float),
        allow_extractor: false,
        ..Query::plain(float, Some(n_columns), Some(n_steps), Some(USUAL_TOKENS))
    };
    let dispatch = tract_linalg::MmmDispatch::native();
    let suitable = dispatch.suitable(&query);
    let (kernel, packing, extractor) = dispatch.preferred(&query, &suitable)?;
    (extractor.is_none() && kernel.nr() > 1).then_some((kernel, packing))
}

/// The addition of one number a column that follows a product, if one does.
fn bias<'a>(
    model: &'a TypedModel,
    product: &TypedNode,
    n_columns: usize,
) -> TractResult<Option<(&'a TypedNode, Arc<Tensor>)>> {
    rule_if!(is_used_once(model, product));
    rule_if_some!(next = model.single_succ(product.id)?);
    rule_if_some!(sum = binary::<Add>(model, next.id.into()));
    rule_if_some!((_, bias) = with_constant(model, sum)?);
    Ok((bias.volume() == n_columns && bias.shape().last() == Some(&n_columns)).then_some((sum, bias)))
}

/// Lays the rows of a batch out as a kernel reads them; rows are the last axes, of `n_columns` numbers together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Pack {
    format: Box<dyn MMMInputFormat>,
    n_columns: usize,
}

impl Op for Pack {
    fn name(&self) -> StaticName {
        "closeread.Pack".into()
    }
    op_as_typed_op!();
}

impl EvalOp for Pack {
    op_out_of_plan!();

    fn eval(&self, _context: &EvalContext, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let input = args_1!(inputs);
        let (n_rows, dt) = (input.volume() / self.n_columns.max(1), input.datum_type());
        let rows = input.into_tensor().into_shape(&[n_rows, self.n_columns])?;
        let packed = self.format.prepare_one(&rows, 1, 0)?;
        Ok(tvec!(PackedMatrixStorage::new(packed).into_tensor(dt).into_tvalue()))
    }
}

impl TypedOp for Pack {
    fn output_facts(&self, inputs: &[&TypedFact]) -> TractResult<TVec<TypedFact>> {
        let shape = &inputs[0].shape;
        let packed = DynPackedExoticFact {
            k: self.n_columns.to_dim(),
            mn: shape[0].clone() * &shape[1],
            packers: vec![self.format.clone()],
        };
        let none: [TDim; 0] = [];
        Ok(tvec!(inputs[0].datum_type.fact(none).with_exotic_fact(packed)))
    }
    as_op!();
}
