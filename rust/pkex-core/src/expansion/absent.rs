//! Factors of absent players, and what a block of evaluations becomes by them.

use crate::error::Error;
use crate::game::block::{Block, Higher};
use crate::game::spread::Spread;
use crate::kernel::term::PackedTerm;
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, zip_lanes};
use crate::simd::level::Body;
use crate::simd::numbers::{larger, smaller};

/// Factors b of a block's absent players, and b − 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct AbsentFactors {
    pub factor: Vec<Lanes>,
    pub less_one: Vec<Lanes>,
    /// The higher orders of factors that are power series, player by player.
    pub higher: Vec<Lanes>,
}

impl AbsentFactors {
    /// Bytes for each player of a block, whose factors have so many higher orders.
    pub fn bytes(orders: usize) -> usize {
        saturating_product([2 + orders, size_of::<Lanes>()])
    }

    /// Makes room for that many players, whose factors have so many higher orders.
    pub fn reserve(
        &mut self,
        (players, orders): (usize, usize),
        memory: &Memory,
    ) -> Result<(), Error> {
        memory.reserve(&mut self.factor, players, FACTORS)?;
        memory.reserve(&mut self.less_one, players, FACTORS)?;
        memory.reserve(&mut self.higher, saturating_product([players, orders]), FACTORS)
    }

    /// Room for so many blocks of that many players, likewise.
    pub fn reserve_all(
        all: &mut Vec<Self>,
        blocks: usize,
        of_block: (usize, usize),
        memory: &Memory,
    ) -> Result<(), Error> {
        all.resize_with(blocks, Self::default);
        all.iter_mut().try_for_each(|factors| factors.reserve(of_block, memory))
    }
}

/// Computes the factors of a row and a block of points.
pub(crate) struct FillTerm<'a> {
    pub term: &'a PackedTerm,
    pub row: &'a [f64],
    pub points: &'a [Lanes],
    pub block: &'a mut Block,
}

impl Body for FillTerm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        self.term.fill::<A, W>(self.row, self.points, self.block);
    }
}

/// a − b of single players without cancellation.
pub(crate) trait Contrast {
    /// The share of a factor, or of its lack to 1, below which a difference is too small to be
    /// found by subtraction. The smaller, the less often a contrast is computed.
    const LOSS: f64;

    /// That of a player in a part of a block; needed only in the lanes where `kept` is negative.
    fn contrast<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        part: usize,
        kept: &[f64; W],
    ) -> [f64; W];

    /// Those of the higher orders of a player whose factors are power series, into as many lanes.
    fn contrast_of_series<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        part: usize,
        kept: &[f64; W],
        higher: &mut [Lanes],
    );
}

/// Fills a block with factors that were computed against 1.
#[inline(always)]
pub(crate) fn fill_from<A: Arithmetic, C: Contrast, const W: usize>(
    own: &Block,
    absent: &AbsentFactors,
    block: &mut Block,
    contrast: &C,
) -> Spread {
    let players = own.present.len();
    block.resize(players, false);
    block.present.copy_from_slice(&own.present);
    block.absent.copy_from_slice(&absent.factor);
    for part in 0..LANES / W {
        let mut least_kept = [0.0; W];
        for player in 0..players {
            let (c, kept) = difference::<A, C, W>(own, absent, player, part);
            *block.difference[player].part_mut(part) = c;
            least_kept = zip_lanes(&least_kept, &kept, smaller);
        }
        if least_kept.iter().any(|&kept| kept < 0.0) {
            replace_cancelled::<A, C, W>(own, absent, block, contrast, part);
        }
    }
    block.series.weights.clone_from(&own.series.weights);
    if !own.series.weights.is_empty() {
        fill_series::<A, C, W>(&own.series, &absent.higher, block, contrast);
    }
    block.spread_of_fractions::<A, W>()
}

