//! Families of one-dimensional kernels: their parameters, the factor a = k(x, y) of a column, c = a
//! − 1 without cancellation, and differences of factors at two places. A new family is a variant of
//! [`Family`] and a branch in each of [`Profile`]'s functions.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::error::Error;
use crate::kernel::centering::Centering;
use crate::kernel::exponential::{Chi2, Exponential, Gaussian, Laplacian};
use crate::kernel::joint::{Distances, Entries, Joint};
use crate::kernel::matern::Matern;
use crate::kernel::overlap::Overlap;
use crate::kernel::periodic::Periodic;
use crate::kernel::product::multiply_factors;
use crate::memory::{INPUT, Memory};
use crate::simd::arithmetic::{Arithmetic, Separate, two_sum};
use crate::simd::double::{self, Double};
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{LANES, Lanes, map_lanes, zip_lanes};
use crate::simd::sin::Period;

/// A family of one-dimensional kernels k(x, y) with a parameter; most are functions of r = x − y.
/// Families that are not centered have values in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// exp(−(r/ℓ)²/2) with the length-scale ℓ.
    Rbf,
    /// exp(−|r|/ℓ) with the length-scale ℓ.
    Laplacian,
    /// 1/(1 + (r/ℓ)²) with the length-scale ℓ.
    Cauchy,
    /// 1 where r = 0, else the similarity s in [0, 1) of different categories.
    Categorical,
    /// exp(−γ r²/(x + y)), 1 where x = y = 0, with γ > 0. Entries must not be negative.
    Chi2,
    /// (1 + z) exp(−z) with z = √3 |r|/ℓ and the length-scale ℓ.
    Matern32,
    /// (1 + z + z²/3) exp(−z) with z = √5 |r|/ℓ and the length-scale ℓ.
    Matern52,
    /// exp(−2 sin²(π r/p)/ℓ²) with the length-scale ℓ.
    Periodic {
        /// p, from 1e-290 to 1e290.
        period: f64,
    },
    /// exp(−σ (x² + y² − xy)) with the rate σ: a factor of Tanimoto's kernel, used with a power
    /// series.
    Overlap,
    /// 1 + w exp(−(r/ℓ)²/2) − s(x) − s(y) with the length-scale ℓ: a Gaussian centered on a sample
    /// (Durrande et al. 2013). The next column of the rows holds s.
    CenteredRbf {
        /// w.
        weight: f64,
    },
    /// 1 + w q(x) − s(x) − s(y) where x = y, else 1 − s(x) − s(y), with the weight w: categories
    /// centered on a sample. The next columns of the rows hold s and q.
    CenteredCategorical,
}

impl Family {
    /// All families. A second parameter is 1.
    pub const ALL: &'static [Self] = &[
        Self::Rbf,
        Self::Laplacian,
        Self::Cauchy,
        Self::Categorical,
        Self::Chi2,
        Self::Matern32,
        Self::Matern52,
        Self::Periodic { period: 1.0 },
        Self::Overlap,
        Self::CenteredRbf { weight: 1.0 },
        Self::CenteredCategorical,
    ];

    /// The family's name in Python.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rbf => "rbf",
            Self::Laplacian => "laplacian",
            Self::Cauchy => "cauchy",
            Self::Categorical => "categorical",
            Self::Chi2 => "chi2",
            Self::Matern32 => "matern32",
            Self::Matern52 => "matern52",
            Self::Periodic { .. } => "periodic",
            Self::Overlap => "overlap",
            Self::CenteredRbf { .. } => "centered_rbf",
            Self::CenteredCategorical => "centered_categorical",
        }
    }

    /// Whether factors are centered on a sample, so that they may be negative, or above 1.
    #[must_use]
    pub fn is_centered(self) -> bool {
        matches!(self, Self::CenteredRbf { .. } | Self::CenteredCategorical)
    }

    /// A factor on a column with these parameters: that of the family, and its second one if it has
    /// one. `None` if the number of parameters is wrong.
    #[must_use]
    pub fn factor(self, column: usize, parameters: &[f64]) -> Option<Factor> {
        let (family, parameter) = match (self, parameters) {
            (Self::Periodic { .. }, &[parameter, period]) => (Self::Periodic { period }, parameter),
            (Self::CenteredRbf { .. }, &[parameter, weight]) => {
                (Self::CenteredRbf { weight }, parameter)
            }
            (Self::Periodic { .. } | Self::CenteredRbf { .. }, _) => return None,
            (family, &[parameter]) => (family, parameter),
            _ => return None,
        };
        Some(Factor { family, column, parameter })
    }
}

