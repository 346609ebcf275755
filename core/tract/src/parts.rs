//! The encoder's kernels for another graph: attention and layer normalisation of dense rows.

use closeread_kernels::{AttentionRoom, Instructions, Kernels, TextHeads, View, ViewMut};

/// The kernels of the fastest instructions that this processor has.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    kernels: Kernels,
}

/// Memory for [`Parts::attend`], grown on demand.
#[derive(Default)]
pub(crate) struct Room {
    projections: Vec<f32>,
    attention: AttentionRoom,
}

/// Queries, keys and values of one text: rows of `n_heads * head_size` numbers, one row after the other.
pub(crate) struct Heads<'a> {
    pub(crate) n_heads: usize,
    pub(crate) head_size: usize,
    pub(crate) queries: &'a [f32],
    pub(crate) keys: &'a [f32],
    pub(crate) values: &'a [f32],
}

impl Parts {
    /// Returns the parts chosen for this processor.
    pub(crate) fn fastest() -> Option<Self> {
        Kernels::new(Instructions::fastest()).map(|kernels| Self { kernels })
    }

    /// Returns the number that the length of rows to be normalised must be a multiple of.
    pub(crate) fn lanes(self) -> usize {
        self.kernels.lanes()
    }

    /// Softmax of the scaled scores times the values, for the first `n_tokens` rows, which see each other only.
    ///
    /// # Panics
    /// If a slice has fewer rows.
    pub(crate) fn attend(self, n_tokens: usize, heads: &Heads<'_>, scale: f32, context: &mut [f32], room: &mut Room) {
        let hidden = heads.n_heads * heads.head_size;
        room.projections.clear();
        room.projections.reserve(n_tokens * 3 * hidden);
        for row in (0..n_tokens).map(|token| token * hidden..(token + 1) * hidden) {
            room.projections.extend(heads.queries[row.clone()].iter().map(|query| query * scale));
            room.projections.extend_from_slice(&heads.keys[row.clone()]);
            room.projections.extend_from_slice(&heads.values[row]);
        }
        let text = TextHeads {
            n_tokens,
            n_heads: heads.n_heads,
            head_size: heads.head_size,
            projections: View { values: &room.projections, stride: 3 * hidden },
            context: ViewMut { values: context, stride: hidden },
        };
        self.kernels.attend(text, &mut room.attention);
    }

    /// Layer normalisation of rows as long as `scale` and `shift`.
    ///
    /// # Panics
    /// If that length is no multiple of [`Parts::lanes`].
    pub(crate) fn normalise(self, rows: &mut [f32], (scale, shift): (&[f32], &[f32]), epsilon: f32) {
        let n_columns = scale.len();
        let rows_to_write = ViewMut { stride: n_columns, values: rows };
        let n_rows = rows_to_write.values.len() / n_columns.max(1);
        self.kernels.normalise(n_rows, n_columns, rows_to_write, (scale, shift), epsilon);
    }
}
