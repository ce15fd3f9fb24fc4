//! Differences a − b without cancellation, computed if subtraction loses too many digits.

use crate::absent::background::Background;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::sum::{Accumulator, AddWeighted};

/// Computes a − b of single players without cancellation.
pub(crate) trait Contrast {
    /// The share of a factor a, or of 1 − a, below which a difference is too small to be computed
    /// by subtraction. The smaller the share, the less often a contrast is computed.
    fn loss(&self) -> f64;

    /// The contrast of a player, correct in the lanes that are `wanted`.
    fn of_player(&self, player: usize, wanted: &[bool; LANES], context: Context<'_>) -> Lanes;

    /// Computes the contrasts of the higher orders of a player whose factors are power series, into
    /// `higher`, correct in the lanes that are `wanted`.
    fn of_series(
        &self,
        player: usize,
        wanted: &[bool; LANES],
        higher: &mut [Lanes],
        context: Context<'_>,
    );
}

/// [`Contrast::loss`] of contrasts that are computed from all background rows.
pub(crate) const LOSS_OF_MEANS: f64 = 1.0 / 65_536.0;

/// The mean of contrasts over background rows, in the lanes that are `wanted`. `contrast` takes a
/// lane and the number of the first of sixteen background rows.
pub(crate) fn mean_contrast(
    wanted: &[bool; LANES],
    background: Background<'_>,
    context: Context<'_>,
    contrast: impl Fn(usize, usize) -> [Lanes; 2],
) -> Lanes {
    let mut means = Lanes::ZERO;
    for lane in (0..LANES).filter(|&lane| wanted[lane]) {
        let mut sums = [Accumulator::ZERO];
        for first in (0..background.weights.len()).step_by(LANES) {
            let weights = in_lanes(background.weights, first);
            for value in contrast(lane, first) {
                context.run(AddWeighted { weights, values: &[value], sums: &mut sums });
            }
        }
        means.0[lane] = sums[0].total().value();
    }
    means
}

/// The weights of sixteen background rows, 0 after the last.
pub(crate) fn in_lanes(weights: &[f64], first: usize) -> Lanes {
    Lanes(each_lane(|lane| weights.get(first + lane).copied().unwrap_or(0.0)))
}
