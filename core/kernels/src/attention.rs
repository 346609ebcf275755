//! Scaled dot-product attention of one text: softmax(Q K^T) V, head by head.

use super::math::exp;
use super::product::{Ahead, Pieces, for_tiles, tile_f32, with_rows};
use super::simd::{Simd, VECTORS, load_first, store_first};

/// One text's queries, keys and values, and where its context goes, as pointers.
#[derive(Clone, Copy)]
pub(super) struct Attention {
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
    /// Room for one head's keys: `n_tokens` rounded up to panels, times `head_size`.
    pub(super) keys: *mut f32,
    /// Room for one head's values: `head_size` rounded up to panels, times `n_tokens`.
    pub(super) values: *mut f32,
    /// Room for [`Simd::ROWS`] rows of a head's queries, in [`Pieces`].
    pub(super) queries: *mut f32,
    /// Room for [`Simd::ROWS`] rows of scores, `n_tokens` rounded up to panels, in [`Pieces`].
    pub(super) scores: *mut f32,
}

/// Far below every score, so that exp of the difference is nothing.
const BEYOND_THE_TEXT: f32 = -1e30;

/// All heads of one text.
///
/// # Safety
/// That of [`Simd`]; the pointers are good for what the fields say, and none overlap.
#[inline(always)]
pub(super) unsafe fn attend<S: Simd>(attention: &Attention) {
    let &Attention { n_tokens, n_heads, head_size, projections, projections_stride, .. } = attention;
    let hidden = n_heads * head_size;
    for head in 0..n_heads {
        let queries = projections.add(head * head_size);
        pack_keys::<S>(attention, queries.add(hidden));
        pack_values::<S>(attention, queries.add(2 * hidden));
        for_tiles!(S, n_tokens, |first, rows| {
            let queries = queries.add(first * projections_stride);
            let context = attention.context.add(first * attention.context_stride + head * head_size);
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
    let &Attention { n_tokens, head_size, projections_stride, .. } = attention;
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
    let &Attention { n_tokens, head_size, projections_stride, .. } = attention;
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
    let &Attention { n_tokens, head_size, scores, .. } = attention;
    for row in 0..M {
        for idx in 0..head_size {
            let query = *queries.add(row * attention.projections_stride + idx);
            *attention.queries.add(Pieces::at(S::ROWS, row, idx)) = query;
        }
    }
    let n_panels = n_tokens.div_ceil(width);
    for panel in 0..n_panels {
        let keys = attention.keys.add(panel * head_size * width);
        let sums = tile_f32::<S, M>(head_size, attention.queries, S::ROWS, keys, &mut Ahead::nothing());
        for row in 0..M {
            for vector in 0..VECTORS {
                let at = Pieces::at(S::ROWS, row, panel * width + vector * S::LANES);
                S::store(scores.add(at), sums[row][vector]);
            }
        }
    }
    let mut inverses = [0.0_f32; M];
    for row in 0..M {
        for token in n_tokens..n_panels * width {
            *scores.add(Pieces::at(S::ROWS, row, token)) = BEYOND_THE_TEXT;
        }
        inverses[row] = 1.0 / exponentials::<S>(scores, row, n_tokens);
    }
    for panel in 0..head_size.div_ceil(width) {
        let values = attention.values.add(panel * n_tokens * width);
        let sums = tile_f32::<S, M>(n_tokens, scores, S::ROWS, values, &mut Ahead::nothing());
        for row in 0..M {
            let inverse = S::splat(inverses[row]);
            for vector in 0..VECTORS {
                let column = panel * width + vector * S::LANES;
                if column < head_size {
                    let to = context.add(row * attention.context_stride + column);
                    store_first::<S>(to, S::mul(sums[row][vector], inverse), head_size - column);
                }
            }
        }
    }
}

/// Replaces a row of scores by exp(score - largest) and returns their sum.
///
/// # Safety
/// That of [`Simd`]; `scores` is good for row `row` of `n` numbers rounded up to whole vectors in [`Pieces`]; those beyond
/// `n` are far below the others.
#[inline(always)]
unsafe fn exponentials<S: Simd>(scores: *mut f32, row: usize, n: usize) -> f32 {
    // Several at once, because each waits for the one before.
    const CHAINS: usize = 4;
    let mut largest = [S::splat(BEYOND_THE_TEXT); CHAINS];
    let mut at = 0;
    while at + CHAINS * S::LANES <= n {
        for chain in 0..CHAINS {
            let score = S::load(scores.add(Pieces::at(S::ROWS, row, at + chain * S::LANES)));
            largest[chain] = S::max(largest[chain], score);
        }
        at += CHAINS * S::LANES;
    }
    while at < n {
        largest[0] = S::max(largest[0], S::load(scores.add(Pieces::at(S::ROWS, row, at))));
        at += S::LANES;
    }
    let largest = S::max(S::max(largest[0], largest[1]), S::max(largest[2], largest[3]));
    let largest = S::splat(S::largest(largest));
    let mut sum = S::splat(0.0);
    let mut at = 0;
    while at < n {
        let score = scores.add(Pieces::at(S::ROWS, row, at));
        let e = exp::<S>(S::sub(S::load(score), largest));
        S::store(score, e);
        sum = S::add(sum, e);
        at += S::LANES;
    }
    S::sum(sum)
}
