//! Differences a − b without cancellation, computed where subtraction loses too many digits.

use crate::absent::background::Background;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::sum::{Accumulator, AddWeighted};

/// a − b of single players without cancellation.
pub(crate) trait Contrast {
    /// The share of a factor, or of its lack to 1, below which a difference is too small to be
    /// found by subtraction. The smaller, the less often a contrast is computed.
    fn loss(&self) -> f64;

    /// The contrast of a player; needed only in the lanes that are `wanted`.
    fn of_player(&self, player: usize, wanted: &[bool; LANES], context: Context<'_>) -> Lanes;

    /// The contrasts of the higher orders of a player whose factors are power series, into as many
    /// lanes; needed only in the lanes that are `wanted`.
    fn of_series(
        &self,
        player: usize,
        wanted: &[bool; LANES],
        higher: &mut [Lanes],
        context: Context<'_>,
    );
}

/// [`Contrast::loss`] of contrasts that each take a walk through the background.
pub(crate) const LOSS_OF_MEANS: f64 = 1.0 / 65_536.0;

/// The mean over background rows of the contrasts with sixteen of them at a time, from a lane and
/// the first row's number, for the lanes that are `wanted`.
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

/// The weights of sixteen background rows, 0 beyond the last.
pub(crate) fn in_lanes(weights: &[f64], first: usize) -> Lanes {
    Lanes(each_lane(|lane| weights.get(first + lane).copied().unwrap_or(0.0)))
}
