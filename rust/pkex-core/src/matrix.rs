//! Borrowed matrices.

use crate::error::Error;
use crate::simd::lanes::{LANES, Lanes};

/// A matrix of numbers, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    data: &'a [f64],
    rows: usize,
    columns: usize,
}

impl<'a> Matrix<'a> {
    /// The matrix of `rows` × `columns` entries in `data`.
    ///
    /// # Errors
    /// If the number of entries differs.
    pub fn new(data: &'a [f64], rows: usize, columns: usize) -> Result<Self, Error> {
        if rows.checked_mul(columns) != Some(data.len()) {
            return Err(Error::Shape {
                argument: "matrix",
                expected: format!("{rows} × {columns} entries"),
                got: format!("{} entries", data.len()),
            });
        }
        Ok(Self { data, rows, columns })
    }

    /// The same as [`Matrix::new`], for a shape that is known to fit.
    ///
    /// # Panics
    /// If it does not.
    #[must_use]
    pub fn of_shape(data: &'a [f64], [rows, columns]: [usize; 2]) -> Self {
        assert_eq!(
            data.len(),
            rows * columns,
            "the number of entries of a {rows} × {columns} matrix"
        );
        Self { data, rows, columns }
    }

    /// The entries, row by row.
    pub(crate) fn data(&self) -> &'a [f64] {
        self.data
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row number `row`.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &'a [f64] {
        &self.data[row * self.columns..][..self.columns]
    }

    /// Sixteen rows from number 16·`block` on as lanes, column by column. The last row fills unused
    /// lanes.
    pub(crate) fn block_by_column(self, block: usize) -> impl Iterator<Item = Lanes> + use<'a> {
        let row = move |lane: usize| (block * LANES + lane).min(self.rows - 1);
        let column = move |j: usize| Lanes(std::array::from_fn(|lane| self.row(row(lane))[j]));
        (0..self.columns).map(column)
    }
}
