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
    /// Between the layers of a feed-forward block.
    pub activation: Activation,
    /// Added to the variance by layer normalisation.
    pub epsilon: f32,
    /// What token ids and positions are looked up in.
    pub tables: Tables,
    /// After the sum of the embeddings.
    pub norm: Norm,
    /// From the input on.
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
    /// From the joined heads back to the hidden state.
    pub output: Dense,
    /// After the attention's result was added to the hidden state.
    pub attention_norm: Norm,
    /// From the hidden state to the wide inner one.
    pub up: Dense,
    /// And back.
    pub down: Dense,
    /// After the feed-forward block's result was added to the hidden state.
    pub output_norm: Norm,
}

/// What makes one number of the first token's last state, in a model that reads pairs of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Classifier {
    /// What the tokens of the second text have more than those of the first before they are normalised: the difference of the
    /// two token types.
    pub second: Vec<f32>,
    /// From the first token's state to one of the same width; its hyperbolic tangent goes on.
    pub pooler: Dense,
    /// From there to one number.
    pub output: Dense,
    /// Whether the logistic function of that number is the score.
    pub sigmoid: bool,
}

/// A linear layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    /// Numbers of an input; the bias has as many as an output.
    pub n_inputs: usize,
    /// Inputs x outputs, row after row; 8-bit with a scale an output.
    pub weight: Values,
    /// One a output.
    pub bias: Vec<f32>,
}

/// Scale and shift of a layer normalisation.
#[derive(Debug, Clone, PartialEq)]
pub struct Norm {
    /// Factor of each number of a hidden state.
    pub scale: Vec<f32>,
    /// Added to it afterwards.
    pub shift: Vec<f32>,
}
