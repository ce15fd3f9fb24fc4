//! Kernels of single columns that are centered on a sample: their mean over its rows is 0.
//!
//! With rows u of weights p, r(x) = Σ_u p_u k(x, u) and g = Σ_u p_u r(u), the centered kernel times a
//! weight w is
//!
//!   c(x, y) = w (k(x, y) − r(x) − r(y) + g) = w k(x, y) − s(x) − s(y),    s(x) = w (r(x) − g/2),
//!
//! and the factor of the column is 1 + c (Durrande, Ginsbourger, Roustant and Carraro 2013, ANOVA
//! kernels and RKHS of zero mean functions). The offsets s are in the column after the entries.
//! Kernels of categories are q(x) if x = y and else 0; q is in the column after the offsets.
//!
//! Such factors may be negative, or above 1. c is known to an absolute error, because s is.

use crate::simd::arithmetic::Arithmetic;
use crate::simd::exp::halvings_of_square;
use crate::simd::lanes::{map_lanes, zip_lanes};

/// The centered kernel of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Centering {
    /// The Gaussian 2^−(r p)² with the rate p, and the weight w.
    Gaussian { rate: f64, weight: f64 },
    /// Categories, with the weight w.
    Categories { weight: f64 },
}

impl Centering {
    /// The number of columns that it uses after the column of entries.
    pub const fn columns(self) -> usize {
        match self {
            Self::Gaussian { .. } => 1,
            Self::Categories { .. } => 2,
        }
    }

    /// c, from the entries of both rows in the column and in the columns after it.
    #[inline(always)]
    pub fn less_one<A: Arithmetic, const W: usize>(
        self,
        at: impl Fn(usize) -> (f64, [f64; W]),
    ) -> [f64; W] {
        let ((x, ys), (offset, other_offsets)) = (at(0), at(1));
        let (weight, kernel) = match self {
            Self::Gaussian { rate, weight } => {
                let scaled = map_lanes(&ys, |y| (x - y) * rate);
                (weight, halvings_of_square::<A, W>(&scaled))
            }
            Self::Categories { weight } => {
                let (amplitude, _) = at(2);
                (weight, map_lanes(&ys, |y| if x - y == 0.0 { amplitude } else { 0.0 }))
            }
        };
        zip_lanes(&kernel, &other_offsets, |k, other_offset| {
            A::mul_add(weight, k, -(offset + other_offset))
        })
    }
}
