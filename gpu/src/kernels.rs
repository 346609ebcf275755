//! The kernels, compiled, and how they are asked for.

mod source;

use crate::Precision;
use crate::arithmetic::{Arithmetic, Matrices};
use crate::device::Device;
use crate::weights::{LayerNorm, Linear, Storage, WIDTH, WordTable};
use crate::workspace::Workspace;
use closeread_embed::Pooling;
use closeread_embed::checkpoint::Activation;
use std::collections::BTreeMap;
use wgpu::{BufferUsages, ComputePipeline};

/// Largest head that the attention's threads hold.
pub(crate) const LARGEST_HEAD: usize = 256;
/// Threads of a workgroup of the attention.
const ATTEND_THREADS: usize = 32;
/// Multiplications and additions between two submissions: drivers reset a device that is busy for seconds.
const WORK: f64 = 1e11;
/// Most workgroups along one dimension.
const GROUPS: usize = 65_535;

/// What happens to a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Then {
    /// It is stored.
    Store,
    /// It is added to what is there.
    Add,
    Gelu,
    GeluTanh,
    Relu,
}

impl From<Activation> for Then {
    fn from(activation: Activation) -> Self {
        match activation {
            Activation::Gelu => Self::Gelu,
            Activation::GeluTanh => Self::GeluTanh,
            Activation::Relu => Self::Relu,
        }
    }
}

/// Heads of a model: how many, numbers of each, and the numbers of a hidden state filled up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heads {
    pub(crate) n: usize,
    pub(crate) size: usize,
    pub(crate) width: usize,
}

impl Heads {
    /// Queries that a thread of the attention takes: as many as find room in its registers.
    fn queries_a_thread(self) -> usize {
        if self.size <= 32 { 2 } else { 1 }
    }

    /// Queries that a workgroup of the attention takes.
    pub(crate) fn queries(self) -> usize {
        ATTEND_THREADS * self.queries_a_thread()
    }
}

/// Numbers of a hidden state, and what layer normalisation adds to their variance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct States {
    pub(crate) hidden: usize,
    pub(crate) epsilon: f32,
}

impl Arithmetic {
    /// WGSL's name of the numbers that products take and, but for states, give.
    fn number(self) -> &'static str {
        match self.precision {
            Precision::F32 => "f32",
            Precision::F16 => "f16",
        }
    }

    /// What a source must begin with that has these numbers.
    fn enabled(self) -> &'static str {
        match self.precision {
            Precision::F32 => "",
            Precision::F16 => "enable f16;\n",
        }
    }

    /// Rows and columns of a workgroup of a product with weights that are stored so.
    fn tile(self, storage: Storage) -> [usize; 2] {
        let of_matrices = |matrices: Matrices| matrices.division(self.precision, storage).tile(matrices.side);
        self.matrices.map_or([128, 64], of_matrices)
    }
}

/// How a workgroup divides its part of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Division {
    /// Groups of threads that share small matrices, below and beside each other.
    down: usize,
    across: usize,
    /// Small matrices of such a group, below and beside each other.
    high: usize,
    wide: usize,
}

impl Division {
    fn tile(self, side: usize) -> [usize; 2] {
        [self.down * self.high * side, self.across * self.wide * side]
    }
}

impl Matrices {
    /// The fastest of several that were measured (docs/understanding/graphics-processor.md).
    fn division(self, precision: Precision, storage: Storage) -> Division {
        match (self.side, precision, storage) {
            (16, Precision::F16, _) => Division { down: 2, across: 2, high: 4, wide: 4 },
            (16, Precision::F32, Storage::Halves) => Division { down: 2, across: 4, high: 4, wide: 2 },
            (16, Precision::F32, _) => Division { down: 1, across: 4, high: 4, wide: 2 },
            _ => Division { down: 1, across: 1, high: 2, wide: 2 },
        }
    }

    /// Bytes of a workgroup's memory that a product takes at most.
    pub(crate) fn shared_bytes(self) -> usize {
        source::shared_bytes(self, Precision::F32, Storage::Halves)
    }
}

/// All kernels of one model.
pub(crate) struct Kernels {
    arithmetic: Arithmetic,
    heads: Heads,
    states: States,
    products: BTreeMap<(Then, Storage), Kernel>,
    attend: Kernel,
    attend_shape: wgpu::Buffer,
    normalise: Kernel,
    normalise_shape: wgpu::Buffer,
    look_up: Kernel,
    pool: Kernel,
    pool_shape: wgpu::Buffer,
}

