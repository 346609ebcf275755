use super::adapter;
use super::tiny::noise;
use super::ways;
use crate::Precision;
use crate::arithmetic::Arithmetic;
use crate::device::Device;
use crate::kernels::{Heads, Kernels, Recorder, States, Then};
use crate::weights::{LayerNorm, Packed, Storage, WIDTH};
use crate::workspace::{Widths, Workspace};
use closeread_embed::Pooling;
use closeread_embed::checkpoint::{Activation, Dense, Norm, Values};
use half::f16;
use wgpu::BufferUsages;

const EPSILON: f32 = 1e-5;
const ACTIVATIONS: [Activation; 3] = [Activation::Gelu, Activation::GeluTanh, Activation::Relu];

/// A device with the kernels of a model of these heads, and memory for this many tokens.
struct Bench {
    device: Device,
    arithmetic: Arithmetic,
    kernels: Kernels,
    workspace: Workspace,
    hidden: usize,
    width: usize,
    n_tokens: usize,
}

impl Bench {
    fn new(
        arithmetic: Arithmetic,
        activation: Activation,
        (n, size): (usize, usize),
        pooling: Pooling,
        n_tokens: usize,
    ) -> Self {
        let device = pollster::block_on(Device::open(&adapter())).expect("opens");
        let hidden = n * size;
        let width = hidden.next_multiple_of(WIDTH);
        let (heads, states) = (Heads { n, size, width }, States { hidden, epsilon: EPSILON });
        let storages = match arithmetic.matrices {
            Some(_) => [Storage::Halves, Storage::F16],
            None => [Storage::F32, Storage::F16],
        };
        let compile = |device: &Device| Kernels::new(device, arithmetic, activation, &storages, heads, states, pooling);
        let kernels = pollster::block_on(device.checked(compile)).expect("compiles");
        let widths = Widths { hidden: width, inner: width };
        let workspace = Workspace::new(&device, arithmetic.precision, widths, n_tokens, n_tokens);
        device.queue().write_buffer(&workspace.n_rows, 0, bytemuck::cast_slice(&[n_tokens as u32, 0, 0, 0]));
        Self { device, arithmetic, kernels, workspace, hidden, width, n_tokens }
    }

    /// Writes rows of `n_columns`, each filled up to `width`, in the numbers that products take.
    fn write(&self, to: &wgpu::Buffer, rows: &[f32], n_columns: usize, width: usize) {
        let filled = filled_up(rows, n_columns, width);
        match self.arithmetic.precision {
            Precision::F32 => self.device.queue().write_buffer(to, 0, bytemuck::cast_slice(&filled)),
            Precision::F16 => {
                let halves: Vec<u16> = filled.iter().map(|&x| f16::from_f32(x).to_bits()).collect();
                self.device.queue().write_buffer(to, 0, bytemuck::cast_slice(&halves));
            }
        }
    }

    /// The same in f32, as states are.
    fn write_states(&self, to: &wgpu::Buffer, rows: &[f32], n_columns: usize, width: usize) {
        self.device.queue().write_buffer(to, 0, bytemuck::cast_slice(&filled_up(rows, n_columns, width)));
    }

    /// Runs kernels and reads `n` numbers such as products take.
    fn run_rounded<'a>(&'a self, record: impl FnOnce(&mut Recorder<'a>), from: &wgpu::Buffer, n: usize) -> Vec<f32> {
        match self.arithmetic.precision {
            Precision::F32 => self.run(record, from, n),
            Precision::F16 => {
                let pairs: Vec<u32> = self.run(record, from, n / 2).into_iter().map(f32::to_bits).collect();
                bytemuck::cast_slice::<u32, u16>(&pairs).iter().map(|&bits| f16::from_bits(bits).to_f32()).collect()
            }
        }
    }

    /// A number as products take it.
    fn rounded(&self, x: f32) -> f64 {
        match self.arithmetic.precision {
            Precision::F32 => x.into(),
            Precision::F16 => f16::from_f32(x).to_f64(),
        }
    }

    /// How far a number that products give may be off, of a number of that size and at least 1.
    fn slack(&self) -> f64 {
        match self.arithmetic.precision {
            Precision::F32 => 5e-6,
            Precision::F16 => 6e-4,
        }
    }

