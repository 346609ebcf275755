//! Exact nearest neighbours under cosine distance.

use crate::work::{Job, Workers};
use closeread_embed::rows::Rows;
use std::ops::Range;
use std::sync::Arc;

/// Rows whose neighbours one job finds.
const ROWS_A_JOB: usize = 256;
/// Rows whose distances are computed in one pass over all others, while those are in the processor's cache.
const BLOCK: usize = 8;
/// Partial sums of a dot product: adding in a fixed order that vector units can follow.
const LANES: usize = 16;

/// The `k` nearest rows of a row, nearest first, itself included; the earlier row first where distances are equal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Neighbours {
    /// Numbers of the rows.
    pub(super) rows: Vec<u32>,
    /// Cosine distances, 0..=2.
    pub(super) distances: Vec<f32>,
}

/// The nearest neighbours of every row; all rows where `k` is more than there are. Quadratic in the number of rows.
pub(super) async fn neighbours(workers: &impl Workers, rows: &Rows<f32>, k: usize) -> Vec<Neighbours> {
    let units: Arc<Vec<Vec<f32>>> = Arc::new(rows.rows().map(unit).collect());
    let job = |start: usize| {
        let units = Arc::clone(&units);
        Box::new(move || of_rows(&units, start..(start + ROWS_A_JOB).min(units.len()), k)) as Job<Vec<Neighbours>>
    };
    workers.all((0..rows.len()).step_by(ROWS_A_JOB).map(job).collect()).await.concat()
}

/// The neighbours of some of the rows, which are of length 1.
fn of_rows(units: &[Vec<f32>], some: Range<usize>, k: usize) -> Vec<Neighbours> {
    let n = units.len();
    let k = k.min(n);
    let mut distances = vec![0.0f32; BLOCK * n];
    let mut found = Vec::with_capacity(some.len());
    for start in some.clone().step_by(BLOCK) {
        let block = start..(start + BLOCK).min(some.end);
        for (j, other) in units.iter().enumerate() {
            for i in block.clone() {
                distances[(i - start) * n + j] = (1.0 - dot(&units[i], other)).max(0.0);
            }
        }
        for i in block {
            // A row is its own first neighbour, also where rounding or an equal row says otherwise.
            distances[(i - start) * n + i] = -1.0;
            found.push(nearest(&distances[(i - start) * n..][..n], k));
        }
    }
    found
}

fn nearest(distances: &[f32], k: usize) -> Neighbours {
    let mut order: Vec<u32> = (0..).take(distances.len()).collect();
    let by_distance = |a: &u32, b: &u32| distances[*a as usize].total_cmp(&distances[*b as usize]).then(a.cmp(b));
    if k < order.len() {
        order.select_nth_unstable_by(k, by_distance);
        order.truncate(k);
    }
    order.sort_unstable_by(by_distance);
    let distances = order.iter().map(|&j| distances[j as usize].max(0.0)).collect();
    Neighbours { rows: order, distances }
}

/// The row scaled to length 1; a row of zeros stays.
fn unit(row: &[f32]) -> Vec<f32> {
    let norm = libm::sqrt(row.iter().map(|&x| f64::from(x) * f64::from(x)).sum());
    let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
    // Padded with zeros, so that a dot product is whole chunks.
    let mut unit: Vec<f32> = row.iter().map(|&x| (f64::from(x) * scale) as f32).collect();
    unit.resize(row.len().next_multiple_of(LANES), 0.0);
    unit
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Inline;
    use futures_util::FutureExt;

    #[test]
    fn a_row_comes_first_and_length_does_not_matter() {
        let rows = Rows::new(2, vec![1.0, 0.0, 0.0, 2.0, 3.0, 0.1, 5.0, 0.0]);
        let neighbours = |k| neighbours(&Inline, &rows, k).now_or_never().unwrap();
        let found = neighbours(3);
        assert_eq!(found[3].rows, [3, 0, 2]);
        assert_eq!(found[0].rows, [0, 3, 2]);
        assert!(found[0].distances[1].abs() < 1e-6 && found[1].distances[2] > 0.9);
        assert_eq!(neighbours(9)[1].rows.len(), 4);
    }

    #[test]
    fn rows_of_another_job_are_found_as_well() {
        let n = 2 * ROWS_A_JOB + 3;
        let rows = Rows::new(2, (0..n).flat_map(|i| [i as f32, n as f32]).collect());
        let found = neighbours(&Inline, &rows, 3).now_or_never().unwrap();
        assert_eq!(found.len(), n);
        // The two beside it are as far away as f32 can tell.
        let mut beside = found[ROWS_A_JOB].rows.clone();
        assert_eq!(beside[0], 256);
        beside.sort_unstable();
        assert_eq!(beside, [255, 256, 257]);
    }
}
