//! The factor exp(−σ (x² + y² − xy)) of one column, of which Tanimoto's kernel is a product.
//!
//! It is not 1 where x = y, and is used only together with a power series.

use crate::kernel::exponential::Exponential;
use crate::kernel::joint::Entries;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::double::Double;
use crate::simd::lanes::{each_lane, zip_lanes};

/// The factor with a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    /// σ.
    pub rate: f64,
}

impl Exponential for Overlap {
    /// σ ((x − y)² + xy).
    #[inline(always)]
    fn exponent<A: Arithmetic, const W: usize>(&self, x: &[f64; W], y: &[f64; W]) -> [f64; W] {
        zip_lanes(x, y, |x, y| self.rate * ((x - y) * (x - y) + x * y))
    }

    /// σ (x − z) (x + z − y).
    #[inline(always)]
    fn change<A: Arithmetic, const W: usize>(&self, at: &Entries<W>) -> Double<W> {
        let Entries { x, z, y } = at;
        let change = each_lane(|i| (self.rate * (x[i] - z[i])) * (x[i] + (z[i] - y[i])));
        Double { high: change, low: [0.0; W] }
    }
}
