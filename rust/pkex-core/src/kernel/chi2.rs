//! The exponent of the χ² kernel, γ (x − y)²/(x + y) of entries that are not negative.

use crate::simd::lanes::{each, zip};

/// The exponent, 0 where x = y = 0. `r` is x − y.
#[inline(always)]
pub(crate) fn exponent<const W: usize>(
    gamma: f64,
    r: &[f64; W],
    x: &[f64; W],
    y: &[f64; W],
) -> [f64; W] {
    let ratio = ratio(x, y);
    zip(r, &ratio, |r, ratio| (gamma * r) * ratio)
}

/// The exponent at x less that at z, without cancellation where x ≈ z. `step` is x − z.
///
/// (u − y)²/(u + y) is u − 3y + 4y²/(u + y). So the difference is (x − z)(1 − (1 − p)(1 − q)) with
/// p = (x − y)/(x + y), 1 − p = 2y/(x + y), and q the same of z.
#[inline(always)]
pub(crate) fn change<const W: usize>(
    gamma: f64,
    step: &[f64; W],
    (x, z, y): (&[f64; W], &[f64; W], &[f64; W]),
) -> [f64; W] {
    let (p, q) = (ratio(x, y), ratio(z, y));
    each(|i| (gamma * step[i]) * (p[i] + q[i] - p[i] * q[i]))
}

/// (x − y)/(x + y), from −1 to 1, and 0 where x = y = 0.
#[inline(always)]
fn ratio<const W: usize>(x: &[f64; W], y: &[f64; W]) -> [f64; W] {
    zip(x, y, |x, y| {
        // Halves, whose sum does not overflow.
        let half = 0.5 * x + 0.5 * y;
        if half > 0.0 { 0.5 * (x - y) / half } else { 0.0 }
    })
}