/// A one-dimensional kernel on one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// The kernel's family.
    pub family: Family,
    /// The column it compares.
    pub column: usize,
    /// The family's parameter, such as the length-scale in the column's units.
    pub parameter: f64,
}

/// A factor that is multiplied with the others of its column, and has no part in their common
/// exponent.
#[derive(Clone, Copy, Debug)]
enum Single {
    /// 1/ℓ, and its rounding error.
    Cauchy((f64, f64)),
    Matern(Matern),
    Periodic(Periodic),
    Overlap(Overlap),
}

/// The product of all factors on one column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    /// 1/(ℓ√2) of the product of all RBF factors (0 if there is none).
    rbf: f64,
    /// 1/ℓ of the product of all Laplacian factors (0 if there is none).
    laplacian: f64,
    /// γ of the product of all χ² factors (0 if there is none).
    chi2: f64,
    /// The rounding errors of `rbf` and `laplacian`.
    rbf_low: f64,
    laplacian_low: f64,
    /// The factors without a common exponent.
    singles: Vec<Single>,
    /// The similarity of different categories: the product over all categorical factors.
    categorical: Option<f64>,
    /// The centered kernel, if the column has one; it is then the only factor.
    centering: Option<Centering>,
}

impl Profile {
    /// Multiplies the profile by another factor.
    pub fn include(&mut self, family: Family, parameter: f64) -> Result<(), Error> {
        self.check_alone(family)?;
        match family {
            Family::CenteredRbf { weight } => {
                let weight = checked_rate("weight", weight)?;
                self.include_gaussian(checked_inverse(parameter)?);
                // exp(−(r p)²) = 2^−(r p √log₂ e)².
                let rate = self.rbf * std::f64::consts::LOG2_E.sqrt();
                self.centering = Some(Centering::Gaussian { rate, weight });
            }
            Family::CenteredCategorical => {
                let weight = checked_rate("weight", parameter)?;
                self.centering = Some(Centering::Categories { weight });
                self.categorical = Some(0.0);
            }
            Family::Rbf => self.include_gaussian(checked_inverse(parameter)?),
            Family::Laplacian => {
                let (inverse, low) = checked_inverse(parameter)?;
                let (sum, error) = two_sum(self.laplacian, inverse);
                self.laplacian = sum;
                self.laplacian_low += error + low;
            }
            Family::Cauchy => self.include_single(Single::Cauchy(checked_inverse(parameter)?))?,
            Family::Matern32 => {
                let kernel = Matern::three_halves(checked_inverse(parameter)?);
                self.include_single(Single::Matern(kernel))?;
            }
            Family::Matern52 => {
                let kernel = Matern::five_halves(checked_inverse(parameter)?);
                self.include_single(Single::Matern(kernel))?;
            }
            Family::Periodic { period } => {
                let (inverse, _) = checked_inverse(parameter)?;
                let kernel = Periodic::new(inverse, checked_period(period)?);
                self.include_single(Single::Periodic(kernel))?;
            }
            Family::Overlap => {
                let kernel = Overlap { rate: checked_rate("sigma", parameter)? };
                self.include_single(Single::Overlap(kernel))?;
            }
            Family::Chi2 => self.chi2 += checked_rate("gamma", parameter)?,
            Family::Categorical => {
                if !(0.0..1.0).contains(&parameter) {
                    return Err(Error::Domain {
                        argument: "similarity",
                        requirement: "at least 0 and below 1",
                        got: parameter.to_string(),
                    });
                }
                self.categorical = Some(self.categorical.unwrap_or(1.0) * parameter);
            }
        }
        Ok(())
    }

    /// Returns an error for a second factor on a column with a centered kernel.
    fn check_alone(&self, family: Family) -> Result<(), Error> {
        let is_first = self.rbf == 0.0
            && self.laplacian == 0.0
            && self.chi2 == 0.0
            && self.singles.is_empty()
            && self.categorical.is_none();
        if is_first || !(family.is_centered() || self.centering.is_some()) {
            return Ok(());
        }
        let message = "a centered kernel must be the only factor of its column";
        Err(Error::Unsupported(message.to_owned()))
    }

    /// The centered kernel, if the column has one.
    pub fn centering(&self) -> Option<Centering> {
        self.centering
    }

    fn include_single(&mut self, factor: Single) -> Result<(), Error> {
        let factors = self.singles.len() + 1;
        Memory::default().reserve(&mut self.singles, factors, INPUT)?;
        self.singles.push(factor);
        Ok(())
    }

