//! Sums of a Gaussian kernel of one column over a sample, at many numbers at once, and of the kernel
//! minus 1: the fast Gauss transform (Greengard and Strain 1991), to nearly all digits of both sums.
//!
//! The sorted entries u are cut into boxes. With t = (x − z) p for the mean z of a box,
//!
//!   exp(−(t − t′)²) = e^{−t²} e^{−t′²} Σ_k (2 t t′)^k / k!,
//!
//! so that a box of n entries contributes e^{−t²} (n + Σ_k M_k t^k) to the sum of the kernel, with
//! M₀ = Σ (e^{−t′²} − 1) and M_k = 2^k/k! Σ e^{−t′²} t′^k. It contributes
//! n (e^{−t²} − 1) + e^{−t²} Σ_k M_k t^k to the other sum. As the mean of t′ is 0, no digits cancel
//! there where t is small.

use crate::error::Error;
use crate::memory::{INPUT, Memory};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{LANES, Lanes, each_lane, map_lanes};
use crate::simd::level::Body;
use crate::simd::numbers::{larger, smaller};
use crate::simd::sum::{Accumulator, Sum, Summation};

/// The width of a box in units of 1/p: narrow, because terms cancel by up to e^{4 |t t′|} where t and
/// t′ have different signs.
const WIDTH: f64 = 0.5;
/// Moments of a box: the others are below 10⁻¹⁷ of a sum that includes the kernel's value 1 of x
/// with itself.
const TERMS: usize = 26;
/// Kernels of boxes at this distance are 0 in double precision.
const FARTHEST: f64 = 30.0;

/// The sums over the entries of a column, as functions.
pub(crate) struct GaussTransform {
    /// The rate p of exp(−(r p)²).
    rate: f64,
    /// The distance, in units of 1/p, beyond which all entries together contribute less than the
    /// rounding error of a kernel's value 1.
    reach: f64,
    count: f64,
    /// Ascending.
    boxes: Vec<EntryBox>,
}

/// Neighboring entries.
struct EntryBox {
    center: f64,
    count: f64,
    moments: [f64; TERMS],
}

impl GaussTransform {
    /// The sums over ascending entries.
    pub fn new(entries: &[f64], rate: f64) -> Result<Self, Error> {
        let count = entries.len() as f64;
        let reach = WIDTH + (40.0 + libm::log(larger(count, 1.0))).sqrt();
        let mut boxes = Vec::new();
        let mut rest = entries;
        while let Some(&first) = rest.first() {
            let count = rest.partition_point(|&entry| (entry - first) * rate <= WIDTH).max(1);
            let (box_entries, tail) = rest.split_at(count);
            let room = (boxes.len() + 1).next_power_of_two();
            Memory::default().reserve(&mut boxes, room, INPUT)?;
            boxes.push(EntryBox::new(box_entries, rate));
            rest = tail;
        }
        Ok(Self { rate, reach, count, boxes })
    }

    /// The boxes that contribute to a sum at a number between two.
    fn within_reach(&self, low: f64, high: f64) -> &[EntryBox] {
        let start = self
            .boxes
            .partition_point(|entry_box| (low - entry_box.center) * self.rate > self.reach);
        let end = self
            .boxes
            .partition_point(|entry_box| (entry_box.center - high) * self.rate <= self.reach);
        &self.boxes[start..end]
    }
}

impl EntryBox {
    fn new(entries: &[f64], rate: f64) -> Self {
        let (first, count) = (entries[0], entries.len() as f64);
        let mut offsets = Sum::default();
        for entry in entries {
            offsets.add(Sum::from(entry - first), Summation::Compensated);
        }
        let center = first + offsets.value() / count;
        let mut sums = [Sum::default(); TERMS];
        for entry in entries {
            let t = (entry - center) * rate;
            let less_one = libm::expm1(-(t * t));
            sums[0].add(Sum::from(less_one), Summation::Compensated);
            let mut value = 1.0 + less_one;
            for (k, sum) in sums.iter_mut().enumerate().skip(1) {
                value *= 2.0 * t / k as f64;
                sum.add(Sum::from(value), Summation::Compensated);
            }
        }
        Self { center, count, moments: sums.map(Sum::value) }
    }

