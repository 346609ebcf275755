//! Longest common subsequences, 64 columns at a time (Hyyrö 2004, after Allison and Dix 1986).
//!
//! The table of lengths `t` over rows of `a` and columns of `b` grows by at most 1 from cell to cell, so a row is kept
//! as the bits of its growth: bit `j` is 0 where `t[i][j + 1] = t[i][j] + 1`.

/// Length of the longest common subsequence. Tokens are numbers below `n_distinct`.
///
/// Time `|a| * |b| / 64`, space linear in both.
pub(super) fn length(a: &[u32], b: &[u32], n_distinct: usize) -> usize {
    let (rows, columns) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut carries = vec![false; if columns.len() > 64 { rows.len() } else { 0 }];
    let mut length = 0;
    blocks(columns, &mut vec![0; n_distinct], |masks, used| {
        let mut growth = !0u64;
        if carries.is_empty() {
            for &token in rows {
                growth = step(growth, masks[token as usize], false).0;
            }
        } else {
            for (&token, carry) in rows.iter().zip(&mut carries) {
                (growth, *carry) = step(growth, masks[token as usize], *carry);
            }
        }
        length += (!growth & used).count_ones() as usize;
    });
    length
}

/// The whole table, for reading out which tokens a longest common subsequence takes.
pub(super) struct Table {
    n_rows: usize,
    /// Growth of each row, block by block, row 0 (before the first token) included.
    growth: Vec<u64>,
    /// Lengths `t[i][64 * block]` of each row, block by block, row 0 included.
    before: Vec<u32>,
}

impl Table {
    /// Space `|rows| * |columns| / 5` bytes. `masks` holds a zero for every distinct token, before and afterwards.
    pub(super) fn new(rows: &[u32], columns: &[u32], masks: &mut [u64]) -> Self {
        let n_rows = rows.len() + 1;
        let n_cells = n_rows * columns.len().div_ceil(64);
        let mut table = Self { n_rows, growth: Vec::with_capacity(n_cells), before: Vec::with_capacity(n_cells) };
        let mut carries = vec![false; rows.len()];
        let mut before = vec![0u32; n_rows];
        blocks(columns, masks, |masks, used| {
            table.before.extend(&before);
            let mut growth = !0u64;
            table.growth.push(growth);
            for ((&token, carry), before) in rows.iter().zip(&mut carries).zip(&mut before[1..]) {
                (growth, *carry) = step(growth, masks[token as usize], *carry);
                table.growth.push(growth);
                *before += (!growth & used).count_ones();
            }
        });
        table
    }

    /// Length of the longest common subsequence of the first `row` and the first `column` tokens, `column` from 1.
    pub(super) fn at(&self, row: usize, column: usize) -> u32 {
        let cell = (column - 1) / 64 * self.n_rows + row;
        let used = !0u64 >> (63 - (column - 1) % 64);
        self.before[cell] + (!self.growth[cell] & used).count_ones()
    }
}

fn step(growth: u64, mask: u64, carry: bool) -> (u64, bool) {
    let matched = growth & mask;
    let (sum, first) = growth.overflowing_add(matched);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum | (growth & !mask), first | second)
}

/// Calls `run` for every 64 columns with the columns' bits by token and the bits in use.
fn blocks(columns: &[u32], masks: &mut [u64], mut run: impl FnMut(&[u64], u64)) {
    for block in columns.chunks(64) {
        for (bit, &token) in block.iter().enumerate() {
            masks[token as usize] |= 1 << bit;
        }
        run(masks, !0u64 >> (64 - block.len()));
        for &token in block {
            masks[token as usize] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes the textbook table.
    fn plain(a: &[u32], b: &[u32]) -> Vec<Vec<u32>> {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 1..=a.len() {
            for j in 1..=b.len() {
                table[i][j] = match a[i - 1] == b[j - 1] {
                    true => table[i - 1][j - 1] + 1,
                    false => table[i - 1][j].max(table[i][j - 1]),
                };
            }
        }
        table
    }

    proptest! {
        #[test]
        fn the_bits_hold_the_textbook_table(
            a in prop::collection::vec(0u32..7, 0..200),
            b in prop::collection::vec(0u32..7, 0..200),
        ) {
            let expected = plain(&a, &b);
            prop_assert_eq!(length(&a, &b, 7), expected[a.len()][b.len()] as usize);
            let table = Table::new(&a, &b, &mut [0; 7]);
            for (i, row) in expected.iter().enumerate() {
                for (j, &cell) in row.iter().enumerate().skip(1) {
                    prop_assert_eq!(table.at(i, j), cell);
                }
            }
        }
    }
}
