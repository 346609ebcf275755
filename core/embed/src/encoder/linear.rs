//! A linear layer: packed weights, bias, and what follows.

use super::calibration::Ranges;
use super::rows::Rows;
use crate::checkpoint::{Dense, Values};
use closeread_kernels::{Aligned, Arranged, Columns, Kernels, Panels, Then};
use std::ops::Range;

/// Rows that go through a layer together: few enough that they stay in the second-level cache while all weights pass.
pub(super) const BLOCK: usize = 112;
/// Largest weight as an integer; a file's own 8-bit weights are taken as they are.
const WEIGHT_LEVELS: f32 = 2047.0;
/// Fewest levels that activations keep: the weights of a column are made coarser rather than these.
const LEAST_LEVELS: f32 = 4095.0;

/// Largest weight as an 8-bit integer.
const EIGHT_BIT_LEVELS: f32 = 127.0;
/// Magnitude that counts as the largest of a channel that has none.
const LEAST_CHANNEL: f32 = 1e-6;

/// The format that a layer is computed in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format<'a> {
    F32,
    Int16,
    /// 8-bit integers, with the largest magnitude of each input.
    Int8(&'a [f32]),
}

/// The formats that the linear layers of one layer of the model are computed in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Formats<'a> {
    pub(super) projections: Format<'a>,
    pub(super) output: Format<'a>,
    pub(super) up: Format<'a>,
    pub(super) down: Format<'a>,
}

impl<'a> Formats<'a> {
    /// Makes formats that are the same for all layers.
    pub(super) fn all(format: Format<'a>) -> Self {
        Self { projections: format, output: format, up: format, down: format }
    }

    /// Makes formats of 8 bits, and of 16 for inner states: they have been through the activation and are mostly small,
    /// a few are large.
    pub(super) fn mixed(ranges: &'a Ranges) -> Self {
        Self {
            projections: Format::Int8(&ranges.projections),
            output: Format::Int8(&ranges.output),
            up: Format::Int8(&ranges.up),
            down: Format::Int16,
        }
    }
}

/// Weights and bias of one or several layers of the same input, side by side.
#[derive(Debug)]
pub(super) struct Linear {
    n_inputs: usize,
    weights: Weights,
    /// Bias of each column of whole panels.
    bias: Aligned<f32>,
}

#[derive(Debug)]
enum Weights {
    F32(Aligned<f32>),
    /// 16-bit integers: what one step of each column is worth, and to how many levels inputs may be rounded.
    Int16 {
        panels: Aligned<i16>,
        scales: Aligned<f32>,
        levels: f32,
    },
    Int8 {
        panels: Aligned<i8>,
        /// Value of one step of each column.
        scales: Aligned<f32>,
        /// The sum of each column's integers.
        totals: Aligned<f32>,
        /// Factor by which each input is multiplied before it is rounded.
        factors: Aligned<f32>,
    },
}

impl Linear {
    /// Packs layers of the same input for these kernels; the results of each are multiplied by its factor.
    pub(super) fn new(parts: &[(&Dense, f32)], format: Format<'_>, kernels: Kernels) -> Self {
        let width = kernels.panel_width();
        let n_inputs = parts[0].0.n_inputs;
        let n_columns = parts.iter().map(|(dense, _)| dense.bias.len()).sum::<usize>().next_multiple_of(width);
        let mut bias = Aligned::new(n_columns);
        let biases = parts.iter().flat_map(|(dense, factor)| dense.bias.iter().map(move |b| b * factor));
        bias.get_mut().iter_mut().zip(biases).for_each(|(to, from)| *to = from);
        let weights = match format {
            Format::F32 => Weights::F32(pack_f32(parts, n_columns, width)),
            Format::Int16 => pack_int16(parts, n_columns, width),
            Format::Int8(largest) => pack_int8(parts, largest, n_columns, kernels),
        };
        Self { n_inputs, weights, bias }
    }

