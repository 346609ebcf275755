//! UMAP: vectors of many dimensions laid out in few, near ones near (McInnes, Healy and Melville 2018).

mod graph;
mod layout;
mod spectral;

use super::neighbours::neighbours;
use super::points::Points;
use crate::work::Workers;
use closeread_embed::rows::Rows;
use closeread_metrics::random::SplitMix64;
use graph::Graph;
use layout::Descent;

/// Parameters of a layout of vectors; what is not named here is as umap-learn has it by default (min_dist 0.1, spread
/// 1, spectral start, five negative samples, 500 epochs up to 10,000 vectors and 200 beyond).
///
/// Neighbours are exact at every size, under cosine distance; umap-learn approximates them from 4,096 vectors on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Umap {
    /// Neighbours that make up a vector's surroundings, itself included; at least 2.
    pub n_neighbours: usize,
    /// Dimensions of the layout, at least 1.
    pub n_components: usize,
    /// Seed of the start's noise and of the negative samples.
    pub seed: u64,
}

impl Umap {
    /// The layout of `rows`, one point each, in their order; the same however many threads the workers have.
    ///
    /// # Panics
    /// If no dimension is asked for.
    pub async fn lay_out(&self, workers: &impl Workers, rows: &Rows<f32>) -> Points {
        assert!(self.n_components > 0, "a layout has a dimension");
        let found = neighbours(workers, rows, self.n_neighbours.max(2)).await;
        let Self { n_components, seed, .. } = *self;
        let mut descent = workers
            .one(move || {
                let graph = Graph::fuzzy_union(&found);
                let mut random = SplitMix64(seed);
                let start = spectral::start(&graph, n_components, &mut random);
                Descent::new(&graph, start, n_components, random)
            })
            .await;
        while !descent.is_done() {
            descent = workers.one(move || descent.further()).await;
        }
        descent.into_points()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::points::squared_distance;
    use crate::work::Inline;
    use futures_util::FutureExt;

    fn laid_out(umap: Umap, vectors: &[Vec<f32>]) -> Points {
        let rows = Rows::new(vectors[0].len(), vectors.concat());
        umap.lay_out(&Inline, &rows).now_or_never().unwrap()
    }

    /// `n` vectors about each of three directions.
    fn three_bundles(n: usize) -> Vec<Vec<f32>> {
        let mut random = SplitMix64(3);
        (0..3 * n)
            .map(|i| (0..12).map(|axis| if axis == i % 3 { 8.0 } else { 0.0 } + random.normal() as f32).collect())
            .collect()
    }

    #[test]
    fn bundles_stay_together_and_apart_from_each_other() {
        let vectors = three_bundles(30);
        let points = laid_out(Umap { n_neighbours: 9, n_components: 2, seed: 0 }, &vectors);
        for i in 0..points.len() {
            let distance = |j: usize| squared_distance(points.row(i), points.row(j));
            let nearest = (0..points.len()).filter(|&j| j != i).min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            assert_eq!(nearest.unwrap() % 3, i % 3, "point {i}");
        }
    }

    #[test]
    fn few_equal_or_zero_vectors_have_a_layout() {
        for rows in [vec![vec![0.0f32; 3]; 3], vec![vec![1.0, 2.0, 3.0]; 20], vec![vec![1.0, 0.0, 0.0]]] {
            let points = laid_out(Umap { n_neighbours: 4, n_components: 2, seed: 1 }, &rows);
            assert_eq!(points.len(), rows.len());
            assert!(points.rows().flatten().all(|x| x.is_finite()));
        }
    }
}
