//! Work on whole rows between two products.

use super::product::Pieces;
use super::simd::{Simd, abs, load_first};

/// Layer normalisation in place: each row minus its mean, over its standard deviation, times `scale` plus `shift`.
///
/// Mean and variance are computed in two passes, in f32. Columns from `n_columns` up to the next whole vector become
/// what `scale` and `shift` say there for the number 0, which is 0 if both are.
///
/// # Safety
/// That of [`Simd`]; `rows` is good for `n_rows` rows `stride` apart, each of `n_columns` numbers rounded up to whole
/// vectors; `scale` and `shift` for one such row.
#[inline(always)]
pub(super) unsafe fn normalise<S: Simd>(
    rows: *mut f32,
    n_rows: usize,
    stride: usize,
    n_columns: usize,
    (scale, shift): (*const f32, *const f32),
    epsilon: f32,
) {
    // Several sums at once, because each addition waits for the one before.
    const CHAINS: usize = 4;
    let whole = n_columns / S::LANES * S::LANES;
    let n_tail = n_columns - whole;
    for row in 0..n_rows {
        let x = rows.add(row * stride);
        let mut sums = [S::splat(0.0); CHAINS];
        let mut at = 0;
        while at + CHAINS * S::LANES <= whole {
            for chain in 0..CHAINS {
                sums[chain] = S::add(sums[chain], S::load(x.add(at + chain * S::LANES)));
            }
            at += CHAINS * S::LANES;
        }
        while at < whole {
            sums[0] = S::add(sums[0], S::load(x.add(at)));
            at += S::LANES;
        }
        if n_tail > 0 {
            sums[1] = S::add(sums[1], load_first::<S>(x.add(whole), n_tail));
        }
        let mean = total::<S>(sums) / n_columns as f32;

        let means = S::splat(mean);
        let mut sums = [S::splat(0.0); CHAINS];
        let mut at = 0;
        while at + CHAINS * S::LANES <= whole {
            for chain in 0..CHAINS {
                let d = S::sub(S::load(x.add(at + chain * S::LANES)), means);
                sums[chain] = S::mul_add(d, d, sums[chain]);
            }
            at += CHAINS * S::LANES;
        }
        while at < whole {
            let d = S::sub(S::load(x.add(at)), means);
            sums[0] = S::mul_add(d, d, sums[0]);
            at += S::LANES;
        }
        let mut squares = total::<S>(sums);
        for column in whole..n_columns {
            let d = *x.add(column) - mean;
            squares += d * d;
        }
        let factors = S::splat(1.0 / (squares / n_columns as f32 + epsilon).sqrt());

        let mut at = 0;
        while at < n_columns {
            let d = S::mul(S::sub(S::load(x.add(at)), means), factors);
            S::store(x.add(at), S::mul_add(d, S::load(scale.add(at)), S::load(shift.add(at))));
            at += S::LANES;
        }
    }
}

/// # Safety
/// That of [`Simd`].
#[inline(always)]
unsafe fn total<S: Simd>(sums: [S::Floats; 4]) -> f32 {
    S::sum(S::add(S::add(sums[0], sums[1]), S::add(sums[2], sums[3])))
}

/// Copies rows into [`Pieces`].
///
/// # Safety
/// That of [`Simd`]; `input` is good for `n_rows` rows of `n_columns` numbers rounded up to whole vectors, `output` for
/// as many rows in pieces.
#[inline(always)]
pub(super) unsafe fn arrange<S: Simd>(
    (input, stride): (*const f32, usize),
    output: *mut f32,
    n_rows: usize,
    n_columns: usize,
) {
    for row in 0..n_rows {
        let x = input.add(row * stride);
        let mut at = 0;
        while at < n_columns {
            S::store(output.add(Pieces::at(n_rows, row, at)), S::load(x.add(at)));
            at += S::LANES;
        }
    }
}

