//! k-means, from which a mixture starts.

use super::points::{Points, squared_distance};
use closeread_metrics::random::SplitMix64;

/// Most rounds, as in scikit-learn.
const MAX_ROUNDS: usize = 300;
/// Share of the points' variance; centres that move less stand still, as in scikit-learn.
const TOLERANCE: f64 = 1e-4;

/// The cluster of each point, in 0..k: greedy k-means++ starts, then Lloyd's rounds. A cluster may end up empty.
pub(super) fn kmeans(points: &Points, k: usize, random: &mut SplitMix64) -> Vec<usize> {
    let d = points.dimension();
    let mut centres = starts(points, k, random);
    let tolerance = TOLERANCE * variance(points);
    let mut labels = vec![0; points.len()];
    for _ in 0..MAX_ROUNDS {
        let mut sums = vec![0.0; k * d];
        let mut sizes = vec![0usize; k];
        for (point, label) in points.rows().zip(&mut labels) {
            *label = nearest(&centres, d, point);
            sizes[*label] += 1;
            sums[*label * d..][..d].iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
        }
        let mut moved = 0.0;
        for (cluster, &size) in sizes.iter().enumerate().filter(|(_, size)| **size > 0) {
            for (centre, sum) in centres[cluster * d..][..d].iter_mut().zip(&sums[cluster * d..]) {
                let mean = sum / size as f64;
                moved += (mean - *centre) * (mean - *centre);
                *centre = mean;
            }
        }
        if moved <= tolerance {
            break;
        }
    }
    points.rows().map(|point| nearest(&centres, d, point)).collect()
}

/// Greedy k-means++: each next centre is the best of 2 + ln k points drawn by their squared distance to the centres so far.
fn starts(points: &Points, k: usize, random: &mut SplitMix64) -> Vec<f64> {
    let n = points.len();
    let trials = 2 + libm::log(k as f64) as usize;
    let mut centres = points.row(random.below(n)).to_vec();
    let mut closest: Vec<f64> = points.rows().map(|point| squared_distance(point, &centres)).collect();
    for _ in 1..k {
        let total: f64 = closest.iter().sum();
        let best = (0..trials)
            .map(|_| {
                let candidate = draw(&closest, random.unit() * total);
                let centre = points.row(candidate);
                let closer: Vec<f64> =
                    points.rows().zip(&closest).map(|(p, c)| squared_distance(p, centre).min(*c)).collect();
                (closer.iter().sum::<f64>(), candidate, closer)
            })
            .reduce(|best, next| if next.0 < best.0 { next } else { best });
        let (_, candidate, closer) = best.expect("at least two trials");
        centres.extend_from_slice(points.row(candidate));
        closest = closer;
    }
    centres
}

/// The index at which the running sum of the weights passes `target`.
fn draw(weights: &[f64], target: f64) -> usize {
    let mut sum = 0.0;
    weights
        .iter()
        .position(|weight| {
            sum += weight;
            sum > target
        })
        .unwrap_or(weights.len() - 1)
}

fn nearest(centres: &[f64], d: usize, point: &[f64]) -> usize {
    let mut best = (f64::INFINITY, 0);
    for (idx, centre) in centres.chunks_exact(d).enumerate() {
        let distance = squared_distance(point, centre);
        if distance < best.0 {
            best = (distance, idx);
        }
    }
    best.1
}

/// Mean over the coordinates of their variances.
fn variance(points: &Points) -> f64 {
    let (n, d) = (points.len() as f64, points.dimension());
    let of = |c: usize| {
        let mean = points.rows().map(|p| p[c]).sum::<f64>() / n;
        points.rows().map(|p| (p[c] - mean) * (p[c] - mean)).sum::<f64>() / n
    };
    (0..d).map(of).sum::<f64>() / d as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_groups_are_told_apart_and_equal_points_stay_together() {
        let points = Points::new(1, vec![0.0, 100.0, 0.5, 101.0, 0.2]);
        let labels = kmeans(&points, 2, &mut SplitMix64(1));
        assert!(labels[0] == labels[2] && labels[0] == labels[4] && labels[1] == labels[3] && labels[0] != labels[1]);
        let same = Points::new(2, vec![3.0; 8]);
        let labels = kmeans(&same, 3, &mut SplitMix64(1));
        assert!(labels.iter().all(|label| *label == labels[0]));
    }
}
