//! The weights of an encoder, layer by layer.

use super::tables::Tables;
use super::values::Values;
use closeread_kernels::Activation;

/// All weights of an encoder of the BERT family.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Numbers of a hidden state.
    pub hidden: usize,
    /// Heads of attention; they divide `hidden`.
    pub n_heads: usize,
    /// Activation between the layers of a feed-forward block.
    pub activation: Activation,
    /// Number that layer normalisation adds to the variance.
    pub epsilon: f32,
    /// Tables in which token ids and positions are looked up.
    pub tables: Tables,
    /// Normalisation after the sum of the embeddings.
    pub norm: Norm,
    /// Layers, from the input on.
    pub layers: Vec<Layer>,
}

/// One block of attention and feed-forward.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Hidden state to the heads' queries, side by side; their scores are still to be divided by the root of the head size.
    pub query: Dense,
    /// Hidden state to the heads' keys.
    pub key: Dense,
    /// Hidden state to the heads' values.
    pub value: Dense,
    /// Layer from the joined heads back to the hidden state.
    pub output: Dense,
    /// Normalisation after the attention's result was added to the hidden state.
    pub attention_norm: Norm,
    /// Layer from the hidden state to the wide inner one.
    pub up: Dense,
    /// Layer from the wide inner state back to the hidden one.
    pub down: Dense,
    /// Normalisation after the feed-forward block's result was added to the hidden state.
    pub output_norm: Norm,
}

/// The head that makes one number of the first token's last state, in a model that reads pairs of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Classifier {
    /// Difference of the two token types: what the tokens of the second text have more than those of the first before
    /// they are normalised.
    pub second: Vec<f32>,
    /// Layer from the first token's state to one of the same width; its hyperbolic tangent goes on.
    pub pooler: Dense,
    /// Layer from the pooler's result to one number.
    pub output: Dense,
    /// Whether the logistic function of the output is the score.
    pub sigmoid: bool,
}

/// A linear layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    /// Numbers of an input; the bias has as many as an output.
    pub n_inputs: usize,
    /// Weights, inputs x outputs, row after row; 8-bit with a scale an output.
    pub weight: Values,
    /// Bias of each output.
    pub bias: Vec<f32>,
}

/// Scale and shift of a layer normalisation.
#[derive(Debug, Clone, PartialEq)]
pub struct Norm {
    /// Factor of each number of a hidden state.
    pub scale: Vec<f32>,
    /// Shift, added after scaling.
    pub shift: Vec<f32>,
}
