//! The fuzzy neighbourhood graph: how surely two vectors are neighbours.

use crate::cluster::neighbours::Neighbours;

/// Rounds of bisection for a bandwidth, and how near the target they end, as in umap-learn.
const ROUNDS: usize = 64;
const TOLERANCE: f64 = 1e-5;
/// Least bandwidth, as a share of the mean distance to neighbours, as in umap-learn.
const LEAST_BANDWIDTH: f64 = 1e-3;

/// A symmetric weighted graph.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Graph {
    /// Neighbours of each vertex, ascending, with the weight of the edge in 0..=1.
    pub(super) edges: Vec<Vec<(u32, f32)>>,
}

impl Graph {
    /// Makes the graph in which each vertex sees its neighbours with its own bandwidth; an edge's weight is the
    /// probability that at least one of its ends sees the other.
    pub(super) fn fuzzy_union(neighbours: &[Neighbours]) -> Self {
        let all = neighbours.iter().flat_map(|n| &n.distances);
        let count = neighbours.iter().map(|n| n.distances.len()).sum::<usize>();
        let overall = all.map(|&d| f64::from(d)).sum::<f64>() / count.max(1) as f64;
        let mut seen: Vec<Vec<(u32, f32)>> = vec![Vec::new(); neighbours.len()];
        let mut sees: Vec<Vec<(u32, f32)>> = vec![Vec::new(); neighbours.len()];
        for (i, found) in neighbours.iter().enumerate() {
            let (nearest, bandwidth) = bandwidth(&found.distances, overall);
            for (&j, &distance) in found.rows.iter().zip(&found.distances).filter(|(j, _)| **j as usize != i) {
                let beyond = f64::from(distance) - nearest;
                let weight = if beyond <= 0.0 { 1.0 } else { libm::exp(-beyond / bandwidth) as f32 };
                sees[i].push((j, weight));
                seen[j as usize].push((u32::try_from(i).expect("fewer than four billion vectors"), weight));
            }
        }
        let edges = sees.into_iter().zip(seen).map(|(sees, seen)| {
            let mut both: Vec<(u32, f32)> = sees.into_iter().chain(seen).collect();
            both.sort_by_key(|(j, _)| *j);
            let same_end = |a: &(u32, f32), b: &(u32, f32)| a.0 == b.0;
            let merged = both.chunk_by(same_end).map(|part| match part {
                [(j, a), (_, b)] => (*j, a + b - a * b),
                part => part[0],
            });
            merged.collect()
        });
        Self { edges: edges.collect() }
    }

    /// Returns the number of vertices.
    pub(super) fn len(&self) -> usize {
        self.edges.len()
    }
}

/// Distance to the nearest other vector that is not equal, and the bandwidth under which the weights of the neighbours add
/// up to the logarithm of their number.
fn bandwidth(distances: &[f32], overall: f64) -> (f64, f64) {
    let distances: Vec<f64> = distances.iter().map(|&d| f64::from(d)).collect();
    let nearest = distances.iter().copied().find(|d| *d > 0.0).unwrap_or(0.0);
    let target = libm::log2(distances.len() as f64);
    let (mut low, mut high, mut middle) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..ROUNDS {
        let weight = |d: &f64| if *d > nearest { libm::exp(-(d - nearest) / middle) } else { 1.0 };
        let sum: f64 = distances[1..].iter().map(weight).sum();
        if (sum - target).abs() < TOLERANCE {
            break;
        }
        if sum > target {
            high = middle;
            middle = 0.5 * (low + high);
        } else {
            low = middle;
            middle = if high == f64::INFINITY { 2.0 * middle } else { 0.5 * (low + high) };
        }
    }
    let mean = if nearest > 0.0 { distances.iter().sum::<f64>() / distances.len() as f64 } else { overall };
    (nearest, middle.max(LEAST_BANDWIDTH * mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::neighbours::neighbours;
    use crate::work::Inline;
    use closeread_embed::rows::Rows;
    use futures_util::FutureExt;

    #[test]
    fn edges_are_symmetric_and_the_nearest_is_certain() {
        let angles = [0.0f32, 0.1, 0.25, 0.5, 1.0, 1.4];
        let rows = Rows::new(2, angles.iter().flat_map(|&a| [libm::cosf(a), libm::sinf(a)]).collect());
        let graph = Graph::fuzzy_union(&neighbours(&Inline, &rows, 4).now_or_never().unwrap());
        for (i, edges) in graph.edges.iter().enumerate() {
            assert!(edges.is_sorted_by_key(|(j, _)| *j) && edges.iter().all(|(j, w)| *j as usize != i && *w < 1.001));
            assert!(edges.iter().any(|(_, w)| *w > 0.999), "vertex {i} is sure of its nearest neighbour");
            for &(j, weight) in edges {
                assert!(graph.edges[j as usize].contains(&(u32::try_from(i).unwrap(), weight)));
            }
        }
    }

    #[test]
    fn the_weights_of_the_neighbours_add_up_to_the_logarithm_of_their_number() {
        let distances = [0.0f32, 0.1, 0.15, 0.3, 0.31, 0.5, 0.7, 0.9];
        let (nearest, bandwidth) = bandwidth(&distances, 0.3);
        let sum: f64 = distances[1..].iter().map(|&d| libm::exp(-(f64::from(d) - nearest) / bandwidth)).sum();
        assert!((sum - 3.0).abs() < 1e-4, "{sum}");
    }
}
