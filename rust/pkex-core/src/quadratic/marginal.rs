//! Marginal games of pairs: each feature outside S is drawn from the background on its own.
//!
//! The absent factor of a pair (p, q) is the mean of k(z, p) k(z, q) over background rows z: that
//! of the product, not the product of the means, as the game is the mean of the quadratic form.

use std::ops::Range;

use crate::error::Error;
use crate::expansion::absent::{AbsentFactors, Contrast, fill_against};
use crate::expansion::background::Background;
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::joint::Entries;
use crate::memory::Memory;
use crate::quadratic::factors::SingleFactors;
use crate::quadratic::games::{AbsentFromPairs, PairsOfRow};
use crate::quadratic::means::MeanSums;
use crate::quadratic::pairs::Pairs;
use crate::quadratic::products::{MultiplyPresent, multiplied_contrast};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, zip_lanes};
use crate::simd::sum::Accumulator;

/// Values of background rows, each feature's of a row of its own.
pub(crate) struct MarginalOfPairs<'a> {
    pub background: Background<'a>,
}

/// The mean factors of a tile, and the factors of a row.
#[derive(Debug, Default)]
pub(crate) struct PairMeans {
    first: usize,
    means: Vec<AbsentFactors>,
    sums: MeanSums,
    singles: SingleFactors,
    products: Block,
}

impl AbsentFromPairs for MarginalOfPairs<'_> {
    type Cache = PairMeans;

    fn preparation(&self) -> usize {
        self.background.rows.rows()
    }

    fn reserve(
        &self,
        (expansion, _): (&PackedExpansion, &Pairs),
        blocks: usize,
        cache: &mut PairMeans,
        memory: &Memory,
    ) -> Result<(), Error> {
        let players = expansion.players();
        cache.sums.reserve(expansion, blocks, memory)?;
        cache.products.reserve(players, 0, memory)?;
        cache.singles.reserve(expansion.evaluation_blocks(), players, memory)?;
        AbsentFactors::reserve_all(&mut cache.means, blocks, (players, 0), memory)
    }

    fn prepare(
        &self,
        of: (&PackedExpansion, &Pairs),
        blocks: Range<usize>,
        context: Context<'_>,
        cache: &mut PairMeans,
    ) {
        cache.first = blocks.start;
        cache.sums.means(of, blocks, self.background, context, &mut cache.means);
    }

    fn fill(
        &self,
        at: &PairsOfRow<'_>,
        block: &mut Block,
        cache: &mut PairMeans,
        context: Context<'_>,
    ) -> Spread {
        let PairMeans { first, means, singles, products, .. } = cache;
        let singles = at.singles(singles, context);
        context.run(MultiplyPresent { singles, at, block: products });
        let contrast = FromMeanOfPairs { background: self.background, at, singles };
        fill_against(products, &means[at.index - *first], block, &contrast, context)
    }
}

/// The mean of k(x, p) k(x, q) − k(z, p) k(z, q) over background rows z.
struct FromMeanOfPairs<'a> {
    background: Background<'a>,
    at: &'a PairsOfRow<'a>,
    /// The factors of the one evaluation, and of the others.
    singles: [&'a Block; 2],
}

impl Contrast for FromMeanOfPairs<'_> {
    // Each takes a walk through the background.
    const LOSS: f64 = 1.0 / 65_536.0;

    #[inline(always)]
    fn contrast<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        part: usize,
        found: &[f64; W],
    ) -> [f64; W] {
        let mut c = [0.0; W];
        for i in (0..W).filter(|&i| found[i].is_nan()) {
            c[i] = self.of_lane::<A, W>(player, part * W + i);
        }
        c
    }

    #[inline(always)]
    fn contrast_of_series<A: Arithmetic, const W: usize>(
        &self,
        _player: usize,
        _part: usize,
        _found: &[f64; W],
        _higher: &mut [Lanes],
    ) {
        // No term of pairs is a power series.
    }
}

impl FromMeanOfPairs<'_> {
    /// That of a single pair, with background rows side by side.
    #[inline(always)]
    fn of_lane<A: Arithmetic, const W: usize>(&self, player: usize, lane: usize) -> f64 {
        let (mut sum, weights) = (Accumulator::ZERO, self.background.weights);
        for first in (0..weights.len()).step_by(LANES) {
            let mut values = Lanes::ZERO;
            for part in 0..LANES / W {
                *values.part_mut(part) = self.of_rows::<A, W>(player, lane, first + part * W);
            }
            let weight = |row: usize| weights.get(first + row).copied().unwrap_or(0.0);
            sum.add_product::<A, W>(&Lanes(each_lane(weight)), &values);
        }
        sum.total().value()
    }

    /// That of a single pair, for background rows from number `first`.
    #[inline(always)]
    fn of_rows<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        lane: usize,
        first: usize,
    ) -> [f64; W] {
        let PairsOfRow { pair, union, .. } = self.at;
        let places = union.places[player];
        let [a, b, c] = self.single::<A, W>(0, pair.one, places[0], first);
        let others = self.single::<A, W>(1, (pair.others, lane), places[1], first);
        multiplied_contrast::<A, W>([&a, &b, &c], others.each_ref())[2]
    }

    /// k(x, p), k(z, p) and k(x, p) − k(z, p) of a player at its place in one of the evaluations.
    #[inline(always)]
    fn single<A: Arithmetic, const W: usize>(
        &self,
        which: usize,
        (block, lane): (usize, usize),
        place: Option<usize>,
        first: usize,
    ) -> [[f64; W]; 3] {
        let Some(place) = place else { return [[1.0; W], [1.0; W], [0.0; W]] };
        let (term, points) = self.at.expansion.term_and_points(block);
        let (x, rows) = (self.at.x, self.background.rows);
        let z = |i: usize| rows.row((first + i).min(rows.rows() - 1));
        let difference = term.contrast::<A, W>(place, |column| Entries {
            x: [x[column]; W],
            z: each_lane(|i| z(i)[column]),
            y: [points[column].0[lane]; W],
        });
        let present = [self.singles[which].present[place].0[lane]; W];
        let difference = difference.values();
        [present, zip_lanes(&present, &difference, |a, c| a - c), difference]
    }
}
