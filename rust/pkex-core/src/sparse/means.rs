//! Mean factors over sparse background rows: the absent factors of marginal games.
//!
//! b = Σ_l w_l k(z_l, y): the rows with an entry in the column one by one, all others at once.

use crate::kernel::family::Profile;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::level::Body;
use crate::simd::sum::{Sum, Summation};
use crate::sparse::profiles::{ComputeFactors, Factor};
use crate::sparse::rows::{ByColumn, SparseMatrix};

/// Background rows by column, with the weight of each entry's row.
#[derive(Debug)]
pub(crate) struct SparseBackground {
    by_column: ByColumn,
    weights: Vec<f64>,
    rows: usize,
}

impl SparseBackground {
    /// The rows of a matrix, with their weights of sum 1.
    pub fn new(rows: SparseMatrix<'_>, weights: &[f64]) -> Self {
        Self {
            by_column: ByColumn::new(rows, 0..rows.rows()),
            weights: weights.to_vec(),
            rows: rows.rows(),
        }
    }

    /// Whether it is of these rows and weights.
    pub fn is_of(&self, rows: SparseMatrix<'_>, weights: &[f64]) -> bool {
        self.weights == weights && self.by_column == ByColumn::new(rows, 0..rows.rows())
    }

    /// The number of a column's entries.
    pub fn count(&self, column: usize) -> usize {
        self.by_column.of(column).len()
    }

    /// The entries of a column with the weights of their rows, and the weight of all other rows.
    pub fn of(&self, column: usize) -> (&[f64], Vec<f64>, f64) {
        let entries = self.by_column.of(column);
        let rows = &self.by_column.rows[entries.clone()];
        let weights: Vec<f64> = rows.iter().map(|&row| self.weights[row]).collect();
        let mut zero_weight = Sum::from(1.0);
        for weight in &weights {
            zero_weight.add(Sum::from(-weight), Summation::Compensated);
        }
        let zero_weight = if rows.len() == self.rows { 0.0 } else { zero_weight.value().max(0.0) };
        (&self.by_column.values[entries], weights, zero_weight)
    }
}

/// The mean factors of zero entries, by column.
#[derive(Debug)]
pub(crate) struct ColumnMeans {
    pub factors: Vec<f64>,
    pub less_one: Vec<f64>,
}

impl ColumnMeans {
    /// The factor of a column where x and the point are zero: a = 1.
    pub fn of_zero(&self, column: usize) -> Factor {
        Factor {
            present: 1.0,
            absent: self.factors[column],
            present_less_one: 0.0,
            absent_less_one: self.less_one[column],
            difference: -self.less_one[column],
        }
    }
}

/// The mean factors of a tile's entries, entry by entry.
#[derive(Debug)]
pub(crate) struct EntryMeans {
    pub factors: Vec<f64>,
    pub less_one: Vec<f64>,
}

/// Computes the mean of k(z, y) and of k(z, y) − 1 over the rows z of a background for each y.
pub(crate) struct ComputeMeans<'a> {
    pub profile: &'a Profile,
    pub background: (&'a [f64], &'a [f64], f64),
    pub values: &'a [f64],
    pub results: &'a mut [[f64; 2]],
}

impl Body for ComputeMeans<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { profile, background: (entries, weights, zero_weight), values, results } = self;
        let mut at_z = (vec![0.0; entries.len()], vec![0.0; entries.len()]);
        for (mean, &y) in results.iter_mut().zip(values) {
            ComputeFactors {
                profile,
                x: y,
                values: entries,
                factors: &mut at_z.0,
                less_one: &mut at_z.1,
            }
            .run::<A, W>();
            let ([zero_factor], [zero_less_one]) = profile.factor::<A, 1>(&[0.0], &[y]);
            let factor = weighted_sum::<A>(&at_z.0, weights, zero_weight * zero_factor);
            *mean = [factor, weighted_sum::<A>(&at_z.1, weights, zero_weight * zero_less_one)];
        }
    }
}

/// A number plus the weighted sum of others.
#[inline(always)]
fn weighted_sum<A: Arithmetic>(numbers: &[f64], weights: &[f64], start: f64) -> f64 {
    let mut sum = Sum::from(start);
    for (number, weight) in numbers.iter().zip(weights) {
        sum.add_product::<A>(*weight, *number);
    }
    sum.value()
}
