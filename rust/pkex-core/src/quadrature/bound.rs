//! Error bounds of rules as functions of Λ, and the largest Λ for which a rule is used.
//!
//! For f = ∏ₗ Fₗ of n linear factors, the k-th derivative is a sum over ordered choices of k
//! factors, of the c of these and the F of all others. It is at most n!/((n−k)! nᵏ) Λᵏ ∏M
//! (Maclaurin's inequality: the elementary symmetric polynomial of |cₗ|/Mₗ is largest where all are
//! equal).

use libm::{asinh, exp, expm1, log, log1p, sinh};

/// An upper bound of the error of Gauss–Legendre with `count` nodes for n `factors`, relative to ∏M,
/// as a function of Λ.
///
/// The smaller of Λ^{2m} n!/((n−2m)! n^{2m}) (m!)⁴ / ((2m+1) ((2m)!)³) (the remainder of the rule)
/// and (32/15) e^{Λ sinh²(s/2) − 2ms} / (1 − e^{−2s}), m ≥ 2 (the size of the integrand on a
/// Bernstein ellipse e^s), which holds for every s > 0. A near-optimal s is used.
pub(crate) fn gauss_legendre(count: usize, factors: usize) -> impl Fn(f64) -> f64 {
    let m = count as f64;
    let constant = 4.0 * ln_factorial(count) - 3.0 * ln_factorial(2 * count) - log(2.0 * m + 1.0)
        + ln_choices(2 * count, factors);
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

/// An upper bound of the error of the rule with `count` nodes and the end t = 0: Λ^k n!/((n−k)!
/// n^k) (m! (m+2)!)² / ((2m+3) ((2m+2)!)³), k = 2m + 2.
pub(crate) fn free_end(count: usize, factors: usize) -> impl Fn(f64) -> f64 {
    let order = 2 * count + 2;
    let constant = 2.0 * (ln_factorial(count) + ln_factorial(count + 2))
        - 3.0 * ln_factorial(order)
        - log(order as f64 + 1.0)
        + ln_choices(order, factors);
    move |lambda| exp(order as f64 * log(lambda) + constant)
}

fn ln_factorial(n: usize) -> f64 {
    (2..=n).map(|k| log(k as f64)).sum()
}

/// ln of n!/((n−k)! n^k), −∞ where k > n.
fn ln_choices(k: usize, n: usize) -> f64 {
    if k > n { f64::NEG_INFINITY } else { (1..k).map(|i| log1p(-(i as f64) / n as f64)).sum() }
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
