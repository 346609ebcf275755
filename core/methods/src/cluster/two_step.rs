//! RAPTOR's clustering: coarse over all vectors, then fine within each coarse cluster (section 3; `cluster_utils.py`).

use super::mixture::{GaussianMixture, fewest_by_bic};
use super::umap::Umap;
use crate::work::{Inline, Job, Workers};
use closeread_embed::rows::Rows;
use futures_util::FutureExt;
use std::sync::Arc;

/// Most components that BIC chooses among, plus one (`get_optimal_clusters`).
const MOST_COMPONENTS: usize = 50;
/// Neighbours within a coarse cluster (`local_cluster_embeddings`).
const LOCAL_NEIGHBOURS: usize = 10;
/// Seeds of the search by BIC and of the fit that follows it (`RANDOM_SEED` and `GMM_cluster`).
const SEARCH_SEED: u64 = 224;
const FIT_SEED: u64 = 0;
/// Number of times that a cluster that is too heavy is clustered again before it is cut into runs. Soft members are
/// counted again in each part, so that clustering alone need not come to an end.
const MOST_SPLITS: usize = 4;

/// Parameters of clustering in two steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoStep {
    /// Dimensions to which UMAP reduces; sets of at most one more are not clustered.
    pub dimension: usize,
    /// A vector belongs to every component whose posterior is above this, and always to the likeliest.
    pub membership: f64,
    /// Most weight that a cluster of more than one vector may have.
    pub max_weight: usize,
    /// Seed of UMAP, which RAPTOR's code leaves unseeded.
    pub seed: u64,
}

