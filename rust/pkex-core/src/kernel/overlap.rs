//! The factor exp(−σ (x² + y² − xy)) of one column, of whose products Tanimoto's kernel is made.
//!
//! It is not 1 where x = y: it comes beside a power series only.

use crate::kernel::joint::{Entries, Joint};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::double::Double;
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{each_lane, map_lanes, zip_lanes};

/// One such factor, made ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    /// σ.
    pub rate: f64,
}

impl Overlap {
    /// k(x, y) and k(x, y) − 1.
    #[inline(always)]
    pub fn factor<A: Arithmetic, const W: usize>(
        self,
        x: &[f64; W],
        y: &[f64; W],
    ) -> ([f64; W], [f64; W]) {
        exp_and_expm1::<A, W>(&map_lanes(&self.exponent(x, y), |exponent| -exponent))
    }

    /// σ ((x − y)² + xy).
    #[inline(always)]
    fn exponent<const W: usize>(self, x: &[f64; W], y: &[f64; W]) -> [f64; W] {
        zip_lanes(x, y, |x, y| self.rate * ((x - y) * (x - y) + x * y))
    }

    /// Multiplies the two products that are compared by the factor at x and at z.
    ///
    /// The exponents differ by σ (x − z) (x + z − y).
    #[inline(always)]
    pub fn join<A: Arithmetic, const W: usize>(self, joint: &mut Joint<W>, at: &Entries<W>) {
        let Entries { x, z, y } = at;
        let change = each_lane(|i| (self.rate * (x[i] - z[i])) * (x[i] + (z[i] - y[i])));
        joint.include_exponents(
            (&self.exponent(x, y), &self.exponent(z, y)),
            &Double { high: change, low: [0.0; W] },
        );
    }
}
