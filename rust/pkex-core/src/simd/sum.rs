//! Weighted sums over evaluations, in an order that depends only on the problem.
//!
//! Lane i of an accumulator adds the evaluations i, i + 16, i + 32, …. The lanes are then added as
//! a fixed tree, and the sums of tiles one after another. Compensated sums are the dot product of
//! Ogita, Rump and Oishi (2005, algorithm 5.3), as accurate as in twice the working precision.

use crate::simd::arithmetic::{Arithmetic, two_sum};
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::level::Body;

/// How rounding errors of sums are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summation {
    /// The sum's error does not grow with the number of terms.
    #[default]
    Compensated,
    /// One instruction per term; the error grows with the number of terms.
    Plain,
}

/// A number as the unevaluated sum of its rounded value and the rounding error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    high: f64,
    low: f64,
}

impl From<f64> for Sum {
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }
}

impl Sum {
    /// Adds another sum to this one.
    #[inline(always)]
    pub fn add(&mut self, other: Self, summation: Summation) {
        match summation {
            Summation::Plain => self.high += other.high,
            Summation::Compensated => {
                let (high, error) = two_sum(self.high, other.high);
                self.high = high;
                self.low += error + other.low;
            }
        }
    }

    /// Adds a product and its rounding errors.
    #[inline(always)]
    pub(crate) fn add_product<A: Arithmetic>(&mut self, a: f64, b: f64) {
        let (product, product_error) = A::two_product(a, b);
        let (high, error) = two_sum(self.high, product);
        self.high = high;
        self.low += error + product_error;
    }

    /// The number, rounded.
    #[must_use]
    pub fn value(self) -> f64 {
        self.high + self.low
    }
}

/// Adds each value to the sum in the same place.
pub(crate) fn add_each(totals: &mut [Sum], values: &[f64], summation: Summation) {
    debug_assert_eq!(totals.len(), values.len());
    for (total, &value) in totals.iter_mut().zip(values) {
        total.add(Sum::from(value), summation);
    }
}

/// Sixteen running sums, one per lane.
#[derive(Clone, Copy, Debug)]
pub struct Accumulator {
    high: Lanes,
    low: Lanes,
}

impl Accumulator {
    /// All sums 0.
    pub const ZERO: Self = Self { high: Lanes::ZERO, low: Lanes::ZERO };

    /// Adds `weights`·`values` and the rounding errors, lane by lane.
    #[inline(always)]
    pub fn add_product<A: Arithmetic, const W: usize>(&mut self, weights: &Lanes, values: &Lanes) {
        for part in 0..LANES / W {
            let (w, v): (&[f64; W], &[f64; W]) = (weights.part(part), values.part(part));
            let high: &mut [f64; W] = self.high.part_mut(part);
            let low: &mut [f64; W] = self.low.part_mut(part);
            for i in 0..W {
                let (product, product_error) = A::two_product(w[i], v[i]);
                let (sum, sum_error) = two_sum(high[i], product);
                high[i] = sum;
                low[i] += sum_error + product_error;
            }
        }
    }

    /// Adds `weights`·`values`, lane by lane, without rounding errors.
    #[inline(always)]
    pub fn add_plainly<A: Arithmetic, const W: usize>(&mut self, weights: &Lanes, values: &Lanes) {
        self.high.add_product::<A, W>(weights, values);
    }

    /// The differences of the sums, each rounded once.
    #[inline(always)]
    pub(crate) fn minus(&self, other: &Self) -> Lanes {
        Lanes(each_lane(|i| {
            let (high, error) = two_sum(self.high.0[i], -other.high.0[i]);
            high + (error + (self.low.0[i] - other.low.0[i]))
        }))
    }

    /// The sums, rounded.
    #[must_use]
    pub fn lanes(&self) -> Lanes {
        Lanes(each_lane(|i| self.high.0[i] + self.low.0[i]))
    }

    /// The sum of all lanes, as a tree: halves, quarters, and so on.
    #[inline(always)]
    pub fn total(&self) -> Sum {
        let lane = |i: usize| Sum { high: self.high.0[i], low: self.low.0[i] };
        let mut sums: [Sum; LANES] = std::array::from_fn(lane);
        let mut count = LANES;
        while count > 1 {
            count /= 2;
            for i in 0..count {
                let upper = sums[i + count];
                sums[i].add(upper, Summation::Compensated);
            }
        }
        sums[0]
    }
}

/// Sums in lanes to which products are added.
pub(crate) trait RunningSum {
    /// Adds `weights`·`values`, lane by lane.
    fn include<A: Arithmetic, const W: usize>(&mut self, weights: &Lanes, values: &Lanes);
}

impl RunningSum for Accumulator {
    #[inline(always)]
    fn include<A: Arithmetic, const W: usize>(&mut self, weights: &Lanes, values: &Lanes) {
        self.add_product::<A, W>(weights, values);
    }
}

impl RunningSum for Lanes {
    #[inline(always)]
    fn include<A: Arithmetic, const W: usize>(&mut self, weights: &Lanes, values: &Lanes) {
        self.add_product::<A, W>(weights, values);
    }
}

/// Adds a value, times the weights of each output, to the sums of outputs.
#[inline(always)]
pub(crate) fn add_to_outputs<A: Arithmetic, const W: usize>(
    value: &Lanes,
    weights: &[(usize, Lanes)],
    summation: Summation,
    sums: &mut [Accumulator],
) {
    for (output, weights) in weights {
        match summation {
            Summation::Compensated => sums[*output].add_product::<A, W>(weights, value),
            Summation::Plain => sums[*output].add_plainly::<A, W>(weights, value),
        }
    }
}

/// Adds weights times values to sums, lane by lane: compensated in an [`Accumulator`], else plain.
pub(crate) struct AddWeighted<'a, S> {
    pub weights: Lanes,
    pub values: &'a [Lanes],
    pub sums: &'a mut [S],
}

impl<S: RunningSum> Body for AddWeighted<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        debug_assert_eq!(self.sums.len(), self.values.len());
        for (sum, value) in self.sums.iter_mut().zip(self.values) {
            sum.include::<A, W>(&self.weights, value);
        }
    }
}
