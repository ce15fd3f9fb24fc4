//! Sums of kernels over a sample: what weights and constants of pair sums are made of.

use crate::Error;
use crate::driver::Settings;
use crate::expansion::Expansion;
use crate::kernel::{Players, Term};
use crate::matrix::Matrix;
use crate::pool::Monitor;

/// Σ_{b≠a} k(row a, row b) matrix_b for every row a: row by row, a number for each column of the
/// matrix.
///
/// # Errors
/// If the matrix has another number of rows, a sum overflows, or the monitor stops the call.
pub fn kernel_products(
    rows: Matrix<'_>,
    terms: &[Term],
    matrix: Matrix<'_>,
    settings: &Settings,
    monitor: Monitor<'_>,
) -> Result<Vec<f64>, Error> {
    let expansion = Expansion::new(rows, matrix, terms, Players::columns(rows.columns()))?;
    let mut sums = expansion.predict(rows, settings, monitor)?;
    // A row's kernel with itself is the sum of the coefficients.
    let own: f64 = terms.iter().map(|term| term.coefficient).sum();
    for (row, sums) in sums.chunks_mut(matrix.columns().max(1)).enumerate() {
        for (sum, value) in sums.iter_mut().zip(matrix.row(row)) {
            *sum -= own * value;
        }
    }
    Ok(sums)
}

/// The mean of each player's factor over all pairs of different rows, term by term.
///
/// # Errors
/// As [`kernel_products`]; and if there are fewer than two rows.
pub fn mean_factors(
    rows: Matrix<'_>,
    terms: &[Term],
    players: &Players,
    settings: &Settings,
    monitor: Monitor<'_>,
) -> Result<Vec<f64>, Error> {
    let count = rows.rows();
    if count < 2 {
        return Err(Error::Shape {
            argument: "rows",
            expected: "at least two".to_owned(),
            got: count.to_string(),
        });
    }
    let ones = vec![1.0; count];
    let ones = Matrix::of_shape(&ones, [count, 1]);
    let pairs = count as f64 * (count - 1) as f64;
    let mut means = Vec::with_capacity(terms.len() * players.count());
    for term in terms {
        for player in 0..players.count() {
            let is_own = |column: usize| players.of(column) == Some(player);
            let factors = term.factors.iter().filter(|f| is_own(f.column)).copied().collect();
            let factor = [Term { coefficient: 1.0, factors }];
            let sums = kernel_products(rows, &factor, ones, settings, &mut *monitor)?;
            means.push(sums.iter().sum::<f64>() / pairs);
        }
    }
    Ok(means)
}
