//! The factors of pairs, from those of single evaluations.

use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::family::multiplied;
use crate::quadratic::games::PairsOfRow;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, zip_lanes};
use crate::simd::level::Body;
use crate::simd::numbers::larger;

/// Two kinds of factors of the one evaluation, and of the sixteen others.
type Factors<'a> = ([f64; 2], [&'a Lanes; 2]);

/// Fills a block with products of factors, for absent ones of 1.
pub(crate) struct MultiplyPresent<'a> {
    pub singles: [&'a Block; 2],
    pub at: &'a PairsOfRow<'a>,
    pub block: &'a mut Block,
}

impl Body for MultiplyPresent<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { singles, at, block } = self;
        block.resize(at.union.players.len(), true);
        block.series.weights.clear();
        let mut sums = Lanes::ZERO;
        for (player, &places) in at.union.places.iter().enumerate() {
            let present = singles.map(|single| [&single.present, &single.difference]);
            let ([a, c], [other_a, other_c]) = factors(places, at.pair.one.1, present);
            for part in 0..LANES / W {
                let other = (other_a.part(part), other_c.part(part));
                let (product, less_one) = multiplied::<A, W>((&[a; W], &[c; W]), other);
                let sum = sums.part_mut(part);
                *sum = zip_lanes(sum, &less_one, |sum, c| sum - c);
                *block.present[player].part_mut(part) = product;
                *block.difference[player].part_mut(part) = less_one;
            }
        }
        Spread::of_unit_factors(&sums)
    }
}

/// Fills a block with products of present and of absent factors.
pub(crate) struct MultiplyBoth<'a> {
    pub singles: [&'a Block; 2],
    pub at: &'a PairsOfRow<'a>,
    pub block: &'a mut Block,
}

impl Body for MultiplyBoth<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { singles, at, block } = self;
        block.resize(at.union.players.len(), false);
        block.series.weights.clear();
        for (player, &places) in at.union.places.iter().enumerate() {
            let present = singles.map(|single| [&single.present, &single.difference]);
            let absent = singles.map(|single| [&single.absent, &single.difference]);
            let ([a, c], [other_a, other_c]) = factors(places, at.pair.one.1, present);
            // Of a player that a term does not compare, absent factors are 1 as present ones are.
            let ([b, _], [other_b, _]) = factors(places, at.pair.one.1, absent);
            for part in 0..LANES / W {
                let one = [&[a; W], &[b; W], &[c; W]];
                let others = [other_a.part(part), other_b.part(part), other_c.part(part)];
                let [present, absent, difference] = multiplied_contrast::<A, W>(one, others);
                *block.present[player].part_mut(part) = present;
                *block.absent[player].part_mut(part) = absent;
                *block.difference[player].part_mut(part) = difference;
            }
        }
        block.spread_of_fractions::<A, W>()
    }
}

/// a a′, b b′ and their difference, from a, b and c = a − b and those of another factor.
///
/// a a′ − b b′ = c a′ + b c′, of which both terms are small where a ≈ b and a′ ≈ b′: errors are those
/// of c and c′, relative to |c| a′ + b |c′|. Else a term may be far larger than the products.
#[inline(always)]
pub(crate) fn multiplied_contrast<A: Arithmetic, const W: usize>(
    [a, b, c]: [&[f64; W]; 3],
    [other_a, other_b, other_c]: [&[f64; W]; 3],
) -> [[f64; W]; 3] {
    let present = zip_lanes(a, other_a, |a, other| a * other);
    let absent = zip_lanes(b, other_b, |b, other| b * other);
    let first = zip_lanes(c, other_a, |c, other| c * other);
    let split = each_lane::<W>(|i| A::mul_add(b[i], other_c[i], first[i]));
    let size = each_lane::<W>(|i| first[i].abs() + (b[i] * other_c[i]).abs());
    let difference = each_lane::<W>(|i| {
        if size[i] < larger(present[i], absent[i]) { split[i] } else { present[i] - absent[i] }
    });
    [present, absent, difference]
}

/// The difference a a′ − b b′ of factors a, b and c = a − b and of other ones.
pub(crate) struct MultiplyContrasts(pub [[Lanes; 3]; 2]);

impl Body for MultiplyContrasts {
    type Output = Lanes;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Lanes {
        let Self([one, others]) = self;
        let mut difference = Lanes::ZERO;
        for part in 0..LANES / W {
            let parts = |factors: &'_ [Lanes; 3]| -> [[f64; W]; 3] {
                [0, 1, 2].map(|kind| *factors[kind].part(part))
            };
            let (one, others) = (parts(&one), parts(&others));
            let [_, _, c] = multiplied_contrast::<A, W>(one.each_ref(), others.each_ref());
            *difference.part_mut(part) = c;
        }
        difference
    }
}

/// Those of a player at its places; 1 and 0 where a term does not compare it.
#[inline(always)]
fn factors(
    places: [Option<usize>; 2],
    lane: usize,
    [one, others]: [[&Vec<Lanes>; 2]; 2],
) -> Factors<'_> {
    (
        places[0].map_or([1.0, 0.0], |place| one.map(|values| values[place].0[lane])),
        places[1].map_or([&Lanes::ONE, &Lanes::ZERO], |place| others.map(|values| &values[place])),
    )
}
