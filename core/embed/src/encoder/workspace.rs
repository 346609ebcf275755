//! Workspace: intermediate results of one call.

use super::rows::Rows;
use closeread_kernels::{Arranged, AttentionRoom};

/// The intermediate results of one call of [`Backend::forward`].
#[derive(Default)]
pub(super) struct Workspace {
    /// The hidden states of all tokens.
    pub(super) states: Rows,
    /// Queries, keys and values of all tokens.
    pub(super) projections: Rows,
    /// Result of attention for each token.
    pub(super) context: Rows,
    /// Inner states of a block of tokens.
    pub(super) inner: Rows,
    pub(super) arranged: Arranged,
    pub(super) attention: AttentionRoom,
}
