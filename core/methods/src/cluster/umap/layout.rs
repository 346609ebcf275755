//! The layout: edges pull their ends together, vertices drawn at random push each other away.

use super::graph::Graph;
use crate::cluster::points::Points;
use closeread_metrics::random::SplitMix64;

/// 1 / (1 + A x^2B) is the curve that umap-learn fits to min_dist 0.1 and spread 1.
const A: f32 = 1.576_943_5;
const B: f32 = 0.895_060_9;
/// Largest step of a coordinate at rate 1.
const CLIP: f32 = 4.0;
/// Vertices pushed away each time an edge pulls.
const NEGATIVE_SAMPLES: f32 = 5.0;
/// Epochs that one job makes: of a novel's passages some hundredths of a second.
const EPOCHS_A_JOB: u16 = 10;
/// Keeps the push finite where points meet.
const SOFTENING: f32 = 0.001;

/// An edge is drawn once every `period` epochs.
struct Edge {
    head: u32,
    tail: u32,
    period: f32,
    next: f32,
    next_negative: f32,
}

/// Stochastic gradient descent, row after row, edge after edge, in one line: same seed, same layout.
pub(super) struct Descent {
    points: Vec<f32>,
    d: usize,
    edges: Vec<Edge>,
    random: SplitMix64,
    epoch: u16,
    n_epochs: u16,
}

impl Descent {
    /// Begins the descent at `points`.
    pub(super) fn new(graph: &Graph, points: Vec<f32>, d: usize, random: SplitMix64) -> Self {
        let n_epochs = if graph.len() <= 10_000 { 500u16 } else { 200 };
        Self { points, d, edges: edges(graph, f32::from(n_epochs)), random, epoch: 0, n_epochs }
    }

    /// True after the last epoch.
    pub(super) fn is_done(&self) -> bool {
        self.epoch == self.n_epochs
    }

    /// Returns the descent some epochs later.
    pub(super) fn further(mut self) -> Self {
        for _ in 0..EPOCHS_A_JOB.min(self.n_epochs - self.epoch) {
            self.one_epoch();
        }
        self
    }

    fn one_epoch(&mut self) {
        let Self { points, d, edges, random, epoch: now, n_epochs } = self;
        let (d, n) = (*d, points.len() / *d);
        let rate = 1.0 - f32::from(*now) / f32::from(*n_epochs);
        let epoch = f32::from(*now);
        for edge in edges.iter_mut().filter(|edge| edge.next <= epoch) {
            let (head, tail) = (edge.head as usize, edge.tail as usize);
            pull(points, d, head, tail, rate);
            edge.next += edge.period;
            let negative_period = edge.period / NEGATIVE_SAMPLES;
            let n_negative = ((epoch - edge.next_negative) / negative_period) as usize;
            for _ in 0..n_negative {
                let other = random.below(n);
                if other != head {
                    push(points, d, head, other, rate);
                }
            }
            edge.next_negative += n_negative as f32 * negative_period;
        }
        *now += 1;
    }

    /// Returns where the points are.
    pub(super) fn into_points(self) -> Points {
        Points::new(self.d, self.points.into_iter().map(f64::from).collect())
    }
}

/// Returns every edge in both directions, but for those too weak to be drawn once.
fn edges(graph: &Graph, n_epochs: f32) -> Vec<Edge> {
    let heaviest = graph.edges.iter().flatten().fold(0.0f32, |most, (_, weight)| most.max(*weight));
    let mut edges = Vec::new();
    for (head, ends) in (0u32..).zip(&graph.edges) {
        for &(tail, weight) in ends.iter().filter(|(_, weight)| *weight >= heaviest / n_epochs) {
            let period = heaviest / weight;
            edges.push(Edge { head, tail, period, next: period, next_negative: period / NEGATIVE_SAMPLES });
        }
    }
    edges
}

fn pull(points: &mut [f32], d: usize, head: usize, tail: usize, rate: f32) {
    let distance = squared_distance(points, d, head, tail);
    if distance < f32::MIN_POSITIVE {
        return;
    }
    let power = power(distance);
    let strength = -2.0 * A * B * power / (distance * (A * power + 1.0));
    for c in 0..d {
        let step = rate * (strength * (points[head * d + c] - points[tail * d + c])).clamp(-CLIP, CLIP);
        points[head * d + c] += step;
        points[tail * d + c] -= step;
    }
}

fn push(points: &mut [f32], d: usize, head: usize, other: usize, rate: f32) {
    let distance = squared_distance(points, d, head, other);
    if distance < f32::MIN_POSITIVE {
        return;
    }
    let strength = 2.0 * B / ((SOFTENING + distance) * (A * power(distance) + 1.0));
    for c in 0..d {
        let step = rate * (strength * (points[head * d + c] - points[other * d + c])).clamp(-CLIP, CLIP);
        points[head * d + c] += step;
    }
}

/// x^B of a normal x > 0 to 2e-5 of itself, several times faster than `powf`: polynomials, fitted at Chebyshev's nodes, for the
/// logarithm of the mantissa and the power of the fraction.
fn power(x: f32) -> f32 {
    const LOG2: [f32; 6] = [1.442_683_2, -0.720_442_35, 0.469_301_7, -0.303_389_67, 0.146_433_62, -0.034_595_21];
    const EXP2: [f32; 4] = [0.693_133_6, 0.240_654_3, 0.053_421_583, 0.012_776_132];
    let bits = x.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let t = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000) - 1.0;
    let y = B * (exponent as f32 + t * LOG2.iter().rev().fold(0.0, |sum, c| sum * t + c));
    let whole = y.floor();
    let f = y - whole;
    let scale = f32::from_bits(((whole as i32 + 127) as u32) << 23);
    scale * (1.0 + f * EXP2.iter().rev().fold(0.0, |sum, c| sum * f + c))
}

fn squared_distance(points: &[f32], d: usize, a: usize, b: usize) -> f32 {
    let (a, b) = (&points[a * d..][..d], &points[b * d..][..d]);
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_power_is_near_the_exact_one() {
        for exponent in -30..30 {
            for part in 0..50 {
                let x = libm::powf(2.0, exponent as f32 + part as f32 / 50.0);
                assert!((power(x) / libm::powf(x, B) - 1.0).abs() < 5e-5, "{x}");
            }
        }
    }
}