/// Fills the higher orders of a block whose factors are power series.
#[inline(always)]
fn fill_series<A: Arithmetic, C: Contrast, const W: usize>(
    own: &Higher,
    absent: &[Lanes],
    block: &mut Block,
    contrast: &C,
) {
    let (players, orders, series) = (block.present.len(), own.orders(), &mut block.series);
    series.is_pure = own.is_pure;
    series.resize(players, false);
    series.present.copy_from_slice(&own.present);
    series.absent.copy_from_slice(absent);
    series.exact.resize(2 * orders, Lanes::ZERO);
    for player in 0..players {
        let these = player * orders..(player + 1) * orders;
        let factors = || own.present[these.clone()].iter().zip(&absent[these.clone()]);
        let difference = &mut series.difference[these.clone()];
        for part in 0..LANES / W {
            let mut least_kept = [0.0; W];
            for ((a, b), difference) in factors().zip(&mut *difference) {
                let (a, b): (&[f64; W], &[f64; W]) = (a.part(part), b.part(part));
                let c = zip_lanes(a, b, |a, b| a - b);
                let size = zip_lanes(a, b, |a, b| larger(a.abs(), b.abs()));
                let kept = zip_lanes(&c, &size, |c, size| A::mul_add(-C::LOSS, size, c.abs()));
                least_kept = zip_lanes(&least_kept, &kept, smaller);
                *difference.part_mut(part) = c;
            }
            if least_kept.iter().all(|&kept| kept >= 0.0) {
                continue;
            }
            contrast.contrast_of_series::<A, W>(player, part, &least_kept, &mut series.exact);
            for (difference, exact) in difference.iter_mut().zip(&series.exact) {
                let (c, exact): (&mut [f64; W], &[f64; W]) =
                    (difference.part_mut(part), exact.part(part));
                *c = each_lane(|i| if least_kept[i] < 0.0 { exact[i] } else { c[i] });
            }
        }
    }
}

/// Puts the contrast where bits have cancelled.
#[inline(always)]
fn replace_cancelled<A: Arithmetic, C: Contrast, const W: usize>(
    own: &Block,
    absent: &AbsentFactors,
    block: &mut Block,
    contrast: &C,
    part: usize,
) {
    for player in 0..own.present.len() {
        let (c, kept) = difference::<A, C, W>(own, absent, player, part);
        if kept.iter().any(|&kept| kept < 0.0) {
            let exact = contrast.contrast::<A, W>(player, part, &kept);
            *block.difference[player].part_mut::<W>(part) =
                each_lane(|i| if kept[i] < 0.0 { exact[i] } else { c[i] });
        }
    }
}

/// c = a − b, from a and b where both are below ½ and else from what they lack to 1: whichever is
/// known to more digits. And what is left of it when as much is taken away as rounding may spoil:
/// less than nothing where too many bits have cancelled.
///
/// A factor exp(−E) is as wrong as its exponent, by a multiple of E·2⁻⁵³ of itself.
#[inline(always)]
fn difference<A: Arithmetic, C: Contrast, const W: usize>(
    own: &Block,
    absent: &AbsentFactors,
    player: usize,
    part: usize,
) -> ([f64; W], [f64; W]) {
    let a: &[f64; W] = own.present[player].part(part);
    let b: &[f64; W] = absent.factor[player].part(part);
    let a_less_one: &[f64; W] = own.difference[player].part(part);
    let b_less_one: &[f64; W] = absent.less_one[player].part(part);
    let size = zip_lanes(a, b, larger);
    let lack = zip_lanes(a_less_one, b_less_one, smaller);
    let from_zero = zip_lanes(a, b, |a, b| a - b);
    let from_one = zip_lanes(a_less_one, b_less_one, |a, b| a - b);
    let c: [f64; W] = each_lane(|i| if size[i] < 0.5 { from_zero[i] } else { from_one[i] });
    let of: [f64; W] = each_lane(|i| if size[i] < 0.5 { size[i] } else { -lack[i] });
    let kept = each_lane(|i| A::mul_add(-of[i], in_halvings(C::LOSS, size[i]), c[i].abs()));
    (c, kept)
}

/// `unit`, a power of two, times 1 + ⌈−log₂ x⌉ of x from 0 to 1 (or 1 more): by its binary
/// exponent.
#[inline(always)]
const fn in_halvings(unit: f64, x: f64) -> f64 {
    // Units are the last digits of 2⁵² of them. The biased exponent of 1 is 1023.
    let many = 4_503_599_627_370_496.0 * unit;
    let bits = (many + 1024.0 * unit).to_bits();
    f64::from_bits(bits - (x.to_bits() >> 52)) - many
}

#[cfg(test)]
mod tests {
    use super::in_halvings;

    #[test]
    fn halvings_count_powers_of_two() {
        let numbers = [1.0, 0.75, 0.5, 0.3, 2.0_f64.powi(-30), f64::MIN_POSITIVE, 5e-324, 0.0];
        let expected = [1.0, 2.0, 2.0, 3.0, 31.0, 1023.0, 1024.0, 1024.0];
        for unit in [1.0, 0.125] {
            let found = numbers.map(|x| in_halvings(unit, x) / unit);
            assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits));
        }
    }
}
