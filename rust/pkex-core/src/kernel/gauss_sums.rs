//! Means of a Gaussian kernel of one column over a sample, r(x) = mean_u exp(−((x − u) p)²), in a
//! form that can be evaluated at any x: the fast Gauss transform (Greengard and Strain 1991).
//!
//! The entries u are cut into boxes of width 2/p. With t = (x − z) p for the center z of a box,
//!
//!   exp(−(t − t′)²) = Σ_k h_k(t) h_k(t′),    h_k(t) = e^{−t²} (√2 t)^k / √k!,
//!
//! so that a box contributes e^{−t²} Σ_k M_k t^k with the moments M_k = 2^k/k! Σ e^{−t′²} t′^k / n
//! over its entries. Because h_k² is a Poisson probability and |t′| ≤ 1, the terms from [`TERMS`]
//! on add up to less than 10⁻¹⁸ (Cauchy–Schwarz).

use crate::error::Error;
use crate::memory::{INPUT, Memory, saturating_product};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, zip_lanes};
use crate::simd::level::{Body, Level};
use crate::simd::sum::{Sum, Summation};

/// Moments of a box: P(N ≥ 40) < 10⁻³⁶ for Poisson's N of mean 2.
const TERMS: usize = 40;
/// Boxes whose centers are farther away, in units of 1/p, contribute less than e⁻⁸¹.
const REACH: f64 = 10.0;

/// The mean of a Gaussian kernel over the entries of a column, as a function.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussMean {
    /// The rate p of exp(−(r p)²).
    rate: f64,
    /// The centers of the boxes, ascending.
    centers: Vec<f64>,
    /// The moments of each box in turn.
    moments: Vec<f64>,
}

impl GaussMean {
    /// The mean over some entries, with the length-scale ℓ of exp(−(r/ℓ)²/2).
    ///
    /// # Errors
    /// If there are no entries, one is not finite, the length-scale is not positive and finite, or
    /// memory is missing.
    pub fn new(entries: &[f64], length_scale: f64) -> Result<Self, Error> {
        let rate = checked_rate(length_scale)?;
        let mut sorted_entries = Vec::new();
        Memory::default().reserve(&mut sorted_entries, entries.len(), INPUT)?;
        sorted_entries.extend_from_slice(entries);
        sorted_entries.sort_unstable_by(f64::total_cmp);
        check_finite("entries", &sorted_entries)?;
        let mut mean = Self { rate, centers: Vec::new(), moments: Vec::new() };
        let mut rest = &sorted_entries[..];
        while let Some(&first) = rest.first() {
            let count = rest.partition_point(|&entry| (entry - first) * rate <= 2.0).max(1);
            let (box_entries, tail) = rest.split_at(count);
            mean.add_box(box_entries, sorted_entries.len())?;
            rest = tail;
        }
        Ok(mean)
    }

    /// The mean with the centers and moments of another mean, as [`Self::into_parts`] returns them.
    ///
    /// # Errors
    /// If they are not finite, or do not fit together.
    pub fn of_parts(length_scale: f64, centers: &[f64], moments: &[f64]) -> Result<Self, Error> {
        let rate = checked_rate(length_scale)?;
        check_finite("centers", centers)?;
        check_finite("moments", moments)?;
        if moments.len() != saturating_product([TERMS, centers.len()]) || !centers.is_sorted() {
            return Err(Error::Shape {
                argument: "moments",
                expected: format!("{TERMS} for each of the ascending centers"),
                got: format!("{} for {}", moments.len(), centers.len()),
            });
        }
        let mut mean = Self { rate, centers: Vec::new(), moments: Vec::new() };
        for (target, values) in [(&mut mean.centers, centers), (&mut mean.moments, moments)] {
            Memory::default().reserve(target, values.len(), INPUT)?;
            target.extend_from_slice(values);
        }
        Ok(mean)
    }

    /// The centers of the boxes, and the moments of each in turn.
    #[must_use]
    pub fn into_parts(self) -> (Vec<f64>, Vec<f64>) {
        (self.centers, self.moments)
    }

    /// The mean at each of some numbers.
    ///
    /// # Errors
    /// If memory is missing.
    pub fn evaluate(&self, numbers: &[f64]) -> Result<Vec<f64>, Error> {
        let mut means = Vec::new();
        Memory::default().reserve(&mut means, numbers.len(), INPUT)?;
        for block in numbers.chunks(LANES) {
            let mut lanes = [block[0]; LANES];
            lanes[..block.len()].copy_from_slice(block);
            means.extend_from_slice(&self.evaluate_lanes(&lanes)[..block.len()]);
        }
        Ok(means)
    }

