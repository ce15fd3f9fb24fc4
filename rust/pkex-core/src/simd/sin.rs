//! sin(π t) for the t = r/p of a distance r and a period p, lane by lane and without branches.
//!
//! r − q p, with the integer q nearest to r/p, has as few digits as r and p (the IEEE remainder),
//! so it is exact. The sine of the remainder is a polynomial on |t| ≤ ½. No library is called: bits
//! are equal everywhere, for this part of the work also without a fused multiply-add.

use crate::simd::arithmetic::{Arithmetic, two_sum};
use crate::simd::double::Double;
use crate::simd::lanes::map_lanes;

/// 1.5 · 2⁵²: a sum with this number has no digits after the binary point.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Quotients up to this number are exact to within 2⁻¹².
const MAX_PERIODS: f64 = 1_099_511_627_776.0;

/// sin(π t)/t in t², from the constant term up, on |t| ≤ ½ with a margin.
///
/// Remez exchange (mpmath, 400 bits) on the relative error, which is at most 2.7e-19.
const P: [f64; 9] = [
    std::f64::consts::PI,
    -5.167_712_780_049_969,
    2.550_164_039_877_293,
    -0.599_264_529_318_713_1,
    0.082_145_886_569_473_79,
    -0.007_370_430_474_979_305,
    0.000_466_299_669_898_315_5,
    -2.190_313_651_770_222_3e-5,
    7.694_213_858_955_237e-7,
];

/// A period p from 1e-290 to 1e290, and 1/p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    length: f64,
    inverse: f64,
}

impl Period {
    /// A period of that length.
    pub fn new(length: f64) -> Self {
        Self { length, inverse: length.recip() }
    }

    /// The entries. Entries of very many periods are reduced by multiples of the period, so that
    /// quotients keep their digits and differences do not overflow.
    #[inline(always)]
    pub fn within<const W: usize>(self, entries: &[f64; W]) -> [f64; W] {
        let is_far = |entry: f64| entry.abs() * self.inverse > MAX_PERIODS;
        if !entries.iter().any(|&entry| is_far(entry)) {
            return *entries;
        }
        // The remainder is exact in the C library as well. This case is rare.
        map_lanes(entries, |entry| if is_far(entry) { entry % self.length } else { entry })
    }

    /// sin(π r/p), to some units in the last place, for r up to a few times [`MAX_PERIODS`].
    #[inline(always)]
    pub fn sine<A: Arithmetic, const W: usize>(self, r: &Double<W>) -> [f64; W] {
        Double::from_lanes(|i| (self.lane::<A>(r.high[i], r.low[i]), 0.0)).high
    }

    #[inline(always)]
    fn lane<A: Arithmetic>(self, high: f64, low: f64) -> f64 {
        let q = A::mul_add(high, self.inverse, ROUND) - ROUND;
        let (product, error) = A::two_product(q, self.length);
        let (remainder, remainder_low) = two_sum((high - product) - error, low);
        let t = A::mul_add(remainder_low, self.inverse, remainder * self.inverse);
        // sin(π (t + q)) = (−1)^q sin(π t): q/2 is an integer, or half of one away.
        let half = 0.5 * q;
        let sign = 1.0 - 4.0 * (half - ((half + ROUND) - ROUND)).abs();
        let square = t * t;
        let mut sum = P[8];
        for coefficient in P[..8].iter().rev() {
            sum = A::mul_add(sum, square, *coefficient);
        }
        (sign * t) * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::arithmetic::{Fused, Separate};

    fn sine<A: Arithmetic>(length: f64, r: f64) -> f64 {
        let period = Period::new(length);
        let [sine] = period.sine::<A, 1>(&Double::of(r, 0.0));
        sine
    }

    #[test]
    fn sines_equal_the_librarys_at_quotients_without_rounding() {
        for step in -4096..=4096 {
            let t = f64::from(step) / 1024.0;
            // The sine of the remainder, whose product with π is passed to the library with an
            // error of 1e-16.
            let rest = t - t.round();
            let sign = if t.round() % 2.0 == 0.0 { 1.0 } else { -1.0 };
            let expected = sign * (std::f64::consts::PI * rest).sin();
            for actual in [sine::<Fused>(2.0, 2.0 * t), sine::<Separate>(2.0, 2.0 * t)] {
                assert!((actual - expected).abs() <= 4e-16 * expected.abs(), "{t}: {actual}");
            }
        }
    }

    #[test]
    fn multiples_of_the_period_have_sine_0_and_their_neighbors_nearly() {
        for (length, times) in [(3.0, 1e6), (0.1, 7.0), (1e-3, 4096.0), (7e200, 11.0)] {
            let exact = Fused::two_product(length, times);
            for actual in [
                Period::new(length).sine::<Fused, 1>(&Double::of(exact.0, exact.1)),
                Period::new(length).sine::<Separate, 1>(&Double::of(exact.0, exact.1)),
            ] {
                assert!(actual[0] == 0.0, "{length} · {times}");
            }
        }
        assert!((sine::<Fused>(0.1, 0.1 + 1e-9) + std::f64::consts::PI * 1e-8).abs() < 1e-15);
    }

    #[test]
    fn entries_of_very_many_periods_lose_multiples_of_them() {
        let period = Period::new(0.3);
        for (entry, expected) in [(1e6, 1e6), (-2.0, -2.0), (1e300, 1e300 % 0.3)] {
            let [actual, _] = period.within(&[entry, 1e300]);
            assert_eq!(actual.to_bits(), f64::to_bits(expected), "{entry}");
        }
    }
}
