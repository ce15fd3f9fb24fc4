//! One-dimensional kernels: a column's factor a = k(x, y), and c = a − 1 without cancellation.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::error::Error;
use crate::kernel::chi2;
use crate::kernel::joint::{Entries, Joint};
use crate::memory::{INPUT, Memory};
use crate::simd::arithmetic::{Arithmetic, Separate, two_sum};
use crate::simd::double::{self, Double};
use crate::simd::exp::exp_and_expm1;
use crate::simd::lanes::{each, map, zip};

/// A family of one-dimensional kernels k(x, y) with one parameter; most are functions of r = x − y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// The product of all factors on one column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    /// 1/(ℓ√2) of the product of all RBF factors (0: none).
    rbf: f64,
    /// 1/ℓ of the product of all Laplacian factors (0: none).
    laplacian: f64,
    /// γ of the product of all χ² factors (0: none).
    chi2: f64,
    /// What rounding took away from the first two.
    rbf_low: f64,
    laplacian_low: f64,
    /// 1/ℓ of the Cauchy factors, likewise.
    cauchy: Vec<(f64, f64)>,
    /// The similarity of different categories, the product of all such factors.
    categorical: Option<f64>,
}

impl Profile {
    /// Multiplies the profile by another factor.
    pub fn include(&mut self, family: Family, parameter: f64) -> Result<(), Error> {
        match family {
            Family::Rbf => self.include_gaussian(inverse(parameter)?),
            Family::Laplacian => {
                let (inverse, low) = inverse(parameter)?;
                let (sum, error) = two_sum(self.laplacian, inverse);
                self.laplacian = sum;
                self.laplacian_low += error + low;
            }
            Family::Cauchy => {
                let factors = self.cauchy.len() + 1;
                Memory::default().reserve(&mut self.cauchy, factors, INPUT)?;
                self.cauchy.push(inverse(parameter)?);
            }
            Family::Chi2 => {
                if !(parameter > 0.0 && parameter.is_finite()) {
                    return Err(Error::Domain {
                        argument: "gamma",
                        requirement: "positive and finite",
                        got: parameter.to_string(),
                    });
                }
                self.chi2 += parameter;
            }
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

    /// exp(−(r p)²) exp(−(r q)²) = exp(−r² (p² + q²)) with p² = 1/(2ℓ²).
    fn include_gaussian(&mut self, inverse: (f64, f64)) {
        let square = |high: f64, low: f64| {
            let number = Double::<1>::of(high, low);
            number.times::<Separate>(&number)
        };
        let half = square(inverse.0, inverse.1).times::<Separate>(&Double::of(0.5, 0.0));
        let squares = square(self.rbf, self.rbf_low).plus(&half);
        self.rbf = self.rbf.hypot(inverse.0 * FRAC_1_SQRT_2);
        // √(p² + δ) = p + δ/(2p); far from 1 squares leave the range.
        let [missing] = squares.plus(&square(self.rbf, 0.0).negated()).high;
        let is_moderate = (1e-100..1e100).contains(&self.rbf);
        self.rbf_low = if is_moderate { missing / (2.0 * self.rbf) } else { 0.0 };
    }

    /// The rate p of exp(−(r p)²) if it is that and no more.
    pub fn gaussian_rate(&self) -> Option<f64> {
        let has_others = self.laplacian > 0.0 || self.chi2 > 0.0 || !self.cauchy.is_empty();
        (self.rbf > 0.0 && !has_others && self.categorical.is_none()).then_some(self.rbf)
    }

    /// a = k(x, y) and c = a − 1.
    #[inline(always)]
    pub fn factor<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64; W],
        y: &[f64; W],
    ) -> ([f64; W], [f64; W]) {
        let r = &zip(x, y, |x, y| x - y);
        let rbf = |r: f64| -((r * self.rbf) * (r * self.rbf));
        let laplacian = |r: f64| -(r.abs() * self.laplacian);
        let (mut a, mut c) = match (self.rbf > 0.0, self.laplacian > 0.0) {
            _ if self.chi2 > 0.0 => {
                let chi2 = chi2::exponent(self.chi2, r, x, y);
                exp_and_expm1::<A, W>(&zip(r, &chi2, |r, chi2| rbf(r) + laplacian(r) - chi2))
            }
            (true, false) => exp_and_expm1::<A, W>(&map(r, rbf)),
            (false, true) => exp_and_expm1::<A, W>(&map(r, laplacian)),
            (true, true) => exp_and_expm1::<A, W>(&map(r, |r| rbf(r) + laplacian(r))),
            (false, false) => ([1.0; W], [0.0; W]),
        };
        for (inverse, _) in &self.cauchy {
            let square = map(r, |r| (r * inverse) * (r * inverse));
            // 1/(1+s), and 1/(1+s) − 1 = −s/(1+s), which is −1 at s = ∞.
            let present = map(&square, |s| 1.0 / (1.0 + s));
            let less_one = zip(&square, &present, |s, f| if s < 1e300 { -(s * f) } else { -1.0 });
            (a, c) = joint::<A, W>((&a, &c), (&present, &less_one));
        }
        if let Some(similarity) = self.categorical {
            let present = map(r, |r| if r == 0.0 { 1.0 } else { similarity });
            let less_one = map(r, |r| if r == 0.0 { 0.0 } else { similarity - 1.0 });
            (a, c) = joint::<A, W>((&a, &c), (&present, &less_one));
        }
        (a, c)
    }
}

impl Profile {
    /// Multiplies the two products that are compared by the profile at x and at z.
    #[inline(always)]
    pub fn join<A: Arithmetic, const W: usize>(&self, joint: &mut Joint<W>, at: &Entries<W>) {
        if self.rbf > 0.0 {
            joint.include_gaussian::<A>((self.rbf, self.rbf_low), at);
        }
        if self.laplacian > 0.0 {
            joint.include_laplacian::<A>((self.laplacian, self.laplacian_low), at);
        }
        for &inverse in &self.cauchy {
            joint.include_cauchy::<A>(inverse, at);
        }
        if let Some(similarity) = self.categorical {
            joint.include_categories(similarity, at);
        }
        if self.chi2 > 0.0 {
            joint.include_chi2(self.chi2, at);
        }
    }
}

/// (a a′, a a′ − 1) from (a, a − 1) and (a′, a′ − 1): a a′ − 1 = (a − 1) + a (a′ − 1), and for
/// factors in [0, 1] both terms have one sign.
#[inline(always)]
pub(crate) fn joint<A: Arithmetic, const W: usize>(
    (a, c): (&[f64; W], &[f64; W]),
    (other_a, other_c): (&[f64; W], &[f64; W]),
) -> ([f64; W], [f64; W]) {
    (zip(a, other_a, |a, other| a * other), each(|i| A::mul_add(a[i], other_c[i], c[i])))
}

/// 1/ℓ, and what rounding took away from it.
fn inverse(length_scale: f64) -> Result<(f64, f64), Error> {
    let (inverse, low) = double::inverse(length_scale);
    if inverse > 0.0 && inverse.is_finite() && length_scale.is_finite() {
        return Ok((inverse, low));
    }
    Err(Error::Domain {
        argument: "length_scale",
        requirement: "positive and finite, and so its reciprocal",
        got: length_scale.to_string(),
    })
}
