//! Scaled dot-product attention of one text: softmax(Q K^T) V, head by head.

use super::math::exp2;
use super::product::{Ahead, Pieces, for_tiles, tile_f32, with_rows};
use super::simd::{MAX_LANES, Simd, VECTORS, load_first, store_first};

/// One text's queries, keys and values, and where its context goes, as pointers.
#[derive(Clone, Copy)]
pub(super) struct Heads {
    pub(super) n_tokens: usize,
    pub(super) n_heads: usize,
    /// Numbers of a head.
    pub(super) head_size: usize,
    /// `n_tokens` rows of queries (already scaled), keys and values, `n_heads * head_size` of each.
    pub(super) projections: *const f32,
    pub(super) projections_stride: usize,
    /// `n_tokens` rows of `n_heads * head_size`.
    pub(super) context: *mut f32,
    pub(super) context_stride: usize,
}

/// One text's heads, and room for one of them, as pointers.
#[derive(Clone, Copy)]
pub(super) struct Attention {
    pub(super) heads: Heads,
    /// Room for one head's keys: `n_tokens` rounded up to panels, times `head_size`.
    pub(super) keys: *mut f32,
    /// Room for one head's values: `head_size` rounded up to panels, times `n_tokens`.
    pub(super) values: *mut f32,
    /// Room for [`Simd::ROWS`] rows of a head's queries, in [`Pieces`].
    pub(super) queries: *mut f32,
    /// Room for [`Simd::ROWS`] rows of scores, `n_tokens` rounded up to panels, in [`Pieces`].
    pub(super) scores: *mut f32,
}

/// Far below every score, so that exp of the difference is nothing, even in steps as small as those of a row of zeros.
pub(super) const BEYOND_THE_TEXT: f32 = -1e38;

/// Computes all heads of one text.
///
/// # Safety
/// That of [`Simd`]; the pointers are good for what the fields say, and none overlap.
#[inline(always)]
pub(super) unsafe fn attend<S: Simd>(attention: &Attention) {
    let Heads { n_tokens, n_heads, head_size, projections, projections_stride, context, context_stride } =
        attention.heads;
    let hidden = n_heads * head_size;
    for head in 0..n_heads {
        let queries = projections.add(head * head_size);
        pack_keys::<S>(attention, queries.add(hidden));
        pack_values::<S>(attention, queries.add(2 * hidden));
        for_tiles!(S, n_tokens, |first, rows| {
            let queries = queries.add(first * projections_stride);
            let context = context.add(first * context_stride + head * head_size);
            with_rows!(S; rows, attend_rows(attention, queries, context));
        });
    }
}

/// Lays a head's keys out as weights: panels of tokens, one number of the head after the other; 0 beyond the text.
///
/// # Safety
/// As [`attend`]; `keys` are the head's columns.
#[inline(always)]
unsafe fn pack_keys<S: Simd>(attention: &Attention, keys: *const f32) {
    let width = VECTORS * S::LANES;
    let Heads { n_tokens, head_size, projections_stride, .. } = attention.heads;
    for panel in 0..n_tokens.div_ceil(width) {
        let to = attention.keys.add(panel * head_size * width);
        for lane in 0..width {
            let token = panel * width + lane;
            if token < n_tokens {
                let from = keys.add(token * projections_stride);
                for idx in 0..head_size {
                    *to.add(idx * width + lane) = *from.add(idx);
                }
            } else {
                for idx in 0..head_size {
                    *to.add(idx * width + lane) = 0.0;
                }
            }
        }
    }
}

/// Lays a head's values out as weights: panels of the head's numbers, one token after the other; 0 beyond the head.
///
/// # Safety
/// As [`attend`]; `values` are the head's columns.
#[inline(always)]
unsafe fn pack_values<S: Simd>(attention: &Attention, values: *const f32) {
    let width = VECTORS * S::LANES;
    let Heads { n_tokens, head_size, projections_stride, .. } = attention.heads;
    for panel in 0..head_size.div_ceil(width) {
        let to = attention.values.add(panel * n_tokens * width);
        for token in 0..n_tokens {
            for vector in 0..VECTORS {
                let column = panel * width + vector * S::LANES;
                let from = values.add(token * projections_stride + column.min(head_size));
                let part = load_first::<S>(from, head_size.saturating_sub(column));
                S::store(to.add(token * width + vector * S::LANES), part);
            }
        }
    }
}