struct Kernel {
    pipeline: ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl Kernel {
    fn new(device: &Device, source: String) -> Self {
        let device = device.raw();
        let source = wgpu::ShaderSource::Wgsl(source.into());
        let description = wgpu::ShaderModuleDescriptor { label: None, source };
        // Safety: our own sources, whose indices stay within the buffers that `Recorder` hands in and whose loops end.
        #[allow(unsafe_code, reason = "checked sources clamp every index into a workgroup's memory")]
        let module =
            unsafe { device.create_shader_module_trusted(description, wgpu::ShaderRuntimeChecks::unchecked()) };
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let layout = pipeline.get_bind_group_layout(0);
        Self { pipeline, layout }
    }

    fn step(&self, device: &Device, buffers: &[&wgpu::Buffer], groups: [u32; 2]) -> Step<'_> {
        let resources = buffers.iter().map(|buffer| buffer.as_entire_binding());
        let entries: Vec<_> =
            (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        let description = wgpu::BindGroupDescriptor { label: None, layout: &self.layout, entries: &entries };
        (&self.pipeline, device.raw().create_bind_group(&description), groups)
    }
}

/// A kernel, what it is given, and its workgroups in two dimensions.
type Step<'a> = (&'a ComputePipeline, wgpu::BindGroup, [u32; 2]);

impl Kernels {
    /// Compiles what a model with these activations, weights and heads needs.
    pub(crate) fn new(
        device: &Device,
        arithmetic: Arithmetic,
        activation: Activation,
        storages: &[Storage],
        heads: Heads,
        states: States,
        pooling: Pooling,
    ) -> Self {
        let mut products = BTreeMap::new();
        for then in [Then::Store, Then::Add, activation.into()] {
            for &storage in storages {
                let kernel = || Kernel::new(device, source::product(then, storage, arithmetic));
                products.entry((then, storage)).or_insert_with(kernel);
            }
        }
        let scale = 1.0 / (heads.size as f32).sqrt();
        let of_heads = [3 * heads.width as u32, heads.width as u32, scale.to_bits(), 0];
        Self {
            arithmetic,
            heads,
            states,
            products,
            attend: Kernel::new(device, source::attend(heads, arithmetic)),
            attend_shape: device.filled(&of_heads, BufferUsages::UNIFORM),
            normalise: Kernel::new(device, source::normalise(heads, arithmetic)),
            normalise_shape: device.filled(&source::of_states(states, heads), BufferUsages::UNIFORM),
            look_up: Kernel::new(device, source::look_up()),
            pool: Kernel::new(device, source::pool(pooling)),
            pool_shape: device.filled(&[heads.width as u32, 0, 0, 0], BufferUsages::UNIFORM),
        }
    }
}