    /// The mean at each of sixteen numbers, whose polynomials do not wait for each other.
    fn evaluate_lanes(&self, numbers: &[f64; LANES]) -> [f64; LANES] {
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let offset = |x: f64, center: f64| (x - center) * self.rate;
        let start = self.centers.partition_point(|&center| offset(low, center) > REACH);
        let mut totals = [Sum::default(); LANES];
        for (&center, moments) in
            self.centers[start..].iter().zip(self.moments[start * TERMS..].chunks(TERMS))
        {
            if offset(high, center) < -REACH {
                break;
            }
            let offsets = numbers.map(|x| offset(x, center));
            let polynomials = Level::best().run(Polynomials { moments, offsets: &offsets });
            for ((total, t), polynomial) in totals.iter_mut().zip(offsets).zip(polynomials) {
                if t.abs() <= REACH {
                    let value = libm::exp(-(t * t)) * polynomial;
                    total.add(Sum::from(value), Summation::Compensated);
                }
            }
        }
        totals.map(Sum::value)
    }

    fn add_box(&mut self, entries: &[f64], count: usize) -> Result<(), Error> {
        let (low, high) = (entries[0], entries[entries.len() - 1]);
        let center = low / 2.0 + high / 2.0;
        let mut sums = [Sum::default(); TERMS];
        for entry in entries {
            let t = (entry - center) * self.rate;
            let mut value = libm::exp(-(t * t));
            for (k, sum) in sums.iter_mut().enumerate() {
                sum.add(Sum::from(value), Summation::Compensated);
                value *= 2.0 * t / (k + 1) as f64;
            }
        }
        let (memory, boxes) = (Memory::default(), self.centers.len() + 1);
        memory.reserve(&mut self.centers, boxes.next_power_of_two(), INPUT)?;
        let room = saturating_product([boxes.next_power_of_two(), TERMS]);
        memory.reserve(&mut self.moments, room, INPUT)?;
        self.centers.push(center);
        self.moments.extend(sums.map(|sum| sum.value() / count as f64));
        Ok(())
    }
}

/// Σ_k M_k t^k at each offset t, rounded after each product on all levels.
struct Polynomials<'a> {
    moments: &'a [f64],
    offsets: &'a [f64; LANES],
}

impl Body for Polynomials<'_> {
    type Output = [f64; LANES];

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> [f64; LANES] {
        let mut sums = [0.0; LANES];
        for &moment in self.moments.iter().rev() {
            sums = zip_lanes(&sums, self.offsets, |sum, t| sum * t + moment);
        }
        sums
    }
}

fn checked_rate(length_scale: f64) -> Result<f64, Error> {
    let rate = std::f64::consts::FRAC_1_SQRT_2 / length_scale;
    if length_scale > 0.0 && length_scale.is_finite() && rate > 0.0 && rate.is_finite() {
        return Ok(rate);
    }
    Err(Error::Domain {
        argument: "length_scale",
        requirement: "positive and finite, with a finite reciprocal",
        got: length_scale.to_string(),
    })
}

fn check_finite(argument: &'static str, numbers: &[f64]) -> Result<(), Error> {
    let error = |got: String| Err(Error::Domain { argument, requirement: "finite numbers", got });
    match numbers.iter().find(|number| !number.is_finite()) {
        Some(number) => error(number.to_string()),
        None if numbers.is_empty() => error("none".to_owned()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries whose range is narrow, wide, or full of gaps.
    fn samples() -> [Vec<f64>; 4] {
        let spread = |scale: f64| (0..97).map(|i| scale * (f64::from(i * i % 97) - 48.0)).collect();
        let gaps = (0..60).map(|i| if i % 3 == 0 { 1e3 * f64::from(i) } else { f64::from(i) });
        [spread(0.01), spread(1.0), gaps.collect(), vec![3.0]]
    }

    #[test]
    fn means_are_those_of_all_entries_anywhere() {
        for (entries, length_scale) in samples().into_iter().zip([0.7, 2.0, 1.5, 1.0]) {
            let mean = GaussMean::new(&entries, length_scale).unwrap();
            let anywhere = [-1e6, -3.0, 0.1, 7.7, 31.0, 2e4, 1e300];
            let numbers: Vec<_> = entries.iter().copied().chain(anywhere).collect();
            for (x, actual) in numbers.iter().zip(mean.evaluate(&numbers).unwrap()) {
                let kernel = |u: &f64| (-0.5 * ((x - u) / length_scale).powi(2)).exp();
                let expected = entries.iter().map(kernel).sum::<f64>() / entries.len() as f64;
                let error = (actual - expected).abs();
                assert!(error < 1e-15, "{x} among {} entries: {error:e}", entries.len());
            }
        }
    }

    #[test]
    fn order_does_not_matter_and_parts_are_enough() {
        let [mut entries, ..] = samples();
        let mean = GaussMean::new(&entries, 0.3).unwrap();
        entries.reverse();
        assert_eq!(GaussMean::new(&entries, 0.3).unwrap(), mean);
        let (centers, moments) = mean.clone().into_parts();
        assert_eq!(GaussMean::of_parts(0.3, &centers, &moments).unwrap(), mean);
        assert!(GaussMean::of_parts(0.3, &centers, &moments[1..]).is_err());
        assert!(GaussMean::new(&[], 1.0).is_err());
        assert!(GaussMean::new(&[1.0, f64::NAN], 1.0).is_err());
        assert!(GaussMean::new(&[1.0], 0.0).is_err());
    }
}
