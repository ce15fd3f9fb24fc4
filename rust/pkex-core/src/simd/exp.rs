//! eˣ and eˣ − 1 for x ≤ 0 at once, lane by lane and without branches, so that they vectorize; and
//! 2^−v with an absolute error.
//!
//! # Reduction
//!
//! x = k ln 2 + r with k the integer nearest x / ln 2, so |r| ≤ ln 2 / 2, and with p = eʳ − 1
//!
//! eˣ = 2ᵏ + 2ᵏ p, eˣ − 1 = (2ᵏ − 1) + 2ᵏ p.
//!
//! Adding [`ROUND`] rounds x / ln 2 to k and leaves k + 1076 in the lowest bits of the sum. Shifted
//! to the exponent's place these are 2^(k+53), and exactly 0 at the lowest k, so that 2ᵏ loses
//! nothing below the normal range and lanes far below it cost no more than others. (Subnormal eˣ
//! itself, for x in (−745, −708), takes the processor's slow path for subnormal numbers.)
//!
//! # Errors
//!
//! ln 2 is split so that r₁ = x − k [`LN2_HIGH`] is exact; r₂ = k [`LN2_LOW`] joins only the small
//! part of p = r₁ − (r₂ − r² q(r)), where only q and r² take the rounded r = r₁ − r₂. A rounding of
//! p costs at most ¼ ulp of either result (½ ulp of eˣ − 1 where k = 0, which ends there), the last
//! addition ½ ulp, the small part and the polynomial the rest. The worst places belong to eˣ − 1: x
//! near −0.288, where k = 0 and its ulp has just halved, and x near −0.4, where k = −1 and 2ᵏ p
//! takes something from 2ᵏ − 1.
//!
//! Largest errors found, in ulps, for each arithmetic at 2.8·10⁸ random points, most of them near
//! the worst places, against the double-double reference of the tests, and at 2·10⁶ against mpmath:
//!
//! | arithmetic | eˣ | eˣ − 1 |
//! |---|---|---|
//! | `Fused` | 0.887 | 0.958 |
//! | `Separate` | 0.895 | 0.960 |

use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::map_lanes;
use crate::simd::numbers::smaller;

/// From here down, where k = −1076, eˣ is 0 and eˣ − 1 is −1.
const LOWEST: f64 = -746.0;

/// 1.5 · 2⁵² + 1076: a sum with it has no digits after the binary point.
const ROUND: f64 = 6_755_399_441_055_744.0 + 1076.0;

/// Up to this size numbers need no reduction.
pub(crate) const NEAR: f64 = 0.34;

/// Above this k = 0: half of ln 2 with a margin.
const UNREDUCED: f64 = -NEAR;

/// The inverse of the factor by which the shifted bits of a rounded sum exceed 2ᵏ, as 1076 is
/// 1023 + 53.
const TWO_TO_MINUS_53: f64 = f64::EPSILON / 2.0;

/// ln 2 to 42 bits: its product with k, of 11 bits, is exact.
const LN2_HIGH: f64 = 0.693_147_180_559_890_3;

/// ln 2 − [`LN2_HIGH`].
const LN2_LOW: f64 = 5.497_923_018_708_371e-14;

/// q(r) ≈ (eʳ − 1 − r) / r² on |r| ≤ 0.3466, from the constant term up.
///
/// Weighted Remez exchange (mpmath, 400 bits) on r³ and higher powers, with ½ fixed so that small r
/// keep their relative accuracy: the error of p is minimized relative to an ulp of eˣ − 1, that is
/// to |eʳ − 1| for r < 0 (as at k = 0) and to a constant for r > 0 (as at k = −1). Rounded to
/// doubles, |error| ≤ 2⁻⁵⁷·⁶ and 2⁻⁵⁵·⁸ |p| for r < 0, and ≤ 2⁻⁵⁶·⁷ for r > 0.
const Q: [f64; 10] = [
    0.5,
    0.166_666_666_666_661_36,
    0.041_666_666_666_606_934,
    0.008_333_333_333_663_161,
    0.001_388_888_892_567_296_6,
    0.000_198_412_691_579_562_12,
    2.480_151_001_265_454_7e-5,
    2.755_788_514_999_087_6e-6,
    2.762_468_455_276_225_3e-7,
    2.490_887_499_170_457_8e-8,
];