    /// exp(−(r p)²) exp(−(r q)²) = exp(−r² (p² + q²)) with p² = 1/(2ℓ²).
    fn include_gaussian(&mut self, inverse: (f64, f64)) {
        let square = |high: f64, low: f64| {
            let number = Double::<1>::of(high, low);
            number.times::<Separate>(&number)
        };
        let half = square(inverse.0, inverse.1).times::<Separate>(&Double::of(0.5, 0.0));
        let squares = square(self.rbf, self.rbf_low).plus(&half);
        self.rbf = libm::hypot(self.rbf, inverse.0 * FRAC_1_SQRT_2);
        // √(p² + δ) = p + δ/(2p); far from 1 squares leave the range.
        let [missing] = squares.plus(&square(self.rbf, 0.0).negated()).high;
        let is_moderate = (1e-100..1e100).contains(&self.rbf);
        self.rbf_low = if is_moderate { missing / (2.0 * self.rbf) } else { 0.0 };
    }

    /// The rate p of exp(−(r p)²), if the profile has no other factor.
    pub fn gaussian_rate(&self) -> Option<f64> {
        let has_other_factors = self.laplacian > 0.0
            || self.chi2 > 0.0
            || !self.singles.is_empty()
            || self.categorical.is_some()
            || self.centering.is_some();
        (self.rbf > 0.0 && !has_other_factors).then_some(self.rbf)
    }

    /// a = k(x, y) and c = a − 1.
    #[inline(always)]
    pub fn factor<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64; W],
        y: &[f64; W],
    ) -> ([f64; W], [f64; W]) {
        let r = &zip_lanes(x, y, |x, y| x - y);
        let rbf = |r: f64| -((r * self.rbf) * (r * self.rbf));
        let laplacian = |r: f64| -(r.abs() * self.laplacian);
        let (mut a, mut c) = match (self.rbf > 0.0, self.laplacian > 0.0) {
            _ if self.chi2 > 0.0 => {
                let chi2 = Chi2(self.chi2).exponent::<A, W>(x, y);
                exp_and_expm1::<A, W>(&zip_lanes(r, &chi2, |r, chi2| rbf(r) + laplacian(r) - chi2))
            }
            (true, false) => exp_and_expm1::<A, W>(&map_lanes(r, rbf)),
            (false, true) => exp_and_expm1::<A, W>(&map_lanes(r, laplacian)),
            (true, true) => exp_and_expm1::<A, W>(&map_lanes(r, |r| rbf(r) + laplacian(r))),
            (false, false) => ([1.0; W], [0.0; W]),
        };
        for single in &self.singles {
            let (present, less_one) = match single {
                Single::Cauchy((inverse, _)) => cauchy(*inverse, r),
                Single::Matern(kernel) => kernel.factor::<A, W>(r),
                Single::Periodic(kernel) => kernel.factor::<A, W>(x, y),
                Single::Overlap(kernel) => kernel.factor::<A, W>(x, y),
            };
            (a, c) = multiply_factors::<A, W>((&a, &c), (&present, &less_one));
        }
        if let Some(similarity) = self.categorical {
            let present = map_lanes(r, |r| if r == 0.0 { 1.0 } else { similarity });
            let less_one = map_lanes(r, |r| if r == 0.0 { 0.0 } else { similarity - 1.0 });
            (a, c) = multiply_factors::<A, W>((&a, &c), (&present, &less_one));
        }
        (a, c)
    }
}

impl Profile {
    /// Multiplies the products at x and at z by the profile.
    #[inline(always)]
    pub fn join<A: Arithmetic, const W: usize>(&self, joint: &mut Joint<W>, at: &Entries<W>) {
        if self.rbf > 0.0 {
            Gaussian((self.rbf, self.rbf_low)).join::<A, W>(joint, at);
        }
        if self.laplacian > 0.0 {
            Laplacian((self.laplacian, self.laplacian_low)).join::<A, W>(joint, at);
        }
        for single in &self.singles {
            match single {
                Single::Cauchy(inverse) => join_cauchy::<A, W>(*inverse, at, joint),
                Single::Matern(kernel) => kernel.join::<A, W>(joint, at),
                Single::Periodic(kernel) => kernel.join::<A, W>(joint, at),
                Single::Overlap(kernel) => kernel.join::<A, W>(joint, at),
            }
        }
        if let Some(similarity) = self.categorical {
            let kernel = |entry: f64, y: f64| if entry - y == 0.0 { 1.0 } else { similarity };
            let (a, b) = (zip_lanes(&at.x, &at.y, kernel), zip_lanes(&at.z, &at.y, kernel));
            joint.include_factors(a, b, zip_lanes(&a, &b, |a, b| a - b));
        }
        if self.chi2 > 0.0 {
            Chi2(self.chi2).join::<A, W>(joint, at);
        }
    }
}