    /// Runs kernels and reads `n` numbers of a buffer.
    fn run<'a>(&'a self, record: impl FnOnce(&mut Recorder<'a>), from: &wgpu::Buffer, n: usize) -> Vec<f32> {
        let read_back = self.device.read_back((n * 4) as u64);
        let work = |_: &Device| {
            let mut recorder = Recorder::new(&self.device, &self.kernels, &self.workspace, self.n_tokens);
            record(&mut recorder);
            recorder.finish(from, &read_back, n * 4);
        };
        pollster::block_on(async {
            self.device.checked(work).await.expect("runs");
            self.device.read(&read_back, n).await.expect("reads")
        })
    }
}

fn filled_up(rows: &[f32], n_columns: usize, width: usize) -> Vec<f32> {
    let filling = vec![0.0; width - n_columns];
    rows.chunks_exact(n_columns).flat_map(|row| [row, &filling]).flatten().copied().collect()
}

fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let mut noise = noise(seed);
    (0..n).map(|_| noise()).collect()
}

/// Row after row without what fills them up; that must be zero.
fn trimmed(rows: &[f32], width: usize, n_columns: usize) -> Vec<f32> {
    let (kept, filling): (Vec<&[f32]>, Vec<&[f32]>) =
        rows.chunks_exact(width).map(|row| row.split_at(n_columns)).unzip();
    assert!(filling.concat().iter().all(|&x| x == 0.0), "the rows are filled up with zeros");
    kept.concat()
}

fn assert_close(found: &[f32], expected: &[f64], slack: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let apart = (f64::from(found) - expected).abs();
        assert!(apart <= slack * expected.abs().max(1.0), "{what}, number {at}: {found} against {expected}");
    }
}

fn activated(then: Then, x: f64) -> f64 {
    match then {
        Then::Store | Then::Add => x,
        Then::Gelu => 0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2)),
        Then::GeluTanh => {
            let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + u.tanh())
        }
        Then::Relu => x.max(0.0),
    }
}

#[test]
#[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
fn needs_vulkan_products_with_every_sequel_equal_plain_loops() {
    let (n_rows, n_inputs, n_outputs) = (70, 37, 131);
    let input = numbers(n_rows * n_inputs, 1);
    let bias = numbers(n_outputs, 2);
    let before = numbers(n_rows * n_outputs, 3);
    let exact = numbers(n_inputs * n_outputs, 4);
    let halves: Vec<f32> = exact.iter().map(|&x| half::f16::from_f32(x).to_f32()).collect();
    let integers: Vec<i8> = exact.iter().map(|&x| (x * 127.0) as i8).collect();
    let scales: Vec<f32> = numbers(n_outputs, 5).iter().map(|x| x.abs() / 127.0).collect();
    let of_integers =
        integers.iter().enumerate().map(|(at, &x)| f32::from(x) * scales[at % n_outputs]).collect::<Vec<_>>();
    let cases = [
        (Values::F32(exact.clone()), Storage::F32, &exact),
        (Values::F32(halves.clone()), Storage::F16, &halves),
        (Values::Int8 { values: integers, scales }, Storage::F16, &of_integers),
    ];
    for (arithmetic, activation) in ways().into_iter().flat_map(|way| ACTIVATIONS.map(|activation| (way, activation))) {
        let bench = Bench::new(arithmetic, activation, (1, 8), Pooling::Mean, n_rows);
        for then in [Then::Store, Then::Add, activation.into()] {
            for (weight, storage, weights) in &cases {
                let dense = Dense { n_inputs, weight: weight.clone(), bias: bias.clone() };
                let packed = Packed::new(&[&dense], arithmetic);
                let expected = match (arithmetic, storage) {
                    (Arithmetic { precision: Precision::F16, .. }, _) => Storage::F16,
                    (Arithmetic { matrices: Some(_), .. }, Storage::F32) => Storage::Halves,
                    _ => *storage,
                };
                assert_eq!(packed.storage, expected, "half precision where it loses nothing or is asked for");
                let linear = packed.upload(&bench.device);
                let (from_width, to_width) = (packed.shape[0], packed.shape[1]);
                let n_bytes = |width: usize| (n_rows.next_multiple_of(WIDTH) * width * 4) as u64;
                let from = bench.device.buffer(n_bytes(from_width), BufferUsages::empty());
                let to = bench.device.buffer(n_bytes(to_width), BufferUsages::COPY_SRC);
                bench.write(&from, &input, n_inputs, from_width);
                bench.write_states(&to, &before, n_outputs, to_width);
                let n = n_rows * to_width;
                let found = match then {
                    Then::Add => bench.run(|recorder| recorder.product(&linear, &from, &to, then), &to, n),
                    _ => bench.run_rounded(|recorder| recorder.product(&linear, &from, &to, then), &to, n),
                };
                let weight = |x: f32| if matches!(dense.weight, Values::F32(_)) { bench.rounded(x) } else { x.into() };
                let expected: Vec<f64> = (0..n_rows * n_outputs)
                    .map(|at| {
                        let (row, column) = (at / n_outputs, at % n_outputs);
                        let products = (0..n_inputs).map(|i| {
                            bench.rounded(input[row * n_inputs + i]) * weight(weights[i * n_outputs + column])
                        });
                        let sum = products.sum::<f64>() + f64::from(bias[column]);
                        activated(then, sum) + if then == Then::Add { f64::from(before[at]) } else { 0.0 }
                    })
                    .collect();
                assert_close(
                    &trimmed(&found, to_width, n_outputs),
                    &expected,
                    bench.slack(),
                    &format!("{arithmetic:?} {then:?} {storage:?}"),
                );
            }
        }
    }
}

