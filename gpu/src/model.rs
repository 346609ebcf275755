//! The encoder, layer by layer, on a device.

use crate::arithmetic::Arithmetic;
use crate::device::Device;
use crate::kernels::{Heads, Kernels, LARGEST_HEAD, Recorder, States, Then};
use crate::weights::{LayerNorm, Linear, Packed, Storage, WIDTH, WordTable};
use crate::workspace::{Widths, Workspace};
use crate::{Adapter, GpuError, Precision, probe};
use closeread_embed::checkpoint::{Checkpoint, Layer, Tables};
use closeread_embed::{Backend, EmbedError, ModelSpec, Unit, Vectors, plan_in_order};
use futures_util::lock::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most tokens of a unit of work: enough rows to keep a large device busy. Pages show what is done after each unit.
const UNIT_TOKENS: usize = if cfg!(target_arch = "wasm32") { 4096 } else { 32_768 };
/// Bytes of the largest buffer of a unit, so that it takes fewer tokens of a wide model.
const UNIT_BYTES: u64 = 128 << 20;
/// Calls that are under way at a time: one hands in work while the device computes another's.
const TURNS: usize = 2;

/// An embedding model in a device's memory. A table of word vectors that is larger than what a device binds stays in the
/// processor's.
pub struct GpuModel {
    device: Device,
    kernels: Kernels,
    tables: Tables,
    hidden: usize,
    widths: Widths,
    activation: Then,
    norm: LayerNorm,
    layers: Vec<DeviceLayer>,
    /// `None` where the processor looks words up.
    words: Option<WordTable>,
    arithmetic: Arithmetic,
    /// Queries of a block.
    queries: usize,
    unit_tokens: usize,
    /// Memory of calls that are over, for the next ones.
    turns: [Mutex<Option<Workspace>>; TURNS],
    n_calls: AtomicUsize,
}

struct DeviceLayer {
    projections: Linear,
    output: Linear,
    attention_norm: LayerNorm,
    up: Linear,
    down: Linear,
    output_norm: LayerNorm,
}

/// Where the texts of a batch lie among its rows.
struct Places {
    n_tokens: usize,
    longest: usize,
    /// First row and tokens of each text.
    texts: Vec<[u32; 2]>,
    /// First row, tokens and first query of each block of queries.
    blocks: Vec<[u32; 4]>,
}

impl GpuModel {
    /// Loads an ONNX file that closeread wrote onto an adapter; `spec` gives the pooling.
    ///
    /// # Errors
    /// [`GpuError::Embed`] for a file that the encoder would refuse too; otherwise the device's reasons.
    pub async fn load(
        adapter: &Adapter,
        spec: &ModelSpec,
        onnx: &[u8],
        precision: Precision,
    ) -> Result<Self, GpuError> {
        let device = Device::open(adapter).await?;
        let arithmetic = probe::checked(&device, device.arithmetic(precision)?).await?;
        Self::load_onto(device, adapter, spec, onnx, arithmetic).await
    }

