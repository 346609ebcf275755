//! A model's numbers as kernels read them.

use crate::device::Device;
use closeread_embed::checkpoint::{Dense, Norm, Values};
use half::f16;
use wgpu::BufferUsages;

/// Numbers of a row are filled up with zeros to a multiple of this, the side of a product's tile.
pub(crate) const WIDTH: usize = 64;

/// How weights lie in the device's memory. Sums are f32 in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Storage {
    /// Four bytes a weight.
    F32,
    /// Two bytes a weight: half the memory and less to read. 8-bit weights stay exact, their scale is applied to the sum.
    F16,
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
    /// Joins layers of the same input. Without a storage that is asked for, half precision where it loses nothing.
    pub(crate) fn new(parts: &[&Dense], asked: Option<Storage>) -> Self {
        let n_inputs = parts[0].n_inputs;
        let widths: Vec<usize> = parts.iter().map(|part| part.bias.len().next_multiple_of(WIDTH)).collect();
        let shape = [n_inputs.next_multiple_of(WIDTH), widths.iter().sum()];
        let exact = || parts.iter().all(|part| is_exact_in_half(&part.weight));
        let storage = asked.unwrap_or_else(|| if exact() { Storage::F16 } else { Storage::F32 });
        let mut weights = vec![0.0; shape[0] * shape[1]];
        let mut columns = vec![0.0; 2 * shape[1]];
        let mut first = 0;
        for (part, width) in parts.iter().zip(&widths) {
            let n_outputs = part.bias.len();
            for input in 0..n_inputs {
                let from = input * n_outputs..(input + 1) * n_outputs;
                let to = &mut weights[input * shape[1] + first..][..n_outputs];
                match &part.weight {
                    Values::F32(values) => to.copy_from_slice(&values[from]),
                    Values::Int8 { values, .. } => {
                        to.iter_mut().zip(&values[from]).for_each(|(to, &value)| *to = f32::from(value));
                    }
                }
            }
            match &part.weight {
                Values::F32(_) => columns[first..][..n_outputs].fill(1.0),
                Values::Int8 { scales, .. } => columns[first..][..n_outputs].copy_from_slice(scales),
            }
            columns[shape[1] + first..][..n_outputs].copy_from_slice(&part.bias);
            first += width;
        }
        let weights = match storage {
            Storage::F32 => weights.into_iter().map(f32::to_bits).collect(),
            Storage::F16 => weights.as_chunks::<2>().0.iter().map(|&pair| pack_halves(pair)).collect(),
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
