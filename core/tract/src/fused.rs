//! Parts of a BERT-like graph as single tract operators, computed by the encoder's kernels.

use super::parts::{Heads, Parts, Room};
use std::sync::Arc;
use tract_onnx::tract_core::internal::*;

/// Largest value that is added to the scores of padding; exp of it is 0 in f32.
const MASKED: f32 = -1e4;

/// Self-attention from queries, keys, values (texts x tokens x heads x numbers of a head) and the mask that is added
/// to the scores (texts or 1, 1, 1, tokens) to the context, shaped as the queries.
///
/// The context of padding is 0: nothing but padding looks at it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Attention {
    /// Factor of the scores, a scalar f32.
    pub(super) scale: Arc<Tensor>,
}

impl Op for Attention {
    fn name(&self) -> StaticName {
        "closeread.Attention".into()
    }
    op_as_typed_op!();
}

impl EvalOp for Attention {
    op_out_of_plan!();

    fn eval(&self, _context: &EvalContext, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let (queries, keys, values, mask) = args_4!(inputs);
        let parts = Parts::fastest().context("no kernels")?;
        let scale = self.scale.cast_to_scalar::<f32>()?;
        let &[n_texts, n_tokens, n_heads, head_size] = queries.shape() else { bail!("queries of four axes") };
        ensure!(keys.shape() == queries.shape() && values.shape() == queries.shape(), "keys and values as queries");
        let size = n_tokens * n_heads * head_size;
        let (queries, keys, values) = (floats(&queries)?, floats(&keys)?, floats(&values)?);
        let masks = floats(&mask)?;
        ensure!(masks.len() == n_tokens || masks.len() == n_texts * n_tokens, "a mask of {} numbers", masks.len());
        let mut context = vec![0.0_f32; n_texts * size];
        let mut room = Room::default();
        for (text, context) in context.chunks_exact_mut(size.max(1)).enumerate() {
            let at = text * size..(text + 1) * size;
            let (queries, keys, values) = (&queries[at.clone()], &keys[at.clone()], &values[at]);
            let heads = Heads { n_heads, head_size, queries, keys, values };
            let mask = if masks.len() == n_tokens { masks } else { &masks[text * n_tokens..][..n_tokens] };
            match prefix(mask) {
                Some(n_seen) => parts.attend(n_seen, &heads, scale, context, &mut room),
                None => attend_masked(&heads, scale, mask, context),
            }
        }
        let context = Tensor::from_shape(&[n_texts, n_tokens, n_heads, head_size], &context)?;
        Ok(tvec!(context.into_tvalue()))
    }
}

impl TypedOp for Attention {
    fn output_facts(&self, inputs: &[&TypedFact]) -> TractResult<TVec<TypedFact>> {
        Ok(tvec!(f32::fact(inputs[0].shape.clone())))
    }
    as_op!();
}

/// Returns how many tokens a mask shows, if those are the first and the rest is padding.
fn prefix(mask: &[f32]) -> Option<usize> {
    let n_seen = mask.iter().take_while(|&&added| added == 0.0).count();
    (n_seen > 0 && mask[n_seen..].iter().all(|&added| added <= MASKED)).then_some(n_seen)
}

/// Attention under any other mask, number by number.
fn attend_masked(heads: &Heads<'_>, scale: f32, mask: &[f32], context: &mut [f32]) {
    let &Heads { n_heads, head_size, queries, keys, values } = heads;
    let hidden = n_heads * head_size;
    for head in 0..n_heads {
        let row = |of: &'static str, token: usize| {
            let start = token * hidden + head * head_size;
            let rows = match of {
                "queries" => queries,
                "keys" => keys,
                _ => values,
            };
            &rows[start..start + head_size]
        };
        for query in 0..mask.len() {
            let score = |(key, &added): (usize, &f32)| {
                let product: f32 = row("queries", query).iter().zip(row("keys", key)).map(|(q, k)| q * k).sum();
                product * scale + added
            };
            let scores: Vec<f32> = mask.iter().enumerate().map(score).collect();
            let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let shares: Vec<f32> = scores.iter().map(|score| libm::expf(score - largest)).collect();
            let sum: f32 = shares.iter().sum();
            let to = &mut context[query * hidden + head * head_size..][..head_size];
            for (key, share) in shares.iter().enumerate() {
                to.iter_mut().zip(row("values", key)).for_each(|(to, value)| *to += share / sum * value);
            }
        }
    }
}

/// Layer normalisation along the last axis, of one input or of the sum of two of the same shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LayerNorm {
    /// Scale of the normalisation, as long as a row.
    pub(super) scale: Arc<Tensor>,
    /// Shift of the normalisation, as long as a row.
    pub(super) shift: Arc<Tensor>,
    /// Number that is added to the variance, a scalar.
    pub(super) epsilon: Arc<Tensor>,
}

impl Op for LayerNorm {
    fn name(&self) -> StaticName {
        "closeread.LayerNorm".into()
    }
    op_as_typed_op!();
}

impl EvalOp for LayerNorm {
    op_out_of_plan!();

    fn eval(&self, _context: &EvalContext, mut inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let parts = Parts::fastest().context("no kernels")?;
        let other = (inputs.len() > 1).then(|| inputs.remove(1));
        let mut rows = inputs.remove(0).into_tensor();
        let mut plain = rows.try_as_plain_ram_mut()?;
        let values = plain.as_slice_mut::<f32>()?;
        if let Some(other) = &other {
            let other = floats(other)?;
            ensure!(other.len() == values.len(), "two inputs of the same shape");
            values.iter_mut().zip(other).for_each(|(value, other)| *value += other);
        }
        let epsilon = self.epsilon.cast_to_scalar::<f32>()?;
        let (scale, shift) = (self.scale.try_as_plain_ram()?, self.shift.try_as_plain_ram()?);
        parts.normalise(values, (scale.as_slice::<f32>()?, shift.as_slice::<f32>()?), epsilon);
        Ok(tvec!(rows.into_tvalue()))
    }
}

impl TypedOp for LayerNorm {
    fn output_facts(&self, inputs: &[&TypedFact]) -> TractResult<TVec<TypedFact>> {
        Ok(tvec!(f32::fact(inputs[0].shape.clone())))
    }
    as_op!();
}

/// The numbers of a tensor, row by row.
pub(super) fn floats(tensor: &Tensor) -> TractResult<&[f32]> {
    tensor.to_plain_array_view::<f32>()?.to_slice().context("a tensor laid out row by row")
}
