//! Products of two factors of a player, without cancellation.

use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{each_lane, zip_lanes};
use crate::simd::numbers::larger;

/// (a a′, a a′ − 1) from (a, a − 1) and (a′, a′ − 1): a a′ − 1 = (a − 1) + a (a′ − 1). For factors
/// in [0, 1] both terms have the same sign.
#[inline(always)]
pub(crate) fn multiply_factors<A: Arithmetic, const W: usize>(
    (a, c): (&[f64; W], &[f64; W]),
    (other_a, other_c): (&[f64; W], &[f64; W]),
) -> ([f64; W], [f64; W]) {
    (zip_lanes(a, other_a, |a, other| a * other), each_lane(|i| A::mul_add(a[i], other_c[i], c[i])))
}

/// a a′, b b′ and their difference, from a, b and c = a − b of each factor.
///
/// a a′ − b b′ = c a′ + b c′, where both terms are small if a ≈ b and a′ ≈ b′: the errors are those
/// of c and c′, relative to |c| a′ + b |c′|. If a term is larger than the products, they are
/// subtracted.
#[inline(always)]
pub(crate) fn multiply_contrasts<A: Arithmetic, const W: usize>(
    [a, b, c]: [&[f64; W]; 3],
    [other_a, other_b, other_c]: [&[f64; W]; 3],
) -> [[f64; W]; 3] {
    let present = zip_lanes(a, other_a, |a, other| a * other);
    let absent = zip_lanes(b, other_b, |b, other| b * other);
    let first = zip_lanes(c, other_a, |c, other| c * other);
    let sum = each_lane::<W>(|i| A::mul_add(b[i], other_c[i], first[i]));
    let size = each_lane::<W>(|i| first[i].abs() + (b[i] * other_c[i]).abs());
    let difference = each_lane::<W>(|i| {
        if size[i] < larger(present[i], absent[i]) { sum[i] } else { present[i] - absent[i] }
    });
    [present, absent, difference]
}
