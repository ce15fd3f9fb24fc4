//! Lanes: sixteen evaluations that are computed together.

use crate::simd::arithmetic::Arithmetic;
use crate::simd::numbers::{larger, smaller};

/// Evaluations in a block. The number is the same on every instruction set, so that all add in the
/// same order.
pub const LANES: usize = 16;

/// One number for each evaluation of a block, aligned to a cache line.
#[derive(Default, Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes(pub [f64; LANES]);

impl Lanes {
    /// All lanes 0.
    pub const ZERO: Self = Self([0.0; LANES]);
    /// All lanes 1.
    pub const ONE: Self = Self([1.0; LANES]);

    /// The `part`-th group of `W` lanes.
    #[inline(always)]
    pub fn part<const W: usize>(&self, part: usize) -> &[f64; W] {
        &self.0.as_chunks::<W>().0[part]
    }

    /// The `part`-th group of `W` lanes, mutable.
    #[inline(always)]
    pub fn part_mut<const W: usize>(&mut self, part: usize) -> &mut [f64; W] {
        &mut self.0.as_chunks_mut::<W>().0[part]
    }

    /// The products lane by lane.
    #[inline(always)]
    pub fn times<const W: usize>(&self, other: &Self) -> Self {
        let mut products = Self::ZERO;
        for part in 0..LANES / W {
            let factor: &[f64; W] = other.part(part);
            *products.part_mut(part) = zip_lanes(self.part(part), factor, |a, b| a * b);
        }
        products
    }

    /// Subtracts other numbers, lane by lane.
    #[inline(always)]
    pub fn subtract<const W: usize>(&mut self, other: &Self) {
        for part in 0..LANES / W {
            let difference: &mut [f64; W] = self.part_mut(part);
            *difference = zip_lanes(difference, other.part(part), |a, b| a - b);
        }
    }

    /// Adds the products of `a` and `b`, lane by lane.
    #[inline(always)]
    pub fn add_product<A: Arithmetic, const W: usize>(&mut self, a: &Self, b: &Self) {
        for part in 0..LANES / W {
            let (a, b): (&[f64; W], &[f64; W]) = (a.part(part), b.part(part));
            let sum: &mut [f64; W] = self.part_mut(part);
            *sum = each_lane(|i| A::mul_add(a[i], b[i], sum[i]));
        }
    }

    /// The largest of the lanes and 0; NaN is ignored.
    #[inline(always)]
    pub fn largest(&self) -> f64 {
        combine_lanes(map_lanes(&self.0, |lane| larger(lane, 0.0)), larger)
    }

    /// The smallest of the lanes.
    #[inline(always)]
    pub fn smallest(&self) -> f64 {
        combine_lanes(self.0, smaller)
    }

    /// The sum of the lanes as a tree.
    #[inline(always)]
    pub fn total(&self) -> f64 {
        combine_lanes(self.0, |a, b| a + b)
    }
}

/// The lanes combined as a tree: halves, quarters, and so on.
#[inline(always)]
fn combine_lanes(mut lanes: [f64; LANES], combine: impl Fn(f64, f64) -> f64) -> f64 {
    let mut count = LANES;
    while count > 1 {
        count /= 2;
        for i in 0..count {
            lanes[i] = combine(lanes[i], lanes[i + count]);
        }
    }
    lanes[0]
}

/// `f(i)` for each lane i: a plain loop, which the compiler turns into vector instructions
/// (`std::array::from_fn` it does not).
#[inline(always)]
pub fn each_lane<const W: usize>(f: impl Fn(usize) -> f64) -> [f64; W] {
    let mut lanes = [0.0; W];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = f(i);
    }
    lanes
}

/// `f` of each lane of `a`.
#[inline(always)]
pub fn map_lanes<const W: usize>(a: &[f64; W], f: impl Fn(f64) -> f64) -> [f64; W] {
    each_lane(|i| f(a[i]))
}

/// `f` of each lane of `a` and `b`.
#[inline(always)]
pub fn zip_lanes<const W: usize>(
    a: &[f64; W],
    b: &[f64; W],
    f: impl Fn(f64, f64) -> f64,
) -> [f64; W] {
    each_lane(|i| f(a[i], b[i]))
}

/// a·b, lane by lane.
#[inline(always)]
pub(crate) fn multiply_lanes<const W: usize>(a: &[f64; W], b: &[f64; W]) -> [f64; W] {
    zip_lanes(a, b, |a, b| a * b)
}

/// sum + a·b, lane by lane.
#[inline(always)]
pub(crate) fn multiply_add_lanes<A: Arithmetic, const W: usize>(
    sum: &[f64; W],
    a: &[f64; W],
    b: &[f64; W],
) -> [f64; W] {
    each_lane(|i| A::mul_add(a[i], b[i], sum[i]))
}
