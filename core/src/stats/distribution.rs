//! Quantiles of the normal and Student distributions, from `libm` alone so that every platform agrees.

/// Quantile of the standard normal distribution at `p` in 0..1, by bisection on the error function.
pub fn normal_quantile(p: f64) -> f64 {
    bisect(p, |x| 0.5 * libm::erfc(-x / core::f64::consts::SQRT_2))
}

/// Quantile of Student's t distribution with `df` > 0 degrees of freedom at `p` in 0..1.
pub fn student_quantile(p: f64, df: f64) -> f64 {
    bisect(p, |t| student_cdf(t, df))
}

fn student_cdf(t: f64, df: f64) -> f64 {
    let tail = 0.5 * regularized_beta(df / (df + t * t), df / 2.0, 0.5);
    if t >= 0.0 { 1.0 - tail } else { tail }
}

/// The x at which the increasing function `cdf` reaches `p`.
fn bisect(p: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-1e6, 1e6);
    // 100 halvings of an interval of 2e6 end far below one ulp of any quantile in use.
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The regularised incomplete beta function I_x(a, b), by Lentz's continued fraction.
fn regularized_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast only below the mean of the distribution.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - regularized_beta(1.0 - x, b, a);
    }
    let front =
        libm::exp(libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x));
    const TINY: f64 = 1e-300;
    let mut c = 1.0f64;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0), TINY);
    let mut fraction = d;
    for m in 1..500 {
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
    front * fraction / a
}

fn guard(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ours: f64, table: f64) {
        assert!((ours - table).abs() < 1e-9 * table.abs().max(1.0), "{ours} instead of {table}");
    }

    #[test]
    fn quantiles_of_the_tables() {
        check(normal_quantile(0.975), 1.959963984540054);
        check(normal_quantile(0.5), 0.0);
        check(student_quantile(0.975, 1.0), 12.706204736432095);
        check(student_quantile(0.975, 4.0), 2.7764451051977987);
        check(student_quantile(0.975, 22.0), 2.0738730679040147);
        check(student_quantile(0.025, 100.0), -1.983971518523552);
    }
}