/// exp(−(r p)²) and exp(−(r p)²) − 1, from the rate p.
#[inline(always)]
pub(crate) fn gaussian<A: Arithmetic, const W: usize>(
    rate: f64,
    x: f64,
    y: &[f64; W],
) -> ([f64; W], [f64; W]) {
    exp_and_expm1::<A, W>(&gaussian_exponent(rate, x, y))
}

/// [`gaussian`] of two columns, from the rate, x and y of each. Exponentials wait for their own
/// results less, the more are computed side by side.
#[inline(always)]
pub(crate) fn two_gaussians<A: Arithmetic>(
    columns: [(f64, f64, &Lanes); 2],
) -> [([f64; LANES], [f64; LANES]); 2] {
    let mut exponents = [0.0; 2 * LANES];
    for (half, (rate, x, y)) in exponents.as_chunks_mut().0.iter_mut().zip(columns) {
        *half = gaussian_exponent(rate, x, &y.0);
    }
    let (a, c) = exp_and_expm1::<A, { 2 * LANES }>(&exponents);
    let (a, c) = (a.as_chunks().0, c.as_chunks().0);
    [(a[0], c[0]), (a[1], c[1])]
}

#[inline(always)]
fn gaussian_exponent<const W: usize>(rate: f64, x: f64, y: &[f64; W]) -> [f64; W] {
    map_lanes(y, |y| -(((x - y) * rate) * ((x - y) * rate)))
}

/// 1/(1+s), and 1/(1+s) − 1 = −s/(1+s), which is −1 at s = ∞, with s = (r/ℓ)², from 1/ℓ.
#[inline(always)]
fn cauchy<const W: usize>(inverse: f64, r: &[f64; W]) -> ([f64; W], [f64; W]) {
    let square = map_lanes(r, |r| (r * inverse) * (r * inverse));
    let present = map_lanes(&square, |s| 1.0 / (1.0 + s));
    let less_one = zip_lanes(&square, &present, |s, f| if s < 1e300 { -(s * f) } else { -1.0 });
    (present, less_one)
}

/// Multiplies by 1/(1 + (r/ℓ)²), from 1/ℓ.
#[inline(always)]
fn join_cauchy<A: Arithmetic, const W: usize>(
    inverse: (f64, f64),
    at: &Entries<W>,
    joint: &mut Joint<W>,
) {
    let inverse = Double::of(inverse.0, inverse.1);
    let distances = Distances::new(at);
    let at_x = one_plus_square::<A, W>(&distances.from_x, &inverse);
    let at_z = one_plus_square::<A, W>(&distances.from_z, &inverse);
    let change = distances.change_of_squares::<A>(&inverse).negated();
    joint.include_denominators::<A>((&at_x, &at_z), &change);
}

/// 1 + (r/ℓ)².
#[inline(always)]
fn one_plus_square<A: Arithmetic, const W: usize>(r: &Double<W>, inverse: &Double<W>) -> Double<W> {
    let scaled = r.times::<A>(inverse);
    scaled.times::<A>(&scaled).plus(&Double::of(1.0, 0.0))
}

/// 1/ℓ, and its rounding error.
fn checked_inverse(length_scale: f64) -> Result<(f64, f64), Error> {
    let (inverse, low) = double::inverse(length_scale);
    if inverse > 0.0 && inverse.is_finite() && length_scale.is_finite() {
        return Ok((inverse, low));
    }
    Err(Error::Domain {
        argument: "length_scale",
        requirement: "positive and finite, with a finite reciprocal",
        got: length_scale.to_string(),
    })
}

fn checked_rate(argument: &'static str, rate: f64) -> Result<f64, Error> {
    if rate > 0.0 && rate.is_finite() {
        return Ok(rate);
    }
    Err(Error::Domain { argument, requirement: "positive and finite", got: rate.to_string() })
}

fn checked_period(period: f64) -> Result<Period, Error> {
    if (1e-290..=1e290).contains(&period) {
        return Ok(Period::new(period));
    }
    Err(Error::Domain {
        argument: "period",
        requirement: "from 1e-290 to 1e290",
        got: period.to_string(),
    })
}