/// `M` queries of one head against all its keys.
///
/// # Safety
/// As [`attend`], with keys and values packed.
#[inline(always)]
unsafe fn attend_rows<S: Simd, const M: usize>(attention: &Attention, queries: *const f32, context: *mut f32) {
    let width = VECTORS * S::LANES;
    let &Attention { heads, scores, .. } = attention;
    let Heads { n_tokens, head_size, .. } = heads;
    for row in 0..M {
        let queries = queries.add(row * heads.projections_stride);
        for idx in (0..head_size).step_by(S::LANES) {
            let part = load_first::<S>(queries.add(idx), head_size - idx);
            S::store(attention.queries.add(Pieces::at(S::ROWS, row, idx)), part);
        }
    }
    let n_panels = n_tokens.div_ceil(width);
    let mut largest = [S::splat(BEYOND_THE_TEXT); M];
    for panel in 0..n_panels {
        let keys = attention.keys.add(panel * head_size * width);
        let beyond = [beyond_the_text::<S>(n_tokens - panel * width); M];
        let scored = tile_f32::<S, M>(beyond, head_size, attention.queries, S::ROWS, keys, &mut Ahead::nothing());
        for row in 0..M {
            for vector in 0..VECTORS {
                let at = Pieces::at(S::ROWS, row, panel * width + vector * S::LANES);
                S::store(scores.add(at), scored[row][vector]);
                largest[row] = S::max(largest[row], scored[row][vector]);
            }
        }
    }
    let mut inverses = [0.0_f32; M];
    for row in 0..M {
        inverses[row] = 1.0 / softmax::<S>(scores, row, n_tokens, S::largest(largest[row]), 1.0);
    }
    for panel in 0..head_size.div_ceil(width) {
        let values = attention.values.add(panel * n_tokens * width);
        let zeros = [[S::splat(0.0); VECTORS]; M];
        let sums = tile_f32::<S, M>(zeros, n_tokens, scores, S::ROWS, values, &mut Ahead::nothing());
        for row in 0..M {
            let inverse = S::splat(inverses[row]);
            for vector in 0..VECTORS {
                let column = panel * width + vector * S::LANES;
                if column < head_size {
                    let to = context.add(row * heads.context_stride + column);
                    store_first::<S>(to, S::mul(sums[row][vector], inverse), head_size - column);
                }
            }
        }
    }
}

/// Returns what is added to the scores of a panel, of which `n` tokens are left: nothing, and beyond them a number so
/// low that a softmax passes over it.
///
/// # Safety
/// That of [`Simd`].
#[inline(always)]
pub(super) unsafe fn beyond_the_text<S: Simd>(n: usize) -> [S::Floats; VECTORS] {
    let mut lanes = [0.0_f32; VECTORS * MAX_LANES];
    if n < VECTORS * S::LANES {
        lanes[n..].fill(BEYOND_THE_TEXT);
    }
    [S::load(lanes.as_ptr()), S::load(lanes.as_ptr().add(S::LANES))]
}

/// Replaces a row of scores, of which a step is worth `scale`, by exp(score - largest) and returns their sum.
///
/// # Safety
/// That of [`Simd`]; `scores` is good for row `row` of `n` numbers rounded up to whole vectors in [`Pieces`]; those beyond
/// `n` are far below the others.
#[inline(always)]
pub(super) unsafe fn softmax<S: Simd>(scores: *mut f32, row: usize, n: usize, largest: f32, scale: f32) -> f32 {
    let scale = scale * std::f32::consts::LOG2_E;
    let largest = largest * scale;
    // Rounded so that no difference is above 0, whatever the size of the scores: shares rely on it. Sums do not notice.
    let (scale, below) = (S::splat(scale), S::splat(-(largest + largest.abs() * f32::EPSILON)));
    let mut sum = S::splat(0.0);
    for first in (0..n).step_by(Pieces::PIECE) {
        let scores = scores.add(Pieces::at(S::ROWS, row, first));
        for at in (0..Pieces::PIECE.min(n - first)).step_by(S::LANES) {
            let e = exp2::<S>(S::mul_add(S::load(scores.add(at)), scale, below));
            S::store(scores.add(at), e);
            sum = S::add(sum, e);
        }
    }
    S::sum(sum)
}
