//! The reference backend: tract, on the CPU. This crate alone names it.

#![forbid(unsafe_code)]

mod fold;
mod fuse;
mod fused;
mod linear;
mod parts;
mod pattern;

use closeread_embed::{Backend, Bucket, EmbedError, ModelSpec, Pooling, Unit, Vectors, plan, pool, unknown_token};
use std::sync::Arc;
use tract_onnx::prelude::*;
use tract_onnx::tract_core::internal::DimLike;
use tract_onnx::tract_core::ops::array::Gather;

/// Sizes of batches, texts by length: about 768 tokens.
///
/// Measured on all-MiniLM-L6-v2 (`cargo xtask bench embed`): batches of 8 passages of 96 tokens run faster than batches
/// of 32, whose intermediate results no longer fit the processor's second-level cache.
const BUCKETS: [Bucket; 10] = [
    Bucket { n_tokens: 16, n_texts: 32 },
    Bucket { n_tokens: 32, n_texts: 24 },
    Bucket { n_tokens: 48, n_texts: 16 },
    Bucket { n_tokens: 64, n_texts: 12 },
    Bucket { n_tokens: 96, n_texts: 8 },
    Bucket { n_tokens: 128, n_texts: 6 },
    Bucket { n_tokens: 192, n_texts: 4 },
    Bucket { n_tokens: 256, n_texts: 3 },
    Bucket { n_tokens: 384, n_texts: 2 },
    Bucket { n_tokens: 512, n_texts: 1 },
];

/// An ONNX encoder run by tract.
///
/// The file is parsed once; stored weights (8-bit or half precision) are turned to f32 on loading, and packed for the
/// matrix kernel that tract prefers for a usual batch. One plan runs batches of every shape, padded to their longest
/// text; threads share it. The attention and the layer normalisations that are found in the graph run on the encoder's
/// kernels; all else, nine tenths of the arithmetic, is tract's.
#[derive(Debug)]
pub struct TractBackend {
    plan: Arc<TypedSimplePlan>,
    /// Names of the graph's inputs in its order.
    inputs: Vec<String>,
    /// Number of tokens that the model knows, where the graph looks them up in one table.
    n_words: Option<usize>,
    pooling: Pooling,
    buckets: Vec<Bucket>,
}

impl TractBackend {
    /// Loads an ONNX file with inputs `input_ids` and `attention_mask` (and `token_type_ids`, if it has them) and the
    /// last hidden states as first output; `spec` gives pooling and longest input.
    ///
    /// # Errors
    /// [`EmbedError::Load`] if tract cannot read or type the file, or an input has another name.
    pub fn new(spec: &ModelSpec, onnx: &[u8]) -> Result<Self, EmbedError> {
        let buckets = BUCKETS.into_iter().filter(|bucket| bucket.n_tokens <= spec.max_tokens).collect();
        Self::with_buckets(spec, onnx, buckets)
    }

    /// Makes a backend with other sizes of batches, ascending in length; for measurements.
    ///
    /// # Errors
    /// As [`TractBackend::new`].
    pub fn with_buckets(spec: &ModelSpec, onnx: &[u8], buckets: Vec<Bucket>) -> Result<Self, EmbedError> {
        let load = || {
            let mut model = read(onnx)?;
            rewrite(&mut model)?;
            let (inputs, n_words) = (input_names(&model), n_words(&model));
            let plan = model.into_optimized()?.into_runnable()?;
            Ok(Self { plan, inputs, n_words, pooling: spec.pooling, buckets })
        };
        load().map_err(|error: TractError| EmbedError::Load(format!("{error:#}")))
    }

