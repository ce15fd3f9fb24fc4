//! One-dimensional kernels: a column's factor a = k(x, y), and c = a − 1 without cancellation.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::Error;
use crate::arithmetic::Arithmetic;
use crate::chi2;
use crate::exp::exp_and_expm1;
use crate::lanes::{each, map, zip};

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
    /// 1/ℓ of the Cauchy factors.
    cauchy: Vec<f64>,
    /// The similarity of different categories, the product of all such factors.
    categorical: Option<f64>,
}

impl Profile {
    /// Multiplies the profile by another factor.
    pub fn include(&mut self, family: Family, parameter: f64) -> Result<(), Error> {
        match family {
            // exp(−(r p)²) exp(−(r q)²) = exp(−r² (p² + q²)).
            Family::Rbf => self.rbf = self.rbf.hypot(inverse(parameter)? * FRAC_1_SQRT_2),
            Family::Laplacian => self.laplacian += inverse(parameter)?,
            Family::Cauchy => self.cauchy.push(inverse(parameter)?),
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
        for inverse in &self.cauchy {
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
    /// k(x − y) − k(z − y) without cancellation where x ≈ z.
    #[inline(always)]
    pub fn contrast<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64; W],
        z: &[f64; W],
        y: &[f64; W],
    ) -> [f64; W] {
        let step = zip(x, z, |x, z| x - z);
        let (from_x, from_z) = (zip(x, y, |x, y| x - y), zip(z, y, |z, y| z - y));
        let sum = zip(&from_x, &from_z, |u, v| u + v);
        let (mut a, mut b, mut c) = self.contrast_of_exponentials::<A, W>((x, z, y), &sum);
        let mut include = |other_a: [f64; W], other_b: [f64; W], other_c: [f64; W]| {
            // a a′ − b b′ = (a − b) a′ + b (a′ − b′).
            c = each(|i| A::mul_add(c[i], other_a[i], b[i] * other_c[i]));
            a = zip(&a, &other_a, |a, other| a * other);
            b = zip(&b, &other_b, |b, other| b * other);
        };
        for &inverse in &self.cauchy {
            let kernel = |r: f64| 1.0 / (1.0 + (r * inverse) * (r * inverse));
            let (at_x, at_z) = (map(&from_x, kernel), map(&from_z, kernel));
            // 1/(1+u²) − 1/(1+v²) = (v² − u²) / ((1+u²)(1+v²)).
            let change = zip(&step, &sum, |step, sum| -(step * inverse) * (sum * inverse));
            let c = each(|i| change[i] * at_x[i] * at_z[i]);
            include(at_x, at_z, where_finite(&c, &c, (&at_x, &at_z)));
        }
        if let Some(similarity) = self.categorical {
            let kernel = |r: f64| if r == 0.0 { 1.0 } else { similarity };
            let (at_x, at_z) = (map(&from_x, kernel), map(&from_z, kernel));
            include(at_x, at_z, zip(&at_x, &at_z, |a, b| a - b));
        }
        c
    }

    /// exp(−E) at x and at z, and their difference: the larger one times ±(1 − exp(−|ΔE|)).
    #[inline(always)]
    fn contrast_of_exponentials<A: Arithmetic, const W: usize>(
        &self,
        (x, z, y): (&[f64; W], &[f64; W], &[f64; W]),
        sum: &[f64; W],
    ) -> ([f64; W], [f64; W], [f64; W]) {
        if self.rbf == 0.0 && self.laplacian == 0.0 && self.chi2 == 0.0 {
            return ([1.0; W], [1.0; W], [0.0; W]);
        }
        let (rbf, laplacian, chi2) = (self.rbf, self.laplacian, self.chi2);
        let exponential = Self { rbf, laplacian, chi2, ..Self::default() };
        let (a, _) = exponential.factor::<A, W>(x, y);
        let (b, _) = exponential.factor::<A, W>(z, y);
        let step = &zip(x, z, |x, z| x - z);
        let (from_x, from_z) = (zip(x, y, |x, y| x - y), zip(z, y, |z, y| z - y));
        let mut change = [0.0; W];
        if self.rbf > 0.0 {
            // u² − v² = (x − z)(u + v), u = x − y, v = z − y.
            change = zip(step, sum, |step, sum| (step * self.rbf) * (sum * self.rbf));
        }
        if self.laplacian > 0.0 {
            // |u| − |v| = (x − z)(u + v)/(|u| + |v|).
            for i in 0..W {
                let sizes = from_x[i].abs() + from_z[i].abs();
                let direction = if sizes > 0.0 { sum[i] / sizes } else { 0.0 };
                change[i] += (step[i] * self.laplacian) * direction;
            }
        }
        if self.chi2 > 0.0 {
            let chi2 = chi2::change(self.chi2, step, (x, z, y));
            change = zip(&change, &chi2, |change, chi2| change + chi2);
        }
        let (_, less_one) = exp_and_expm1::<A, W>(&map(&change, |change| -change.abs()));
        let c = each(|i| if change[i] > 0.0 { b[i] * less_one[i] } else { -(a[i] * less_one[i]) });
        (a, b, where_finite(&change, &c, (&a, &b)))
    }
}

/// c where the change it comes from is finite, else a − b: of exponents, or squares, that differ by
/// more than the range one factor at least is 0, and nothing cancels.
#[inline(always)]
fn where_finite<const W: usize>(
    change: &[f64; W],
    c: &[f64; W],
    (a, b): (&[f64; W], &[f64; W]),
) -> [f64; W] {
    each(|i| if change[i].is_finite() { c[i] } else { a[i] - b[i] })
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

/// 1/ℓ.
fn inverse(length_scale: f64) -> Result<f64, Error> {
    let inverse = length_scale.recip();
    if inverse > 0.0 && inverse.is_finite() && length_scale.is_finite() {
        return Ok(inverse);
    }
    Err(Error::Domain {
        argument: "length_scale",
        requirement: "positive and finite, and so its reciprocal",
        got: length_scale.to_string(),
    })
}
