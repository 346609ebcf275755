//! Whether a device's units for small matrices are as exact as f32.

use crate::arithmetic::Arithmetic;
use crate::device::Device;
use crate::kernels::product_alone;
use crate::weights::{Packed, WIDTH};
use crate::{GpuError, Precision};
use closeread_embed::checkpoint::{Dense, Values};
use wgpu::BufferUsages;

/// Most that a sum of 128 products of numbers up to 1 may be off. Without second halves it is off by 1e-3.
const SLACK: f64 = 1e-5;

/// The same without these units where they lose digits that f32 has: what a device does with halves is its own affair.
pub(crate) async fn checked(device: &Device, arithmetic: Arithmetic) -> Result<Arithmetic, GpuError> {
    let is_in_doubt = arithmetic.matrices.is_some() && arithmetic.precision == Precision::F32;
    if !is_in_doubt || is_exact(device, arithmetic).await? {
        return Ok(arithmetic);
    }
    Ok(Arithmetic { matrices: None, ..arithmetic })
}

/// Numbers from -1 to 1 with more digits than halves hold.
fn numbers(start: usize) -> Vec<f32> {
    (start..start + WIDTH * WIDTH).map(|at| (at as f32 * 0.618_034).fract() * 2.0 - 1.0).collect()
}

async fn is_exact(device: &Device, arithmetic: Arithmetic) -> Result<bool, GpuError> {
    let n = WIDTH * WIDTH;
    let [rows, weights] = [numbers(1), numbers(n)];
    let dense = Dense { n_inputs: WIDTH, weight: Values::F32(weights.clone()), bias: vec![0.0; WIDTH] };
    let read_back = device.read_back((n * size_of::<f32>()) as u64);
    let work = |device: &Device| {
        let linear = Packed::new(&[&dense], arithmetic).upload(device);
        let n_rows = device.filled(&[WIDTH as u32, 0, 0, 0], BufferUsages::UNIFORM);
        let input = device.filled(&rows, BufferUsages::empty());
        let output = device.buffer((n * size_of::<f32>()) as u64, BufferUsages::COPY_SRC);
        product_alone(device, arithmetic, &linear, [&n_rows, &input, &output], &read_back);
    };
    device.checked(work).await?;
    let found = device.read(&read_back, n).await?;
    Ok(holds(&rows, &weights, &found))
}

/// Whether these are the sums of products that f32 gives.
fn holds(rows: &[f32], weights: &[f32], found: &[f32]) -> bool {
    found.iter().enumerate().all(|(at, &found)| {
        let (row, column) = (at / WIDTH, at % WIDTH);
        let products = (0..WIDTH).map(|i| f64::from(rows[row * WIDTH + i]) * f64::from(weights[i * WIDTH + column]));
        (f64::from(found) - products.sum::<f64>()).abs() < SLACK
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn products_of_f32_hold_and_those_of_halves_do_not() {
        let [rows, weights] = [numbers(1), numbers(WIDTH * WIDTH)];
        let sums = |round: fn(f32) -> f32| -> Vec<f32> {
            let sum = |at: usize| {
                (0..WIDTH).map(|i| round(rows[at / WIDTH * WIDTH + i]) * weights[i * WIDTH + at % WIDTH]).sum()
            };
            (0..WIDTH * WIDTH).map(sum).collect()
        };
        assert!(holds(&rows, &weights, &sums(|x| x)));
        assert!(!holds(&rows, &weights, &sums(|x| f16::from_f32(x).to_f32())));
    }
}
