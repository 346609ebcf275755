//! Calibration: how large each channel of the inputs of a model's linear layers gets.
//!
//! Eight bits are few where one channel is a hundred times as large as its neighbours, as some of a BERT are. SmoothQuant
//! (Xiao et al. 2023, section 4) therefore moves a part of a channel's size from the activations, where it is known from
//! some text, into the weights.

use super::rows::Rows;
use crate::EmbedError;
use crate::checkpoint::Checkpoint;
use serde::{Deserialize, Serialize};

/// Largest magnitude of each channel of the inputs of the layers that [`Precision::Int8`](super::Precision::Int8) has in
/// 8 bits, over some text; found by [`BertBackend::calibrate`](super::BertBackend::calibrate).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Calibration {
    /// Ranges of the layers, from the input on.
    pub layers: Vec<Ranges>,
}

/// The ranges of one layer, as many numbers in each as in a hidden state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranges {
    /// Ranges of what becomes queries, keys and values.
    pub projections: Vec<f32>,
    /// Ranges of what attention found.
    pub output: Vec<f32>,
    /// Ranges of what goes into the feed-forward block.
    pub up: Vec<f32>,
}

impl Calibration {
    /// Makes a calibration that has seen nothing yet.
    pub(super) fn empty(n_layers: usize, hidden: usize) -> Self {
        let nothing = || vec![0.0; hidden];
        let layers = (0..n_layers).map(|_| Ranges { projections: nothing(), output: nothing(), up: nothing() });
        Self { layers: layers.collect() }
    }

    /// Takes in what was seen elsewhere.
    ///
    /// # Panics
    /// If the other one is of a model of another shape.
    pub fn widen(&mut self, other: &Self) {
        assert_eq!(self.layers.len(), other.layers.len(), "two calibrations of one model");
        for (own, other) in self.layers.iter_mut().zip(&other.layers) {
            let pairs = [
                (&mut own.projections, &other.projections),
                (&mut own.output, &other.output),
                (&mut own.up, &other.up),
            ];
            for (own, other) in pairs {
                assert_eq!(own.len(), other.len(), "two calibrations of one model");
                own.iter_mut().zip(other).for_each(|(own, other)| *own = own.max(*other));
            }
        }
    }

    /// The ranges of each layer, if they are of a model of this shape.
    pub(super) fn of(&self, checkpoint: &Checkpoint) -> Result<&[Ranges], EmbedError> {
        let (n_layers, hidden) = (checkpoint.layers.len(), checkpoint.hidden);
        let fits =
            |channels: &Vec<f32>| channels.len() == hidden && channels.iter().all(|x| x.is_finite() && *x >= 0.0);
        let all_fit = |ranges: &Ranges| [&ranges.projections, &ranges.output, &ranges.up].into_iter().all(fits);
        if self.layers.len() == n_layers && self.layers.iter().all(all_fit) {
            return Ok(&self.layers);
        }
        Err(EmbedError::Load(format!(
            "the calibration is of another model: {n_layers} layers of three times {hidden} magnitudes are expected"
        )))
    }
}

/// Takes the first `n_rows` rows into the largest magnitudes of their channels.
pub(super) fn see(rows: &Rows, n_rows: usize, largest: &mut [f32]) {
    for row in 0..n_rows {
        largest.iter_mut().zip(rows.row(row)).for_each(|(largest, x)| *largest = largest.max(x.abs()));
    }
}
