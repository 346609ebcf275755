//! The linear algebra of small dense matrices, row after row in a slice.

/// The inverse of the lower Cholesky factor of a symmetric d x d matrix, itself lower triangular; `None` if the matrix is
/// not positive definite.
///
/// With `w` the result, `|w (x - mean)|^2` is the Mahalanobis distance and the product of its diagonal the square root of
/// the inverse determinant.
pub(super) fn inverse_cholesky(matrix: &[f64], d: usize) -> Option<Vec<f64>> {
    let mut factor = vec![0.0; d * d];
    for r in 0..d {
        for c in 0..=r {
            let product: f64 = (0..c).map(|k| factor[r * d + k] * factor[c * d + k]).sum();
            let rest = matrix[r * d + c] - product;
            if r == c {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                factor[r * d + r] = libm::sqrt(rest);
            } else {
                factor[r * d + c] = rest / factor[c * d + c];
            }
        }
    }
    // Forward substitution, one column of the identity at a time.
    let mut inverse = vec![0.0; d * d];
    for c in 0..d {
        for r in c..d {
            let product: f64 = (c..r).map(|k| factor[r * d + k] * inverse[k * d + c]).sum();
            let unit = if r == c { 1.0 } else { 0.0 };
            inverse[r * d + c] = (unit - product) / factor[r * d + r];
        }
    }
    Some(inverse)
}

/// Eigenvalues, largest first, and the eigenvectors of a symmetric n x n matrix, by Jacobi's rotations.
pub(super) fn eigen(mut matrix: Vec<f64>, n: usize) -> Vec<(f64, Vec<f64>)> {
    const SWEEPS: usize = 64;
    let mut vectors = vec![0.0; n * n];
    for i in 0..n {
        vectors[i * n + i] = 1.0;
    }
    for _ in 0..SWEEPS {
        let off: f64 = (0..n).flat_map(|r| (0..r).map(move |c| (r, c))).map(|(r, c)| matrix[r * n + c].abs()).sum();
        if off < 1e-14 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut matrix, &mut vectors, n, p, q);
            }
        }
    }
    let column = |c: usize| (0..n).map(|r| vectors[r * n + c]).collect();
    let mut pairs: Vec<(f64, Vec<f64>)> = (0..n).map(|c| (matrix[c * n + c], column(c))).collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    pairs
}

/// Applies one rotation, which makes `matrix[p][q]` zero.
fn rotate(matrix: &mut [f64], vectors: &mut [f64], n: usize, p: usize, q: usize) {
    let apq = matrix[p * n + q];
    if apq == 0.0 {
        return;
    }
    let theta = (matrix[q * n + q] - matrix[p * n + p]) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + libm::sqrt(theta * theta + 1.0));
    let cos = 1.0 / libm::sqrt(t * t + 1.0);
    let sin = t * cos;
    for k in 0..n {
        let (a, b) = (matrix[k * n + p], matrix[k * n + q]);
        matrix[k * n + p] = cos * a - sin * b;
        matrix[k * n + q] = sin * a + cos * b;
    }
    for k in 0..n {
        let (a, b) = (matrix[p * n + k], matrix[q * n + k]);
        matrix[p * n + k] = cos * a - sin * b;
        matrix[q * n + k] = sin * a + cos * b;
    }
    for k in 0..n {
        let (a, b) = (vectors[k * n + p], vectors[k * n + q]);
        vectors[k * n + p] = cos * a - sin * b;
        vectors[k * n + q] = sin * a + cos * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        assert_eq!(inverse_cholesky(&[4.0, 0.0, 0.0, 0.25], 2), Some(vec![0.5, 0.0, 0.0, 2.0]));
        assert_eq!(inverse_cholesky(&[1.0, 2.0, 2.0, 1.0], 2), None);
        assert_eq!(inverse_cholesky(&[f64::NAN], 1), None);
    }

    proptest! {
        #[test]
        fn eigenvectors_are_only_scaled_by_the_matrix(values in prop::collection::vec(-3.0..3.0f64, 15)) {
            let n = 5;
            let mut matrix = vec![0.0; n * n];
            let mut given = values.into_iter();
            for r in 0..n {
                for c in 0..=r {
                    let value = given.next().unwrap();
                    matrix[r * n + c] = value;
                    matrix[c * n + r] = value;
                }
            }
            let pairs = eigen(matrix.clone(), n);
            prop_assert!(pairs.windows(2).all(|w| w[0].0 >= w[1].0));
            for (value, vector) in pairs {
                for r in 0..n {
                    let image: f64 = (0..n).map(|c| matrix[r * n + c] * vector[c]).sum();
                    prop_assert!((image - value * vector[r]).abs() < 1e-9);
                }
            }
        }
    }
}
