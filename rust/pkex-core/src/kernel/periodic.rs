//! The periodic kernel of one column, exp(−2 sin²(π r/p)/ℓ²) (MacKay 1998; scikit-learn's
//! ExpSineSquared).

use std::f64::consts::SQRT_2;

use crate::kernel::joint::{Distances, Entries, Joint};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::double::Double;
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{map_lanes, zip_lanes};
use crate::simd::sin::Period;

/// One such kernel, made ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Periodic {
    /// √2/ℓ.
    rate: f64,
    period: Period,
}

impl Periodic {
    /// From 1/ℓ and the period.
    pub fn new(inverse: f64, period: Period) -> Self {
        let rate = SQRT_2 * inverse;
        Self { rate: if rate.is_finite() { rate } else { f64::MAX }, period }
    }

    /// k(x, y) and k(x, y) − 1.
    #[inline(always)]
    pub fn factor<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64; W],
        y: &[f64; W],
    ) -> ([f64; W], [f64; W]) {
        let r = Double::difference(&self.period.within(x), &self.period.within(y));
        exp_and_expm1::<A, W>(&map_lanes(&self.exponent::<A, W>(&r), |exponent| -exponent))
    }

    /// 2 sin²(π r/p)/ℓ².
    #[inline(always)]
    fn exponent<A: Arithmetic, const W: usize>(&self, r: &Double<W>) -> [f64; W] {
        map_lanes(&self.period.sine::<A, W>(r), |sine| (sine * self.rate) * (sine * self.rate))
    }

    /// Multiplies the two products that are compared by the kernel at x and at z.
    ///
    /// The exponents differ by 2/ℓ² times sin²α − sin²β = sin(α − β) sin(α + β).
    #[inline(always)]
    pub fn join<A: Arithmetic, const W: usize>(&self, joint: &mut Joint<W>, at: &Entries<W>) {
        let within = |entries| self.period.within(entries);
        let at = Entries { x: within(&at.x), z: within(&at.z), y: within(&at.y) };
        let Distances { from_x, from_z, step, sum } = Distances::new(&at);
        let sines = (self.period.sine::<A, W>(&step), self.period.sine::<A, W>(&sum));
        let change = zip_lanes(&sines.0, &sines.1, |a, b| (a * self.rate) * (b * self.rate));
        joint.include_exponents(
            (&self.exponent::<A, W>(&from_x), &self.exponent::<A, W>(&from_z)),
            &Double { high: change, low: [0.0; W] },
        );
    }
}