/// Rounds each row to integers of at most `levels`, pairs in [`Pieces`], and notes what one step of it is worth.
///
/// # Safety
/// That of [`Simd`]; `input` is good for `n_rows` rows of `n_columns` numbers rounded up to whole vectors, `output` for
/// as many rows of half as many pairs in pieces, `scales` for `n_rows` numbers.
#[inline(always)]
pub(super) unsafe fn quantise_i16<S: Simd>(
    (input, stride): (*const f32, usize),
    output: *mut i16,
    n_rows: usize,
    n_columns: usize,
    levels: f32,
    scales: *mut f32,
) {
    for row in 0..n_rows {
        let place = |at: usize| output.add(2 * Pieces::at(n_rows, row, at / 2));
        *scales.add(row) = round_row::<S>(input.add(row * stride), n_columns, levels, place);
    }
}

/// Rounds `n` numbers to integers of at most `levels`, 0 up to the next whole vector, and returns what a step is worth;
/// `place` says where those from an index on go, a vector at a time.
///
/// # Safety
/// That of [`Simd`]; `numbers` is good for `n`, each place for a vector.
#[inline(always)]
pub(super) unsafe fn round_row<S: Simd>(
    numbers: *const f32,
    n: usize,
    levels: f32,
    place: impl Fn(usize) -> *mut i16,
) -> f32 {
    // The smallest that counts keeps the inverse finite; zeros stay zeros with any scale.
    let mut largest = S::splat(LEAST);
    let mut at = 0;
    while at < n {
        largest = S::max(largest, abs::<S>(load_first::<S>(numbers.add(at), n - at)));
        at += S::LANES;
    }
    let largest = S::largest(largest);
    let steps = S::splat(levels / largest);
    let mut at = 0;
    while at < n {
        let integers = S::round(S::mul(load_first::<S>(numbers.add(at), n - at), steps));
        S::store_i16(place(at), integers);
        at += S::LANES;
    }
    largest / levels
}

/// Multiplies each row by `factors` and rounds it to the integers 0 to 255 between its smallest and its largest number, 0
/// among them: four side by side in [`Pieces`], what a step of each row is worth and which integer is its 0.
///
/// # Safety
/// That of [`Simd`]; `input` is good for `n_rows` rows of `n_columns` numbers rounded up to whole vectors, `factors` for
/// one, `output` for as many rows of steps of four in pieces, `scales` and `zeros` for `n_rows` numbers.
#[inline(always)]
pub(super) unsafe fn quantise_u8<S: Simd>(
    (input, stride): (*const f32, usize),
    factors: *const f32,
    output: *mut u8,
    n_rows: usize,
    n_columns: usize,
    (scales, zeros): (*mut f32, *mut f32),
) {
    const LEVELS: f32 = 255.0;
    for row in 0..n_rows {
        let x = input.add(row * stride);
        let (mut largest, mut smallest) = (S::splat(0.0), S::splat(0.0));
        let mut at = 0;
        while at < n_columns {
            let numbers = S::mul(S::load(x.add(at)), S::load(factors.add(at)));
            largest = S::max(largest, numbers);
            smallest = S::min(smallest, numbers);
            at += S::LANES;
        }
        let below = S::largest(S::sub(S::splat(0.0), smallest));
        let range = (S::largest(largest) + below).max(LEAST);
        let zero = (below * (LEVELS / range)).round_ties_even();
        *scales.add(row) = range / LEVELS;
        *zeros.add(row) = zero;
        let (steps, zero) = (S::splat(LEVELS / range), S::splat(zero));
        let (least, most) = (S::splat(0.0), S::splat(LEVELS));
        let mut at = 0;
        while at < n_columns {
            let numbers = S::mul(S::load(x.add(at)), S::load(factors.add(at)));
            let levels = S::add(S::mul(numbers, steps), zero);
            let integers = S::round(S::min(S::max(levels, least), most));
            S::store_u8(output.add(4 * Pieces::at(n_rows, row, at / 4)), integers);
            at += S::LANES;
        }
    }
}

/// Least size of the largest number of a row that does not count as zeros.
pub(super) const LEAST: f32 = 1e-30;
