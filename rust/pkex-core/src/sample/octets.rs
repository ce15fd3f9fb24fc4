//! Exchanges of targets within octets of rows: all 64 exchanges of a pair of octets at the cost of
//! a few.
//!
//! The rows of an octet are numbered by three bits; exchange p gives row i the target of row i ⊕ p.
//! Two octets with the values Γ of their 8 × 8 pairs and the weights L then add
//!
//!   T^{pq} = Σ_ij Γ_ij L_{i⊕p, j⊕q},
//!
//! a correlation over the group (ℤ/2)³ × (ℤ/2)³. The Walsh–Hadamard transform, whose matrix has the
//! entries (−1)^{|a ∧ i|}, turns it into a product: T̂_ab = Γ̂_ab L̂_ab. Because it is linear,
//! products are summed over pairs of octets and transformed back at the end.

use crate::error::Error;
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{Lanes, each_lane};
use crate::simd::level::Body;

/// The number of rows that exchange targets with each other.
pub const OCTET: usize = 8;

/// The pairs of the rows of an octet with a block of rows, which is two octets.
#[derive(Debug, Default)]
pub(crate) struct OctetPairs {
    /// All values that are summed, for each row of the octet; 0 if a lane holds no pair.
    values: Vec<Lanes>,
    /// The weights of the pairs, for each row of the octet.
    weights: Vec<Lanes>,
}

impl OctetPairs {
    /// Reserves memory for a number of values of each pair.
    pub fn reserve(&mut self, width: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.values, saturating_product([OCTET, width]), PAIRS)?;
        memory.reserve(&mut self.weights, OCTET, PAIRS)
    }

    /// Sets all values and weights to 0, for a number of values of each pair.
    pub fn reset(&mut self, width: usize) {
        for (lanes, length) in [(&mut self.values, OCTET * width), (&mut self.weights, OCTET)] {
            lanes.clear();
            lanes.resize(length, Lanes::ZERO);
        }
    }

    /// The weights of the pairs of a row (of the sample).
    pub fn weights_of(&mut self, row: usize) -> &mut Lanes {
        &mut self.weights[row % OCTET]
    }

    /// The values of the pairs of a row (of the sample).
    pub fn values_of(&mut self, row: usize) -> &mut [Lanes] {
        let width = self.values.len() / OCTET;
        &mut self.values[row % OCTET * width..][..width]
    }
}

/// Adds the products of transformed values and weights to sums, with a for each row and b for each
/// lane.
pub(crate) struct Correlate<'a> {
    pub pairs: &'a mut OctetPairs,
    pub sums: &'a mut [Lanes],
}

impl Body for Correlate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let width = self.pairs.values.len() / OCTET;
        let weights = transform::<A>(|row| self.pairs.weights[row]);
        for value in 0..width {
            let values = transform::<A>(|row| self.pairs.values[row * width + value]);
            for row in 0..OCTET {
                self.sums[row * width + value].add_product::<A, W>(&values[row], &weights[row]);
            }
        }
    }
}

/// The transform of the lanes of eight rows, over the rows and over the octets of lanes.
#[inline(always)]
fn transform<A: Arithmetic>(rows: impl Fn(usize) -> Lanes) -> [Lanes; OCTET] {
    let mut lanes = [Lanes::ZERO; OCTET];
    for (row, lanes) in lanes.iter_mut().enumerate() {
        *lanes = rows(row);
        for octet in lanes.0.as_chunks_mut::<OCTET>().0 {
            butterflies::<A, 1>(octet);
            butterflies::<A, 2>(octet);
            butterflies::<A, 4>(octet);
        }
    }
    for stride in [1, 2, 4] {
        for row in (0..OCTET).filter(|row| row & stride == 0) {
            let (one, other) = (lanes[row], lanes[row + stride]);
            lanes[row] = Lanes(each_lane(|i| one.0[i] + other.0[i]));
            lanes[row + stride] = Lanes(each_lane(|i| one.0[i] - other.0[i]));
        }
    }
    lanes
}

/// The step of the transform for one bit: sums where it is 0, differences where it is 1.
#[inline(always)]
fn butterflies<A: Arithmetic, const STRIDE: usize>(octet: &mut [f64; OCTET]) {
    let old = *octet;
    let opposite: [f64; OCTET] = each_lane(|i| old[i ^ STRIDE]);
    let signs: [f64; OCTET] = each_lane(|i| if i & STRIDE == 0 { 1.0 } else { -1.0 });
    *octet = each_lane(|i| A::mul_add(signs[i], old[i], opposite[i]));
}

/// Transforms T̂_ab of a pair of groups, `width` values for each ab, into T^{pq}.
pub(crate) fn transform_back(sums: &mut [f64], width: usize) {
    // A step for each of the six bits of ab; the matrix is its own inverse except for the factor
    // 64.
    for stride in (0..6).map(|bit| width << bit) {
        for pair in sums.chunks_exact_mut(2 * stride) {
            let (zeros, ones) = pair.split_at_mut(stride);
            for (zero, one) in zeros.iter_mut().zip(ones) {
                (*zero, *one) = (*zero + *one, *zero - *one);
            }
        }
    }
    for sum in sums {
        *sum /= (OCTET * OCTET) as f64;
    }
}
