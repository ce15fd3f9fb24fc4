//! Sparse matrices: the entries of each row that are not zero, by column.

use crate::error::Error;

/// A borrowed sparse matrix, row by row; entries that are not stored are zero.
#[derive(Clone, Copy, Debug)]
pub struct SparseMatrix<'a> {
    columns: usize,
    starts: &'a [usize],
    indices: &'a [usize],
    values: &'a [f64],
}

/// The stored entries of a row: ascending columns, and their values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseRow<'a> {
    pub columns: &'a [usize],
    pub values: &'a [f64],
}

impl SparseRow<'_> {
    /// A row without entries.
    pub const EMPTY: Self = Self { columns: &[], values: &[] };
}

impl<'a> SparseMatrix<'a> {
    /// The matrix whose row i has the entries `starts[i]..starts[i + 1]` of `indices`, which are
    /// its columns in ascending order, and of `values`.
    ///
    /// # Errors
    /// If the arrays do not describe a matrix of that number of columns.
    pub fn new(
        columns: usize,
        starts: &'a [usize],
        indices: &'a [usize],
        values: &'a [f64],
    ) -> Result<Self, Error> {
        let ends_fit = starts.first() == Some(&0) && starts.last() == Some(&values.len());
        let is_valid = ends_fit
            && indices.len() == values.len()
            && starts.is_sorted()
            && starts.windows(2).all(|row| {
                let row = &indices[row[0]..row[1]];
                row.windows(2).all(|two| two[0] < two[1]) && row.last().is_none_or(|j| *j < columns)
            });
        if is_valid {
            return Ok(Self { columns, starts, indices, values });
        }
        Err(Error::Shape {
            argument: "sparse matrix",
            expected: format!("rows of ascending columns below {columns}"),
            got: "other entries".to_owned(),
        })
    }

    /// The matrix of arrays that [`SparseMatrix::new`] has checked.
    pub(crate) fn of_parts(
        columns: usize,
        starts: &'a [usize],
        indices: &'a [usize],
        values: &'a [f64],
    ) -> Self {
        Self { columns, starts, indices, values }
    }

    /// Copies of the arrays of starts, columns and values.
    pub(crate) fn to_owned_parts(self) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
        (self.starts.to_vec(), self.indices.to_vec(), self.values.to_vec())
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row number `row`.
    pub(crate) fn row(&self, row: usize) -> SparseRow<'a> {
        let entries = self.starts[row]..self.starts[row + 1];
        SparseRow { columns: &self.indices[entries.clone()], values: &self.values[entries] }
    }
}

/// The entries of a matrix by column: their rows in ascending order, and their values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ByColumn {
    starts: Vec<usize>,
    pub rows: Vec<usize>,
    pub values: Vec<f64>,
}

impl ByColumn {
    /// The entries of some rows of a matrix, which are numbered in this order.
    pub fn new(matrix: SparseMatrix<'_>, rows: impl Iterator<Item = usize> + Clone) -> Self {
        let mut starts = vec![0; matrix.columns + 1];
        for row in rows.clone() {
            for &column in matrix.row(row).columns {
                starts[column + 1] += 1;
            }
        }
        for column in 0..matrix.columns {
            starts[column + 1] += starts[column];
        }
        let (mut next, count) = (starts.clone(), starts[matrix.columns]);
        let mut by_column = Self { starts, rows: vec![0; count], values: vec![0.0; count] };
        for (number, row) in rows.enumerate() {
            let SparseRow { columns, values } = matrix.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                by_column.rows[next[column]] = number;
                by_column.values[next[column]] = value;
                next[column] += 1;
            }
        }
        by_column
    }

    /// The entries of a column, as a range of `rows` and `values`.
    pub fn of(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column]..self.starts[column + 1]
    }
}