/// Kernels to be run one after the other on one batch.
pub(crate) struct Recorder<'a> {
    device: &'a Device,
    kernels: &'a Kernels,
    workspace: &'a Workspace,
    n_tokens: usize,
    steps: Vec<Step<'a>>,
    work: f64,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(device: &'a Device, kernels: &'a Kernels, workspace: &'a Workspace, n_tokens: usize) -> Self {
        Self { device, kernels, workspace, n_tokens, steps: Vec::new(), work: 0.0 }
    }

    /// The layer's results for all rows of `input`, in `output`, which must not be the same buffer.
    pub(crate) fn product(&mut self, linear: &'a Linear, input: &wgpu::Buffer, output: &wgpu::Buffer, then: Then) {
        let [inputs, outputs] = linear.shape;
        let kernel = &self.kernels.products[&(then, linear.storage)];
        let buffers = [&self.workspace.n_rows, &linear.uniform, input, &linear.weights, &linear.columns, output];
        let groups = product_groups(self.kernels.arithmetic, linear, self.n_tokens);
        self.add(kernel, &buffers, groups, 2.0 * f64::from(inputs) * f64::from(outputs) * self.n_tokens as f64);
    }

    /// What each token finds among those of its text, `n_blocks` blocks of queries in all.
    pub(crate) fn attend(&mut self, n_blocks: usize, longest: usize) {
        let Workspace { blocks, projections, context, .. } = self.workspace;
        let heads = self.kernels.heads;
        let work = 4.0 * (heads.n * heads.size * longest * self.n_tokens) as f64;
        let buffers = [&self.kernels.attend_shape, blocks, projections, context];
        self.add(&self.kernels.attend, &buffers, [n_blocks as u32, heads.n as u32], work);
    }

    /// Normalises all states.
    pub(crate) fn normalise(&mut self, norm: &'a LayerNorm) {
        let Workspace { n_rows, states, halves, .. } = self.workspace;
        let buffers = [n_rows, &self.kernels.normalise_shape, &norm.columns, states, halves];
        let groups = spread_out(self.n_tokens.div_ceil(source::normalised_rows(self.kernels.arithmetic)));
        self.add(&self.kernels.normalise, &buffers, groups, (8 * self.kernels.states.hidden * self.n_tokens) as f64);
    }

    /// First states of all tokens.
    pub(crate) fn look_up(&mut self, words: &'a WordTable) {
        let Workspace { n_rows, tokens, states, .. } = self.workspace;
        let buffers = [n_rows, &words.shape, tokens, &words.rows, &words.scales, &words.positions, states];
        self.add(&self.kernels.look_up, &buffers, spread_out(self.n_tokens), 0.0);
    }

    /// One vector a text.
    pub(crate) fn pool(&mut self, n_texts: usize) {
        let Workspace { texts, states, vectors, .. } = self.workspace;
        let buffers = [texts, states, vectors, &self.kernels.pool_shape];
        self.add(&self.kernels.pool, &buffers, [n_texts as u32, 1], 0.0);
    }

    /// Hands in what is left, and a copy of the first bytes of `from`.
    pub(crate) fn finish(mut self, from: &wgpu::Buffer, to: &wgpu::Buffer, n_bytes: usize) {
        let copy = |encoder: &mut wgpu::CommandEncoder| encoder.copy_buffer_to_buffer(from, 0, to, 0, n_bytes as u64);
        self.submit(copy);
    }

    fn add(&mut self, kernel: &'a Kernel, buffers: &[&wgpu::Buffer], groups: [u32; 2], work: f64) {
        self.steps.push(kernel.step(self.device, buffers, groups));
        self.work += work;
        if self.work > WORK {
            self.submit(|_| {});
        }
    }

    fn submit(&mut self, last: impl FnOnce(&mut wgpu::CommandEncoder)) {
        submit(self.device, self.steps.drain(..), last);
        self.work = 0.0;
    }
}

/// One product without a model, of [`WIDTH`] rows; a copy of its results in f32 for `read_back`.
pub(crate) fn product_alone(
    device: &Device,
    arithmetic: Arithmetic,
    linear: &Linear,
    [n_rows, input, output]: [&wgpu::Buffer; 3],
    read_back: &wgpu::Buffer,
) {
    let kernel = Kernel::new(device, source::product(Then::Store, linear.storage, arithmetic));
    let buffers = [n_rows, &linear.uniform, input, &linear.weights, &linear.columns, output];
    let step = kernel.step(device, &buffers, product_groups(arithmetic, linear, WIDTH));
    submit(device, [step], |encoder| encoder.copy_buffer_to_buffer(output, 0, read_back, 0, read_back.size()));
}

fn product_groups(arithmetic: Arithmetic, linear: &Linear, n_rows: usize) -> [u32; 2] {
    let [rows, columns] = arithmetic.tile(linear.storage);
    [linear.shape[1] / columns as u32, n_rows.div_ceil(rows) as u32]
}

fn submit<'a>(
    device: &Device,
    steps: impl IntoIterator<Item = Step<'a>>,
    last: impl FnOnce(&mut wgpu::CommandEncoder),
) {
    let mut encoder = device.raw().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    for (pipeline, bind_group, [across, down]) in steps {
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &bind_group, &[]);
        pass.dispatch_workgroups(across, down, 1);
    }
    drop(pass);
    last(&mut encoder);
    device.queue().submit([encoder.finish()]);
}

/// So many workgroups, and a few more, in two dimensions that a device takes.
fn spread_out(n: usize) -> [u32; 2] {
    let across = n.min(GROUPS);
    [across as u32, n.div_ceil(across) as u32]
}
