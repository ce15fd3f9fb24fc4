//! Kernels of single columns that are centered on a sample: their mean over its rows is 0.
//!
//! With rows u of weights p, r(x) = Σ_u p_u k(x, u) and g = Σ_u p_u r(u), the centered kernel times a
//! weight w is
//!
//!   c(x, y) = w (k(x, y) − r(x) − r(y) + g) = w (k(x, y) − 1) − s(x) − s(y),
//!   s(x) = w (r(x) − (1 + g)/2),
//!
//! and the factor of the column is 1 + c (Durrande, Ginsbourger, Roustant and Carraro 2013, ANOVA
//! kernels and RKHS of zero mean functions). The offsets s stand in the column behind the entries.
//! Kernels of categories are q(x) where x = y and 0 elsewhere; q stands behind the offset, and
//! c(x, y) = w k(x, y) − s(x) − s(y) with s(x) = w (r(x) − g/2).
//!
//! Such factors may be negative, and above 1.

use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::each_lane;

/// How a column's kernel is centered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Centering {
    /// A Gaussian, with the weight w.
    Gaussian { weight: f64 },
    /// Categories, with the weight w.
    Categories { weight: f64 },
}

impl Centering {
    /// The columns behind the entries that it takes.
    pub const fn columns(self) -> usize {
        match self {
            Self::Gaussian { .. } => 1,
            Self::Categories { .. } => 2,
        }
    }

    /// The factor 1 + c, and c, from k and k − 1, and the columns behind the entries of both rows.
    #[inline(always)]
    pub fn factor<A: Arithmetic, const W: usize>(
        self,
        (k, less_one): (&[f64; W], &[f64; W]),
        behind: impl Fn(usize) -> ([f64; W], [f64; W]),
    ) -> ([f64; W], [f64; W]) {
        let (x, y) = behind(1);
        let c: [f64; W] = match self {
            Self::Gaussian { weight } => {
                each_lane(|i| centered::<A>(weight, less_one[i], x[i], y[i]))
            }
            Self::Categories { weight } => {
                let (amplitude, _) = behind(2);
                each_lane(|i| centered::<A>(weight, k[i] * amplitude[i], x[i], y[i]))
            }
        };
        (each_lane(|i| 1.0 + c[i]), c)
    }
}

/// w k − s(x) − s(y).
#[inline(always)]
pub(crate) fn centered<A: Arithmetic>(weight: f64, k: f64, x: f64, y: f64) -> f64 {
    A::mul_add(weight, k, -(x + y))
}
