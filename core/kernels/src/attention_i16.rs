//! Attention of one text in 16-bit integers, where an instruction multiplies twice as many; softmax stays in f32.

use super::attention::{BEYOND_THE_TEXT, Heads, beyond_the_text, softmax};
use super::product::{Ahead, Pieces, STEP, Sixteen, for_tiles, tile_of_integers, with_rows};
use super::rows::{LEAST, round_row};
use super::simd::{Simd, VECTORS, abs, load_first, store_first};

/// One text's heads, and room for one of them in integers, as pointers.
#[derive(Clone, Copy)]
pub(super) struct IntegerAttention {
    pub(super) heads: Heads,
    /// Room for one head's keys: `n_tokens` rounded up to panels, times pairs of the head's numbers.
    pub(super) keys: *mut i16,
    /// Value of a step of each key: `n_tokens` rounded up to panels.
    pub(super) key_scales: *mut f32,
    /// Room for one head's values: the head rounded up to panels, times pairs of tokens.
    pub(super) values: *mut i16,
    /// Value of a step of each column of the values: the head rounded up to panels.
    pub(super) value_scales: *mut f32,
    /// Room for a key: the head rounded up to panels.
    pub(super) key: *mut i16,
    /// Room for [`Simd::ROWS`] rows of a head's queries, pairs in [`Pieces`].
    pub(super) queries: *mut i16,
    /// Room for [`Simd::ROWS`] rows of scores, `n_tokens` rounded up to panels, in [`Pieces`].
    pub(super) scores: *mut f32,
    /// Room for [`Simd::ROWS`] rows of what each token has of the softmax, `n_tokens` rounded up to panels, pairs in
    /// [`Pieces`].
    pub(super) shares: *mut i16,
}

/// Levels of a value. With those of all shares together ([`ALL_SHARES`]) a sum stays within 32 bits.
const VALUE_LEVELS: f32 = 2047.0;
/// Levels of the shares of a row together, and of the largest, which rounding errors of the exponential may exceed a little.
const ALL_SHARES: f32 = 1_000_000.0;
const LARGEST_SHARE: f32 = 32_760.0;
/// Longest text: rounding adds half a level a token to those of all shares.
pub(super) const MOST_TOKENS: usize = 2 * ((i32::MAX as usize / VALUE_LEVELS as usize) - ALL_SHARES as usize);

/// Computes all heads of one text in integers.
///
/// # Safety
/// That of [`Simd`]; the pointers are good for what the fields say, none overlap, and there are at most [`MOST_TOKENS`].
#[inline(always)]
pub(super) unsafe fn attend_i16<S: Simd>(attention: &IntegerAttention) {
    let Heads { n_tokens, n_heads, head_size, projections, projections_stride, context, context_stride } =
        attention.heads;
    let hidden = n_heads * head_size;
    // Queries and keys alike, so that the sum of a head's products stays within 32 bits.
    let levels = (i32::MAX as usize / head_size.max(1)).isqrt().min(i16::MAX as usize) as f32;
    for head in 0..n_heads {
        let queries = projections.add(head * head_size);
        pack_keys::<S>(attention, queries.add(hidden), levels);
        pack_values::<S>(attention, queries.add(2 * hidden));
        for_tiles!(S, n_tokens, |first, rows| {
            let queries = queries.add(first * projections_stride);
            let context = context.add(first * context_stride + head * head_size);
            with_rows!(S; rows, attend_rows(attention, queries, levels, context));
        });
    }
}

/// Rounds a head's keys and lays them out as weights: panels of tokens, two numbers of the head after the other.
///
/// # Safety
/// As [`attend_i16`]; `keys` are the head's columns.
#[inline(always)]
unsafe fn pack_keys<S: Simd>(attention: &IntegerAttention, keys: *const f32, levels: f32) {
    let width = VECTORS * S::LANES;
    let Heads { n_tokens, head_size, projections_stride, .. } = attention.heads;
    let n_steps = head_size.div_ceil(2);
    let key = attention.key;
    for token in 0..n_tokens.next_multiple_of(width) {
        let scale = attention.key_scales.add(token);
        if token < n_tokens {
            *scale = round_row::<S>(keys.add(token * projections_stride), head_size, levels, |at| key.add(at));
        } else {
            *scale = 0.0;
            key.write_bytes(0, 2 * n_steps);
        }
        let to = attention.keys.cast::<u32>().add(token / width * n_steps * width + token % width);
        for step in 0..n_steps {
            to.add(step * width).write_unaligned(key.cast::<u32>().add(step).read_unaligned());
        }
    }
}