    /// The layer's results for `rows` of `input`, written to the rows from `first` on of `output`.
    pub(super) fn forward(
        &self,
        kernels: Kernels,
        input: (&Rows, Range<usize>),
        output: (&mut Rows, usize),
        then: Then,
        arranged: &mut Arranged,
    ) {
        let ((input, rows), (output, first)) = (input, output);
        debug_assert_eq!(input.n_columns(), self.n_inputs, "the input has the layer's width");
        for start in rows.clone().step_by(BLOCK) {
            let n_rows = BLOCK.min(rows.end - start);
            let input = input.view(start..start + n_rows);
            let at = first + start - rows.start;
            let output = output.view_mut(at..at + n_rows);
            match &self.weights {
                Weights::F32(panels) => {
                    kernels.arrange(n_rows, self.n_inputs, input, arranged);
                    let weights = Panels { values: panels.get(), n_steps: self.n_inputs, bias: self.bias.get() };
                    kernels.product_f32(arranged, weights, output, then);
                }
                Weights::Int16 { panels, scales, levels } => {
                    kernels.quantise_i16(n_rows, self.n_inputs, input, *levels, arranged);
                    let n_steps = self.n_inputs.div_ceil(2);
                    let weights = Panels { values: panels.get(), n_steps, bias: self.bias.get() };
                    kernels.product_i16(arranged, weights, scales.get(), output, then);
                }
                Weights::Int8 { panels, scales, totals, factors } => {
                    kernels.quantise_u8(n_rows, self.n_inputs, input, factors.get(), arranged);
                    let n_steps = self.n_inputs.div_ceil(4);
                    let weights = Panels { values: panels.get(), n_steps, bias: self.bias.get() };
                    let columns = Columns { scales: scales.get(), totals: totals.get() };
                    kernels.product_i8(arranged, weights, columns, output, then);
                }
            }
        }
    }
}

/// Panels of `width` columns, one input after the other.
fn pack_f32(parts: &[(&Dense, f32)], n_columns: usize, width: usize) -> Aligned<f32> {
    let n_inputs = parts[0].0.n_inputs;
    let mut panels = Aligned::new(n_inputs * n_columns);
    let to = panels.get_mut();
    let mut first = 0;
    for (dense, factor) in parts {
        let n_outputs = dense.bias.len();
        for outputs in panels_of(first, n_outputs, width) {
            let column = first + outputs.start;
            let place = column / width * n_inputs * width + column % width;
            for input in 0..n_inputs {
                let row = &mut to[place + input * width..][..outputs.len()];
                row.iter_mut()
                    .zip(outputs.clone())
                    .for_each(|(to, output)| *to = weight(dense, input, output) * factor);
            }
        }
        first += n_outputs;
    }
    panels
}

/// The outputs of a layer whose first has column `first`, as far as each panel of `width` columns holds them.
fn panels_of(first: usize, n_outputs: usize, width: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = n_outputs.min((first + start + 1).next_multiple_of(width) - first);
        let outputs = std::mem::replace(&mut start, end)..end;
        (!outputs.is_empty()).then_some(outputs)
    })
}

/// Panels of `width` columns, two inputs after the other, as integers.
///
/// 8-bit weights of the file stay what they are. Others are rounded to 2,047 levels of the column's largest. Inputs may
/// then have as many levels as keep every sum within 32 bits; if those are too few, columns get larger steps.
fn pack_int16(parts: &[(&Dense, f32)], n_columns: usize, width: usize) -> Weights {
    let n_inputs = parts[0].0.n_inputs;
    let n_steps = n_inputs.div_ceil(2);
    let mut panels = Aligned::new(n_steps * 2 * n_columns);
    let mut scales = Aligned::new(n_columns);
    let mut magnitudes = vec![0_i64; n_columns];
    let (mut even, mut odd) = (vec![0; width], vec![0; width]);
    let mut first = 0;
    for (dense, factor) in parts {
        let n_outputs = dense.bias.len();
        let steps = steps(dense);
        for (output, step) in steps.iter().enumerate() {
            scales.get_mut()[first + output] = step * factor;
        }
        let to = panels.get_mut();
        for outputs in panels_of(first, n_outputs, width) {
            let column = first + outputs.start;
            let magnitudes = &mut magnitudes[column..][..outputs.len()];
            for step in 0..n_steps {
                for (row, input) in [(&mut even, 2 * step), (&mut odd, 2 * step + 1)] {
                    put_levels(dense, &steps, input, outputs.clone(), row);
                }
                let place = (column / width * n_steps + step) * width + column % width;
                let pairs = to[2 * place..].as_chunks_mut::<2>().0.iter_mut().zip(&mut *magnitudes);
                for (((pair, magnitude), even), odd) in pairs.zip(&even).zip(&odd) {
                    *pair = [*even, *odd];
                    *magnitude += i64::from(even.unsigned_abs()) + i64::from(odd.unsigned_abs());
                }
            }
        }
        first += n_outputs;
    }
    let largest = magnitudes.into_iter().max().unwrap_or(0).max(1);
    let levels = (i64::from(i32::MAX) / largest).min(i64::from(i16::MAX));
    Weights::Int16 { panels, scales, levels: levels as f32 }
}

