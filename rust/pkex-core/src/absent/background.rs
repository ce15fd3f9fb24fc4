//! What absent features are replaced by.

use crate::matrix::Matrix;

/// Background rows and their weights, which add up to 1.
#[derive(Clone, Copy, Debug)]
pub struct Background<'a> {
    /// The rows.
    pub rows: Matrix<'a>,
    /// Their weights.
    pub weights: &'a [f64],
}

/// What the features outside a coalition are replaced by.
#[derive(Clone, Copy, Debug)]
pub enum ValueFunction<'a> {
    /// Nothing: their factors are 1.
    Neutral,
    /// The values of a background row; the worth is the mean over the rows.
    Interventional(Background<'a>),
    /// As interventional, but each from a background row of its own, independently.
    Marginal(Background<'a>),
    /// As marginal, against the expansion's own points, all of the same weight.
    MarginalOfPoints,
}

impl<'a> ValueFunction<'a> {
    /// The background, if it is given one.
    pub(crate) fn background(self) -> Option<Background<'a>> {
        match self {
            Self::Neutral | Self::MarginalOfPoints => None,
            Self::Interventional(background) | Self::Marginal(background) => Some(background),
        }
    }
}
