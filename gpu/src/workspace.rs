//! The device's memory for what is under way.

use crate::Precision;
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
    /// Word and position of each token.
    pub(crate) tokens: Buffer,
    /// Hidden states of all tokens, in f32.
    pub(crate) states: Buffer,
    /// The same in half precision, where products take that.
    pub(crate) halves: Buffer,
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

impl Workspace {
    pub(crate) fn new(device: &Device, precision: Precision, widths: Widths, n_tokens: usize, n_texts: usize) -> Self {
        // Products read whole tiles of rows.
        let n_tokens = n_tokens.next_multiple_of(crate::weights::WIDTH);
        let buffer =
            |width: usize, size: usize| device.buffer((n_tokens * width * size) as u64, BufferUsages::COPY_SRC);
        let rows = |width| buffer(width, precision.size());
        let n_bytes = (n_texts * widths.hidden * size_of::<f32>()) as u64;
        Self {
            n_tokens,
            n_texts,
            n_rows: device.buffer(16, BufferUsages::UNIFORM),
            tokens: device.buffer((8 * n_tokens) as u64, BufferUsages::empty()),
            states: buffer(widths.hidden, size_of::<f32>()),
            halves: if precision == Precision::F16 { rows(widths.hidden) } else { buffer(0, 0) },
            projections: rows(3 * widths.hidden),
            context: rows(widths.hidden),
            inner: rows(widths.inner),
            blocks: device.buffer((16 * (n_tokens / 32 + n_texts)) as u64, BufferUsages::empty()),
            texts: device.buffer((8 * n_texts) as u64, BufferUsages::empty()),
            vectors: device.buffer(n_bytes, BufferUsages::COPY_SRC),
            read_back: device.read_back(n_bytes),
        }
    }

    /// What products take of the states.
    pub(crate) fn inputs(&self, precision: Precision) -> &Buffer {
        match precision {
            Precision::F32 => &self.states,
            Precision::F16 => &self.halves,
        }
    }

    /// Whether a batch fits in.
    pub(crate) fn holds(&self, n_tokens: usize, n_texts: usize) -> bool {
        n_tokens <= self.n_tokens && n_texts <= self.n_texts
    }
}
