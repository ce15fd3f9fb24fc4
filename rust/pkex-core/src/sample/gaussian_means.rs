//! The mean of a Gaussian kernel of one column over all pairs of rows, without computing the pairs.
//!
//! With u the entries minus the middle of their range, times the kernel's rate,
//!
//!   exp(−(u − u′)²) = Σ_k h_k(u) h_k(u′),    h_k(u) = e^{−u²} (√2 u)^k / √k!,
//!
//! so that its sum over all ordered pairs is Σ_k (Σ_a h_k(u_a))². All terms are positive, and
//! h_k(u)² is a Poisson probability of mean 2u², so that few terms are needed if that is small.

use crate::error::Error;
use crate::memory::{Memory, PAIRS};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{LANES, Lanes, map_lanes, zip_lanes};
use crate::simd::level::{Body, Level};
use crate::simd::sum::{Accumulator, Sum, Summation};

/// The largest mean 2u² of a series that is summed.
const LARGEST: f64 = 16.0;

/// The mean of exp(−((x − x′) rate)²) over pairs of different entries, at least two; `None` if the
/// range of the entries is so large that summing over pairs is better.
pub(crate) fn gaussian_mean(
    entries: &[f64],
    rate: f64,
    level: Level,
) -> Result<Option<f64>, Error> {
    let low = entries.iter().copied().fold(f64::INFINITY, f64::min);
    let high = entries.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (middle, reach) = (low / 2.0 + high / 2.0, (high / 2.0 - low / 2.0) * rate);
    let poisson = 2.0 * (reach * reach);
    if poisson.is_nan() || poisson > LARGEST {
        return Ok(None);
    }
    let mut sums = Vec::new();
    let terms = count_terms(poisson);
    Memory::default().reserve(&mut sums, terms, PAIRS)?;
    sums.resize(terms, Accumulator::ZERO);
    for block in entries.chunks(LANES) {
        level.run(AddPowers { block, middle, rate, sums: &mut sums });
    }
    let mut total = Sum::default();
    for sum in sums {
        let sum = sum.total().value();
        total.add(Sum::from(sum * sum), Summation::Compensated);
    }
    let count = entries.len() as f64;
    // A pair of an entry with itself adds 1. Rounding could move the mean out of its range.
    Ok(Some(((total.value() - count) / (count * (count - 1.0))).clamp(0.0, 1.0)))
}

/// The number of terms after which less than 2⁻⁵⁶ is left, by the bound λ^k/k! of Poisson
/// probabilities.
fn count_terms(poisson: f64) -> usize {
    let (mut bound, mut terms) = (1.0, 0_u32);
    while bound > f64::EPSILON / 16.0 || f64::from(terms) < 2.0 * poisson {
        terms += 1;
        bound *= poisson / f64::from(terms);
    }
    terms as usize + 1
}

/// Adds h_k of some entries, for all k.
struct AddPowers<'a> {
    block: &'a [f64],
    middle: f64,
    rate: f64,
    sums: &'a mut [Accumulator],
}

impl Body for AddPowers<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let (mut step, mut power) = (Lanes::ZERO, Lanes::ZERO);
        for (lane, entry) in self.block.iter().enumerate() {
            step.0[lane] = (entry - self.middle) * self.rate;
            power.0[lane] = 1.0;
        }
        for part in 0..LANES / W {
            let u: [f64; W] = *step.part(part);
            let (gauss, _) = exp_and_expm1::<A, W>(&map_lanes(&u, |u| -(u * u)));
            let mask: [f64; W] = *power.part(part);
            *power.part_mut(part) = zip_lanes(&gauss, &mask, |gauss, mask| gauss * mask);
            *step.part_mut(part) = map_lanes(&u, |u| u * std::f64::consts::SQRT_2);
        }
        for (k, sum) in self.sums.iter_mut().enumerate() {
            sum.add_product::<A, W>(&power, &Lanes::ONE);
            let next = Lanes([1.0 / ((k + 1) as f64).sqrt(); LANES]);
            power = power.times::<W>(&step).times::<W>(&next);
        }
    }
}