/// (eˣ, eˣ − 1) of each lane, both within 1 ulp, for x ≤ 0. For NaN, both are NaN.
///
/// ```text
/// −∞ → (0, −1)    −0.1 → (0.9048…, −0.0951…)    −10⁻³⁰⁰ → (1, −10⁻³⁰⁰)    0 → (1, 0)
/// ```
#[must_use]
#[inline(always)]
pub fn exp_and_expm1<A: Arithmetic, const W: usize>(x: &[f64; W]) -> ([f64; W], [f64; W]) {
    let (mut exp, mut expm1) = ([0.0; W], [0.0; W]);
    if x.iter().all(|&x| x > UNREDUCED) {
        // Here k = 0: the bits are equal, with ten operations fewer.
        for lane in 0..W {
            expm1[lane] = x[lane] - reduced_tail::<A>(x[lane], 0.0);
            exp[lane] = 1.0 + expm1[lane];
        }
    } else {
        for lane in 0..W {
            (exp[lane], expm1[lane]) = one_lane::<A>(x[lane]);
        }
    }
    (exp, expm1)
}

/// low − r² q(r), for |r| ≤ [`NEAR`]: e^(r + s) − 1 is r − reduced_tail(r, −s) for a tiny s.
#[inline(always)]
pub(crate) fn reduced_tail<A: Arithmetic>(r: f64, low: f64) -> f64 {
    // q = ½ + r (q₁ + q₃ r² + … + r (q₂ + q₄ r² + …)), two chains side by side.
    let r2 = r * r;
    let odd = A::mul_add(A::mul_add(Q[9], r2, Q[7]), r2, Q[5]);
    let odd = A::mul_add(A::mul_add(odd, r2, Q[3]), r2, Q[1]);
    let even = A::mul_add(A::mul_add(Q[8], r2, Q[6]), r2, Q[4]);
    let even = A::mul_add(even, r2, Q[2]);
    let q = A::mul_add(A::mul_add(even, r, odd), r, Q[0]);
    A::mul_add(-r2, q, low)
}

/// 22 additions, multiplications, multiply-adds and a maximum, and one shift.
#[inline(always)]
fn one_lane<A: Arithmetic>(x: f64) -> (f64, f64) {
    // Not `f64::max`, which would lose NaN.
    let x = if x < LOWEST { LOWEST } else { x };
    // x = k ln 2 + r (Cody and Waite 1980, chapter 6).
    let rounded_sum = A::mul_add(x, std::f64::consts::LOG2_E, ROUND);
    let k = rounded_sum - ROUND;
    let r_high = A::mul_add(k, -LN2_HIGH, x);
    let r_low = k * LN2_LOW;
    let r = r_high - r_low;
    // p = r + r² q. (A sum of two products here would mislead LLVM's pairing of lanes on AVX2.)
    let p = r_high - reduced_tail::<A>(r, r_low);
    // 2ᵏ, rounded to 0 at k = −1075.
    let power = f64::from_bits(rounded_sum.to_bits() << 52) * TWO_TO_MINUS_53;
    (A::mul_add(power, p, power), A::mul_add(power, p, power - 1.0))
}

/// 1.5 · 2⁵² + 1023: the lowest bits of a sum with it are the exponent's of 2ᵏ.
const ROUND_TO_EXPONENT: f64 = 6_755_399_441_055_744.0 + 1023.0;

/// From here up 2^−v is taken for 2⁻¹⁰⁰⁰.
const MAX_HALVINGS: f64 = 1000.0;

/// (2^−q − 1)/q on |q| ≤ ½, from the constant term up: interpolated at Chebyshev's points (mpmath),
/// rounded to doubles. 1 + q times it errs by less than 2⁻⁵⁵.
const HALVINGS: [f64; 11] = [
    -std::f64::consts::LN_2,
    0.240_226_506_959_100_97,
    -0.055_504_108_664_821_6,
    0.009_618_129_107_606_888,
    -0.001_333_355_814_641_693_6,
    0.000_154_035_304_417_360_5,
    -1.525_273_382_983_612e-5,
    1.321_544_258_792_169e-6,
    -1.017_806_244_584_577_4e-7,
    7.072_585_949_269_223e-9,
    -4.454_960_598_186_518_6e-10,
];

