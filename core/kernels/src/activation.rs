//! The function between two layers.

/// The function between the two layers of a feed-forward block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// x Φ(x), by the error function.
    Gelu,
    /// The function [`Self::Gelu`], approximated by tanh.
    GeluTanh,
    /// max(x, 0).
    Relu,
}