/// The clusters of `rows`, which may overlap, each ascending; `weights` holds one weight a row.
///
/// Every row is in a cluster, no cluster occurs twice, and none of several rows weighs more than `max_weight`: one that
/// does is clustered again, and where that makes it no smaller, or it has too few members to cluster, it is cut into runs of
/// neighbours that fit. RAPTOR's code would try again for ever there.
///
/// # Panics
/// If there is not one weight for each row.
pub(crate) async fn two_step_clusters(
    workers: &impl Workers,
    rows: &Rows<f32>,
    weights: &[usize],
    how: &TwoStep,
) -> Vec<Vec<usize>> {
    assert_eq!(rows.len(), weights.len(), "one weight a row");
    let mut clusters = Vec::new();
    let all: Vec<usize> = (0..rows.len()).collect();
    let mut open = parts(workers, rows, how, &all, MOST_SPLITS).await;
    while let Some((cluster, splits)) = open.pop() {
        let weight: usize = cluster.iter().map(|&row| weights[row]).sum();
        match splits {
            _ if cluster.len() == 1 || weight <= how.max_weight => clusters.push(cluster),
            Some(splits) => open.extend(parts(workers, rows, how, &cluster, splits).await),
            None => clusters.extend(runs(&cluster, weights, how.max_weight)),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    clusters.retain(|cluster| seen.insert(cluster.clone()));
    clusters
}

/// The clusters of `members`, the last one first, each with how often its parts may be split again if it is split, and
/// `None` where it may not be.
async fn parts(
    workers: &impl Workers,
    rows: &Rows<f32>,
    how: &TwoStep,
    members: &[usize],
    splits: usize,
) -> Vec<(Vec<usize>, Option<usize>)> {
    let parts = both_steps(workers, &chosen(rows, members), how).await.into_iter().rev();
    let of_rows = |part: Vec<usize>| {
        let part: Vec<usize> = part.into_iter().map(|place| members[place]).collect();
        let may_split = splits > 0 && part.len() < members.len() && part.len() > how.dimension + 1;
        (part, may_split.then(|| splits - 1))
    };
    parts.map(of_rows).collect()
}

/// Returns the rows with these numbers.
fn chosen(rows: &Rows<f32>, members: &[usize]) -> Rows<f32> {
    Rows::new(rows.dimension(), members.iter().flat_map(|&row| rows.row(row).iter().copied()).collect())
}

/// Coarse clusters of all rows, and within each the fine ones.
async fn both_steps(workers: &impl Workers, rows: &Rows<f32>, how: &TwoStep) -> Vec<Vec<usize>> {
    let n = rows.len();
    if n <= how.dimension + 1 {
        return vec![(0..n).collect()];
    }
    let coarse = Umap {
        n_neighbours: libm::sqrt((n - 1) as f64) as usize,
        n_components: how.dimension.min(n - 2).max(1),
        seed: how.seed,
    };
    let coarse = soft_clusters(workers, rows, coarse, how.membership).await;
    let TwoStep { dimension, membership, seed, .. } = *how;
    let fine = |cluster: &Vec<usize>| {
        let (rows, n) = (chosen(rows, cluster), cluster.len());
        Box::new(move || {
            if n <= dimension + 1 {
                return vec![(0..n).collect()];
            }
            let umap = Umap { n_neighbours: LOCAL_NEIGHBOURS, n_components: dimension, seed };
            let clusters = soft_clusters(&Inline, &rows, umap, membership).now_or_never();
            clusters.expect("work that is done here does not wait")
        }) as Job<Vec<Vec<usize>>>
    };
    let parts = workers.all(coarse.iter().map(fine).collect()).await;
    let within = |(cluster, parts): (&Vec<usize>, Vec<Vec<usize>>)| {
        parts.into_iter().map(|part| part.into_iter().map(|place| cluster[place]).collect()).collect::<Vec<_>>()
    };
    coarse.iter().zip(parts).flat_map(within).collect()
}

/// Lays the rows out, fits the mixture that BIC prefers, and gives the members of its components, empty ones left out.
async fn soft_clusters(workers: &impl Workers, rows: &Rows<f32>, umap: Umap, membership: f64) -> Vec<Vec<usize>> {
    let points = Arc::new(umap.lay_out(workers, rows).await);
    let k = fewest_by_bic(workers, &points, MOST_COMPONENTS, SEARCH_SEED).await;
    let n = rows.len();
    let members = move || {
        let Some(mixture) = GaussianMixture::fit(&points, k, FIT_SEED) else { return vec![(0..n).collect()] };
        let mut clusters = vec![Vec::new(); k];
        for (row, components) in mixture.memberships(&points, membership).into_iter().enumerate() {
            components.into_iter().for_each(|component| clusters[component].push(row));
        }
        clusters.retain(|cluster| !cluster.is_empty());
        clusters
    };
    workers.one(members).await
}

/// Puts consecutive members together while they weigh at most `max_weight`.
fn runs(members: &[usize], weights: &[usize], max_weight: usize) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut weight = 0;
    for &member in members {
        weight += weights[member];
        match runs.last_mut() {
            Some(run) if weight <= max_weight => run.push(member),
            _ => {
                weight = weights[member];
                runs.push(vec![member]);
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_metrics::random::SplitMix64;
    use proptest::prelude::*;

    fn clusters_of(rows: &[Vec<f32>], weights: &[usize], how: &TwoStep) -> Vec<Vec<usize>> {
        let rows = Rows::new(rows[0].len(), rows.concat());
        two_step_clusters(&Inline, &rows, weights, how).now_or_never().unwrap()
    }

    #[test]
    fn few_rows_are_one_cluster_unless_they_are_too_heavy() {
        let rows = vec![vec![1.0f32, 0.5]; 5];
        let how = TwoStep { dimension: 10, membership: 0.1, max_weight: 10, seed: 0 };
        assert_eq!(clusters_of(&rows, &[2; 5], &how), [[0, 1, 2, 3, 4]]);
        let expected = vec![vec![0, 1], vec![2], vec![3, 4]];
        assert_eq!(clusters_of(&rows, &[4, 5, 40, 3, 3], &how), expected);
    }

    #[test]
    fn topics_become_clusters() {
        let mut random = SplitMix64(11);
        let topic = |i: usize| i / 15;
        let rows: Vec<Vec<f32>> = (0..60)
            .map(|i| (0..16).map(|axis| if axis == topic(i) { 9.0 } else { 0.0 } + random.normal() as f32).collect())
            .collect();
        let how = TwoStep { dimension: 3, membership: 0.1, max_weight: 1000, seed: 0 };
        let clusters = clusters_of(&rows, &[1; 60], &how);
        assert!(clusters.iter().all(|c| c.iter().all(|&i| topic(i) == topic(c[0]))), "{clusters:?}");
    }

    /// Workers that do the last job first.
    struct Backwards;

    impl Workers for Backwards {
        async fn all<T: Send + 'static>(&self, jobs: Vec<Job<T>>) -> Vec<T> {
            let mut done: Vec<T> = jobs.into_iter().rev().map(|job| job()).collect();
            done.reverse();
            done
        }
    }

    #[test]
    fn it_does_not_matter_who_does_which_job_when() {
        let mut random = SplitMix64(5);
        let rows: Vec<Vec<f32>> = (0..300).map(|_| (0..8).map(|_| random.normal() as f32).collect()).collect();
        let how = TwoStep { dimension: 4, membership: 0.1, max_weight: 9, seed: 0 };
        let all = Rows::new(8, rows.concat());
        let backwards = two_step_clusters(&Backwards, &all, &[1; 300], &how).now_or_never().unwrap();
        assert_eq!(backwards, clusters_of(&rows, &[1; 300], &how));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_row_is_in_a_cluster_and_no_cluster_of_several_is_too_heavy(
            n in 1usize..40, kinds in 1usize..40, dimension in 1usize..6, max_weight in 1usize..60, seed: u64,
        ) {
            // With fewer kinds than rows, rows repeat.
            let mut random = SplitMix64(seed);
            let drawn: Vec<Vec<f32>> = (0..kinds).map(|_| (0..5).map(|_| random.normal() as f32).collect()).collect();
            let rows: Vec<Vec<f32>> = (0..n).map(|i| drawn[i % kinds].clone()).collect();
            let weights: Vec<usize> = (0..n).map(|_| random.below(30)).collect();
            let how = TwoStep { dimension, membership: 0.1, max_weight, seed };
            let clusters = clusters_of(&rows, &weights, &how);
            let mut covered = vec![false; n];
            for cluster in &clusters {
                prop_assert!(cluster.is_sorted() && !cluster.is_empty());
                let weight: usize = cluster.iter().map(|&i| weights[i]).sum();
                prop_assert!(cluster.len() == 1 || weight <= max_weight, "{cluster:?} weighs {weight}");
                cluster.iter().for_each(|&i| covered[i] = true);
            }
            prop_assert!(covered.iter().all(|&c| c));
            prop_assert_eq!(clusters_of(&rows, &weights, &how), clusters, "the same every time");
        }
    }
}
