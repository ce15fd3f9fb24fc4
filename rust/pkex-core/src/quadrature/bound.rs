//! How far a Gauss–Legendre rule may err, as a function of Λ, and up to which Λ it may be used.

use libm::{asinh, exp, expm1, log, sinh};

/// An upper bound of a rule's error with `count` nodes, relative to ∏M, as a function of Λ.
///
/// The smaller of Λ^{2m} (m!)⁴ / ((2m+1) ((2m)!)³) (the rule's remainder, as every 2m-th derivative
/// is at most Λ^{2m} ∏M) and (32/15) e^{Λ sinh²(s/2) − 2ms} / (1 − e^{−2s}), m ≥ 2 (the integrand's
/// size on a Bernstein ellipse e^s), which holds for every s > 0: here for the near-optimal one.
pub(crate) fn error_bound(count: usize) -> impl Fn(f64) -> f64 {
    let m = count as f64;
    let constant = 4.0 * ln_factorial(count) - 3.0 * ln_factorial(2 * count) - log(2.0 * m + 1.0);
    move |lambda| {
        let log_remainder = 2.0 * m * log(lambda) + constant;
        if count < 2 {
            return exp(log_remainder);
        }
        let s = asinh(4.0 * m / lambda);
        let half = sinh(s / 2.0);
        let log_ellipse =
            log(32.0 / 15.0) + lambda * half * half - 2.0 * m * s - log(-expm1(-2.0 * s));
        exp(log_remainder.min(log_ellipse))
    }
}

fn ln_factorial(n: usize) -> f64 {
    (2..=n).map(|k| log(k as f64)).sum()
}

/// The largest Λ for which `error(Λ)` stays within `tolerance(Λ)`, by bisection.
pub(crate) fn largest_lambda(error: impl Fn(f64) -> f64, tolerance: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if error(middle) <= tolerance(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
