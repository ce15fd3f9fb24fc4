//! Kernels exp(−E) of one column: a family has an exponent E, and the change of E from one row to
//! another.

use crate::kernel::joint::{Distances, Entries, Joint};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::double::Double;
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{each_lane, map_lanes, zip_lanes};

/// The exponent of a kernel exp(−E), which is never negative.
pub(crate) trait Exponential {
    /// E between x and y.
    fn exponent<A: Arithmetic, const W: usize>(&self, x: &[f64; W], y: &[f64; W]) -> [f64; W];

    /// E between x and y minus E between z and y, without cancellation where x ≈ z.
    fn change<A: Arithmetic, const W: usize>(&self, at: &Entries<W>) -> Double<W>;

    /// k(x, y) and k(x, y) − 1.
    #[inline(always)]
    fn factor<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64; W],
        y: &[f64; W],
    ) -> ([f64; W], [f64; W]) {
        exp_and_expm1::<A, W>(&map_lanes(&self.exponent::<A, W>(x, y), |exponent| -exponent))
    }

    /// Multiplies the products at x and at z by the kernel.
    #[inline(always)]
    fn join<A: Arithmetic, const W: usize>(&self, joint: &mut Joint<W>, at: &Entries<W>) {
        let (at_x, at_z) =
            (self.exponent::<A, W>(&at.x, &at.y), self.exponent::<A, W>(&at.z, &at.y));
        joint.include_exponents((&at_x, &at_z), &self.change::<A, W>(at));
    }
}

/// E = (r p)², from the rate p and its rounding error.
pub(crate) struct Gaussian(pub (f64, f64));

impl Exponential for Gaussian {
    #[inline(always)]
    fn exponent<A: Arithmetic, const W: usize>(&self, x: &[f64; W], y: &[f64; W]) -> [f64; W] {
        let rate = self.0.0;
        zip_lanes(x, y, |x, y| ((x - y) * rate) * ((x - y) * rate))
    }

    #[inline(always)]
    fn change<A: Arithmetic, const W: usize>(&self, at: &Entries<W>) -> Double<W> {
        let (rate, low) = self.0;
        Distances::new(at).change_of_squares::<A>(&Double::of(rate, low))
    }
}

/// E = |r|/ℓ, from 1/ℓ and its rounding error.
pub(crate) struct Laplacian(pub (f64, f64));

impl Exponential for Laplacian {
    #[inline(always)]
    fn exponent<A: Arithmetic, const W: usize>(&self, x: &[f64; W], y: &[f64; W]) -> [f64; W] {
        let inverse = self.0.0;
        zip_lanes(x, y, |x, y| (x - y).abs() * inverse)
    }

    #[inline(always)]
    fn change<A: Arithmetic, const W: usize>(&self, at: &Entries<W>) -> Double<W> {
        let ((inverse, low), Distances { from_x, from_z, .. }) = (self.0, Distances::new(at));
        let change = from_x.size().plus(&from_z.size().negated());
        change.times::<A>(&Double::of(inverse, low))
    }
}

/// E = γ (x − y)²/(x + y), 0 where x = y = 0, from γ.
pub(crate) struct Chi2(pub f64);

impl Exponential for Chi2 {
    #[inline(always)]
    fn exponent<A: Arithmetic, const W: usize>(&self, x: &[f64; W], y: &[f64; W]) -> [f64; W] {
        let ratio = ratio(x, y);
        each_lane(|i| (self.0 * (x[i] - y[i])) * ratio[i])
    }

    /// (u − y)²/(u + y) is u − 3y + 4y²/(u + y). So the change is (x − z)(1 − (1 − p)(1 − q)) with
    /// p = (x − y)/(x + y), 1 − p = 2y/(x + y), and q = (z − y)/(z + y).
    #[inline(always)]
    fn change<A: Arithmetic, const W: usize>(&self, at: &Entries<W>) -> Double<W> {
        let Entries { x, z, y } = at;
        let (p, q) = (ratio(x, y), ratio(z, y));
        let high = each_lane(|i| (self.0 * (x[i] - z[i])) * (p[i] + q[i] - p[i] * q[i]));
        Double { high, low: [0.0; W] }
    }
}

/// (x − y)/(x + y), from −1 to 1, and 0 where x = y = 0.
#[inline(always)]
fn ratio<const W: usize>(x: &[f64; W], y: &[f64; W]) -> [f64; W] {
    zip_lanes(x, y, |x, y| {
        // The sum of halves does not overflow.
        let half = 0.5 * x + 0.5 * y;
        if half > 0.0 { 0.5 * (x - y) / half } else { 0.0 }
    })
}
