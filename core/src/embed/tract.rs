//! The reference backend: tract, on the CPU. The only file that names it.

mod fold;

use super::plan::{Bucket, Unit, bucket_for, plan};
use super::{Backend, EmbedError, ModelSpec, Pooling, Vectors, pool};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tract_onnx::prelude::*;

/// Lengths texts are padded to, with as many texts as keep a batch near 768 tokens.
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
/// Bytes that prepared shapes may hold together: each keeps its own packed copy of the layers' weights.
const MAX_PREPARED_BYTES: usize = 256 << 20;

type Plan = Arc<TypedSimplePlan>;
/// A shape's plan once some thread has prepared it, or why it cannot be.
type Prepared = Arc<OnceLock<Result<Plan, String>>>;

/// An ONNX encoder run by tract.
///
/// The file is parsed once; stored weights (8-bit or half precision) are turned to f32 on loading. A full batch of one
/// of its fixed shapes runs in a plan for just that shape, prepared on first use and kept while it is among the
/// latest; any other batch runs in one plan for all shapes, which is 1.2 to 1.4 times slower. Threads share it.
#[derive(Debug)]
pub struct TractBackend {
    model: TypedModel,
    batch: Symbol,
    sequence: Symbol,
    pooling: Pooling,
    buckets: Vec<Bucket>,
    any_shape: Prepared,
    /// Latest last.
    prepared: Mutex<Vec<(Bucket, Prepared)>>,
    max_prepared: usize,
}

impl TractBackend {
    /// Loads an ONNX file with inputs `input_ids` and `attention_mask` (and `token_type_ids`, if it has them) and the
    /// last hidden states as first output; `spec` gives pooling and longest input.
    ///
    /// # Errors
    /// [`EmbedError::Load`] if tract cannot read or type the file, or an input has another name.
    pub fn new(spec: &ModelSpec, onnx: &[u8]) -> Result<Self, EmbedError> {
        let buckets = BUCKETS.into_iter().filter(|bucket| bucket.n_tokens <= spec.max_tokens).collect();
        Self::load(spec, onnx, buckets).map_err(|error| EmbedError::Load(format!("{error:#}")))
    }

    /// The same with other shapes, ascending in length; for measurements.
    ///
    /// # Errors
    /// As [`TractBackend::new`].
    pub fn with_buckets(spec: &ModelSpec, onnx: &[u8], buckets: Vec<Bucket>) -> Result<Self, EmbedError> {
        Self::load(spec, onnx, buckets).map_err(|error| EmbedError::Load(format!("{error:#}")))
    }

    fn load(spec: &ModelSpec, mut onnx: &[u8], buckets: Vec<Bucket>) -> TractResult<Self> {
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
        let model = model.into_typed()?.into_decluttered()?;
        let packed_bytes = model
            .nodes()
            .iter()
            .filter_map(|node| node.outputs.first()?.fact.konst.as_ref())
            .map(|value| if value.rank() >= 2 { value.volume() * size_of::<f32>() } else { 0 })
            .sum::<usize>();
        Ok(Self {
            model,
            batch,
            sequence,
            pooling: spec.pooling,
            buckets,
            any_shape: Prepared::default(),
            prepared: Mutex::default(),
            max_prepared: (MAX_PREPARED_BYTES / packed_bytes.max(1)).max(1),
        })
    }

    /// The plan for a batch, and the shape it must be padded to.
    fn plan_for(&self, n_texts: usize, longest: usize) -> Result<(Plan, usize), EmbedError> {
        let bucket = bucket_for(longest, &self.buckets).filter(|bucket| bucket.n_texts == n_texts);
        let slot = bucket.map_or_else(|| self.any_shape.clone(), |bucket| self.slot(bucket));
        let plan = slot.get_or_init(|| self.prepare(bucket).map_err(|error| format!("{error:#}")));
        let padded = bucket.map_or(longest, |bucket| bucket.n_tokens);
        plan.clone().map(|plan| (plan, padded)).map_err(EmbedError::Load)
    }

    /// The place of a shape's plan, moved to the end; the oldest makes room.
    fn slot(&self, bucket: Bucket) -> Prepared {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = match prepared.iter().position(|(known, _)| *known == bucket) {
            Some(place) => prepared.remove(place).1,
            None => {
                if prepared.len() >= self.max_prepared {
                    prepared.remove(0);
                }
                Prepared::default()
            }
        };
        prepared.push((bucket, slot.clone()));
        slot
    }

    fn prepare(&self, bucket: Option<Bucket>) -> TractResult<Plan> {
        let model = match bucket {
            None => self.model.clone(),
            Some(Bucket { n_tokens, n_texts }) => {
                let sizes = [(self.batch.clone(), n_texts.to_dim()), (self.sequence.clone(), n_tokens.to_dim())];
                self.model.set_symbols(&HashMap::from(sizes))?
            }
        };
        model.into_optimized()?.into_runnable()
    }

    fn run(&self, plan: &Plan, batch: &[&[u32]], padded: usize) -> TractResult<Vectors> {
        let n_texts = batch.len();
        let mut ids = vec![0_i64; n_texts * padded];
        let mut mask = vec![0_i64; n_texts * padded];
        for ((text, ids), mask) in batch.iter().zip(ids.chunks_exact_mut(padded)).zip(mask.chunks_exact_mut(padded)) {
            ids.iter_mut().zip(*text).for_each(|(id, &token)| *id = i64::from(token));
            mask[..text.len()].fill(1);
        }
        let shape = [n_texts, padded];
        let inputs = self.model.inputs.iter().map(|input| {
            let values = match self.model.node(input.node).name.as_str() {
                "input_ids" => Tensor::from_shape(&shape, &ids),
                "attention_mask" => Tensor::from_shape(&shape, &mask),
                _ => Tensor::zero::<i64>(&shape),
            };
            values.map(IntoTValue::into_tvalue)
        });
        let outputs = plan.run(inputs.collect::<TractResult<_>>()?)?;
        let hidden = outputs[0].to_plain_array_view::<f32>()?;
        let dimension = *hidden.shape().last().unwrap_or(&0);
        let lengths: Vec<usize> = batch.iter().map(|text| text.len()).collect();
        let states = hidden.as_slice().ok_or_else(|| TractError::msg("hidden states are not laid out row by row"))?;
        if hidden.shape() != [n_texts, padded, dimension] {
            return Err(TractError::msg(format!("hidden states of shape {:?}", hidden.shape())));
        }
        Ok(pool(self.pooling, states, &lengths, padded, dimension))
    }
}

impl Backend for TractBackend {
    /// Sorted by length, in batches of its fixed shapes.
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        plan(lengths, &self.buckets)
    }

    fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        let n_tokens = batch.iter().map(|text| text.len()).max().unwrap_or(0);
        let (plan, padded) = self.plan_for(batch.len(), n_tokens)?;
        self.run(&plan, batch, padded).map_err(|error| {
            let (n_texts, problem) = (batch.len(), format!("{error:#}"));
            EmbedError::Forward { n_texts, n_tokens, problem }
        })
    }
}