/// 2^−v for v = t² of each lane, with an absolute error below 2⁻⁵² in three quarters of the
/// operations of [`exp_and_expm1`].
///
/// 2^−v = 2ᵏ 2^−q with the integer k nearest −v; q = v + k is exact. The rounding of v moves the
/// result by v 2^−v 2⁻⁵³ at most.
#[must_use]
#[inline(always)]
pub fn halvings_of_square<A: Arithmetic, const W: usize>(t: &[f64; W]) -> [f64; W] {
    map_lanes(t, |t| {
        let v = smaller(t * t, MAX_HALVINGS);
        let rounded_sum = ROUND_TO_EXPONENT - v;
        let q = v + (rounded_sum - ROUND_TO_EXPONENT);
        let mut factor = HALVINGS[10];
        for coefficient in HALVINGS[..10].iter().rev() {
            factor = A::mul_add(factor, q, *coefficient);
        }
        f64::from_bits(rounded_sum.to_bits() << 52) * A::mul_add(factor, q, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::arithmetic::{Fused, Separate, two_sum};

    /// The sum of two numbers, of which the second is below half an ulp of the first.
    type DoubleDouble = (f64, f64);

    fn add(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
        let (high, low) = two_sum(a.0, b.0);
        two_sum(high, low + (a.1 + b.1))
    }

    fn multiply(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
        let (high, low) = Separate::two_product(a.0, b.0);
        two_sum(high, low + (a.0 * b.1 + a.1 * b.0))
    }

    fn divide(a: DoubleDouble, n: f64) -> DoubleDouble {
        let high = a.0 / n;
        two_sum(high, (libm::fma(-high, n, a.0) + a.1) / n)
    }

    fn power_of_two(k: i32) -> f64 {
        2.0_f64.powi(k)
    }

    /// The distance from |a| to the next number towards 0.
    fn ulp(a: f64) -> f64 {
        a.abs() - a.abs().next_down()
    }

    /// k and p = eʳ − 1 for x = k ln 2 + r, p to some 90 bits by its Taylor series.
    fn reduce(x: f64) -> (i32, DoubleDouble) {
        #[expect(clippy::cast_possible_truncation, reason = "a small integer")]
        let k = (x / std::f64::consts::LN_2).round() as i32;
        let low = Separate::two_product(-f64::from(k), LN2_LOW);
        let r = add((x - f64::from(k) * LN2_HIGH, 0.0), low);
        // p = r (1 + r/2 (1 + r/3 (1 + …)))
        let sum = (2..=24)
            .rev()
            .fold((1.0, 0.0), |sum, n| add((1.0, 0.0), multiply(sum, divide(r, f64::from(n)))));
        (k, multiply(r, sum))
    }

    /// For x in [−745.2, 0), `reduce(x)` as (k, p), and ulps of the true values.
    fn assert_within_one_ulp(x: f64, (exp, expm1): (f64, f64), (k, p): (i32, DoubleDouble)) {
        // exp / 2ᵏ against 1 + p; below the normal range ulps no longer shrink.
        let expected = add((1.0, 0.0), p);
        let actual = exp * power_of_two(-k / 2) * power_of_two(-k - -k / 2);
        let exp_ulp = ulp(expected.0).max(power_of_two(-1074 - k));
        let exp_error = (actual - expected.0 - expected.1).abs() / exp_ulp;

        let power = power_of_two(k.max(-1000));
        let expected = add(two_sum(power, -1.0), (power * p.0, power * p.1));
        let expm1_error = (expm1 - expected.0 - expected.1).abs() / ulp(expected.0);
        assert!(exp_error < 1.0 && expm1_error < 1.0, "{exp_error}, {expm1_error} ulp at {x:e}");
    }

    fn one<A: Arithmetic>(x: f64) -> (f64, f64) {
        let (exp, expm1) = exp_and_expm1::<A, 1>(&[x]);
        (exp[0], expm1[0])
    }

    /// Points over the whole range, tiny points, and points near changes of k, of sign and of
    /// binade.
    fn samples() -> Vec<f64> {
        let linear = (1..=200_000).map(|i| -745.2 / 200_000.0 * f64::from(i));
        let logarithmic = (0..20_000).map(|i| -745.2 * 10.0_f64.powf(-f64::from(i) / 66.0));
        let around = (1..=2150).flat_map(|halves| {
            let edge = -0.5 * f64::from(halves) * std::f64::consts::LN_2;
            (-8..=8).map(move |step| edge + 3.0 * f64::from(step) * ulp(edge))
        });
        linear.chain(logarithmic).chain(around).collect()
    }

    #[test]
    fn both_results_are_within_one_ulp() {
        for x in samples() {
            let reference = reduce(x);
            assert_within_one_ulp(x, one::<Fused>(x), reference);
            assert_within_one_ulp(x, one::<Separate>(x), reference);
        }
    }

    #[test]
    fn reference_equals_known_digits() {
        // p from mpmath at 300 bits.
        let samples = [
            (-0.03, 0, (-0.029_554_466_451_491_82, -9.071_409_305_253_103e-19)),
            (-0.34, 0, (-0.288_229_677_237_390_3, -1.074_958_450_001_746e-17)),
            (-1.04, -2, (0.413_818_727_835_120_5, 1.677_690_629_895_980_6e-17)),
            (-5.5, -8, (0.046_213_488_246_801_15, -2.587_447_516_283_131_5e-18)),
            (-100.25, -145, (0.292_193_524_866_816_55, 2.445_789_601_770_428e-17)),
            (-744.4, -1074, (0.040_885_633_432_882_23, -2.100_029_647_294_148_5e-20)),
        ];
        for (x, k, p) in samples {
            let (actual_k, actual) = reduce(x);
            let difference = (actual.0 - p.0) + (actual.1 - p.1);
            assert!(actual_k == k && difference.abs() < 1e-25, "{x}: {difference:e}");
        }
    }

    fn assert_special_values<A: Arithmetic>() {
        assert_eq!(one::<A>(0.0), (1.0, 0.0));
        assert_eq!(one::<A>(-0.0), (1.0, 0.0));
        assert_eq!(one::<A>(-1e-300), (1.0, -1e-300));
        assert_eq!(one::<A>(-5e-324), (1.0, -5e-324));
        assert_eq!(one::<A>(-744.5), (5e-324, -1.0));
        for x in [-745.2, -746.0, -747.0, -1e5, -1e300, f64::MIN, f64::NEG_INFINITY] {
            assert_eq!(one::<A>(x), (0.0, -1.0), "{x}");
        }
        let (exp, expm1) = one::<A>(f64::NAN);
        assert!(exp.is_nan() && expm1.is_nan());
    }

    #[test]
    fn special_values_are_exact() {
        assert_special_values::<Fused>();
        assert_special_values::<Separate>();
    }

    fn assert_equal_bits<A: Arithmetic>() {
        let bits = |a: &[f64]| a.iter().map(|a| a.to_bits()).collect::<Vec<_>>();
        for x in samples().as_chunks::<16>().0.iter().step_by(10) {
            let (exp, expm1) = exp_and_expm1::<A, 16>(x);
            let halves = x.as_chunks::<8>().0.iter().map(exp_and_expm1::<A, 8>);
            let (exp_8, expm1_8): (Vec<_>, Vec<_>) = halves.unzip();
            let (exp_1, expm1_1): (Vec<_>, Vec<_>) = x.iter().map(|&x| one::<A>(x)).unzip();
            assert_eq!(bits(&exp), bits(&exp_8.concat()));
            assert_eq!(bits(&expm1), bits(&expm1_8.concat()));
            assert_eq!(bits(&exp), bits(&exp_1));
            assert_eq!(bits(&expm1), bits(&expm1_1));
        }
    }

    fn assert_absolute_error<A: Arithmetic>() {
        let one = |t: f64| halvings_of_square::<A, 1>(&[t])[0];
        for x in samples() {
            let t = (-x * std::f64::consts::LOG2_E).sqrt();
            let expected = libm::exp2(-(t * t));
            let error = (one(t) - expected).abs();
            assert!(error < f64::EPSILON, "{error:e} at {t:e}");
        }
        assert_eq!(one(0.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(one(-3.0).to_bits(), (1.0_f64 / 512.0).to_bits());
        assert!(one(f64::INFINITY) < 1e-300);
    }

    #[test]
    fn squares_of_halvings_have_a_small_absolute_error() {
        assert_absolute_error::<Fused>();
        assert_absolute_error::<Separate>();
    }

    #[test]
    fn equal_bits_for_every_number_of_lanes() {
        assert_equal_bits::<Fused>();
        assert_equal_bits::<Separate>();
    }
}