/// Rounds a head's values and lays them out as weights: panels of the head's numbers, two tokens after the other; 0 beyond
/// the head and the text.
///
/// # Safety
/// As [`attend_i16`]; `values` are the head's columns.
#[inline(always)]
unsafe fn pack_values<S: Simd>(attention: &IntegerAttention, values: *const f32) {
    let width = VECTORS * S::LANES;
    let Heads { n_tokens, head_size, projections_stride, .. } = attention.heads;
    let n_steps = n_tokens.div_ceil(2);
    let mut column = 0;
    while column < head_size.next_multiple_of(width) {
        let n = head_size.saturating_sub(column);
        let values = values.add(column.min(head_size));
        let mut largest = [S::splat(LEAST); 2];
        for token in 0..n_tokens {
            let numbers = load_first::<S>(values.add(token * projections_stride), n);
            largest[token % 2] = S::max(largest[token % 2], abs::<S>(numbers));
        }
        let largest = S::max(largest[0], largest[1]);
        let steps = S::div(S::splat(VALUE_LEVELS), largest);
        S::store(attention.value_scales.add(column), S::mul(largest, S::splat(1.0 / VALUE_LEVELS)));
        let to = attention.values.add(2 * (column / width * n_steps * width + column % width));
        for step in 0..n_steps {
            let first = values.add(2 * step * projections_stride);
            let one = S::round(S::mul(load_first::<S>(first, n), steps));
            let other = match 2 * step + 1 < n_tokens {
                true => S::round(S::mul(load_first::<S>(first.add(projections_stride), n), steps)),
                false => S::zeros(),
            };
            S::store_steps(to.add(2 * step * width).cast(), S::pairs(one, other));
        }
        column += S::LANES;
    }
}

/// `M` queries of one head against all its keys.
///
/// # Safety
/// As [`attend_i16`], with keys and values packed.
#[inline(always)]
unsafe fn attend_rows<S: Simd, const M: usize>(
    attention: &IntegerAttention,
    queries: *const f32,
    levels: f32,
    context: *mut f32,
) {
    let width = VECTORS * S::LANES;
    let &IntegerAttention { heads, scores, shares, .. } = attention;
    let Heads { n_tokens, head_size, .. } = heads;
    let mut query_scales = [0.0_f32; M];
    for row in 0..M {
        let query = queries.add(row * heads.projections_stride);
        let place = |at: usize| attention.queries.add(2 * Pieces::at(S::ROWS, row, at / 2));
        query_scales[row] = round_row::<S>(query, head_size, levels, place);
    }
    let n_steps = head_size.div_ceil(2);
    let mut largest = [S::splat(BEYOND_THE_TEXT); M];
    for panel in 0..n_tokens.div_ceil(width) {
        let keys = attention.keys.cast::<u8>().add(STEP * panel * n_steps * width);
        let rows = attention.queries.cast::<u8>();
        let sums = tile_of_integers::<S, Sixteen, M>(n_steps, rows, S::ROWS, keys, &mut Ahead::nothing());
        let beyond = beyond_the_text::<S>(n_tokens - panel * width);
        for vector in 0..VECTORS {
            let column = panel * width + vector * S::LANES;
            let key_scales = S::load(attention.key_scales.add(column));
            for row in 0..M {
                let score = S::mul_add(S::to_floats(sums[row][vector]), key_scales, beyond[vector]);
                S::store(scores.add(Pieces::at(S::ROWS, row, column)), score);
                largest[row] = S::max(largest[row], score);
            }
        }
    }
    let mut inverses = [0.0_f32; M];
    for row in 0..M {
        let sum = softmax::<S>(scores, row, n_tokens, S::largest(largest[row]), query_scales[row]);
        let steps = (ALL_SHARES / sum).min(LARGEST_SHARE);
        inverses[row] = 1.0 / (sum * steps);
        let steps = S::splat(steps);
        for first in (0..n_tokens).step_by(Pieces::PIECE) {
            let scores = scores.add(Pieces::at(S::ROWS, row, first));
            let shares = shares.add(2 * Pieces::at(S::ROWS, row, first / 2));
            for at in (0..Pieces::PIECE.min(n_tokens - first)).step_by(S::LANES) {
                S::store_i16(shares.add(at), S::round(S::mul(S::load(scores.add(at)), steps)));
            }
        }
    }
    let n_steps = n_tokens.div_ceil(2);
    for panel in 0..head_size.div_ceil(width) {
        let values = attention.values.cast::<u8>().add(STEP * panel * n_steps * width);
        let sums = tile_of_integers::<S, Sixteen, M>(n_steps, shares.cast(), S::ROWS, values, &mut Ahead::nothing());
        for vector in 0..VECTORS {
            let column = panel * width + vector * S::LANES;
            if column < head_size {
                let value_scales = S::load(attention.value_scales.add(column));
                for row in 0..M {
                    let scale = S::mul(value_scales, S::splat(inverses[row]));
                    let to = context.add(row * heads.context_stride + column);
                    store_first::<S>(to, S::mul(S::to_floats(sums[row][vector]), scale), head_size - column);
                }
            }
        }
    }
}
