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
