//! The periodic kernel of one column, exp(−2 sin²(π r/p)/ℓ²) (MacKay 1998; scikit-learn's
//! ExpSineSquared).

use std::f64::consts::SQRT_2;

use crate::kernel::exponential::Exponential;
use crate::kernel::joint::{Distances, Entries};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::double::Double;
use crate::simd::lanes::{map_lanes, zip_lanes};
use crate::simd::sin::Period;

/// A periodic kernel with a length-scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Periodic {
    /// √2/ℓ.
    rate: f64,
    period: Period,
}

impl Periodic {
    /// A kernel, from 1/ℓ and the period.
    pub fn new(inverse: f64, period: Period) -> Self {
        let rate = SQRT_2 * inverse;
        Self { rate: if rate.is_finite() { rate } else { f64::MAX }, period }
    }

    /// 2 sin²(π r/p)/ℓ².
    #[inline(always)]
    fn exponent_at<A: Arithmetic, const W: usize>(&self, r: &Double<W>) -> [f64; W] {
        map_lanes(&self.period.sine::<A, W>(r), |sine| (sine * self.rate) * (sine * self.rate))
    }
}

impl Exponential for Periodic {
    #[inline(always)]
    fn exponent<A: Arithmetic, const W: usize>(&self, x: &[f64; W], y: &[f64; W]) -> [f64; W] {
        let r = Double::difference(&self.period.within(x), &self.period.within(y));
        self.exponent_at::<A, W>(&r)
    }

    /// 2/ℓ² times sin²α − sin²β = sin(α − β) sin(α + β).
    #[inline(always)]
    fn change<A: Arithmetic, const W: usize>(&self, at: &Entries<W>) -> Double<W> {
        let within = |entries| self.period.within(entries);
        let at = Entries { x: within(&at.x), z: within(&at.z), y: within(&at.y) };
        let Distances { step, sum, .. } = Distances::new(&at);
        let sines = (self.period.sine::<A, W>(&step), self.period.sine::<A, W>(&sum));
        let change = zip_lanes(&sines.0, &sines.1, |a, b| (a * self.rate) * (b * self.rate));
        Double { high: change, low: [0.0; W] }
    }
}