    /// Loads a model onto an open device, to be computed in this way.
    pub(crate) async fn load_onto(
        device: Device,
        adapter: &Adapter,
        spec: &ModelSpec,
        onnx: &[u8],
        arithmetic: Arithmetic,
    ) -> Result<Self, GpuError> {
        let mut checkpoint = Checkpoint::from_onnx(onnx)?;
        let (hidden, n_heads) = (checkpoint.hidden, checkpoint.n_heads);
        let inner = checkpoint.layers.iter().map(|layer| layer.up.bias.len()).max().unwrap_or(hidden);
        let widths = Widths { hidden: hidden.next_multiple_of(WIDTH), inner: inner.next_multiple_of(WIDTH) };
        let heads = Heads { n: n_heads, size: hidden / n_heads, width: widths.hidden };
        let unusable = |problem| Err(GpuError::Unusable { adapter: adapter.name().to_owned(), problem });
        if heads.size > LARGEST_HEAD {
            return unusable(format!("heads of {} numbers, its kernels take {LARGEST_HEAD}", heads.size));
        }
        let widest = widths.inner.max(3 * widths.hidden);
        let weight_bytes = (widths.hidden * widest * size_of::<f32>()) as u64;
        if weight_bytes > device.largest_binding() {
            let limit = device.largest_binding();
            return unusable(format!("a layer of {weight_bytes} bytes, it takes {limit} at a time"));
        }
        let row_bytes = (widest * arithmetic.precision.size()).max(widths.hidden * size_of::<f32>()) as u64;
        let fitting = |bytes: u64| usize::try_from(bytes / row_bytes).unwrap_or(UNIT_TOKENS) / WIDTH * WIDTH;
        let longest = checkpoint.tables.positions.n_rows;
        let wanted = UNIT_TOKENS.min(fitting(UNIT_BYTES)).max(longest.next_multiple_of(WIDTH));
        let unit_tokens = wanted.min(fitting(device.largest_binding()));
        if unit_tokens < longest.min(UNIT_TOKENS) {
            return unusable(format!("it takes only {unit_tokens} tokens of this model at a time"));
        }
        let tables = std::mem::take(&mut checkpoint.tables);
        let words = device.checked(|device| WordTable::upload(&tables, device)).await?;
        let norm = device.checked(|device| LayerNorm::upload(&checkpoint.norm, device)).await?;
        let mut layers = Vec::with_capacity(checkpoint.layers.len());
        for layer in std::mem::take(&mut checkpoint.layers) {
            layers.push(device.checked(|device| DeviceLayer::upload(&layer, arithmetic, device)).await?);
        }
        let mut storages: Vec<Storage> = layers.iter().flat_map(DeviceLayer::storages).collect();
        storages.sort_unstable();
        storages.dedup();
        let states = States { hidden, epsilon: checkpoint.epsilon };
        let activation = checkpoint.activation;
        let compile =
            |device: &Device| Kernels::new(device, arithmetic, activation, &storages, heads, states, spec.pooling);
        let kernels = device.checked(compile).await?;
        Ok(Self {
            device,
            kernels,
            tables,
            hidden,
            widths,
            activation: activation.into(),
            norm,
            layers,
            words,
            arithmetic,
            queries: heads.queries(),
            unit_tokens,
            turns: std::array::from_fn(|_| Mutex::default()),
            n_calls: AtomicUsize::new(0),
        })
    }

    /// The adapter's name and what drives it.
    pub fn adapter(&self) -> &str {
        self.device.adapter()
    }

    async fn run(&self, batch: &[&[u32]]) -> Result<Vectors, GpuError> {
        self.tables.check(batch)?;
        if batch.is_empty() {
            return Ok(Vectors::new(self.hidden, Vec::new()));
        }
        let places = Places::new(batch, self.queries);
        let turn = self.n_calls.fetch_add(1, Ordering::Relaxed) % TURNS;
        let mut idle = self.turns[turn].lock().await;
        let workspace = match idle.take().filter(|idle| idle.holds(places.n_tokens, batch.len())) {
            Some(workspace) => workspace,
            None => {
                let (n_tokens, n_texts) = (places.n_tokens, batch.len());
                let precision = self.arithmetic.precision;
                let new = |device: &Device| Workspace::new(device, precision, self.widths, n_tokens, n_texts);
                self.device.checked(new).await?
            }
        };
        self.device.checked(|_| self.submit(batch, &places, &workspace)).await?;
        let width = self.widths.hidden;
        let found = self.device.read(&workspace.read_back, batch.len() * width).await?;
        *idle = Some(workspace);
        let values = found.chunks_exact(width).flat_map(|row| &row[..self.hidden]).copied().collect();
        Ok(Vectors::new(self.hidden, values))
    }

    /// Gives the device's memory back. Whoever asks for vectors afterwards hears that the device was lost.
    pub fn release(&self) {
        self.device.release();
    }

