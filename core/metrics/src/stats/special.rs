//! The regularised incomplete beta and gamma functions, to about 1e-14 relative (1e-12 for
//! parameters of a million), from `libm` alone.
//!
//! Their leading factors are densities of the binomial and Poisson distributions. Written with lgamma these lose
//! digits to cancellation as the parameters grow; Loader's form (Fast and accurate computation of binomial
//! probabilities, 2000), a Stirling error and a deviance, does not.

use core::f64::consts::PI;

/// Steps of a continued fraction or series. It takes about the square root of the largest parameter.
const MAX_STEPS: u32 = 1_000_000;

/// I_x(a, b) for a, b > 0, with `y` = 1 - `x` given beside `x` so that neither end of 0..=1 loses digits.
///
/// The upper tail is `incomplete_beta(b, a, y, x)`. Not a number if an argument is not a number.
pub(super) fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if a.is_nan() || b.is_nan() || x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    // The fraction converges fast only below the mean of the distribution.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - lower_beta(b, a, y, x);
    }
    lower_beta(a, b, x, y)
}

/// Lentz's continued fraction for I_x(a, b).
fn lower_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut c = 1.0f64;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0), TINY);
    let mut fraction = d;
    for m in 1..MAX_STEPS {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / guard(1.0 + numerator * d, TINY);
            c = guard(1.0 + numerator / c, TINY);
            step = c * d;
            fraction *= step;
        }
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    // x^a y^b / (a B(a, b)) = binomial density * b / (a + b).
    binomial_density(a, b, x, y) * b / (a + b) * fraction
}

fn guard(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

/// Gamma(a + b + 1) / (Gamma(a + 1) Gamma(b + 1)) x^a y^b, for a, b > 0, of which whole numbers are a special case.
fn binomial_density(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    let log = stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) - deviance(b, n * y);
    libm::exp(log) * libm::sqrt(n / (2.0 * PI * a) / b)
}

/// P(a, x) and Q(a, x) = 1 - P(a, x), the lower and the upper regularised incomplete gamma function, a > 0.
pub(super) fn incomplete_gamma(a: f64, x: f64) -> (f64, f64) {
    if a.is_nan() || x.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x == f64::INFINITY {
        return (1.0, 0.0);
    }
    // x^a e^-x / Gamma(a + 1).
    let front = libm::exp(-stirling_error(a) - deviance(a, x)) / libm::sqrt(2.0 * PI * a);
    if x < a + 1.0 {
        let lower = front * gamma_series(a, x);
        (lower, 1.0 - lower)
    } else {
        let upper = front * a * gamma_fraction(a, x);
        (1.0 - upper, upper)
    }
}

fn gamma_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..MAX_STEPS {
        term *= x / (a + f64::from(k));
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

fn gamma_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / guard(b, TINY);
    let mut fraction = d;
    for k in 1..MAX_STEPS {
        let k = f64::from(k);
        let numerator = -k * (k - a);
        b += 2.0;
        d = 1.0 / guard(numerator * d + b, TINY);
        c = guard(b + numerator / c, TINY);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

/// ln Gamma(x + 1) minus Stirling's (x + 1/2) ln x - x + ln sqrt(2 pi), for x > 0.
fn stirling_error(x: f64) -> f64 {
    let (mut x, mut steps) = (x, 0.0);
    // The series below holds to 1e-16 from 16 on; the recurrence leads there.
    while x < 16.0 {
        steps += (x + 0.5) * libm::log1p(1.0 / x) - 1.0;
        x += 1.0;
    }
    let s = 1.0 / (x * x);
    steps + (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / x
}

/// x ln(x / m) + m - x, without cancellation where x is near m.
fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * libm::log(x / m) + m - x;
    }
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut term = 2.0 * x * v;
    for j in 1..1000 {
        term *= v * v;
        let next = sum + term / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ours: f64, exact: f64) {
        assert!((ours - exact).abs() <= 1e-13 * exact.abs(), "{ours} instead of {exact}");
    }

    #[test]
    fn closed_forms_of_the_beta_function() {
        for x in [1e-200, 1e-9, 0.1, 0.5, 0.9, 0.999] {
            let y = 1.0 - x;
            check(incomplete_beta(1.0, 1.0, x, y), x);
            check(incomplete_beta(2.0, 1.0, x, y), x * x);
            check(incomplete_beta(1.0, 3.0, x, y), x * (3.0 - 3.0 * x + x * x));
            check(incomplete_beta(0.5, 1.0, x, y), libm::sqrt(x));
        }
        assert!((incomplete_beta(1e6, 1e6, 0.5, 0.5) - 0.5).abs() < 1e-12, "thousands of steps");
        // The upper tail far out: y^b.
        check(incomplete_beta(30.0, 1.0, 1e-5, 1.0 - 1e-5), 1e-150);
    }

    #[test]
    fn closed_forms_of_the_gamma_function() {
        for x in [1e-9, 0.3, 1.0, 5.0, 40.0, 700.0] {
            check(incomplete_gamma(1.0, x).1, libm::exp(-x));
            check(incomplete_gamma(2.0, x).1, (1.0 + x) * libm::exp(-x));
            check(incomplete_gamma(0.5, x).1, libm::erfc(libm::sqrt(x)));
            check(incomplete_gamma(0.5, x).0, libm::erf(libm::sqrt(x)));
        }
    }

    #[test]
    fn what_is_not_a_number_stays_so() {
        assert!(incomplete_beta(f64::NAN, 1.0, 0.5, 0.5).is_nan());
        assert!(incomplete_gamma(1.0, f64::NAN).0.is_nan());
    }
}