#[test]
#[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
fn needs_vulkan_attention_equals_plain_loops_and_keeps_texts_apart() {
    let heads = [(2, 4), (3, 16), (2, 35), (2, 32), (1, 64), (1, 128)];
    for (arithmetic, (n_heads, size)) in ways().into_iter().flat_map(|way| heads.map(|heads| (way, heads))) {
        let lengths = [1, 67, 7];
        let n_tokens = lengths.iter().sum();
        let bench = Bench::new(arithmetic, Activation::Gelu, (n_heads, size), Pooling::Mean, n_tokens);
        let (hidden, width) = (bench.hidden, bench.width);
        let threefold = |x: &f32| bench.rounded(3.0 * x) as f32;
        let parts = [1, 2, 3].map(|seed| numbers(n_tokens * hidden, seed).iter().map(threefold).collect::<Vec<_>>());
        let rows: Vec<f32> = (0..n_tokens)
            .flat_map(|row| parts.iter().map(move |part| &part[row * hidden..(row + 1) * hidden]))
            .flat_map(|part| part.iter().copied().chain(std::iter::repeat_n(0.0, width - hidden)))
            .collect();
        bench.write(&bench.workspace.projections, &rows, 3 * width, 3 * width);
        let queries = (Heads { n: n_heads, size, width }).queries();
        let of_text = |first: u32, n: u32| (0..n).step_by(queries).map(move |query| [first, n, query, 0]);
        let blocks: Vec<[u32; 4]> =
            [(0, 1), (1, 67), (68, 7)].into_iter().flat_map(|(first, n)| of_text(first, n)).collect();
        bench.device.queue().write_buffer(&bench.workspace.blocks, 0, bytemuck::cast_slice(&blocks));
        let attend = |recorder: &mut Recorder<'_>| recorder.attend(blocks.len(), 67);
        let found = bench.run_rounded(attend, &bench.workspace.context, n_tokens * width);
        let [queries, keys, values] = &parts;
        let mut expected = vec![0.0; n_tokens * hidden];
        let mut first = 0;
        for length in lengths {
            for head in 0..n_heads {
                let at =
                    |token: usize| (first + token) * hidden + head * size..(first + token) * hidden + (head + 1) * size;
                for query in 0..length {
                    let scores = (0..length).map(|key| {
                        let pairs = queries[at(query)].iter().zip(&keys[at(key)]);
                        pairs.map(|(&q, &k)| f64::from(q) * f64::from(k)).sum::<f64>() / (size as f64).sqrt()
                    });
                    let weights: Vec<f64> = scores.map(f64::exp).collect();
                    let total: f64 = weights.iter().sum();
                    for (key, weight) in weights.iter().enumerate() {
                        let sums = expected[at(query)].iter_mut().zip(&values[at(key)]);
                        sums.for_each(|(sum, &value)| *sum += weight / total * f64::from(value));
                    }
                }
            }
            first += length;
        }
        assert_close(
            &trimmed(&found, width, hidden),
            &expected,
            bench.slack(),
            &format!("{arithmetic:?} {n_heads} heads of {size}"),
        );
    }
}

