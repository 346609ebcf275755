//! Self-attention: every token of a text looks at every other.

use super::linear::{Format, Formats, Linear};
use super::norm::LayerNorm;
use super::rows::Rows;
use super::workspace::Workspace;
use crate::checkpoint::Checkpoint;
use crate::checkpoint::Layer;
use closeread_kernels::{AttentionRoom, Kernels, TextHeads, Then};

/// One layer's attention, with the addition and normalisation that follow it.
#[derive(Debug)]
pub(super) struct SelfAttention {
    n_heads: usize,
    head_size: usize,
    /// Whether attention is rounded to 16 bits, as its projections are at least.
    in_integers: bool,
    /// Queries, keys and values in one product.
    projections: Linear,
    output: Linear,
    norm: LayerNorm,
}

impl SelfAttention {
    pub(super) fn new(checkpoint: &Checkpoint, layer: &Layer, formats: Formats<'_>, kernels: Kernels) -> Self {
        let head_size = checkpoint.hidden / checkpoint.n_heads;
        // The scores' 1 / sqrt(head size) is part of the queries' weights.
        let scale = 1.0 / (head_size as f32).sqrt();
        let projections = [(&layer.query, scale), (&layer.key, 1.0), (&layer.value, 1.0)];
        Self {
            n_heads: checkpoint.n_heads,
            head_size,
            in_integers: !matches!(formats.projections, Format::F32),
            projections: Linear::new(&projections, formats.projections, kernels),
            output: Linear::new(&[(&layer.output, 1.0)], formats.output, kernels),
            norm: LayerNorm::new(&layer.attention_norm, checkpoint.epsilon, kernels),
        }
    }

    /// Replaces the states of texts of these lengths.
    pub(super) fn forward(&self, kernels: Kernels, lengths: &[usize], workspace: &mut Workspace) {
        let Workspace { states, projections, context, arranged, attention, .. } = workspace;
        let n_tokens = lengths.iter().sum();
        self.projections.forward(kernels, (states, 0..n_tokens), (projections, 0), Then::Store, arranged);
        self.attend(kernels, lengths, projections, context, attention);
        self.output.forward(kernels, (context, 0..n_tokens), (states, 0), Then::Add, arranged);
        self.norm.forward(kernels, states, 0..n_tokens);
    }

    fn attend(
        &self,
        kernels: Kernels,
        lengths: &[usize],
        projections: &Rows,
        context: &mut Rows,
        room: &mut AttentionRoom,
    ) {
        let mut first = 0;
        for &n_tokens in lengths {
            let rows = first..first + n_tokens;
            let text = TextHeads {
                n_tokens,
                n_heads: self.n_heads,
                head_size: self.head_size,
                projections: projections.view(rows.clone()),
                context: context.view_mut(rows),
            };
            if self.in_integers {
                kernels.attend_i16(text, room);
            } else {
                kernels.attend(text, room);
            }
            first += n_tokens;
        }
    }
}
