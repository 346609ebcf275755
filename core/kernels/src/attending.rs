//! The door to attention: lengths are checked and rooms grown here.

use super::attention::{Attention, Heads};
use super::attention_i16::{IntegerAttention, MOST_TOKENS};
use super::kernels::{Kernels, View, ViewMut, check, grow};
use super::product::Pieces;

/// The numbers that one text's attention reads and writes.
pub struct TextHeads<'a> {
    /// Number of rows of both.
    pub n_tokens: usize,
    /// Number of heads side by side in a row.
    pub n_heads: usize,
    /// Numbers of a head.
    pub head_size: usize,
    /// Rows of queries (scaled), keys and values, `n_heads * head_size` of each.
    pub projections: View<'a>,
    /// Rows of which `n_heads * head_size` columns are written.
    pub context: ViewMut<'a>,
}

/// Memory for [`Kernels::attend`] and [`Kernels::attend_i16`], grown on demand.
#[derive(Debug, Default)]
pub struct AttentionRoom {
    keys: Vec<f32>,
    values: Vec<f32>,
    queries: Vec<f32>,
    scores: Vec<f32>,
    integers: IntegerRoom,
}

/// The room that integers need beside the scores.
#[derive(Debug, Default)]
struct IntegerRoom {
    keys: Vec<i16>,
    key_scales: Vec<f32>,
    values: Vec<i16>,
    value_scales: Vec<f32>,
    key: Vec<i16>,
    queries: Vec<i16>,
    shares: Vec<i16>,
}

impl Kernels {
    /// Attention of one text.
    ///
    /// # Panics
    /// If a slice is shorter than the shapes say.
    pub fn attend(self, text: TextHeads<'_>, room: &mut AttentionRoom) {
        let heads = text.checked();
        let (padded, padded_head) = self.padded(&heads);
        grow(&mut room.keys, padded * heads.head_size);
        grow(&mut room.values, padded_head * heads.n_tokens);
        grow(&mut room.queries, Pieces::len(self.table.tile_rows, heads.head_size));
        grow(&mut room.scores, Pieces::len(self.table.tile_rows, padded));
        let attention = Attention {
            heads,
            keys: room.keys.as_mut_ptr(),
            values: room.values.as_mut_ptr(),
            queries: room.queries.as_mut_ptr(),
            scores: room.scores.as_mut_ptr(),
        };
        // SAFETY: the lengths were checked above, the rooms were grown to what the fields ask for, and all that is
        // written is borrowed exclusively.
        unsafe { (self.table.attend)(&attention) }
    }

    /// Computes attention as [`Self::attend`] does, with queries, keys, values and the shares of the softmax rounded to
    /// 16-bit integers.
    ///
    /// # Panics
    /// If a slice is shorter than the shapes say, or the text so long that sums exceed 32 bits (some 98,000 tokens).
    pub fn attend_i16(self, text: TextHeads<'_>, room: &mut AttentionRoom) {
        let heads = text.checked();
        let n_tokens = heads.n_tokens;
        assert!(n_tokens <= MOST_TOKENS, "sums over {n_tokens} tokens exceed 32 bits");
        let (padded, padded_head) = self.padded(&heads);
        grow(&mut room.scores, Pieces::len(self.table.tile_rows, padded));
        let integers = &mut room.integers;
        grow(&mut integers.keys, 2 * padded * heads.head_size.div_ceil(2));
        grow(&mut integers.key_scales, padded);
        grow(&mut integers.values, 2 * padded_head * n_tokens.div_ceil(2));
        grow(&mut integers.value_scales, padded_head);
        grow(&mut integers.key, padded_head);
        grow(&mut integers.queries, 2 * Pieces::len(self.table.tile_rows, padded_head.div_ceil(2)));
        grow(&mut integers.shares, 2 * Pieces::len(self.table.tile_rows, padded.div_ceil(2)));
        let attention = IntegerAttention {
            heads,
            keys: integers.keys.as_mut_ptr(),
            key_scales: integers.key_scales.as_mut_ptr(),
            values: integers.values.as_mut_ptr(),
            value_scales: integers.value_scales.as_mut_ptr(),
            key: integers.key.as_mut_ptr(),
            queries: integers.queries.as_mut_ptr(),
            scores: room.scores.as_mut_ptr(),
            shares: integers.shares.as_mut_ptr(),
        };
        // SAFETY: as in `attend`.
        unsafe { (self.table.attend_i16)(&attention) }
    }

    /// Tokens, and a head's numbers, up to whole panels.
    fn padded(self, heads: &Heads) -> (usize, usize) {
        let width = self.table.panel_width;
        (heads.n_tokens.next_multiple_of(width), heads.head_size.next_multiple_of(width))
    }
}

impl TextHeads<'_> {
    /// Returns the heads by address, the lengths checked.
    fn checked(self) -> Heads {
        let Self { n_tokens, n_heads, head_size, projections, context } = self;
        let hidden = n_heads * head_size;
        check(n_tokens, projections.stride, 3 * hidden, projections.values.len(), "projections");
        check(n_tokens, context.stride, hidden, context.values.len(), "context");
        Heads {
            n_tokens,
            n_heads,
            head_size,
            projections: projections.values.as_ptr(),
            projections_stride: projections.stride,
            context: context.values.as_mut_ptr(),
            context_stride: context.stride,
        }
    }
}
