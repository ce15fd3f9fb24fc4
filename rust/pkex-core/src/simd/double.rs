//! Numbers of twice the working precision, each the unevaluated sum of two (Dekker 1971).

use crate::simd::arithmetic::{Arithmetic, two_sum};
use crate::simd::lanes::each_lane;

/// In each lane, the sum of a number and of a correction below its last digit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Double<const W: usize> {
    pub high: [f64; W],
    pub low: [f64; W],
}

impl<const W: usize> Double<W> {
    /// The same number in all lanes.
    pub const fn of(high: f64, low: f64) -> Self {
        Self { high: [high; W], low: [low; W] }
    }

    /// The numbers that `lane` returns for each lane.
    #[inline(always)]
    pub fn from_lanes(lane: impl Fn(usize) -> (f64, f64)) -> Self {
        let mut numbers = Self::of(0.0, 0.0);
        for i in 0..W {
            (numbers.high[i], numbers.low[i]) = lane(i);
        }
        numbers
    }

    /// a − b, exactly.
    #[inline(always)]
    pub fn difference(a: &[f64; W], b: &[f64; W]) -> Self {
        Self::from_lanes(|i| two_sum(a[i], -b[i]))
    }

    /// The sum, to 106 bits (Joldes, Muller and Popescu 2017, algorithm 6).
    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Self::from_lanes(|i| {
            let (high, error) = two_sum(self.high[i], other.high[i]);
            let (low, low_error) = two_sum(self.low[i], other.low[i]);
            let (high, error) = two_sum(high, error + low);
            two_sum(high, error + low_error)
        })
    }

    #[inline(always)]
    pub fn negated(&self) -> Self {
        Self { high: each_lane(|i| -self.high[i]), low: each_lane(|i| -self.low[i]) }
    }

    /// |x|.
    #[inline(always)]
    pub fn size(&self) -> Self {
        let sign = |i: usize| if self.high[i] < 0.0 { -1.0 } else { 1.0 };
        Self {
            high: each_lane(|i| sign(i) * self.high[i]),
            low: each_lane(|i| sign(i) * self.low[i]),
        }
    }

    /// The product, to about 104 bits (Joldes, Muller and Popescu 2017, algorithm 11).
    #[inline(always)]
    pub fn times<A: Arithmetic>(&self, other: &Self) -> Self {
        Self::from_lanes(|i| {
            let (high, error) = A::two_product(self.high[i], other.high[i]);
            let cross_terms = A::mul_add(self.high[i], other.low[i], self.low[i] * other.high[i]);
            two_sum(high, error + cross_terms)
        })
    }

    /// The quotient, to about 100 bits (Joldes, Muller and Popescu 2017, algorithm 17).
    #[inline(always)]
    pub fn quotient<A: Arithmetic>(&self, other: &Self) -> Self {
        let high = each_lane(|i| self.high[i] / other.high[i]);
        let product = other.times::<A>(&Self { high, low: [0.0; W] });
        let remainder = self.plus(&product.negated());
        Self::from_lanes(|i| two_sum(high[i], remainder.high[i] / other.high[i]))
    }

    /// The numbers, rounded to working precision.
    #[inline(always)]
    pub fn values(&self) -> [f64; W] {
        each_lane(|i| self.high[i] + self.low[i])
    }
}

/// 1/x, and its rounding error.
pub(crate) fn inverse(x: f64) -> (f64, f64) {
    let inverse = x.recip();
    // `f64::mul_add` would call the system's function here, which is inexact on some systems.
    let low = libm::fma(-inverse, x, 1.0) * inverse;
    (inverse, if low.is_finite() { low } else { 0.0 })
}
