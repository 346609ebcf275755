//! Pooling: one vector a text from its tokens' last hidden states.

use super::rows::Rows;
use crate::{Pooling, Vectors};

/// The pooled vectors of texts of these lengths, whose states stand one after the other; means are taken in f64.
pub(super) fn pool(pooling: Pooling, states: &Rows, lengths: &[usize]) -> Vectors {
    let dimension = states.n_columns();
    let mut values = Vec::with_capacity(lengths.len() * dimension);
    let mut sums = vec![0.0_f64; dimension];
    let mut first = 0;
    for &n_tokens in lengths {
        match pooling {
            Pooling::Cls => values.extend_from_slice(states.row(first)),
            Pooling::Mean => {
                sums.fill(0.0);
                for row in first..first + n_tokens {
                    sums.iter_mut().zip(states.row(row)).for_each(|(sum, &x)| *sum += f64::from(x));
                }
                values.extend(sums.iter().map(|sum| (sum / n_tokens as f64) as f32));
            }
        }
        first += n_tokens;
    }
    Vectors::new(dimension, values)
}
