//! Start of the layout: the smoothest functions on the graph.

use super::graph::Graph;
use crate::cluster::linear::eigen;
use closeread_metrics::random::SplitMix64;

/// Rounds of the power iteration. The start need not be exact: the layout goes on from it.
const ROUNDS: usize = 120;
/// Rounds after which the vectors are made orthogonal again.
const ROUNDS_BETWEEN: usize = 4;
/// Largest coordinate, and the deviation of the noise that tells equal points apart, as in umap-learn.
const EXTENT: f64 = 10.0;
const NOISE: f64 = 1e-4;

/// Returns one point a vertex, row after row: eigenvectors of the normalised Laplacian, from the second smallest
/// eigenvalue on.
///
/// They come from an orthogonal iteration on (1 + D^-1/2 W D^-1/2) / 2, which finds the same vectors as largest and, unlike
/// Lanczos's, also where the graph falls into parts. Dimensions beyond the number of vertices hold noise alone.
pub(super) fn start(graph: &Graph, n_components: usize, random: &mut SplitMix64) -> Vec<f32> {
    let n = graph.len();
    let scales: Vec<f64> = graph
        .edges
        .iter()
        .map(|edges| edges.iter().map(|&(_, weight)| f64::from(weight)).sum::<f64>())
        .map(|degree| if degree > 0.0 { 1.0 / libm::sqrt(degree) } else { 0.0 })
        .collect();
    let n_vectors = (n_components + 1).min(n);
    let mut vectors: Vec<Vec<f64>> = (0..n_vectors).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    orthonormalise(&mut vectors);
    for round in 1..=ROUNDS {
        for vector in &mut vectors {
            let image = smoothed(graph, &scales, vector);
            vector.iter_mut().zip(image).for_each(|(x, y)| *x = 0.5 * (*x + y));
        }
        if round % ROUNDS_BETWEEN == 0 {
            orthonormalise(&mut vectors);
        }
    }
    let smoothest = ritz(graph, &scales, &vectors);
    let mut start = vec![0.0f64; n * n_components];
    for (component, vector) in smoothest.iter().skip(1).take(n_components).enumerate() {
        (0..n).for_each(|i| start[i * n_components + component] = vector[i]);
    }
    let largest = start.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let scale = if largest > 0.0 { EXTENT / largest } else { 0.0 };
    start.iter_mut().for_each(|x| *x = *x * scale + NOISE * random.normal());
    within_extent(&mut start, n_components);
    start.into_iter().map(|x| x as f32).collect()
}

/// D^-1/2 W D^-1/2 times a vector.
fn smoothed(graph: &Graph, scales: &[f64], vector: &[f64]) -> Vec<f64> {
    let row = |(edges, scale): (&Vec<(u32, f32)>, &f64)| {
        let sum: f64 =
            edges.iter().map(|&(j, weight)| f64::from(weight) * scales[j as usize] * vector[j as usize]).sum();
        sum * scale
    };
    graph.edges.iter().zip(scales).map(row).collect()
}

/// The best eigenvectors within the span of orthonormal vectors, largest eigenvalue first (Rayleigh and Ritz).
fn ritz(graph: &Graph, scales: &[f64], vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let k = vectors.len();
    let images: Vec<Vec<f64>> = vectors.iter().map(|vector| smoothed(graph, scales, vector)).collect();
    let mut projected = vec![0.0; k * k];
    for r in 0..k {
        for c in 0..=r {
            let value = 0.5 * (inner(&vectors[r], &images[c]) + inner(&vectors[c], &images[r]));
            projected[r * k + c] = value;
            projected[c * k + r] = value;
        }
    }
    let combine = |weights: Vec<f64>| {
        let mut sum = vec![0.0; vectors[0].len()];
        for (weight, vector) in weights.iter().zip(vectors) {
            sum.iter_mut().zip(vector).for_each(|(s, x)| *s += weight * x);
        }
        sum
    };
    eigen(projected, k).into_iter().map(|(_, weights)| combine(weights)).collect()
}

/// Gram and Schmidt's process; a vector that depends on those before it becomes zero.
fn orthonormalise(vectors: &mut [Vec<f64>]) {
    for i in 0..vectors.len() {
        let (before, rest) = vectors.split_at_mut(i);
        let vector = &mut rest[0];
        // Twice, because the first pass leaves its rounding.
        for other in before.iter().chain(before.iter()) {
            let share = inner(vector, other);
            vector.iter_mut().zip(other).for_each(|(x, y)| *x -= share * y);
        }
        let norm = libm::sqrt(inner(vector, vector));
        let scale = if norm > 1e-12 { 1.0 / norm } else { 0.0 };
        vector.iter_mut().for_each(|x| *x *= scale);
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Stretches every dimension to 0..=EXTENT, as umap-learn does before it optimises.
fn within_extent(points: &mut [f64], d: usize) {
    for c in 0..d {
        let column = || points.iter().skip(c).step_by(d).copied();
        let low = column().fold(f64::INFINITY, f64::min);
        let width = column().fold(f64::NEG_INFINITY, f64::max) - low;
        let scale = if width > 0.0 { EXTENT / width } else { 0.0 };
        points.iter_mut().skip(c).step_by(d).for_each(|x| *x = (*x - low) * scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of `n` vertices, or two of them.
    fn rings(n: usize, count: usize) -> Graph {
        let vertex = |i: usize| u32::try_from(i).unwrap();
        let edges = (0..n * count).map(|i| {
            let (ring, at) = (i / n * n, i % n);
            let mut ends = [vertex(ring + (at + n - 1) % n), vertex(ring + (at + 1) % n)];
            ends.sort_unstable();
            ends.map(|end| (end, 1.0)).to_vec()
        });
        Graph { edges: edges.collect() }
    }

    #[test]
    fn a_ring_starts_as_a_ring() {
        let start = start(&rings(12, 1), 2, &mut SplitMix64(5));
        let centre = [0, 1].map(|c| start.iter().skip(c).step_by(2).sum::<f32>() / 12.0);
        let distances: Vec<f32> = start.chunks(2).map(|p| libm::hypotf(p[0] - centre[0], p[1] - centre[1])).collect();
        assert!(distances.iter().all(|d| (d / distances[0] - 1.0).abs() < 0.1), "{distances:?}");
    }

    #[test]
    fn the_parts_of_a_graph_start_apart() {
        let start = start(&rings(8, 2), 1, &mut SplitMix64(5));
        let (one, other) = start.split_at(8);
        let spread = |part: &[f32]| part.iter().fold(0.0f32, |most, x| most.max((x - part[0]).abs()));
        assert!(spread(one) < 0.1 && spread(other) < 0.1 && (one[0] - other[0]).abs() > 9.0, "{start:?}");
    }
}
