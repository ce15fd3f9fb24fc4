//! Kernels as sums of product kernels, and the factors they give a block of evaluations.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;

use crate::Error;
use crate::arithmetic::Arithmetic;
use crate::block::{Block, Spread};
use crate::exp::exp_and_expm1;
use crate::lanes::{LANES, Lanes, each, map, zip};

/// A family of one-dimensional kernels k(r), r = x − y, of length-scale ℓ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// exp(−(r/ℓ)²/2).
    Rbf,
    /// exp(−|r|/ℓ).
    Laplacian,
    /// 1/(1 + (r/ℓ)²).
    Cauchy,
}

/// A one-dimensional kernel on one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// The kernel's family.
    pub family: Family,
    /// The column it compares.
    pub column: usize,
    /// Its length-scale ℓ, in the column's units.
    pub length_scale: f64,
}

/// A product kernel: a coefficient times a product of one-dimensional kernels. Several factors on a
/// column multiply; a column without any has no part in the term.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The constant in front.
    pub coefficient: f64,
    /// The one-dimensional kernels.
    pub factors: Vec<Factor>,
}

/// A term made ready: one entry for each column that it compares.
#[derive(Clone, Debug)]
pub(crate) struct CompiledTerm {
    pub coefficient: f64,
    /// The compared columns, ascending.
    pub columns: Vec<usize>,
    profiles: Vec<Profile>,
}

/// All of a term's factors on one column.
#[derive(Clone, Debug, Default)]
struct Profile {
    /// 1/(ℓ√2) of the product of all RBF factors (0: none).
    rbf: f64,
    /// Inverse length-scale of the product of all Laplacian factors (0: none).
    laplacian: f64,
    /// Inverse length-scales of the Cauchy factors.
    cauchy: Vec<f64>,
}

impl CompiledTerm {
    /// Groups the factors by column, for points of `features` columns.
    pub fn new(term: &Term, features: usize) -> Result<Self, Error> {
        if !term.coefficient.is_finite() {
            return Err(Error::Domain {
                argument: "a term's coefficient",
                requirement: "finite",
                got: term.coefficient.to_string(),
            });
        }
        let mut profiles = BTreeMap::<usize, Profile>::new();
        for factor in &term.factors {
            if factor.column >= features {
                return Err(Error::Domain {
                    argument: "a factor's column",
                    requirement: "below the number of features",
                    got: factor.column.to_string(),
                });
            }
            profiles.entry(factor.column).or_default().include(factor)?;
        }
        let (columns, profiles) = profiles.into_iter().unzip();
        Ok(Self { coefficient: term.coefficient, columns, profiles })
    }

    /// Factors between the row `x` and a block of points, given column by column: b is 1.
    #[inline(always)]
    pub fn fill<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64],
        points: &[Lanes],
        block: &mut Block,
    ) -> Spread {
        block.resize(self.columns.len(), true);
        let mut sums = Lanes::ZERO;
        let filled = block.present.iter_mut().zip(&mut block.difference);
        for ((profile, &column), (present, difference)) in
            self.profiles.iter().zip(&self.columns).zip(filled)
        {
            for part in 0..LANES / W {
                let r: [f64; W] = map(points[column].part(part), |y| x[column] - y);
                let (a, c) = profile.factor::<A, W>(&r);
                *present.part_mut(part) = a;
                *difference.part_mut(part) = c;
                let sum = sums.part_mut(part);
                *sum = zip(sum, &c, |sum, c| sum - c);
            }
        }
        Spread::of_unit_factors(&sums)
    }
}

impl Profile {
    fn include(&mut self, factor: &Factor) -> Result<(), Error> {
        let inverse = factor.length_scale.recip();
        if !(inverse > 0.0 && inverse.is_finite() && factor.length_scale.is_finite()) {
            return Err(Error::Domain {
                argument: "length_scale",
                requirement: "positive and finite, and so its reciprocal",
                got: factor.length_scale.to_string(),
            });
        }
        match factor.family {
            // exp(−(r p)²) exp(−(r q)²) = exp(−r² (p² + q²)).
            Family::Rbf => self.rbf = self.rbf.hypot(inverse * FRAC_1_SQRT_2),
            Family::Laplacian => self.laplacian += inverse,
            Family::Cauchy => self.cauchy.push(inverse),
        }
        Ok(())
    }

    /// a = k(r), and c = a − 1 without cancellation.
    #[inline(always)]
    fn factor<A: Arithmetic, const W: usize>(&self, r: &[f64; W]) -> ([f64; W], [f64; W]) {
        let rbf = |r: f64| -((r * self.rbf) * (r * self.rbf));
        let laplacian = |r: f64| -(r.abs() * self.laplacian);
        let (mut a, mut c) = match (self.rbf > 0.0, self.laplacian > 0.0) {
            (true, false) => exp_and_expm1::<A, W>(&map(r, rbf)),
            (false, true) => exp_and_expm1::<A, W>(&map(r, laplacian)),
            (true, true) => exp_and_expm1::<A, W>(&map(r, |r| rbf(r) + laplacian(r))),
            (false, false) => ([1.0; W], [0.0; W]),
        };
        for inverse in &self.cauchy {
            let square = map(r, |r| (r * inverse) * (r * inverse));
            // 1/(1+s), and 1/(1+s) − 1 = −s/(1+s), which is −1 at s = ∞.
            let factor = map(&square, |s| 1.0 / (1.0 + s));
            let difference = zip(&square, &factor, |s, f| if s < 1e300 { -(s * f) } else { -1.0 });
            // a f − 1 = (a − 1) + a (f − 1): both of one sign.
            c = each(|i| A::mul_add(a[i], difference[i], c[i]));
            a = zip(&a, &factor, |a, f| a * f);
        }
        (a, c)
    }
}
