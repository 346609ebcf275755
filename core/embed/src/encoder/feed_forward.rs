//! The feed-forward block: each token by itself, through a wide inner state.

use super::linear::{BLOCK, Formats, Linear};
use super::norm::LayerNorm;
use super::workspace::Workspace;
use crate::checkpoint::Checkpoint;
use crate::checkpoint::Layer;
use crate::onnx::Activation;
use closeread_kernels::{Kernels, Then};

/// One layer's feed-forward block, with the addition and normalisation that follow it.
#[derive(Debug)]
pub(super) struct FeedForward {
    up: Linear,
    activation: Activation,
    down: Linear,
    norm: LayerNorm,
}

impl FeedForward {
    pub(super) fn new(checkpoint: &Checkpoint, layer: &Layer, formats: Formats<'_>, kernels: Kernels) -> Self {
        Self {
            up: Linear::new(&[(&layer.up, 1.0)], formats.up, kernels),
            activation: checkpoint.activation,
            down: Linear::new(&[(&layer.down, 1.0)], formats.down, kernels),
            norm: LayerNorm::new(&layer.output_norm, checkpoint.epsilon, kernels),
        }
    }

    /// Replaces `n_tokens` states. A block of rows goes all the way before the next, so that its inner states are
    /// still in the cache when they are read.
    pub(super) fn forward(&self, kernels: Kernels, n_tokens: usize, workspace: &mut Workspace) {
        let Workspace { states, inner, arranged, .. } = workspace;
        for first in (0..n_tokens).step_by(BLOCK) {
            let rows = first..n_tokens.min(first + BLOCK);
            let n_rows = rows.len();
            let activate = Then::Activate(self.activation);
            self.up.forward(kernels, (states, rows.clone()), (inner, 0), activate, arranged);
            self.down.forward(kernels, (inner, 0..n_rows), (states, first), Then::Add, arranged);
            self.norm.forward(kernels, states, rows);
        }
    }
}