    /// The contributions to both sums at some numbers.
    #[inline(always)]
    fn at<A: Arithmetic, const W: usize>(&self, x: &[f64; W], rate: f64) -> [[f64; W]; 2] {
        let Self { center, count, moments } = self;
        let offset = |x: f64| smaller(larger((x - center) * rate, -FARTHEST), FARTHEST);
        let t = map_lanes(x, offset);
        let (gauss, less_one) = exp_and_expm1::<A, W>(&map_lanes(&t, |t| -(t * t)));
        let mut series = [0.0; W];
        for &moment in moments.iter().rev() {
            series = each_lane(|i| A::mul_add(series[i], t[i], moment));
        }
        let sum: [f64; W] = each_lane(|i| gauss[i] * (count + series[i]));
        let near_lack: [f64; W] =
            each_lane(|i| A::mul_add(gauss[i], series[i], count * less_one[i]));
        let lack = each_lane(|i| if t[i].abs() <= 1.0 { near_lack[i] } else { sum[i] - count });
        [sum, lack]
    }
}

/// Computes both sums at ascending numbers.
pub(crate) struct EvaluateSums<'a> {
    pub transform: &'a GaussTransform,
    pub x: &'a Lanes,
}

impl Body for EvaluateSums<'_> {
    type Output = [Lanes; 2];

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> [Lanes; 2] {
        let Self { transform, x } = self;
        let mut sums = [Accumulator::ZERO; 2];
        let mut far_count = transform.count;
        for entry_box in transform.within_reach(x.0[0], x.0[LANES - 1]) {
            far_count -= entry_box.count;
            let mut values = [Lanes::ZERO; 2];
            for part in 0..LANES / W {
                let box_values = entry_box.at::<A, W>(x.part(part), transform.rate);
                for (values, box_values) in values.iter_mut().zip(box_values) {
                    *values.part_mut(part) = box_values;
                }
            }
            for (sum, values) in sums.iter_mut().zip(&values) {
                sum.add_product::<A, W>(&Lanes::ONE, values);
            }
        }
        // The kernel of all other entries is 0.
        sums[1].add_product::<A, W>(&Lanes::ONE, &Lanes([-far_count; LANES]));
        sums.map(|sum| sum.lanes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::level::Level;

    /// Ascending entries: evenly spread, with gaps, in two clusters, with an outlier, equal ones,
    /// and with an entry far away.
    fn samples() -> Vec<Vec<f64>> {
        let even = (0..200).map(|i| 0.01 * f64::from(i));
        let gaps = (0..120).map(|i| f64::from(i * i));
        let clusters = (0..150).map(|i| if i < 75 { 1e-9 * f64::from(i) } else { 0.45 });
        let outlier = (0..150).map(|i| if i < 149 { 1e-7 * f64::from(i) } else { 0.5 });
        let equal = (0..40).map(|i| if i < 30 { -1.5 } else { 2.5 });
        // In the same lanes as its box, powers of a distance overflow.
        let far = (0..12).map(|i| if i < 11 { 1e-9 * f64::from(i) } else { 1e6 });
        vec![
            even.collect(),
            gaps.collect(),
            clusters.collect(),
            outlier.collect(),
            equal.collect(),
            far.collect(),
        ]
    }

    #[test]
    fn both_sums_over_a_sample_have_nearly_all_digits_at_its_entries() {
        for entries in samples() {
            for rate in [1e-6, 1e-3, 0.03, 0.5, 1.0, 3.0, 20.0, 1e3, 1e8] {
                let transform = GaussTransform::new(&entries, rate).unwrap();
                for block in entries.chunks(LANES) {
                    let x = Lanes(std::array::from_fn(|i| block[i.min(block.len() - 1)]));
                    let actual = Level::best().run(EvaluateSums { transform: &transform, x: &x });
                    for (lane, x) in block.iter().enumerate() {
                        let exponents = entries.iter().map(|u| -((x - u) * rate).powi(2));
                        let (mut sum, mut less_one) = (Sum::default(), Sum::default());
                        for exponent in exponents {
                            sum.add(Sum::from(exponent.exp()), Summation::Compensated);
                            less_one.add(Sum::from(exponent.exp_m1()), Summation::Compensated);
                        }
                        for (actual, exact) in
                            [(actual[0].0[lane], sum), (actual[1].0[lane], less_one)]
                        {
                            let exact = exact.value();
                            let error = (actual - exact).abs() / f64::EPSILON;
                            assert!(
                                error <= 6.0 * exact.abs(),
                                "{x} of {}, rate {rate}: {actual} for {exact}, {} ulps",
                                entries.len(),
                                error / exact.abs(),
                            );
                        }
                    }
                }
            }
        }
    }
}