#[test]
#[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
fn needs_vulkan_normalised_rows_equal_plain_loops() {
    ways().into_iter().for_each(check_normalised_rows);
}

fn check_normalised_rows(arithmetic: Arithmetic) {
    let n_tokens = 5;
    let bench = Bench::new(arithmetic, Activation::Gelu, (10, 27), Pooling::Mean, n_tokens);
    let hidden = bench.hidden;
    let norm = Norm { scale: numbers(hidden, 1), shift: numbers(hidden, 2) };
    let rows: Vec<f32> = numbers(n_tokens * hidden, 3).iter().map(|x| 10.0 + x).collect();
    bench.write_states(&bench.workspace.states, &rows, hidden, bench.width);
    let uploaded = LayerNorm::upload(&norm, &bench.device);
    let states = &bench.workspace.states;
    let found = bench.run(|recorder| recorder.normalise(&uploaded), states, n_tokens * bench.width);
    let n = hidden as f64;
    let expected: Vec<f64> = rows
        .chunks_exact(hidden)
        .flat_map(|row| {
            let row: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
            let mean = row.iter().sum::<f64>() / n;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            let parameters = norm.scale.iter().zip(&norm.shift).map(|(&a, &b)| (f64::from(a), f64::from(b)));
            row.into_iter()
                .zip(parameters)
                .map(|(x, (scale, shift))| (x - mean) / (variance + f64::from(EPSILON)).sqrt() * scale + shift)
                .collect::<Vec<_>>()
        })
        .collect();
    // The rows' mean is ten times their spread: what is lost in subtracting it.
    let found = trimmed(&found, bench.width, hidden);
    for (found, expected) in found.iter().zip(&expected) {
        assert!((f64::from(*found) - expected).abs() < 2e-5, "{found} against {expected}");
    }
    if arithmetic.precision == Precision::F16 {
        bench.write_states(states, &rows, hidden, bench.width);
        let halves = &bench.workspace.halves;
        let copies = bench.run_rounded(|recorder| recorder.normalise(&uploaded), halves, n_tokens * bench.width);
        let rounded = found.iter().map(|&x| f16::from_f32(x).to_f32());
        assert!(trimmed(&copies, bench.width, hidden).into_iter().eq(rounded), "the states, rounded");
    }
}

#[test]
#[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
fn needs_vulkan_a_text_is_pooled_by_its_own_tokens() {
    for pooling in [Pooling::Mean, Pooling::Cls] {
        let bench = Bench::new(ways()[0], Activation::Gelu, (1, 70), pooling, 9);
        let rows = numbers(9 * bench.hidden, 1);
        bench.write_states(&bench.workspace.states, &rows, bench.hidden, bench.width);
        let texts: [[u32; 2]; 3] = [[0, 4], [4, 1], [5, 4]];
        bench.device.queue().write_buffer(&bench.workspace.texts, 0, bytemuck::cast_slice(&texts));
        let found = bench.run(|recorder| recorder.pool(3), &bench.workspace.vectors, 3 * bench.width);
        let expected: Vec<f64> = texts
            .iter()
            .flat_map(|&[first, n]| {
                let n = if pooling == Pooling::Mean { n } else { 1 };
                let rows = &rows;
                let hidden = bench.hidden;
                (0..hidden).map(move |column| {
                    let states = (first..first + n).map(|token| f64::from(rows[token as usize * hidden + column]));
                    states.sum::<f64>() / f64::from(n)
                })
            })
            .collect();
        assert_close(&trimmed(&found, bench.width, bench.hidden), &expected, bench.slack(), &format!("{pooling:?}"));
    }
}
