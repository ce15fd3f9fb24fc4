//! Matérn's kernel of one column with ν = 3/2 or 5/2: f(z) = (1 + z + κ z²) e^(−z) with z = √(2ν)
//! |r|/ℓ and κ = 0 or 1/3 (Rasmussen and Williams 2006, equation 4.17). With ν = 1/2 it is
//! Laplace's.

use crate::kernel::joint::{Distances, Entries, Joint};
use crate::simd::arithmetic::{Arithmetic, Separate};
use crate::simd::double::Double;
use crate::simd::exp::{NEAR, exp_and_expm1, reduced_tail};
use crate::simd::lanes::{each_lane, map_lanes, zip_lanes};
use crate::simd::numbers::smaller;

/// √3 and √5, and their rounding errors.
const SQRT_3: (f64, f64) = (1.732_050_807_568_877_2, 1.003_508_422_180_690_3e-16);
const SQRT_5: (f64, f64) = (2.236_067_977_499_79, -1.086_423_040_736_501_2e-16);

/// From this number on, f is 0. Squares of larger numbers might overflow, and their product with 0
/// is NaN.
const FARTHEST: f64 = 1000.0;

/// A Matérn kernel with a length-scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matern {
    /// √(2ν)/ℓ, and its rounding error.
    rate: (f64, f64),
    /// κ.
    curvature: f64,
}

impl Matern {
    /// ν = 3/2, from 1/ℓ.
    pub fn three_halves(inverse: (f64, f64)) -> Self {
        Self { rate: product(inverse, SQRT_3), curvature: 0.0 }
    }

    /// ν = 5/2, from 1/ℓ.
    pub fn five_halves(inverse: (f64, f64)) -> Self {
        Self { rate: product(inverse, SQRT_5), curvature: 1.0 / 3.0 }
    }

    /// f and f − 1 at a distance r.
    #[inline(always)]
    pub fn factor<A: Arithmetic, const W: usize>(&self, r: &[f64; W]) -> ([f64; W], [f64; W]) {
        let z = map_lanes(r, |r| smaller(r.abs() * self.rate.0, FARTHEST));
        let (exp, expm1) = exp_and_expm1::<A, W>(&map_lanes(&z, |z| -z));
        let c = self.less_one::<A, W>(&z, &exp, &expm1);
        (each_lane(|i| if z[i] < NEAR { 1.0 + c[i] } else { exp[i] * self.polynomial(z[i]) }), c)
    }

    /// 1 + z + κ z².
    #[inline(always)]
    fn polynomial(&self, z: f64) -> f64 {
        1.0 + z * (1.0 + self.curvature * z)
    }

    /// f − 1, from e^(−z) and e^(−z) − 1. With e^(−z) = 1 − z + z² q, it is z² (q (1 + z + κ z²) −
    /// 1 + κ (1 − z)).
    #[inline(always)]
    fn less_one<A: Arithmetic, const W: usize>(
        &self,
        z: &[f64; W],
        exp: &[f64; W],
        expm1: &[f64; W],
    ) -> [f64; W] {
        each_lane(|i| {
            let z = z[i];
            if z < NEAR {
                // −z² q
                let tail = reduced_tail::<A>(-z, 0.0);
                -(tail * self.polynomial(z) + z * z * (1.0 - self.curvature * (1.0 - z)))
            } else {
                expm1[i] + exp[i] * (self.polynomial(z) - 1.0)
            }
        })
    }

    /// Multiplies the products at x and at z by the kernel.
    ///
    /// f(m) − f(m + δ) = e^(−m) ((1 − f(δ)) + m (1 − e^(−δ) (1 + 2κδ)) + κ m² (1 − e^(−δ))), where
    /// no term is negative.
    #[inline(always)]
    pub fn join<A: Arithmetic, const W: usize>(&self, joint: &mut Joint<W>, at: &Entries<W>) {
        let Distances { from_x, from_z, .. } = Distances::new(at);
        let (a, _) = self.factor::<A, W>(&from_x.high);
        let (b, _) = self.factor::<A, W>(&from_z.high);
        let change = from_x.size().plus(&from_z.size().negated());
        let change = change.times::<A>(&Double::of(self.rate.0, self.rate.1)).values();
        let delta = map_lanes(&change, |change| smaller(change.abs(), FARTHEST));
        let nearer = zip_lanes(&from_x.high, &from_z.high, |x, z| {
            smaller(smaller(x.abs(), z.abs()) * self.rate.0, FARTHEST)
        });
        let (outer, _) = exp_and_expm1::<A, W>(&map_lanes(&nearer, |m| -m));
        let (exp, expm1) = exp_and_expm1::<A, W>(&map_lanes(&delta, |delta| -delta));
        let less_one = self.less_one::<A, W>(&delta, &exp, &expm1);
        let c = each_lane(|i| {
            let (m, twice) = (nearer[i], 2.0 * self.curvature);
            let first = -expm1[i] - twice * delta[i] * exp[i];
            let difference = outer[i] * (m * (first - self.curvature * m * expm1[i]) - less_one[i]);
            // The nearer one has the larger factor.
            if !change[i].is_finite() {
                a[i] - b[i]
            } else if change[i] > 0.0 {
                -difference
            } else {
                difference
            }
        });
        joint.include_factors(a, b, c);
    }
}

/// The product of two numbers, and its rounding error; at most the largest finite number.
fn product(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let Double { high: [high], low: [low] } =
        Double::<1>::of(a.0, a.1).times::<Separate>(&Double::of(b.0, b.1));
    if high.is_finite() { (high, low) } else { (f64::MAX, 0.0) }
}
