//! Differences a − b without cancellation, computed if subtraction loses too many digits.

use crate::absent::background::Background;
use crate::kernel::joint::ContrastOperands;
use crate::quadrature::sample_rule::Node;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::sum::{Accumulator, AddWeighted};

/// Computes a − b of single players without cancellation.
pub(crate) trait Contrast {
    /// The share of a factor a, or of 1 − a, below which a difference is too small to be computed
    /// by subtraction. The smaller the share, the less often a contrast is computed.
    fn loss(&self) -> f64;

    /// The contrast of a player, correct in the lanes of `mask`.
    fn of_player(&self, player: usize, mask: &[bool; LANES], context: Context<'_>) -> Lanes;

    /// Computes the contrasts of the higher orders of a player whose factors are power series, into
    /// `higher`, correct in the lanes of `mask`.
    fn of_series(
        &self,
        player: usize,
        mask: &[bool; LANES],
        higher: &mut [Lanes],
        context: Context<'_>,
    );
}

/// [`Contrast::loss`] of contrasts that are computed from a sample.
pub(crate) const LOSS_OF_MEANS: f64 = 1.0 / 65_536.0;

/// The sample over which factors are averaged: background rows, or the nodes of a column's rule.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sample<'a> {
    Rows(Background<'a>),
    Nodes(&'a [Node]),
}

impl<'a> Sample<'a> {
    /// The number of rows or nodes.
    pub fn size(self) -> usize {
        match self {
            Self::Rows(background) => background.weights.len(),
            Self::Nodes(nodes) => nodes.len(),
        }
    }

    /// The weights of sixteen rows or nodes from number `first` on, 0 after the last.
    pub fn weights(self, first: usize) -> Lanes {
        let weight = |number: usize| match self {
            Self::Rows(background) => background.weights.get(number).copied(),
            Self::Nodes(nodes) => nodes.get(number).map(|node| node.weight),
        };
        Lanes(each_lane(|lane| weight(first + lane).unwrap_or(0.0)))
    }

    /// The row x and sixteen rows or nodes from number `first` on, with the point in a lane.
    pub fn operands(
        self,
        x: &'a [f64],
        first: usize,
        point: (&'a [Lanes], usize),
    ) -> ContrastOperands<'a> {
        match self {
            Self::Rows(background) => {
                ContrastOperands::Rows { x, z: (background.rows, first), point }
            }
            Self::Nodes(nodes) => ContrastOperands::Nodes { x, z: (nodes, first), point },
        }
    }
}

/// The mean of contrasts over a sample, in the lanes of `mask`. `contrast` takes a lane and
/// the number of the first of sixteen rows or nodes.
pub(crate) fn mean_contrast(
    mask: &[bool; LANES],
    sample: Sample<'_>,
    context: Context<'_>,
    contrast: impl Fn(usize, usize) -> [Lanes; 2],
) -> Lanes {
    let mut means = Lanes::ZERO;
    for lane in (0..LANES).filter(|&lane| mask[lane]) {
        let mut sums = [Accumulator::ZERO];
        for first in (0..sample.size()).step_by(LANES) {
            let weights = sample.weights(first);
            for value in contrast(lane, first) {
                context.run(AddWeighted { weights, values: &[value], sums: &mut sums });
            }
        }
        means.0[lane] = sums[0].total().value();
    }
    means
}
