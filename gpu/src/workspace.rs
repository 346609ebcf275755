//! The device's memory for what is under way.

use crate::device::Device;
use wgpu::{Buffer, BufferUsages};

/// Numbers of the rows that a model works on, each filled up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widths {
    pub(crate) hidden: usize,
    pub(crate) inner: usize,
}

/// Memory for batches of up to so many tokens and texts.
pub(crate) struct Workspace {
    n_tokens: usize,
    n_texts: usize,
    /// How many tokens there are now.
    pub(crate) n_rows: Buffer,
    /// Hidden states of all tokens.
    pub(crate) states: Buffer,
    /// Queries, keys and values.
    pub(crate) projections: Buffer,
    /// What attention found.
    pub(crate) context: Buffer,
    /// Between the layers of the feed-forward block.
    pub(crate) inner: Buffer,
    /// First row, tokens and first query of each block of queries of a text.
    pub(crate) blocks: Buffer,
    /// First row and tokens of each text.
    pub(crate) texts: Buffer,
    /// One vector a text.
    pub(crate) vectors: Buffer,
    /// The same, to be read.
    pub(crate) read_back: Buffer,
}

/// Queries that a workgroup of the attention takes.
pub(crate) const QUERIES: usize = 64;

impl Workspace {
    pub(crate) fn new(device: &Device, widths: Widths, n_tokens: usize, n_texts: usize) -> Self {
        // Products read whole tiles of rows.
        let n_tokens = n_tokens.next_multiple_of(crate::weights::WIDTH);
        let rows = |width: usize| device.buffer((n_tokens * width * size_of::<f32>()) as u64, BufferUsages::COPY_SRC);
        let n_bytes = (n_texts * widths.hidden * size_of::<f32>()) as u64;
        Self {
            n_tokens,
            n_texts,
            n_rows: device.buffer(16, BufferUsages::UNIFORM),
            states: rows(widths.hidden),
            projections: rows(3 * widths.hidden),
            context: rows(widths.hidden),
            inner: rows(widths.inner),
            blocks: device.buffer((16 * (n_tokens / QUERIES + n_texts)) as u64, BufferUsages::empty()),
            texts: device.buffer((8 * n_texts) as u64, BufferUsages::empty()),
            vectors: device.buffer(n_bytes, BufferUsages::COPY_SRC),
            read_back: device.read_back(n_bytes),
        }
    }

    /// Whether a batch fits in.
    pub(crate) fn holds(&self, n_tokens: usize, n_texts: usize) -> bool {
        n_tokens <= self.n_tokens && n_texts <= self.n_texts
    }
}
