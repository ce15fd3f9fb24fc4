//! Single numbers, in few instructions: bounds, and the exponents of their binary representation.

use crate::simd::arithmetic::Arithmetic;

/// 1/x of a normal x up to 2¹⁰²⁰, too small by at most 0.26 %: a division costs as much as ten
/// multiplications. Negating the exponent and the digits comes within 5.1 %, and a Newton step
/// squares the error.
#[inline(always)]
pub(crate) fn nearly_inverse<A: Arithmetic>(x: f64) -> f64 {
    const NEGATED: u64 = 0x7fde_6000_0000_0000;
    let guess = f64::from_bits(NEGATED.wrapping_sub(x.to_bits()));
    guess * A::mul_add(-x, guess, 2.0)
}

/// The factor that turns a sum of [`nearly_inverse`] into an upper bound.
pub(crate) const INVERSE_MARGIN: f64 = 1.0026;

/// The larger of two numbers, in one instruction: `f64::max` also handles NaN.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers, in one instruction.
#[inline(always)]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// ⌊log₂ x⌋ of a positive finite x.
pub(crate) fn binary_exponent(x: f64) -> i32 {
    let exponent = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32;
    match exponent(x) {
        0 => exponent(x * power_of_two(64)) - 64 - 1023, // subnormal
        exponent => exponent - 1023,
    }
}

/// 2^power for |power| ≤ 1022.
pub(crate) fn power_of_two(power: i32) -> f64 {
    f64::from_bits(u64::from((1023 + power).unsigned_abs()) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::arithmetic::{Fused, Separate};

    #[test]
    fn an_inverse_is_never_too_large_and_hardly_too_small() {
        for step in 0..100_000 {
            let x = f64::from_bits(1.0_f64.to_bits() - step * 0x0000_5300_0000_0000 / 2);
            for x in [x, 1.0 / x] {
                for inverse in [nearly_inverse::<Fused>(x), nearly_inverse::<Separate>(x)] {
                    let share = inverse * x;
                    assert!(
                        share < 1.0 + 1e-15 && share * INVERSE_MARGIN > 1.0,
                        "1/{x}: {inverse}"
                    );
                }
            }
        }
    }
}
