//! A model's numbers as kernels read them.

use crate::Precision;
use crate::arithmetic::Arithmetic;
use crate::device::Device;
use closeread_embed::checkpoint::{Dense, Norm, Table, Tables, Values};
use half::f16;
use wgpu::BufferUsages;

/// Numbers of a row are filled up with zeros to a multiple of this, the longer side of a product's tile.
pub(crate) const WIDTH: usize = 128;

/// How weights lie in the device's memory. Sums are f32 in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Storage {
    /// Four bytes a weight.
    F32,
    /// Two bytes a weight. 8-bit weights stay exact, their scale is applied to the sum.
    F16,
    /// Twice two bytes: a half, and what it leaves over, in a second one.
    Halves,
}

impl Storage {
    /// How these weights lie best: in half precision where that loses nothing or is asked for.
    fn of(parts: &[&Dense], arithmetic: Arithmetic) -> Self {
        let is_exact = || parts.iter().all(|part| is_exact_in_half(&part.weight));
        match arithmetic {
            Arithmetic { precision: Precision::F16, .. } => Self::F16,
            _ if is_exact() => Self::F16,
            Arithmetic { matrices: Some(_), .. } => Self::Halves,
            _ => Self::F32,
        }
    }
}

/// A linear layer, or several of the same input side by side, each filled up to [`WIDTH`].
pub(crate) struct Linear {
    /// Numbers of an input and of an output, filled up.
    pub(crate) shape: [u32; 2],
    pub(crate) storage: Storage,
    pub(crate) weights: wgpu::Buffer,
    /// Scales of all columns, then biases.
    pub(crate) columns: wgpu::Buffer,
    /// Inputs and outputs in vectors of four.
    pub(crate) uniform: wgpu::Buffer,
}

/// Scale and shift of a layer normalisation, filled up with zeros.
pub(crate) struct LayerNorm {
    pub(crate) columns: wgpu::Buffer,
}

/// Vectors of words and positions.
pub(crate) struct WordTable {
    /// Vectors of four in a row, and whether four 8-bit integers are one of them.
    pub(crate) shape: wgpu::Buffer,
    pub(crate) rows: wgpu::Buffer,
    /// One a word.
    pub(crate) scales: wgpu::Buffer,
    pub(crate) positions: wgpu::Buffer,
}

/// A linear layer before it is on the device.
pub(crate) struct Packed {
    pub(crate) shape: [usize; 2],
    pub(crate) storage: Storage,
    /// Inputs x outputs, one or two weights a number.
    pub(crate) weights: Vec<u32>,
    /// Scales of all columns, then biases.
    pub(crate) columns: Vec<f32>,
}

impl Packed {
    /// Joins layers of the same input.
    pub(crate) fn new(parts: &[&Dense], arithmetic: Arithmetic) -> Self {
        let n_inputs = parts[0].n_inputs;
        let widths: Vec<usize> = parts.iter().map(|part| part.bias.len().next_multiple_of(WIDTH)).collect();
        let shape = [n_inputs.next_multiple_of(WIDTH), widths.iter().sum()];
        let storage = Storage::of(parts, arithmetic);
        let mut weights = vec![0.0; shape[0] * shape[1]];
        let mut columns = vec![0.0; 2 * shape[1]];
        let mut first = 0;
        for (part, width) in parts.iter().zip(&widths) {
            let n_outputs = part.bias.len();
            let scales = &mut columns[first..][..n_outputs];
            match &part.weight {
                Values::F32(values) if storage != Storage::F32 => scales_for_halves(values, scales),
                Values::F32(_) => scales.fill(1.0),
                Values::Int8 { scales: known, .. } => scales.copy_from_slice(known),
            }
            for input in 0..n_inputs {
                let from = input * n_outputs..(input + 1) * n_outputs;
                let to = &mut weights[input * shape[1] + first..][..n_outputs];
                match &part.weight {
                    Values::F32(values) => {
                        to.iter_mut().zip(&values[from]).zip(&*scales).for_each(|((to, &x), scale)| *to = x / scale);
                    }
                    Values::Int8 { values, .. } => {
                        to.iter_mut().zip(&values[from]).for_each(|(to, &x)| *to = f32::from(x));
                    }
                }
            }
            columns[shape[1] + first..][..n_outputs].copy_from_slice(&part.bias);
            first += width;
        }
        let halves = |of: &dyn Fn(f32) -> f32| {
            let pairs = weights.as_chunks::<2>().0;
            pairs.iter().map(|&pair| pack_halves(pair.map(of))).collect::<Vec<u32>>()
        };
        let weights = match storage {
            Storage::F32 => weights.iter().map(|x| x.to_bits()).collect(),
            Storage::F16 => halves(&|x| x),
            Storage::Halves => [halves(&|x| x), halves(&|x| x - f16::from_f32(x).to_f32())].concat(),
        };
        Self { shape, storage, weights, columns }
    }