/// Writes the integer weights of one input for these outputs; zeros for an input that there is not.
fn put_levels(dense: &Dense, steps: &[f32], input: usize, outputs: Range<usize>, to: &mut [i16]) {
    let n_outputs = dense.bias.len();
    let weights = input * n_outputs + outputs.start..input * n_outputs + outputs.end;
    match &dense.weight {
        _ if input == dense.n_inputs => to.fill(0),
        Values::F32(values) => {
            let levels = values[weights].iter().zip(&steps[outputs]).map(|(value, step)| libm::rintf(value / step));
            to.iter_mut().zip(levels).for_each(|(to, level)| *to = level as i16);
        }
        Values::Int8 { values, .. } => {
            to.iter_mut().zip(&values[weights]).for_each(|(to, value)| *to = i16::from(*value));
        }
    }
}

/// Panels of whole vectors' columns, four inputs after the other, as 8-bit integers of 127 levels a column.
///
/// Half of each input's size, on a scale of ratios, goes into the weights first: SmoothQuant with a migration strength of
/// 0.5 (Xiao et al. 2023, equation 4).
fn pack_int8(parts: &[(&Dense, f32)], largest: &[f32], n_columns: usize, kernels: Kernels) -> Weights {
    let (n_inputs, width) = (parts[0].0.n_inputs, kernels.panel_width());
    let columns = || {
        parts
            .iter()
            .flat_map(|&(dense, factor)| (0..dense.bias.len()).map(move |output| (dense, output, factor)))
            .enumerate()
    };
    let mut factors = Aligned::new(n_inputs.next_multiple_of(kernels.lanes()));
    for (input, to) in factors.get_mut()[..n_inputs].iter_mut().enumerate() {
        let weights = columns().map(|(_, (dense, output, factor))| (weight(dense, input, output) * factor).abs());
        let heaviest = weights.fold(LEAST_CHANNEL, f32::max);
        *to = libm::sqrtf(heaviest / largest[input].max(LEAST_CHANNEL));
    }
    let n_steps = n_inputs.div_ceil(4);
    let mut panels = Aligned::new(n_steps * 4 * n_columns);
    let (mut scales, mut totals) = (Aligned::new(n_columns), Aligned::new(n_columns));
    for (column, (dense, output, factor)) in columns() {
        let smooth = |input: usize| weight(dense, input, output) * factor / factors.get()[input];
        let heaviest = (0..n_inputs).fold(0.0_f32, |heaviest, input| heaviest.max(smooth(input).abs()));
        let step = if heaviest > 0.0 { heaviest / EIGHT_BIT_LEVELS } else { 1.0 };
        let mut total = 0;
        for input in 0..n_inputs {
            let value = libm::rintf(smooth(input) / step) as i8;
            let place = (column / width * n_steps + input / 4) * width + column % width;
            panels.get_mut()[4 * place + input % 4] = value;
            total += i32::from(value);
        }
        scales.get_mut()[column] = step;
        totals.get_mut()[column] = total as f32;
    }
    Weights::Int8 { panels, scales, totals, factors }
}

/// Returns one weight.
fn weight(dense: &Dense, input: usize, output: usize) -> f32 {
    let place = input * dense.bias.len() + output;
    match &dense.weight {
        Values::F32(values) => values[place],
        Values::Int8 { values, scales } => f32::from(values[place]) * scales[output],
    }
}

/// Returns what one step of each output's integer weights is worth.
fn steps(dense: &Dense) -> Vec<f32> {
    let values = match &dense.weight {
        Values::Int8 { scales, .. } => return scales.clone(),
        Values::F32(values) => values,
    };
    let n_outputs = dense.bias.len();
    let (mut largest, mut sums) = (vec![0.0_f32; n_outputs], vec![0.0_f32; n_outputs]);
    for row in values.chunks_exact(n_outputs) {
        for ((largest, sum), value) in largest.iter_mut().zip(&mut sums).zip(row) {
            *largest = largest.max(value.abs());
            *sum += value.abs();
        }
    }
    // Rounding adds at most half a step an input to a column's magnitude.
    let room = i32::MAX as f32 / LEAST_LEVELS - dense.n_inputs as f32;
    let steps = largest.iter().zip(sums).map(|(largest, sum)| (largest / WEIGHT_LEVELS).max(sum / room));
    steps.map(|step| if step > 0.0 { step } else { 1.0 }).collect()
}
