//! The kernels, compiled, and how they are asked for.

use crate::device::Device;
use crate::weights::{LayerNorm, Linear, Storage, WIDTH};
use crate::workspace::Workspace;
use closeread_embed::Pooling;
use closeread_embed::checkpoint::Activation;
use closeread_kernels::{ERF, ERF_END};
use std::collections::BTreeMap;
use wgpu::{BufferUsages, ComputePipeline};

/// Bytes of a workgroup's memory that every device has.
const SHARED: usize = 16_384;
/// Largest head that the attention's threads hold.
pub(crate) const LARGEST_HEAD: usize = 256;
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

/// Numbers of a hidden state, and what layer normalisation adds to their variance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct States {
    pub(crate) hidden: usize,
    pub(crate) epsilon: f32,
}

/// All kernels of one model.
pub(crate) struct Kernels {
    heads: Heads,
    states: States,
    products: BTreeMap<(Then, bool), Kernel>,
    attend: Kernel,
    attend_shape: wgpu::Buffer,
    normalise: Kernel,
    normalise_shape: wgpu::Buffer,
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
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
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
}

impl Kernels {
    /// Compiles what a model with these activations, weights and heads needs.
    pub(crate) fn new(
        device: &Device,
        activation: Activation,
        storages: &[Storage],
        heads: Heads,
        states: States,
        pooling: Pooling,
    ) -> Self {
        let mut products = BTreeMap::new();
        for then in [Then::Store, Then::Add, activation.into()] {
            for &storage in storages {
                let kernel = || Kernel::new(device, product_source(then, storage));
                products.entry((then, storage == Storage::F16)).or_insert_with(kernel);
            }
        }
        let scale = 1.0 / (heads.size as f32).sqrt();
        let of_heads = [3 * heads.width as u32, heads.width as u32, scale.to_bits(), 0];
        let of_states = [states.hidden as u32, heads.width as u32, states.epsilon.to_bits(), 0];
        let mean = format!("const MEAN = {};\n", pooling == Pooling::Mean);
        Self {
            heads,
            states,
            products,
            attend: Kernel::new(device, attend_source(heads.size)),
            attend_shape: device.filled(&of_heads, BufferUsages::UNIFORM),
            normalise: Kernel::new(device, include_str!("kernels/normalise.wgsl").to_owned()),
            normalise_shape: device.filled(&of_states, BufferUsages::UNIFORM),
            pool: Kernel::new(device, mean + include_str!("kernels/pool.wgsl")),
            pool_shape: device.filled(&[heads.width as u32, 0, 0, 0], BufferUsages::UNIFORM),
        }
    }
}

fn product_source(then: Then, storage: Storage) -> String {
    let unpacked = match storage {
        Storage::F32 => {
            "alias Packed = vec4<u32>;\nfn unpacked(four: Packed) -> vec4<f32> { return bitcast<vec4<f32>>(four); }\n"
        }
        Storage::F16 => {
            "alias Packed = vec2<u32>;\nfn unpacked(four: Packed) -> vec4<f32> {\n    return vec4(unpack2x16float(four.x), \
             unpack2x16float(four.y));\n}\n"
        }
    };
    let names = "const STORE = 0u;\nconst ADD = 1u;\nconst GELU = 2u;\nconst GELU_TANH = 3u;\nconst RELU = 4u;\n";
    let epilogue = match then {
        Then::Store => "STORE",
        Then::Add => "ADD",
        Then::Gelu => "GELU",
        Then::GeluTanh => "GELU_TANH",
        Then::Relu => "RELU",
    };
    let erf = erf_polynomial();
    format!("{names}const EPILOGUE = {epilogue};\n{unpacked}{erf}{}", include_str!("kernels/product.wgsl"))
}

/// The polynomial that the encoder's kernels compute erf by, by Horner's rule.
fn erf_polynomial() -> String {
    let (last, others) = ERF.split_last().expect("it has coefficients");
    let steps: String = others.iter().rev().map(|number| format!("    p = p * t + ({number:?});\n")).collect();
    format!(
        "const ERF_END = f32({ERF_END:?});\nfn erf_polynomial(t: vec4<f32>) -> vec4<f32> {{\n    var p = vec4<f32>({last:?});\n\
         {steps}    return p;\n}}\n"
    )
}

fn attend_source(size: usize) -> String {
    let parts = size.div_ceil(4);
    let keys = (SHARED / (2 * 16 * parts)).min(32);
    format!(
        "const SIZE = {size}u;\nconst PARTS = {parts}u;\nconst KEYS = {keys}u;\n{}",
        include_str!("kernels/attend.wgsl")
    )
}

/// Kernels to be run one after the other on one batch.
pub(crate) struct Recorder<'a> {
    device: &'a Device,
    kernels: &'a Kernels,
    workspace: &'a Workspace,
    n_tokens: usize,
    steps: Vec<(&'a ComputePipeline, wgpu::BindGroup, [u32; 2])>,
    work: f64,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(device: &'a Device, kernels: &'a Kernels, workspace: &'a Workspace, n_tokens: usize) -> Self {
        Self { device, kernels, workspace, n_tokens, steps: Vec::new(), work: 0.0 }
    }

    /// The layer's results for all rows of `input`, in `output`, which must not be the same buffer.
    pub(crate) fn product(&mut self, linear: &'a Linear, input: &wgpu::Buffer, output: &wgpu::Buffer, then: Then) {
        let [inputs, outputs] = linear.shape;
        let kernel = &self.kernels.products[&(then, linear.storage == Storage::F16)];
        let buffers = [&self.workspace.n_rows, &linear.uniform, input, &linear.weights, &linear.columns, output];
        let groups = [outputs / WIDTH as u32, self.n_tokens.div_ceil(WIDTH) as u32];
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
        let Workspace { n_rows, states, .. } = self.workspace;
        let buffers = [n_rows, &self.kernels.normalise_shape, &norm.columns, states];
        let across = self.n_tokens.min(GROUPS);
        let groups = [across as u32, self.n_tokens.div_ceil(across) as u32];
        self.add(&self.kernels.normalise, &buffers, groups, (8 * self.kernels.states.hidden * self.n_tokens) as f64);
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
        let resources = buffers.iter().map(|buffer| buffer.as_entire_binding());
        let entries: Vec<_> =
            (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        let description = wgpu::BindGroupDescriptor { label: None, layout: &kernel.layout, entries: &entries };
        self.steps.push((&kernel.pipeline, self.device.raw().create_bind_group(&description), groups));
        self.work += work;
        if self.work > WORK {
            self.submit(|_| {});
        }
    }

    fn submit(&mut self, last: impl FnOnce(&mut wgpu::CommandEncoder)) {
        let mut encoder = self.device.raw().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for (pipeline, bind_group, [across, down]) in self.steps.drain(..) {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &bind_group, &[]);
            pass.dispatch_workgroups(across, down, 1);
        }
        drop(pass);
        last(&mut encoder);
        self.device.queue().submit([encoder.finish()]);
        self.work = 0.0;
    }
}