    /// Moves it onto the device.
    pub(crate) fn upload(&self, device: &Device) -> Linear {
        let shape = self.shape.map(|n| n as u32);
        Linear {
            shape,
            storage: self.storage,
            weights: device.filled(&self.weights, BufferUsages::empty()),
            columns: device.filled(&self.columns, BufferUsages::empty()),
            uniform: device.filled(&[shape[0] / 4, shape[1] / 4, 0, 0], BufferUsages::UNIFORM),
        }
    }
}

impl LayerNorm {
    pub(crate) fn upload(norm: &Norm, device: &Device) -> Self {
        let stride = norm.scale.len().next_multiple_of(WIDTH);
        let mut columns = vec![0.0; 2 * stride];
        columns[..norm.scale.len()].copy_from_slice(&norm.scale);
        columns[stride..][..norm.shift.len()].copy_from_slice(&norm.shift);
        Self { columns: device.filled(&columns, BufferUsages::empty()) }
    }
}

impl WordTable {
    /// Moves the tables onto the device, where it can bind them.
    pub(crate) fn upload(tables: &Tables, device: &Device) -> Option<Self> {
        let Table { n_rows, n_columns, values } = &tables.words;
        let width = n_columns.next_multiple_of(WIDTH);
        let is_eight_bit = matches!(values, Values::Int8 { .. });
        let row_bytes = if is_eight_bit { width } else { width * size_of::<f32>() };
        if (n_rows * row_bytes) as u64 > device.largest_binding() {
            return None;
        }
        let rows: Vec<u8> = match values {
            Values::Int8 { values, .. } => filled_up(bytemuck::cast_slice(values), *n_columns, row_bytes),
            Values::F32(values) => filled_up(bytemuck::cast_slice(values), n_columns * size_of::<f32>(), row_bytes),
        };
        let scales = match values {
            Values::Int8 { scales, .. } => scales.clone(),
            Values::F32(_) => vec![1.0; *n_rows],
        };
        let mut positions = vec![0.0; tables.positions.n_rows * width];
        for (position, row) in positions.chunks_exact_mut(width).enumerate() {
            tables.positions.add(position, &mut row[..*n_columns]);
        }
        Some(Self {
            shape: device.filled(&[width as u32 / 4, u32::from(is_eight_bit), 0, 0], BufferUsages::UNIFORM),
            rows: device.filled(&rows, BufferUsages::empty()),
            scales: device.filled(&scales, BufferUsages::empty()),
            positions: device.filled(&positions, BufferUsages::empty()),
        })
    }
}

/// Rows of `n` bytes, each filled up with zeros to `width`.
fn filled_up(rows: &[u8], n: usize, width: usize) -> Vec<u8> {
    let filling = vec![0; width - n];
    rows.chunks_exact(n).flat_map(|row| [row, &filling]).flatten().copied().collect()
}

/// Powers of two that bring each column's weights to the middle of what halves hold, so that small ones keep their digits.
fn scales_for_halves(values: &[f32], scales: &mut [f32]) {
    let mut largest = vec![0.0_f32; scales.len()];
    for row in values.chunks_exact(scales.len()) {
        largest.iter_mut().zip(row).for_each(|(largest, x)| *largest = largest.max(x.abs()));
    }
    for (scale, largest) in scales.iter_mut().zip(largest) {
        // To 2^8 up to 2^9. What is larger stays where halves hold it: they may hold all of the column exactly.
        let exponent = (largest.to_bits() >> 23) as i32 - 127;
        let is_scaled = largest.is_normal() && !(9..15).contains(&exponent);
        *scale = if is_scaled { 2.0_f32.powi((exponent - 8).max(-100)) } else { 1.0 };
    }
}

fn is_exact_in_half(values: &Values) -> bool {
    match values {
        Values::Int8 { .. } => true,
        Values::F32(values) => values.iter().all(|&value| f16::from_f32(value).to_f32() == value),
    }
}

/// As `unpack2x16float` reads them: the first in the lower half.
fn pack_halves(pair: [f32; 2]) -> u32 {
    let [low, high] = pair.map(|value| u32::from(f16::from_f32(value).to_bits()));
    low | high << 16
}