    fn run(&self, batch: &[&[u32]], padded: usize) -> TractResult<Vectors> {
        // tract ends in a panic there.
        let unknown = |n| batch.iter().flat_map(|text| *text).find(|&&id| id as usize >= n);
        if let Some((n, id)) = self.n_words.and_then(|n| Some((n, unknown(n)?))) {
            return Err(TractError::msg(unknown_token(*id, n)));
        }
        let lengths: Vec<usize> = batch.iter().map(|text| text.len()).collect();
        let hidden = self.plan.run(fill(&self.inputs, batch, padded)?)?.remove(0);
        let hidden = hidden.to_plain_array_view::<f32>()?;
        let dimension = *hidden.shape().last().unwrap_or(&0);
        let states = hidden.as_slice().ok_or_else(|| TractError::msg("hidden states are not laid out row by row"))?;
        if hidden.shape() != [batch.len(), padded, dimension] {
            return Err(TractError::msg(format!("hidden states of shape {:?}", hidden.shape())));
        }
        Ok(pool(self.pooling, states, &lengths, padded, dimension))
    }
}

/// The graph of an ONNX file for batches of any shape, as tract simplifies it.
fn read(mut onnx: &[u8]) -> TractResult<TypedModel> {
    let framework = tract_onnx::onnx();
    let mut proto = framework.proto_model_for_read(&mut onnx)?;
    fold::store_weights_as_f32(&mut proto)?;
    let mut model = framework.model_for_proto_model(&proto)?;
    drop(proto);
    let (batch, sequence) = (model.symbols.sym("batch"), model.symbols.sym("sequence"));
    for input in 0..model.inputs.len() {
        let name = model.node(model.inputs[input].node).name.clone();
        if !["input_ids", "attention_mask", "token_type_ids"].contains(&name.as_str()) {
            return Err(TractError::msg(format!(
                "input `{name}` is not one of input_ids, attention_mask, token_type_ids"
            )));
        }
        model.set_input_fact(input, i64::fact([batch.to_dim(), sequence.to_dim()]).into())?;
    }
    model.into_typed()?.into_decluttered()
}

/// Makes fast what tract's own optimisation leaves slow in such a graph; results differ by rounding.
fn rewrite(model: &mut TypedModel) -> TractResult<()> {
    fuse::fuse(model)?;
    linear::prepare(model)
}

fn input_names(model: &TypedModel) -> Vec<String> {
    model.inputs.iter().map(|input| model.node(input.node).name.clone()).collect()
}

/// Returns how many rows the table has in which the graph looks up the tokens.
fn n_words(model: &TypedModel) -> Option<usize> {
    let is_ids = |mut outlet: OutletId| loop {
        let node = model.node(outlet.node);
        match node.inputs[..] {
            [one] => outlet = one,
            _ => return node.inputs.is_empty() && node.name == "input_ids",
        }
    };
    let mut gathers = model.nodes().iter().filter(|node| node.op_is::<Gather>());
    let table = gathers.find(|node| is_ids(node.inputs[1]))?.inputs[0];
    model.outlet_fact(table).ok()?.shape[0].to_usize().ok()
}

/// The graph's inputs for texts that are padded to one length.
fn fill(inputs: &[String], batch: &[&[u32]], padded: usize) -> TractResult<TVec<TValue>> {
    let shape = [batch.len(), padded];
    let mut ids = vec![0_i64; batch.len() * padded];
    let mut mask = vec![0_i64; batch.len() * padded];
    for ((text, ids), mask) in batch.iter().zip(ids.chunks_exact_mut(padded)).zip(mask.chunks_exact_mut(padded)) {
        ids.iter_mut().zip(*text).for_each(|(id, &token)| *id = i64::from(token));
        mask[..text.len()].fill(1);
    }
    let values = inputs.iter().map(|name| match name.as_str() {
        "input_ids" => Tensor::from_shape(&shape, &ids),
        "attention_mask" => Tensor::from_shape(&shape, &mask),
        _ => Tensor::zero::<i64>(&shape),
    });
    values.map(|value| value.map(IntoTValue::into_tvalue)).collect()
}

impl Backend for TractBackend {
    /// Plans batches sorted by length, of about as many tokens as suit the caches.
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        plan(lengths, &self.buckets)
    }

    async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        let n_tokens = batch.iter().map(|text| text.len()).max().unwrap_or(0);
        self.run(batch, n_tokens).map_err(|error| {
            let (n_texts, problem) = (batch.len(), format!("{error:#}"));
            EmbedError::Forward { n_texts, n_tokens, problem }
        })
    }
}

#[cfg(test)]
mod tests;