    fn submit(&self, batch: &[&[u32]], places: &Places, workspace: &Workspace) {
        let queue = self.device.queue();
        queue.write_buffer(&workspace.n_rows, 0, bytemuck::cast_slice(&[places.n_tokens as u32, 0, 0, 0]));
        queue.write_buffer(&workspace.texts, 0, bytemuck::cast_slice(&places.texts));
        queue.write_buffer(&workspace.blocks, 0, bytemuck::cast_slice(&places.blocks));
        let mut recorder = Recorder::new(&self.device, &self.kernels, workspace, places.n_tokens);
        let Workspace { states, projections, context, inner, vectors, read_back, .. } = workspace;
        let inputs = workspace.inputs(self.arithmetic.precision);
        match &self.words {
            Some(words) => {
                queue.write_buffer(&workspace.tokens, 0, bytemuck::cast_slice(&tokens(batch)));
                recorder.look_up(words);
            }
            None => queue.write_buffer(states, 0, bytemuck::cast_slice(&self.embeddings(batch, places.n_tokens))),
        }
        recorder.normalise(&self.norm);
        for layer in &self.layers {
            recorder.product(&layer.projections, inputs, projections, Then::Store);
            recorder.attend(places.blocks.len(), places.longest);
            recorder.product(&layer.output, context, states, Then::Add);
            recorder.normalise(&layer.attention_norm);
            recorder.product(&layer.up, inputs, inner, self.activation);
            recorder.product(&layer.down, inner, states, Then::Add);
            recorder.normalise(&layer.output_norm);
        }
        recorder.pool(batch.len());
        recorder.finish(vectors, read_back, batch.len() * self.widths.hidden * size_of::<f32>());
    }

    /// Word plus position of every token.
    fn embeddings(&self, batch: &[&[u32]], n_tokens: usize) -> Vec<f32> {
        let width = self.widths.hidden;
        let mut states = vec![0.0; n_tokens * width];
        let tokens = batch.iter().flat_map(|ids| ids.iter().enumerate());
        for (state, (position, &id)) in states.chunks_exact_mut(width).zip(tokens) {
            self.tables.read(id, position, &mut state[..self.hidden]);
        }
        states
    }
}

impl Backend for GpuModel {
    /// Texts as they come, together until they have as many tokens as a unit takes.
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        plan_in_order(lengths, self.unit_tokens)
    }

    async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        self.run(batch).await.map_err(EmbedError::from)
    }
}

impl DeviceLayer {
    fn upload(layer: &Layer, arithmetic: Arithmetic, device: &Device) -> Self {
        let linear = |parts: &[&_]| Packed::new(parts, arithmetic).upload(device);
        let uploaded = Self {
            projections: linear(&[&layer.query, &layer.key, &layer.value]),
            output: linear(&[&layer.output]),
            attention_norm: LayerNorm::upload(&layer.attention_norm, device),
            up: linear(&[&layer.up]),
            down: linear(&[&layer.down]),
            output_norm: LayerNorm::upload(&layer.output_norm, device),
        };
        // What is to be written waits in memory of its own until something is handed in.
        device.queue().submit([]);
        uploaded
    }

    fn storages(&self) -> [Storage; 4] {
        [&self.projections, &self.output, &self.up, &self.down].map(|linear| linear.storage)
    }
}

/// Word and position of every token.
fn tokens(batch: &[&[u32]]) -> Vec<[u32; 2]> {
    batch.iter().flat_map(|ids| (0..).zip(*ids).map(|(position, &id)| [id, position])).collect()
}

impl Places {
    fn new(batch: &[&[u32]], queries: usize) -> Self {
        let mut places = Self { n_tokens: 0, longest: 0, texts: Vec::new(), blocks: Vec::new() };
        for ids in batch {
            let (first, n) = (places.n_tokens as u32, ids.len() as u32);
            places.texts.push([first, n]);
            places.blocks.extend((0..n).step_by(queries).map(|query| [first, n, query, 0]));
            places.n_tokens += ids.len();
            places.longest = places.longest.max(ids.len());
        }
        places
    }
}

impl std::fmt::Debug for GpuModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape = (self.layers.len(), self.widths.hidden, self.widths.inner);
        f.debug_struct("GpuModel")
            .field("adapter", &self.adapter())
            .field("layers_hidden_inner", &shape)
            .finish_non_exhaustive()
    }
}
