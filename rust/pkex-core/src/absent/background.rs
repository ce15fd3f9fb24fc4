//! Value functions: the values of absent features.

use crate::matrix::Matrix;

/// Background rows and their weights, which add up to 1.
#[derive(Clone, Copy, Debug)]
pub struct Background<'a> {
    /// The rows.
    pub rows: Matrix<'a>,
    /// Their weights.
    pub weights: &'a [f64],
}

/// The columns of a background whose entries are all equal, with this entry.
#[derive(Debug)]
pub(crate) struct ConstantColumns(Vec<Option<f64>>);

impl ConstantColumns {
    pub fn of(background: Background<'_>) -> Self {
        let z = background.rows;
        let only_entry = |column: usize| {
            let first = z.row(0)[column];
            (1..z.rows()).all(|row| z.row(row)[column] - first == 0.0).then_some(first)
        };
        Self((0..z.columns()).map(only_entry).collect())
    }

    /// Whether the background contains only the row's entries in some columns.
    pub fn are_of(&self, x: &[f64], mut columns: impl Iterator<Item = usize>) -> bool {
        columns.all(|column| self.0[column] == Some(x[column]))
    }
}

/// The values of absent features.
#[derive(Clone, Copy, Debug)]
pub enum ValueFunction<'a> {
    /// The factors of absent features are 1.
    Neutral,
    /// The values of a background row. The value of a coalition is the mean over the rows.
    Interventional(Background<'a>),
    /// The values of background rows, each feature drawn independently of the others.
    Marginal(Background<'a>),
    /// The values of the expansion's points with equal weights, each feature drawn independently.
    MarginalOfPoints,
}

impl<'a> ValueFunction<'a> {
    /// The background, if the value function has one.
    pub(crate) fn background(self) -> Option<Background<'a>> {
        match self {
            Self::Neutral | Self::MarginalOfPoints => None,
            Self::Interventional(background) | Self::Marginal(background) => Some(background),
        }
    }
}
